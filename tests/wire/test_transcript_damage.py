"""Is a conversation that is cut, foreign or broken read for what it still says, or refused?"""

import json
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import ConfigError
from toolkeeper_wire import PROVIDERS
from toolkeeper_wire.transcript import (
    Transcript,
    interrupted_results,
    read_transcript,
    replayable,
    with_interrupted,
)

FOLDER = Path(__file__).parents[1] / "golden" / "transcripts"
FORMS = ("openai", "openai-responses", "anthropic", "gemini", "generic")
JUNK: list[Any] = [
    None,
    0,
    1.5,
    True,
    "",
    "x",
    b"x",
    [],
    [None],
    [[]],
    {},
    {"x": 1},
    object(),
    set(),
]


def conversation(provider: str) -> list[Any]:
    messages: list[Any] = json.loads((FOLDER / f"{provider}.json").read_text("utf-8"))
    return messages


def read(messages: list[Any], provider: str) -> Transcript | None:
    """What the conversation says; None when it was refused, by a message's index."""
    refusals: list[ConfigError] = []
    try:
        return read_transcript(messages, provider)
    except ConfigError as error:
        refusals.append(error)
    assert refusals[0].message.startswith("message ")
    assert refusals[0].hint is not None
    return None


def use_all(messages: list[Any], provider: str) -> None:
    """Reads, completes and replays; only a ConfigError that names the message may come of it."""
    transcript = read(messages, provider)
    if transcript is None:
        return
    json.dumps(interrupted_results(transcript, provider))
    completed = with_interrupted(messages, provider)
    assert read_transcript(completed, provider).unanswered == ()
    replayable(messages, provider, keep_from=len(messages))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_empty_conversation_says_nothing(provider: str) -> None:
    transcript = read_transcript([], provider)
    assert transcript.calls == transcript.searches == transcript.turns == ()
    assert interrupted_results(transcript, provider) == []


def test_an_unknown_provider_is_refused() -> None:
    for ask in (
        lambda: read_transcript([], "antropic"),
        lambda: interrupted_results(read_transcript([], "openai"), "antropic"),
        lambda: replayable([], "antropic", keep_from=0),
    ):
        with pytest.raises(ConfigError, match="`antropic` is not a known provider"):
            ask()


@pytest.mark.parametrize("messages", [None, "text", b"text", 5, {"role": "user"}, iter(())])
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    with pytest.raises(ConfigError, match="must be a list of messages"):
        read_transcript(messages, "openai")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("junk", [None, 5, "hello", ["x"], object()])
def test_what_is_no_message_is_refused_with_its_index(provider: str, junk: Any) -> None:
    good = {"role": "user", "content": "x", "parts": []}
    with pytest.raises(ConfigError, match="message 1 of the transcript") as refusal:
        read_transcript([good, junk], provider)
    assert provider in str(refusal.value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_whole_response_among_the_messages_is_refused_with_its_index(provider: str) -> None:
    for response in (
        {"id": "r", "object": "response", "output": []},
        {"id": "r", "choices": [], "output": []},
        {"candidates": []},
    ):
        with pytest.raises(ConfigError, match="message 0 of the transcript has n"):
            read_transcript([response], provider)


def test_an_item_of_responses_that_is_only_referred_to_is_passed_over() -> None:
    for item in (
        {"id": "rs_1"},
        {"id": "rs_1", "type": None},
        {"type": "item_reference", "id": "x"},
    ):
        assert read_transcript([item], "openai-responses").calls == ()


class Broken:
    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("secret")


class Odd:
    model_dump = "not a function"


@pytest.mark.parametrize("junk", [Broken(), Odd()])
def test_an_object_that_cannot_be_dumped_is_refused_or_passed_over(junk: Any) -> None:
    with pytest.raises(ConfigError, match="message 0") as refusal:
        read_transcript([junk], "openai")
    assert "secret" not in str(refusal.value)
    message = {"role": "assistant", "content": [junk], "tool_calls": [junk], "calls": [junk]}
    for provider in ("openai", "anthropic", "generic"):
        assert read_transcript([message], provider).calls == ()


@pytest.mark.parametrize("provider", FORMS)
def test_a_conversation_may_be_cut_anywhere(provider: str) -> None:
    messages = conversation(provider)
    for start in range(len(messages) + 1):
        for end in range(start, len(messages) + 1):
            use_all(messages[start:end], provider)


@pytest.mark.parametrize("provider", FORMS)
def test_any_message_may_be_missing(provider: str) -> None:
    messages = conversation(provider)
    for gone in range(len(messages)):
        use_all([*messages[:gone], *messages[gone + 1 :]], provider)


def changed(value: Any, junk: Any) -> list[Any]:
    """Every version of a JSON value in which one piece is replaced by `junk`."""
    if isinstance(value, dict):
        return [junk] + [
            {**value, key: other} for key, one in value.items() for other in changed(one, junk)
        ]
    if isinstance(value, list):
        return [junk] + [
            [*value[:place], other, *value[place + 1 :]]
            for place, one in enumerate(value)
            for other in changed(one, junk)
        ]
    return [junk]


@pytest.mark.parametrize("provider", FORMS)
def test_any_piece_may_be_of_a_wrong_type(provider: str) -> None:
    messages = conversation(provider)
    for place, message in enumerate(messages):
        for junk in JUNK:
            for other in changed(message, junk):
                use_all([*messages[:place], other, *messages[place + 1 :]], provider)


@pytest.mark.parametrize("written", FORMS)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_conversation_of_another_provider_does_not_crash(provider: str, written: str) -> None:
    use_all(conversation(written), provider)


def test_unknown_blocks_roles_and_items_are_passed_over() -> None:
    block = {"type": "hologram", "tool_use_id": "t"}
    call = {"type": "tool_use", "id": "t", "name": "tool_search", "input": {}}
    messages = [
        {"role": "critic", "content": [call]},
        {"role": "assistant", "content": [block, call, block]},
        {"role": "critic", "content": "x"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
    ]
    seen = read_transcript(messages, "anthropic").searches
    assert [(one.call_id, one.answered) for one in seen] == [("t", True)]
    items = [{"type": "hologram_call", "call_id": "c", "name": "tool_search"}]
    assert read_transcript(items, "openai-responses").calls == ()


def test_a_search_without_a_result_or_a_result_without_its_search_are_told() -> None:
    messages = conversation("openai")
    cut = read_transcript(messages[4:], "openai")
    assert [result.call for result in cut.results] == [None, None, 0]
    assert [one.answered for one in cut.searches] == [False]


@pytest.mark.parametrize("provider", FORMS)
def test_a_long_conversation_is_read_whole(provider: str) -> None:
    # Some megabytes, most of them in results: quadratic work would not come to an end here.
    messages = conversation(provider)
    many = messages * 1_500
    long = read_transcript(many, provider)
    assert len(long.calls) == 4 * 1_500
    assert len(long.turns) == 2 * 1_500
    assert {result.call is None for result in long.results} == {False}


def test_arguments_nested_however_deeply_do_not_hide_their_call() -> None:
    types = pytest.importorskip("anthropic.types")
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"a": deep}
    block = types.ToolUseBlock.model_construct(
        id="t", name="tool_search", input=deep, type="tool_use"
    )
    plain = {"type": "tool_use", "id": "t", "name": "tool_search", "input": deep}
    for one in (block, plain):
        (seen,) = read_transcript([{"role": "assistant", "content": [one]}], "anthropic").searches
        assert seen.call_id == "t"


def test_a_text_that_begins_like_a_note_and_goes_on_for_long_is_read_in_a_moment() -> None:
    head = "[toolkeeper: tools loaded before this conversation was shortened]\n"
    for line in ("- " + "a, " * 700_000, "- " + "a" * 2_000_000, "- a (search i)\n" * 150_000):
        text = head + line + "\n[toolkeeper: end; they can still be called by these names]"
        read_transcript([{"role": "system", "content": text}], "openai")
