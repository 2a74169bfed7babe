"""Whatever ids a provider gives its calls, each result finds the call that it was written for."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_wire.transcript import compaction_note, read_transcript, with_interrupted

IDS = st.sampled_from(["", "c1", "c2", "call_1"])
NAMES = st.sampled_from(["tool_search", "notes_add", "x"])
# One step: the calls that the model makes at once, and of how many, from the first on, the result
# was kept before the process died.
STEPS = st.lists(
    st.tuples(st.lists(st.tuples(IDS, NAMES), min_size=1, max_size=4), st.integers(0, 4)),
    max_size=6,
)
Step = tuple[list[tuple[str, str]], int]


def chat(calls: list[tuple[str, str]], kept: int) -> list[Any]:
    function = [
        {"id": i, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for i, name in calls
    ]
    results = [{"role": "tool", "tool_call_id": i, "content": "x"} for i, _ in calls[:kept]]
    return [{"role": "assistant", "tool_calls": function}, *results]


def anthropic(calls: list[tuple[str, str]], kept: int) -> list[Any]:
    uses = [{"type": "tool_use", "id": i, "name": name, "input": {}} for i, name in calls]
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": "x"} for i, _ in calls[:kept]]
    results = [{"role": "user", "content": blocks}] if blocks else []
    return [{"role": "assistant", "content": uses}, *results]


def responses(calls: list[tuple[str, str]], kept: int) -> list[Any]:
    items: list[Any] = [
        {"type": "function_call", "call_id": i, "name": name, "arguments": "{}"}
        for i, name in calls
    ]
    for call_id, _ in calls[:kept]:
        items.append({"type": "function_call_output", "call_id": call_id, "output": "x"})
    return items


def own(calls: list[tuple[str, str]], kept: int) -> list[Any]:
    made = [{"id": i, "name": name, "arguments": {}} for i, name in calls]
    results = [{"id": i, "text": "x"} for i, _ in calls[:kept]]
    told = [{"role": "tool", "results": results}] if results else []
    return [{"role": "assistant", "calls": made}, *told]


def gemini(calls: list[tuple[str, str]], kept: int) -> list[Any]:
    # Without ids a result can only be told by its tool's name, and by its order.
    parts = [{"functionCall": {"name": name, "args": {}}} for _, name in calls]
    answers = [{"functionResponse": {"name": name, "response": {}}} for _, name in calls[:kept]]
    results = [{"role": "user", "parts": answers}] if answers else []
    return [{"role": "model", "parts": parts}, *results]


FORMS = {
    "openai": (chat, {"role": "user", "content": "go on"}),
    "anthropic": (anthropic, {"role": "user", "content": "go on"}),
    "openai-responses": (responses, {"role": "user", "content": "go on"}),
    "generic": (own, {"role": "user", "content": "go on"}),
    "gemini": (gemini, {"role": "user", "parts": [{"text": "go on"}]}),
}


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, provider=st.sampled_from(sorted(FORMS)))
def test_results_pair_with_the_calls_they_were_written_for(
    steps: list[Step], provider: str
) -> None:
    write, user = FORMS[provider]
    messages: list[Any] = []
    answered: list[bool] = []
    for calls, kept in steps:
        messages += [user, *write(calls, kept)]
        answered += [place < kept for place in range(len(calls))]
    read = read_transcript(messages, provider)
    assert [call.answered for call in read.calls] == answered
    assert [one.call for one in read.results] == [n for n, got in enumerate(answered) if got]
    assert [call.wire_name for call in read.calls] == [
        name for calls, _ in steps for _, name in calls
    ]
    completed = with_interrupted(messages, provider)
    whole = read_transcript(completed, provider)
    assert whole.unanswered == ()
    # What came before still belongs to the same calls.
    assert {one.call for one in whole.results} == set(range(len(answered)))
    old = [message for message in completed if any(message is one for one in messages)]
    assert old == messages


@settings(max_examples=60, deadline=None)
@given(
    messages=st.lists(
        st.tuples(st.sampled_from(["call", "result", "user"]), IDS, NAMES), max_size=14
    )
)
def test_whatever_stands_there_a_call_is_answered_once_and_after_it_was_made(
    messages: list[tuple[str, str, str]],
) -> None:
    written = {
        "call": lambda i, name: chat([(i, name)], 0)[0],
        "result": lambda i, name: {"role": "tool", "tool_call_id": i, "content": "x"},
        "user": lambda i, name: {"role": "user", "content": "x"},
    }
    read = read_transcript([written[kind](i, name) for kind, i, name in messages], "openai")
    paired = [one.call for one in read.results if one.call is not None]
    assert len(set(paired)) == len(paired)
    for result in read.results:
        if result.call is not None:
            call = read.calls[result.call]
            assert call.call_id == result.call_id
            assert call.index < result.index
            assert call.answered
    assert sum(call.answered for call in read.calls) == len(paired)
    # A result stays alone only where no call waited for it.
    for result in read.results:
        if result.call is None:
            before = [c for c in read.calls if c.call_id == result.call_id]
            waiting = sum(call.index < result.index for call in before)
            earlier = [r for r in read.results if r.call_id == result.call_id]
            assert waiting <= sum(r.index < result.index for r in earlier if r.call is not None)
    seen: dict[str, int] = {}
    for call in read.calls:
        assert call.occurrence == seen.get(call.call_id, 0) + 1
        seen[call.call_id] = call.occurrence


NAME = st.text("abz09_.-AZ", min_size=1, max_size=12)
ID = st.text("abz09AZ", min_size=1, max_size=6).map(lambda text: f"inv_{text}")


@settings(max_examples=60, deadline=None)
@given(loaded=st.lists(st.tuples(ID, st.lists(NAME, max_size=5)), max_size=6))
def test_a_note_cites_what_it_was_made_of(loaded: list[tuple[str, list[str]]]) -> None:
    text = compaction_note(loaded)
    read = read_transcript([{"role": "system", "content": text}], "openai")
    assert read.notes == tuple(dict.fromkeys(i for i, names in loaded if names))
    asked = read_transcript([{"role": "user", "content": text}], "openai")
    assert asked.notes == ()
