"""What holds for the meter whatever two requests are."""

from itertools import takewhile
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolkeeper.runtime.cache_meter import measure
from toolkeeper.runtime.prefix_change import compare
from toolkeeper.runtime.request_prefix import MESSAGES, SYSTEM, TOOLS, RequestPrefix, encoded

TEXT = st.sampled_from(["", "a", "b", "ab", "é", "é日", "# More tools", "a(x) - A.", "\ud83d"])
TOOL = st.builds(lambda name, text: {"name": name, "description": text}, TEXT, TEXT)
SYSTEM_TEXT = st.lists(TEXT, max_size=5).map("\n".join)
MESSAGE = st.builds(lambda text: {"role": "user", "content": text}, TEXT)
BODY = st.fixed_dictionaries(
    {
        "tools": st.lists(TOOL, max_size=4),
        "system": SYSTEM_TEXT,
        "messages": st.lists(MESSAGE, max_size=4),
    }
)


def whole(prefix: RequestPrefix, *kinds: str) -> bytes:
    return b"".join(encoded(piece.text) for piece in prefix.pieces if piece.kind in kinds)


@given(before=BODY, after=BODY)
def test_kept_bytes_are_the_start_that_both_share(before: Any, after: Any) -> None:
    old, new = RequestPrefix.of(before), RequestPrefix.of(after)
    compared = compare(old, new)
    everything = (TOOLS, SYSTEM, MESSAGES)
    pairs = zip(whole(old, *everything), whole(new, *everything), strict=False)
    shared = list(takewhile(lambda pair: pair[0] == pair[1], pairs))
    # Bytes of a tool that a system text happens to begin with are no cache's.
    assert compared.kept <= len(shared)
    if whole(old, TOOLS) == whole(new, TOOLS) and whole(old, SYSTEM) == whole(new, SYSTEM):
        assert compared.kept == len(shared)


@given(before=BODY, after=BODY)
def test_a_rewrite_is_another_prefix_and_has_a_change(before: Any, after: Any) -> None:
    first, second = measure([before, after]).lines
    old, new = RequestPrefix.of(before), RequestPrefix.of(after)
    same = [piece for piece in old.pieces if piece.kind != MESSAGES] == [
        piece for piece in new.pieces if piece.kind != MESSAGES
    ]
    assert second.rewrite == (not same)
    assert (second.broke is None) == (
        same and new.of_kind(MESSAGES)[: len(old.of_kind(MESSAGES))] == old.of_kind(MESSAGES)
    )
    assert 0 <= second.kept_bytes <= min(first.prefix_bytes, second.prefix_bytes)
    assert second.kept_bytes + second.reread_bytes == second.prefix_bytes
    assert 0 <= second.kept_message_bytes <= min(first.message_bytes, second.message_bytes)


@given(body=BODY, more=st.lists(MESSAGE, max_size=3))
def test_a_conversation_that_goes_on_keeps_everything(body: Any, more: list[Any]) -> None:
    longer = {**body, "messages": [*body["messages"], *more]}
    first, second = measure([body, longer]).lines
    assert (second.rewrite, second.broke, second.causes) == (False, None, ())
    assert second.kept_bytes == first.prefix_bytes
    assert second.kept_message_bytes == first.message_bytes


@given(before=BODY, after=BODY)
def test_every_change_stands_where_it_says(before: Any, after: Any) -> None:
    old, new = RequestPrefix.of(before), RequestPrefix.of(after)
    for change in compare(old, new).changes:
        assert (change.position, change.was) != (None, None)
        for place, prefix in ((change.position, new), (change.was, old)):
            if place is not None:
                assert 0 <= place < len(prefix.of_kind(change.part))
