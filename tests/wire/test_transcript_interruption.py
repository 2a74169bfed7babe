"""Does every call get a result after a crash, in its provider's form, with the history as it is?"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from toolkeeper_wire.transcript import (
    INTERRUPTED,
    interrupted_results,
    read_transcript,
    with_interrupted,
)

FOLDER = Path(__file__).parents[1] / "golden" / "transcripts"
FORMS = ("openai", "openai-responses", "anthropic", "gemini", "generic")
LOST: dict[str, dict[str, Any]] = {
    "openai": {"role": "tool", "tool_call_id": "c1", "content": INTERRUPTED},
    "openai-responses": {"type": "function_call_output", "call_id": "c1", "output": INTERRUPTED},
    "anthropic": {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": INTERRUPTED,
                "is_error": True,
            }
        ],
    },
    "gemini": {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "id": "call_2",
                    "name": "tool_search",
                    "response": {"error": INTERRUPTED},
                }
            }
        ],
    },
    "generic": {
        "role": "tool",
        "results": [{"id": "c1", "text": INTERRUPTED, "is_error": True}],
    },
}


def conversation(provider: str) -> list[Any]:
    messages: list[Any] = json.loads((FOLDER / f"{provider}.json").read_text("utf-8"))
    return messages


def test_the_model_reads_that_the_outcome_is_unknown() -> None:
    assert INTERRUPTED == (
        "interrupted, outcome unknown: the call may or may not have taken effect; "
        "check before you call it again"
    )


@pytest.mark.parametrize("provider", FORMS)
def test_a_call_whose_result_was_lost_gets_one(provider: str) -> None:
    messages = conversation(provider)
    appended = interrupted_results(read_transcript(messages, provider), provider)
    assert appended == [LOST[provider]]
    whole = read_transcript(messages + appended, provider)
    assert whole.unanswered == ()
    assert interrupted_results(whole, provider) == []
    assert with_interrupted(messages, provider) == messages + appended


@pytest.mark.parametrize("provider", FORMS)
def test_a_conversation_that_lacks_nothing_gets_nothing(provider: str) -> None:
    turn = read_transcript(conversation(provider), provider).turns[1]
    messages = conversation(provider)[:turn]
    assert interrupted_results(read_transcript(messages, provider), provider) == []
    completed = with_interrupted(messages, provider)
    assert all(new is old for new, old in zip(completed, messages, strict=True))


@pytest.mark.parametrize("provider", FORMS)
def test_lost_results_in_the_middle_are_put_behind_their_step(provider: str) -> None:
    # Both calls of the first step were lost; the user went on, and so did everybody else.
    whole = conversation(provider)
    before = copy.deepcopy(whole)
    transcript = read_transcript(whole, provider)
    first = [result.index for result in transcript.results[:2]]
    messages = [message for index, message in enumerate(whole) if index not in first]
    completed = with_interrupted(messages, provider)
    assert read_transcript(completed, provider).unanswered == ()
    kept = [message for message in completed if any(message is old for old in messages)]
    assert kept == messages
    added = [n for n, message in enumerate(completed) if message not in messages]
    place = transcript.calls[1].index + 1
    assert added[0] == place
    assert whole == before


def test_appending_serves_only_calls_that_nothing_has_followed() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    for said in (
        {"role": "user", "content": "hello?"},
        {"role": "system", "content": "note"},
        {"role": "assistant", "content": "well"},
    ):
        messages = [asked, said]
        transcript = read_transcript(messages, "openai")
        assert [one.call_id for one in transcript.unanswered] == ["c"]
        assert interrupted_results(transcript, "openai") == []
        lost = {"role": "tool", "tool_call_id": "c", "content": INTERRUPTED}
        assert with_interrupted(messages, "openai") == [asked, lost, said]


def test_a_result_of_responses_may_come_at_any_time() -> None:
    items = [
        {"type": "function_call", "call_id": "c", "name": "x", "arguments": "{}"},
        {"role": "user", "content": "hello?"},
    ]
    (lost,) = interrupted_results(read_transcript(items, "openai-responses"), "openai-responses")
    assert lost == {"type": "function_call_output", "call_id": "c", "output": INTERRUPTED}
    assert with_interrupted(items, "openai-responses") == [items[0], lost, items[1]]


def test_results_that_came_stay_in_front_so_that_equal_ids_pair_as_before() -> None:
    block = {"type": "tool_use", "id": "c", "name": "x", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "of the first"}
    messages = [
        {"role": "assistant", "content": [block, {**block, "name": "y"}]},
        {"role": "user", "content": [result]},
        {"role": "user", "content": "go on"},
    ]
    completed = with_interrupted(messages, "anthropic")
    assert [messages.index(m) if m in messages else None for m in completed] == [0, 1, None, 2]
    assert [one.call for one in read_transcript(completed, "anthropic").results] == [0, 1]


def test_a_lost_result_stands_before_the_users_words_in_a_mixed_message() -> None:
    use = {"type": "tool_use", "name": "x", "input": {}}
    mixed = [
        {"type": "tool_result", "tool_use_id": "b", "content": "done"},
        {"type": "text", "text": "and now?"},
    ]
    messages = [
        {"role": "assistant", "content": [{**use, "id": "a"}, {**use, "id": "b"}]},
        {"role": "user", "content": mixed},
    ]
    completed = with_interrupted(messages, "anthropic")
    assert completed[0] is messages[0]
    assert completed[2] is messages[1]
    assert completed[1]["content"][0]["tool_use_id"] == "a"


def test_the_caller_picks_calls_and_words() -> None:
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in ("parked", "lost")
    ]
    messages = [{"role": "assistant", "tool_calls": calls}]
    (one,) = interrupted_results(
        read_transcript(messages, "openai"),
        "openai",
        text="gone",
        of=lambda call: call.wire_name != "parked",
    )
    assert one == {"role": "tool", "tool_call_id": "lost", "content": "gone"}
    completed = with_interrupted(messages, "openai", of=lambda call: call.wire_name == "parked")
    assert [message.get("tool_call_id") for message in completed] == [None, "parked"]


def test_each_kind_of_call_is_answered_as_its_kind() -> None:
    items = [
        {"type": "custom_tool_call", "call_id": "k", "name": "sh", "input": "ls"},
        {"type": "function_call", "call_id": "f", "name": "x", "arguments": "{}"},
    ]
    lost = interrupted_results(read_transcript(items, "openai-responses"), "openai-responses")
    assert {(one["type"], one["call_id"]) for one in lost} == {
        ("function_call_output", "f"),
        ("custom_tool_call_output", "k"),
    }
    legacy = [{"role": "assistant", "function_call": {"name": "x", "arguments": "{}"}}]
    assert interrupted_results(read_transcript(legacy, "openai"), "openai") == [
        {"role": "function", "name": "x", "content": INTERRUPTED}
    ]
    chat = [
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "f", "type": "function", "function": {"name": "x", "arguments": "{}"}}
            ],
        }
    ]
    for provider in ("generic", "mcp"):
        (one,) = interrupted_results(read_transcript(chat, provider), provider)
        assert one == {"role": "tool", "tool_call_id": "f", "content": INTERRUPTED}


def test_the_sdks_take_what_is_appended() -> None:
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    anthropic = pytest.importorskip("anthropic.types")
    adapters = {
        "openai": TypeAdapter(chat.ChatCompletionMessageParam),
        "openai-responses": TypeAdapter(responses.ResponseInputItemParam),
        "anthropic": TypeAdapter(anthropic.MessageParam),
    }
    for provider, adapter in adapters.items():
        adapter.validate_python(LOST[provider])
