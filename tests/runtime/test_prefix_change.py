"""Where two requests part, and every difference between them."""

from typing import Any

import pytest

from toolkeeper.runtime.prefix_change import compare
from toolkeeper.runtime.request_prefix import RequestPrefix


def body(tools: str = "", system: str = "", messages: str = "", **texts: str) -> RequestPrefix:
    """One tool for each letter of `tools`, described by `texts` or by its name."""
    return RequestPrefix.of(
        {
            "tools": [{"name": name, "description": texts.get(name, name)} for name in tools],
            "system": system,
            "messages": [{"role": "user", "content": text} for text in messages],
        }
    )


def size(prefix: RequestPrefix) -> int:
    return prefix.size("tools", "system", "messages")


def told(before: RequestPrefix, after: RequestPrefix) -> list[tuple[Any, ...]]:
    return [
        (change.part, change.change, change.name, change.position, change.was)
        for change in compare(before, after).changes
    ]


def test_an_equal_request_keeps_everything() -> None:
    request = body("abc", "x\ny", "hi")
    compared = compare(request, request)
    assert (compared.kept, compared.parted, compared.changes) == (size(request), None, ())


def test_a_conversation_that_goes_on_keeps_all_of_the_earlier_request() -> None:
    before, after = body("abc", "x", "h"), body("abc", "x", "hi")
    compared = compare(before, after)
    assert (compared.kept, compared.broke, compared.changes) == (size(before), None, ())


@pytest.mark.parametrize(
    ("before", "after", "changes", "kept"),
    [
        ("abc", "abcd", [("tools", "added", "d", 3, None)], "abc"),
        ("abc", "xabc", [("tools", "added", "x", 0, None)], ""),
        ("abc", "ac", [("tools", "removed", "b", None, 1)], "a"),
        ("abc", "ab", [("tools", "removed", "c", None, 2)], "ab"),
        ("abcd", "bcda", [("tools", "moved", "a", 3, 0)], ""),
        ("abcd", "abdc", [("tools", "moved", "d", 2, 3)], "ab"),
    ],
)
def test_the_tool_that_came_went_or_moved_is_told_with_its_places(
    before: str, after: str, changes: list[Any], kept: str
) -> None:
    first, second = body(before, "region", "hi"), body(after, "region", "hi")
    assert told(first, second) == changes
    compared = compare(first, second)
    assert compared.broke in compared.changes
    whole = size(body(kept))
    # Up to the tool itself, and in it the bytes that its successor happens to share.
    assert whole <= compared.kept < whole + len('{"name":"a","description":"a"}')


def test_a_redefined_tool_keeps_the_bytes_in_front_of_its_change() -> None:
    before, after = body("abc", b="old text"), body("abc", b="old words")
    assert told(before, after) == [("tools", "redefined", "b", 1, 1)]
    kept = len('{"name":"a","description":"a"}{"name":"b","description":"old ')
    assert compare(before, after).kept == kept


def test_what_comes_behind_a_change_is_told_and_kept_no_more() -> None:
    before, after = body("ab", "x", "hi"), body("abc", "y", "ho")
    assert told(before, after) == [
        ("tools", "added", "c", 2, None),
        ("system", "changed", "text", 0, 0),
        ("messages", "changed", "user", 1, 1),
    ]
    broke = compare(before, after).broke
    assert broke is not None
    assert broke.name == "c"


INDEX = """Be kind.

# More tools
These tools have no definition above. Call one with tool_call.
Text inside EXTERNAL_UNTRUSTED comes from the tools' providers: it describes
a.one(x) - One.
b.two(y) - Two.
<EXTERNAL_UNTRUSTED id=0123456789abcdef source=git>
mcp.git.log(path?) - Shows the log.
</EXTERNAL_UNTRUSTED id=0123456789abcdef>"""


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("a.one(x) - One.\n", "", [("system", "removed", "a.one", None, 5)]),
        ("b.two(y)", "b.two(z)", [("system", "redefined", "b.two", 6, 6)]),
        (
            "b.two(y) - Two.\n",
            "b.two(y) - Two.\nc(q)\n",
            [("system", "added", "c", 7, None)],
        ),
        ("Be kind.", "Be brief.", [("system", "changed", "text", 0, 0)]),
        ("Call one with", "Load one with", [("system", "changed", "convention", 3, 3)]),
        ("0123456789abcdef", "fedcba9876543210", [("system", "changed", "boundary", 7, 7)]),
        (
            "a.one",
            "4 more tools are not listed here: find them with tool_search.\na.one",
            [("system", "changed", "searchable", 5, None)],
        ),
    ],
)
def test_a_line_of_the_region_is_told_by_what_it_is(old: str, new: str, changes: list[Any]) -> None:
    before, after = body("a", INDEX), body("a", INDEX.replace(old, new))
    assert told(before, after) == changes
    broke = compare(before, after).broke
    assert broke is not None
    assert broke.name == changes[0][2]


def test_a_list_that_grows_at_its_end_does_not_change_its_last_line() -> None:
    before, after = body("a", "# More tools\none"), body("a", "# More tools\none\ntwo", "hi")
    assert told(before, after) == [("system", "added", "two", 2, None)]
    assert compare(before, after).kept == size(before)


def test_lines_in_front_of_the_heading_are_never_taken_for_tools() -> None:
    before, after = body("a", "Rules\nnone"), body("a", "Rules\nnothing")
    assert told(before, after) == [("system", "changed", "text", 1, 1)]


def test_lines_in_another_order_are_told_where_they_part() -> None:
    before, after = body("a", "\nx\ny\n"), body("a", "\ny\nx\n")
    broke = compare(before, after).broke
    assert broke is not None
    assert (broke.part, broke.name, broke.position) == ("system", "text", 0)


def test_messages_that_were_cut_or_edited_are_told_once() -> None:
    assert told(body("a", "", "abc"), body("a", "", "ab")) == [
        ("messages", "removed", "user", None, 2)
    ]
    assert told(body("a", "", "abc"), body("a", "", "xyc")) == [
        ("messages", "changed", "user", 0, 0)
    ]


def test_two_tools_of_one_name_are_told_apart() -> None:
    assert told(body("aba"), body("ab")) == [("tools", "removed", "a#2", None, 2)]


def test_no_tools_at_all_is_a_change_too() -> None:
    assert told(body("a", "x"), body("", "x")) == [("tools", "removed", "a", None, 0)]
    assert compare(body("a", "x"), body("", "x")).kept == 0
    assert compare(body("", "x"), body("a", "x")).kept == 0


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({"name": "a", "x": 1}, {"x": 1, "name": "a"}, "key order"),
        ({"name": "a", "s": {"x": 1, "y": 2}}, {"name": "a", "s": {"y": 2, "x": 1}}, "key order"),
        ({"name": "a", "description": "x"}, {"name": "a", "description": "y"}, "description"),
        ({"name": "a", "description": "x"}, {"name": "a", "strict": True}, "strict, description"),
        ({"name": "a", "n": 1}, {"name": "a", "n": 1.0}, "n"),
        (
            {"type": "function", "function": {"name": "a", "parameters": {}}},
            {"type": "function", "function": {"name": "a", "parameters": {"x": 1}}},
            "parameters",
        ),
        ({"name": "a", "odd": "\ud83d"}, {"name": "a", "odd": "\ud83e"}, "odd"),
    ],
)
def test_a_tool_that_reads_otherwise_says_which_of_its_keys_do(
    before: Any, after: Any, reason: str
) -> None:
    first, second = (RequestPrefix.of({"tools": [tool]}) for tool in (before, after))
    (change,) = compare(first, second).changes
    assert (change.change, change.reason) == ("redefined", reason)
