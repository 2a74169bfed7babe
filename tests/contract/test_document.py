"""A document is read strictly, with a line for every fault."""

import pytest

from toolkeeper_contract import ConfigError, parse_document
from toolkeeper_contract.document import MAX_DEPTH


def test_every_value_knows_its_line() -> None:
    document = parse_document("a: 1\nb:\n  - x\n  - {c: 2}\n", "f.yaml")
    assert document.value == {"a": 1, "b": ["x", {"c": 2}]}
    assert [document.line(path) for path in [("a",), ("b",), ("b", 1, "c")]] == [1, 2, 4]
    assert document.line(("b", 1, "missing")) == 4


def test_dates_stay_text() -> None:
    assert parse_document("when: 2026-12-04\n", "f").value == {"when": "2026-12-04"}


def test_an_alias_stands_for_its_value() -> None:
    assert parse_document("a: &x [1, 2]\nb: *x\nc: {d: *x}\n", "f").value == {
        "a": [1, 2],
        "b": [1, 2],
        "c": {"d": [1, 2]},
    }


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + step)}: &{chr(98 + step)} [{', '.join(['*' + chr(97 + step)] * 10)}]\n"
    for step in range(9)
)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\na: 2\n", 2, "the key `a` stands here twice"),
        ("1: 2\n", 1, "a key must be a string"),
        ("x:\n  ? [a]\n  : 1\n", 2, "a key must be a string"),
        ("a: [\n", 2, "this is not valid yaml"),
        ("a: 1\n\tb: 2\n", 2, "this is not valid yaml"),
        ("a: !!python/object:os.system x\n", 1, "is not allowed"),
        ("a: !thing x\n", 1, "is not allowed"),
        ("---\na: 1\n---\nb: 1\n", 3, "this is not valid yaml"),
        (BOMB, None, "once its aliases are written out"),
        ("a: &a [*a]\n", 1, "nested deeper"),
        ("a: " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), 1, "nested deeper"),
        ("a: " + "[" * 5_000, None, "nested deeper|not valid yaml"),
        ("a: *nowhere\n", 1, "this is not valid yaml"),
    ],
)
def test_what_is_not_plain_is_refused(text: str, line: int | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_document(text, "f.yaml")
    assert caught.value.file == "f.yaml"
    if line is not None:
        assert caught.value.line == line


def test_a_giant_document_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="larger than"):
        parse_document("a: " + "x" * 3_000_000, "f.yaml")


def test_no_document_at_all_is_nothing() -> None:
    assert parse_document("# only a comment\n", "f").value is None
