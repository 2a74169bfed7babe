"""What stands in a content of Gemini's?"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_wire.response import text_at
from toolkeeper_wire.transcript.pairing import Pairing
from toolkeeper_wire.transcript.part import part_at, parts_of

FUNCTION_CALL = "functionCall"


def read_content(index: int, content: Mapping[str, Any], found: Pairing) -> None:
    """Adds what a content tells; parts of other kinds are passed over."""
    parts = parts_of(content.get("parts"))
    if content.get("role") == "model":
        found.said()
        calls = [part_at(part, "functionCall", "function_call") for part in parts]
        for number, call in enumerate(filter(None, calls), start=1):
            # The same id that a call without one gets when its response is read.
            call_id = text_at(call, "id") or f"call_{number}"
            found.call(index, call_id, text_at(call, "name"), FUNCTION_CALL, by_name=True)
    elif content.get("role") in (None, "user", "function"):
        _user(index, content, parts, found)


def _user(
    index: int, content: Mapping[str, Any], parts: list[Mapping[str, Any]], found: Pairing
) -> None:
    answers = [part_at(part, "functionResponse", "function_response") for part in parts]
    answers = [answer for answer in answers if answer]
    if not answers or len(answers) < len(content["parts"]):
        found.interposed()
        if content.get("role") != "function":
            found.turns.append(index)
    for answer in answers:
        call_id = text_at(answer, "id")
        found.result(index, call_id, wire_name=None if call_id else text_at(answer, "name"))
