"""Which words of a request are its topics, its values, and words of any request."""

import pytest

from toolkeeper_index.topics import Role, roles


def having(query: str, role: Role) -> list[str]:
    return [term for term, found in roles(query).items() if found is role]


@pytest.mark.parametrize(
    ("query", "topics", "values"),
    [
        ("Please find me the latest news", ["new"], []),
        ("create a new branch", ["branch"], []),
        ("Send a fax to Anna Lee", ["fax"], ["anna", "lee"]),
        ("Where is Anna? Lunch is ready", ["lunch"], ["anna"]),
        ('translate "good morning" now', ["translat"], ["good", "morn"]),
        ("mail bob@example.com", ["mail"], ["bob", "exampl", "com", "examplecom"]),
        ("invoice INV-2231", ["invoic"], ["inv", "2231", "inv2231"]),
        ("List Open Pull Requests", ["pull"], []),
        ('"play some chess"', ["plai", "chess"], []),
        ("list items", ["list", "item"], []),
        ("must-visit harbours", ["visit", "mustvisit", "harbour"], []),
        ("", [], []),
        ("the", [], []),
        ("天気", ["天", "気", "天気"], []),
    ],
)
def test_a_request_has_topics_and_values(query: str, topics: list[str], values: list[str]) -> None:
    found = having(query, Role.TOPIC)
    assert sorted(found) == sorted(topics)
    assert sorted(having(query, Role.VALUE)) == sorted(values)


def test_a_word_that_is_topic_and_value_is_a_topic() -> None:
    assert roles("rename branch `branch`")["branch"] is Role.TOPIC
