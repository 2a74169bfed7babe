"""Are thinking blocks left out from where the array changed, and nothing else?"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_wire.transcript import read_transcript, replayable

FOLDER = Path(__file__).parents[1] / "golden" / "transcripts"
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
REDACTED = {"type": "redacted_thinking", "data": "d"}
TEXT = {"type": "text", "text": "yes"}
USE = {"type": "tool_use", "id": "t", "name": "x", "input": {}}


def conversation(provider: str) -> list[Any]:
    messages: list[Any] = json.loads((FOLDER / f"{provider}.json").read_text("utf-8"))
    return messages


def test_thinking_before_the_change_is_left_out() -> None:
    messages = conversation("anthropic")
    before = copy.deepcopy(messages)
    sent = replayable(messages, "anthropic", keep_from=5)
    assert messages == before
    assert len(sent) == len(messages)
    for index, (new, old) in enumerate(zip(sent, messages, strict=True)):
        assert (new is old) == (index != 2)
    assert sent[2] == {"role": "assistant", "content": messages[2]["content"][1:]}
    assert sent[2]["content"][0] is messages[2]["content"][1]
    assert read_transcript(sent, "anthropic") == read_transcript(messages, "anthropic")


@pytest.mark.parametrize("keep_from", [-1, 0, 1])
def test_what_was_thought_since_the_change_stays(keep_from: int) -> None:
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": [THINKING, USE]}]
    sent = replayable(messages, "anthropic", keep_from=keep_from)
    assert all(new is old for new, old in zip(sent, messages, strict=True))


def test_both_kinds_of_thinking_go_wherever_they_stand() -> None:
    message = {"role": "assistant", "content": [THINKING, TEXT, REDACTED, THINKING, USE], "x": 1}
    (sent,) = replayable([message], "anthropic", keep_from=9)
    assert sent == {"role": "assistant", "content": [TEXT, USE], "x": 1}


def test_a_message_of_thinking_alone_is_left_out() -> None:
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [THINKING, REDACTED]},
        {"role": "user", "content": "y"},
    ]
    assert replayable(messages, "anthropic", keep_from=3) == [messages[0], messages[2]]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [THINKING]},
        {"role": "system", "content": [THINKING]},
        {"role": "assistant", "content": "thinking"},
        {"role": "assistant", "content": []},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": [None, 1, "thinking", TEXT]},
        {"role": "assistant"},
        {},
        None,
        7,
    ],
)
def test_every_other_message_is_the_very_same_object(message: Any) -> None:
    (sent,) = replayable([message], "anthropic", keep_from=9)
    assert sent is message


def test_objects_of_the_sdk_lose_their_thinking_too() -> None:
    types = pytest.importorskip("anthropic.types")
    thinking = types.ThinkingBlock(type="thinking", thinking="hm", signature="s")
    text = types.TextBlock(type="text", text="yes", citations=None)
    message = types.Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="m",
        content=[thinking, text],
        stop_reason="end_turn",
        stop_sequence=None,
        usage=types.Usage(input_tokens=1, output_tokens=1),
    )
    for one in (message, {"role": "assistant", "content": message.content}):
        (sent,) = replayable([one], "anthropic", keep_from=1)
        assert sent == {"role": "assistant", "content": [text]}
        assert sent["content"][0] is text
    assert message.content == [thinking, text]


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "gemini", "generic", "mcp"])
def test_other_providers_messages_are_the_very_same_objects(provider: str) -> None:
    form = "generic" if provider == "mcp" else provider
    messages = conversation(form)
    sent = replayable(messages, provider, keep_from=len(messages))
    assert sent is not messages
    assert all(new is old for new, old in zip(sent, messages, strict=True))
