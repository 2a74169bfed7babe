"""Invariants of history: ids are legal, never repeated, and a beginning never changes."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import SourceKind, ToolIdentity, canonical_bytes
from toolkeeper_wire import CallIds, NameCodec, RecordedCall, Said, Step, format_for

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,40}")
CODEC = NameCodec.of([ToolIdentity(SourceKind.FUNCTION, "functions", "notes.add")])

# Few letters, so that ids clash with each other and with the numbers that clashes get.
call_ids = st.text("c_12", max_size=4) | st.text("c_2", min_size=38, max_size=42) | st.text()
arguments = st.text(max_size=8) | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
calls = st.builds(
    RecordedCall,
    call_ids,
    st.sampled_from(["notes.add", "mcp.git.log", "no such tool", ""]),
    arguments,
    st.none() | st.text(max_size=8),
    st.booleans(),
)
entries: st.SearchStrategy[Any] = st.one_of(
    st.builds(Said, st.sampled_from(["user", "assistant"]), st.text(max_size=5)),
    st.builds(Step, st.lists(calls, max_size=3).map(tuple), st.text(max_size=5)),
)
talks = st.lists(entries, max_size=6)


@settings(max_examples=200, deadline=None)
@given(st.lists(call_ids, max_size=20), st.lists(call_ids, max_size=5))
def test_ids_are_legal_unique_and_do_not_depend_on_what_comes_later(
    first: list[str], more: list[str]
) -> None:
    short, long = CallIds(40), CallIds(40)
    made = [short.next(one) for one in first]
    assert [long.next(one) for one in (*first, *more)][: len(made)] == made
    assert len(set(made)) == len(made)
    assert all(LEGAL.fullmatch(one) for one in made)


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "gemini"])
@settings(max_examples=60, deadline=None)
@given(first=talks, more=talks)
def test_a_conversation_that_grows_keeps_its_beginning(
    provider: str, first: list[Any], more: list[Any]
) -> None:
    form = format_for(provider)
    before = form.history(first, CODEC)
    after = form.history([*first, *more], CODEC)
    assert canonical_bytes(after[: len(before)]) == canonical_bytes(before)


@settings(max_examples=100, deadline=None)
@given(talks)
def test_every_call_is_answered_right_behind_it(talk: list[Any]) -> None:
    messages = format_for("openai").history(talk, CODEC)
    answered = 0
    for position, message in enumerate(messages):
        asked = [call["id"] for call in message.get("tool_calls", [])]
        behind = messages[position + 1 : position + 1 + len(asked)]
        assert [one.get("tool_call_id") for one in behind] == asked
        answered += len(asked)
    assert answered == sum(len(one.calls) for one in talk if isinstance(one, Step))
