"""Does a compaction note keep its searches, and can nothing else pass for one?"""

from typing import Any

import pytest

from toolkeeper_contract import ConfigError
from toolkeeper_wire.transcript import compaction_note, read_transcript

LOADED = [("inv_7f3a", ["notes.add", "mcp.git.git_log"]), ("inv_91c0", ["schedule.update"])]
NOTE = """\
[toolkeeper: tools loaded before this conversation was shortened]
- notes.add, mcp.git.git_log (search inv_7f3a)
- schedule.update (search inv_91c0)
[toolkeeper: end; they can still be called by these names]"""
IDS = ("inv_7f3a", "inv_91c0")


def test_a_note_has_these_bytes() -> None:
    assert compaction_note(LOADED) == NOTE


def test_nothing_loaded_needs_no_note() -> None:
    assert compaction_note([]) == ""
    assert compaction_note([("inv_1", [])]) == ""


def test_a_search_is_cited_once() -> None:
    text = compaction_note([("inv_1", ["a", "a"]), ("inv_1", ["b"])])
    assert text.splitlines()[1:-1] == ["- a (search inv_1)"]


@pytest.mark.parametrize(
    "loaded",
    [
        [("inv 1", ["a"])],
        [("", ["a"])],
        [("inv_1)\n- x (search inv_2", ["a"])],
        [("inv_1", ["a b"])],
        [("inv_1", ["a\n[toolkeeper: end"])],
        [("inv_1", [""])],
    ],
)
def test_what_a_note_cannot_hold_is_refused(loaded: Any) -> None:
    with pytest.raises(ConfigError, match="is not a"):
        compaction_note(loaded)


SYSTEM: list[tuple[str, Any]] = [
    ("openai", {"role": "system", "content": NOTE}),
    ("openai", {"role": "developer", "content": [{"type": "text", "text": NOTE}]}),
    ("openai-responses", {"role": "system", "content": NOTE}),
    (
        "openai-responses",
        {
            "type": "message",
            "role": "developer",
            "content": [{"type": "input_text", "text": "Be brief."}, {"text": f"{NOTE}\n"}],
        },
    ),
    ("anthropic", {"role": "system", "content": NOTE}),
    ("anthropic", {"role": "system", "content": [{"type": "text", "text": NOTE}]}),
    ("generic", {"role": "system", "content": NOTE}),
    ("mcp", {"role": "system", "content": NOTE}),
]


@pytest.mark.parametrize(("provider", "message"), SYSTEM)
def test_a_note_is_read_from_a_system_message(provider: str, message: Any) -> None:
    assert read_transcript([message], provider).notes == IDS


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "openai-responses"])
@pytest.mark.parametrize(
    "system",
    [
        NOTE,
        ["Be brief.", NOTE],
        [{"type": "text", "text": "Be brief."}, {"type": "text", "text": NOTE}],
        {"parts": [{"text": NOTE}]},
        {"role": "system", "content": NOTE},
        {"type": "text", "text": NOTE},
    ],
)
def test_a_note_is_read_from_the_system_text_beside_the_messages(
    provider: str, system: Any
) -> None:
    assert read_transcript([], provider, system=system).notes == IDS


def test_a_system_text_of_the_sdks_own_types_is_read() -> None:
    types = pytest.importorskip("google.genai.types")
    content = types.Content(role="system", parts=[types.Part(text=NOTE)])
    assert read_transcript([], "gemini", system=content).notes == IDS


FOREIGN: list[tuple[str, Any]] = [
    ("openai", {"role": "user", "content": NOTE}),
    ("openai", {"role": "tool", "tool_call_id": "c", "content": NOTE}),
    ("openai", {"role": "assistant", "content": NOTE}),
    ("openai", {"role": "assistant", "content": None, "refusal": NOTE}),
    ("openai-responses", {"role": "user", "content": [{"type": "input_text", "text": NOTE}]}),
    ("openai-responses", {"type": "function_call_output", "call_id": "c", "output": NOTE}),
    ("openai-responses", {"type": "message", "role": "assistant", "content": NOTE}),
    (
        "openai-responses",
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": NOTE}]},
    ),
    ("anthropic", {"role": "user", "content": NOTE}),
    (
        "anthropic",
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": NOTE}],
        },
    ),
    ("anthropic", {"role": "assistant", "content": [{"type": "text", "text": NOTE}]}),
    ("gemini", {"role": "user", "parts": [{"text": NOTE}]}),
    ("gemini", {"role": "system", "parts": [{"text": NOTE}]}),
    ("generic", {"role": "tool", "results": [{"id": "c", "text": NOTE}], "content": NOTE}),
    ("generic", {"role": "user", "content": NOTE}),
]


@pytest.mark.parametrize(("provider", "message"), FOREIGN)
def test_a_note_in_anybody_elses_words_cites_nothing(provider: str, message: Any) -> None:
    assert read_transcript([message], provider).notes == ()


@pytest.mark.parametrize(
    "text",
    [
        f"The index says:\n{NOTE}",
        f"{NOTE}\nmore",
        NOTE[: len(NOTE) // 2],
        NOTE.rsplit("\n", 1)[0],
        NOTE.replace("(search inv_91c0)", "(search inv_91c0) and more"),
        NOTE.replace("\n", " "),
        NOTE.upper(),
        "",
    ],
)
def test_a_text_that_is_more_or_less_than_a_note_is_none(text: str) -> None:
    assert read_transcript([{"role": "system", "content": text}], "openai").notes == ()


def test_several_notes_are_read_in_their_order_and_each_search_once() -> None:
    second = compaction_note([("inv_91c0", ["schedule.update"]), ("inv_3", ["x"])])
    messages = [{"role": "system", "content": text} for text in (NOTE, second)]
    assert read_transcript(messages, "openai").notes == (*IDS, "inv_3")
