"""The meter over request bodies of any loop."""

from typing import Any

import pytest

from toolkeeper.runtime.cache_meter import measure
from toolkeeper.runtime.cache_report import joined
from toolkeeper_contract import ConfigError

A, B, C = ({"name": name, "input_schema": {"type": "object"}} for name in "abc")
TOOL = len('{"name":"a","input_schema":{"type":"object"}}')


def request(*tools: Any, system: str = "Be kind.", said: str = "x") -> dict[str, Any]:
    messages = [{"role": "user", "content": text} for text in said]
    return {"model": "m", "tools": list(tools), "system": system, "messages": messages}


MESSAGE = len('{"role":"user","content":"x"}')


def test_a_steady_loop_rewrites_nothing() -> None:
    report = measure([request(A, B, said="x" * n) for n in range(1, 5)])
    assert (report.requests, report.rewrites, report.reread_bytes) == (4, 0, 0)
    first, *rest = report.lines
    assert (first.kept_bytes, first.rewrite, first.broke) == (0, False, None)
    for number, line in enumerate(rest, start=2):
        assert line.request == number
        assert line.kept_bytes == line.prefix_bytes == 2 * TOOL + len("Be kind.")
        assert (line.message_bytes, line.kept_message_bytes) == (
            number * MESSAGE,
            (number - 1) * MESSAGE,
        )
        assert line.broke is None


def test_a_tool_in_front_costs_the_whole_prefix() -> None:
    report = measure([request(B), request(A, B)])
    line = report.lines[1]
    assert (line.rewrite, line.kept_message_bytes) == (True, 0)
    assert line.kept_bytes < TOOL
    assert line.reread_bytes == line.prefix_bytes - line.kept_bytes
    assert line.broke is not None
    assert line.broke.as_json() == {
        "part": "tools",
        "change": "added",
        "name": "a",
        "position": 0,
        "was": None,
        "reason": None,
    }


def test_a_tool_at_the_end_keeps_those_in_front_of_it() -> None:
    line = measure([request(A, B), request(A, B, C)]).lines[1]
    assert line.rewrite
    assert line.kept_bytes == 2 * TOOL


def test_a_system_text_that_grows_is_a_rewrite_though_all_its_bytes_stay() -> None:
    line = measure([request(A), request(A, system="Be kind.\nBe brief.")]).lines[1]
    assert (line.rewrite, line.kept_bytes) == (True, TOOL + len("Be kind."))
    assert line.reread_bytes == len("\nBe brief.")
    alone = [{"system": "Be kind."}, {"system": "Be kind.\nBe brief."}]
    line = measure(alone).lines[1]
    assert line.rewrite
    assert line.broke is not None


def test_a_system_text_that_shrinks_is_a_rewrite_that_reads_nothing_anew() -> None:
    line = measure([{"system": "a\nb"}, {"system": "a"}]).lines[1]
    assert (line.rewrite, line.kept_bytes, line.reread_bytes) == (True, 1, 0)


def test_a_message_that_was_edited_breaks_the_conversation_and_not_the_prefix() -> None:
    line = measure([request(A, said="xyz"), request(A, said="xqzz")]).lines[1]
    assert not line.rewrite
    assert line.kept_bytes == line.prefix_bytes
    assert MESSAGE <= line.kept_message_bytes < 2 * MESSAGE
    assert line.broke is not None
    assert (line.broke.part, line.broke.position) == ("messages", 1)


def test_each_request_is_measured_beside_the_one_before_it() -> None:
    report = measure([request(A), request(A, B), request(A), request(A)])
    assert [line.rewrite for line in report.lines] == [False, True, True, False]
    assert report.causes == {"unexplained": 2}
    assert report.prefix_bytes == sum(line.prefix_bytes for line in report.lines)


def test_no_request_is_an_empty_report() -> None:
    report = measure([])
    assert (report.requests, report.rewrites, report.prefix_bytes, report.causes) == (0, 0, 0, {})


def test_conversations_are_joined_without_being_compared() -> None:
    report = joined([measure([request(A)]), measure([request(B)])])
    assert (report.requests, report.rewrites) == (2, 0)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "request 2 is not an object"),
        ({"tools": {"a": 1}}, "request 2 has `tools` in a form that no provider takes"),
        ({"messages": 3}, "request 2 has `messages`"),
        ({"system": [7]}, "request 2 has `system`"),
    ],
)
def test_a_body_that_no_provider_takes_is_told_by_its_number(body: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        measure([request(A), body])


def test_a_body_that_is_nested_too_deeply_is_told() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"parts": [deep]}
    for body in ({"tools": [deep]}, {"system": deep}, {"messages": [deep]}):
        with pytest.raises(ConfigError, match="request 1 is nested too deeply"):
            measure([body])
    while deep:
        # Taken apart by hand: freeing it in one go is deep as well.
        deep = deep["parts"].pop()
