"""Is a paused request sent again, and not for ever?"""

from typing import Any

import pytest

from toolkeeper_wire import Anthropic, Continue, Exhausted, OpenAIResponses, PauseCount

SEARCH = {
    "type": "server_tool_use",
    "id": "srvtoolu_1",
    "name": "tool_search_tool_bm25",
    "input": {"query": "x", "limit": None},
}
PAUSED: dict[str, Any] = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "stop_reason": "pause_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
    "content": [{"type": "text", "text": "let me look"}, SEARCH],
}
ITEM = {
    "id": "ts1",
    "type": "tool_search_call",
    "execution": "server",
    "status": "incomplete",
    "arguments": {},
}
BROKEN_OFF: dict[str, Any] = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [ITEM],
}


def test_a_paused_turn_goes_on_with_the_unfinished_answer() -> None:
    expected = Continue(({"role": "assistant", "content": PAUSED["content"]},))
    assert Anthropic().pause(PAUSED) == expected
    types = pytest.importorskip("anthropic.types")
    assert Anthropic().pause(types.Message.model_validate(PAUSED)) == expected


def test_a_turn_with_calls_to_answer_is_not_paused() -> None:
    call = {"type": "tool_use", "id": "t", "name": "a", "input": {}}
    assert Anthropic().pause(PAUSED | {"content": [*PAUSED["content"], call]}) is None


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "tool_use", "refusal", None])
def test_no_other_end_is_a_pause(reason: str | None) -> None:
    assert Anthropic().pause(PAUSED | {"stop_reason": reason}) is None


def test_an_answer_that_broke_off_in_its_search_is_asked_for_again() -> None:
    assert OpenAIResponses().pause(BROKEN_OFF) == Continue((ITEM,))
    responses = pytest.importorskip("openai.types.responses")
    parsed = responses.Response.model_validate(BROKEN_OFF)
    assert OpenAIResponses().pause(parsed) == Continue((ITEM,))


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "completed"},
        {"status": "failed"},
        {"incomplete_details": {"reason": "content_filter"}},
        {"incomplete_details": {"reason": "steered"}},
        {"output": []},
        {"output": [ITEM, {"type": "message", "role": "assistant", "content": []}]},
        {"output": [{"type": "function_call", "call_id": "c", "name": "a"}, ITEM]},
    ],
)
def test_an_answer_that_only_ran_out_of_room_is_not(changes: dict[str, Any]) -> None:
    assert OpenAIResponses().pause(BROKEN_OFF | changes) is None


def test_a_request_is_sent_again_eight_times_and_then_the_turn_ends_with_a_warning() -> None:
    paused = Continue(({"role": "assistant", "content": []},))
    count = PauseCount()
    for _ in range(8):
        count, step = count.resume(paused)
        assert step is paused
    count, step = count.resume(paused)
    assert step == Exhausted("the provider paused again after 8 resends, so the turn was ended")
    assert count.resume(paused) == (count, step)
