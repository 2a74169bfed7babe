"""How much of a result is taken in, and what is said of the rest."""

from typing import Any

import pytest

from toolkeeper_contract import Blob, Text, ToolResult
from toolkeeper_pipeline.bounds import MARGIN, bounded, oversize
from toolkeeper_pipeline.limits import Limits

LIMITS = Limits(result_blocks=3, result_depth=5, result_nodes=20, result_kept_bytes=1_000)


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def test_a_result_within_its_limits_is_left_as_it_is() -> None:
    result = ToolResult((Text("a"), Blob(b"b", "image/png"), Text("c")), {"a": [1]})
    assert bounded(result, LIMITS).result is result
    assert bounded(result, LIMITS).notes == ()


def test_texts_beyond_the_limit_of_parts_are_taken_together() -> None:
    within = bounded(ToolResult(tuple(Text(str(n)) for n in range(6))), LIMITS)
    assert within.result.parts == (Text("0"), Text("1"), Text("2"), Text("3\n4\n5"))
    assert within.notes == ()
    assert within.whole


def test_other_parts_beyond_the_limit_are_left_out_with_a_count() -> None:
    blobs = tuple(Blob(b"x", "a/b") for _ in range(10_000))
    within = bounded(ToolResult((*blobs, Text("last"))), LIMITS)
    assert within.result.parts == (*blobs[:3], Text("last"))
    assert within.notes == ("[9,997 of 10,001 parts are left out]",)
    assert within.whole


def test_text_is_cut_to_what_is_kept_and_a_margin_for_secrets_at_the_cut() -> None:
    room = 1_000 + MARGIN
    parts = (
        Text("x" * 600),
        Text("y" * room),
        Blob(b"b", "a/b"),
    )
    within = bounded(ToolResult(parts), LIMITS)
    assert sum(len(part.text) for part in within.result.parts if isinstance(part, Text)) == room
    assert within.result.parts[-1] == Blob(b"b", "a/b")
    assert within.notes == ("[600 more characters are not kept]",)


@pytest.mark.parametrize(
    ("structured", "excess"),
    [
        (nested(5), None),
        (nested(6), "of more than 5 levels"),
        (nested(5_000), "of more than 5 levels"),
        (list(range(19)), None),
        (list(range(20)), "of more than 20 values"),
        ({str(n): n for n in range(100_000)}, "of more than 20 values"),
        (["x" * 999], None),
        (["x" * 1_001], "of more than 1,000 characters"),
        ({"k" * 2_000: 1}, "of more than 1,000 characters"),
        ("x" * 1_001, "of more than 1,000 characters"),
        (7, None),
    ],
)
def test_structured_content_beyond_a_limit_is_left_out(structured: Any, excess: str | None) -> None:
    within = bounded(ToolResult((Text("told"),), structured), LIMITS)
    assert within.whole is (excess is None)
    assert within.result.parts == (Text("told"),)
    if excess is None:
        assert within.result.structured == structured
    else:
        assert within.result.structured is None
        assert within.notes == (f"[structured content {excess} is left out]",)


def test_a_value_that_holds_itself_is_too_deep() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert oversize(loop, depth=100, nodes=1_000, size=10) == "of more than 100 levels"


def test_the_walk_ends_at_its_limit() -> None:
    class Endless(list):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            raise AssertionError("a container that is too long is not walked")

    assert oversize([Endless(range(50))], depth=5, nodes=20, size=10) is not None
