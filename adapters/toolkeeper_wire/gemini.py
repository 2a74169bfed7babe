"""How does Gemini write tools, calls and results?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool, ToolIdentity, canonical_text
from toolkeeper_wire.definition import CleanTool, clean_tool, unshared
from toolkeeper_wire.format import WireCall, WireResult
from toolkeeper_wire.gemini_schema import gemini_subset
from toolkeeper_wire.history import Entry, PlacedCall, Said, placed
from toolkeeper_wire.name_codec import NameCodec
from toolkeeper_wire.native import NativeTools, search_refused
from toolkeeper_wire.pause import Continue
from toolkeeper_wire.response import (
    body_of,
    executed,
    list_at,
    mapping_at,
    refused,
    text_at,
    unreadable,
)
from toolkeeper_wire.tool_choice import ChoiceMode, ToolChoice, checked_choice
from toolkeeper_wire.wire_name import PROVIDER_NAMES

_CHOICES = {
    ChoiceMode.AUTO: "AUTO",
    ChoiceMode.NONE: "NONE",
    ChoiceMode.REQUIRED: "ANY",
    ChoiceMode.TOOL: "ANY",
}
_ID_LIMIT = 64
# Both spellings: the endpoint writes the first, the SDK's own field names are the second.
_EXECUTED = frozenset(
    {
        "codeExecutionResult",
        "code_execution_result",
        "executableCode",
        "executable_code",
        "toolCall",
        "toolResponse",
        "tool_call",
        "tool_response",
    }
)
_CANDIDATE_EXECUTED = {
    "groundingMetadata": "grounding_metadata",
    "urlContextMetadata": "url_context_metadata",
}
_KNOWN = frozenset(
    {
        "fileData",
        "file_data",
        "functionCall",
        "function_call",
        "inlineData",
        "inline_data",
        "text",
        "thought",
        "thoughtSignature",
        "thought_signature",
    }
)


@dataclass(frozen=True, slots=True)
class Gemini:
    """`generateContent`: one tool that declares all functions, calls and results as parts."""

    name: str = "gemini"

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        return NameCodec.of(tools, PROVIDER_NAMES)

    def texts(self, tool: Tool) -> tuple[str, ...]:
        return (
            canonical_text(gemini_definition(clean_tool(tool), PROVIDER_NAMES.name(tool.identity))),
        )

    def tools(
        self, tools: Sequence[Tool], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        if native is not None:
            raise search_refused(self.name)
        declared = [
            unshared(gemini_definition(clean_tool(tool), codec.wire(tool.name))) for tool in tools
        ]
        return [{"functionDeclarations": declared}] if declared else []

    def request(
        self,
        tools: Sequence[Tool],
        codec: NameCodec,
        system: str,
        *,
        native: NativeTools | None = None,
        choice: ToolChoice | None = None,
        cached: bool = False,
    ) -> dict[str, Any]:
        parts: dict[str, Any] = {"tools": self.tools(tools, codec, native), "system": system}
        checked = checked_choice(choice, tools)
        if checked is None:
            return parts
        calling: dict[str, Any] = {"mode": _CHOICES[checked.mode]}
        if checked.tool is not None:
            calling["allowedFunctionNames"] = [codec.wire(checked.tool)]
        return {**parts, "toolConfig": {"functionCallingConfig": calling}}

    def calls(self, response: Any) -> list[WireCall]:
        """The calls of the first candidate; one without an id gets its position as one."""
        calls: list[WireCall] = []
        for part in self._parts(response):
            call = _either(part, "functionCall", "function_call")
            if call is None:
                continue
            fields = call if isinstance(call, Mapping) else {}
            arguments = fields.get("args")
            calls.append(
                WireCall(
                    text_at(fields, "id") or f"call_{len(calls) + 1}",
                    text_at(fields, "name"),
                    # This wire leaves an empty object out.
                    {} if arguments is None else arguments,
                )
            )
        return calls

    def found(self, response: Any, codec: NameCodec) -> tuple[str, ...]:
        self._parts(response)
        return ()

    def pause(self, response: Any) -> Continue | None:
        self._parts(response)
        return None

    def _parts(self, response: Any) -> Sequence[Mapping[str, Any]]:
        """The parts of the first candidate; ProtocolViolation for what no session asked for."""
        body = body_of(response, self.name)
        if not body.keys() & {"candidates", "promptFeedback", "prompt_feedback"}:
            raise refused(self.name, "`candidates` is missing")
        candidates = list_at(body, "candidates", self.name)
        candidate = candidates[0] if candidates else {}
        if not isinstance(candidate, Mapping):
            raise refused(self.name, "a candidate must be an object")
        for camel, snake in _CANDIDATE_EXECUTED.items():
            if any(_values(_either(candidate, camel, snake))):
                raise executed(self.name, camel)
        parts = list_at(mapping_at(candidate, "content"), "parts", self.name)
        for part in parts:
            if not isinstance(part, Mapping):
                raise unreadable(self.name, None)
            _check(part, self.name)
        return parts

    def result(self, result: WireResult) -> dict[str, Any]:
        return {"role": "user", "parts": [_part(result)]}

    def results(self, results: Sequence[WireResult]) -> list[dict[str, Any]]:
        return [{"role": "user", "parts": [_part(result) for result in results]}] if results else []

    def history(
        self, entries: Sequence[Entry], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        for entry in placed(entries, codec, _ID_LIMIT):
            if isinstance(entry, Said):
                role = "model" if entry.role == "assistant" else entry.role
                messages.append({"role": role, "parts": [{"text": entry.text}]})
                continue
            text, calls = entry
            said = [{"text": text}] if text else []
            messages.append({"role": "model", "parts": [*said, *map(_recorded, calls)]})
            messages.extend(self.results([WireResult.of(call) for call in calls]))
        return messages


def gemini_definition(tool: CleanTool, name: str) -> dict[str, Any]:
    """One entry of the tools array."""
    return {
        "name": name,
        "description": tool.description,
        "parametersJsonSchema": gemini_subset(tool.plain_root),
    }


def _part(result: WireResult) -> Mapping[str, Any]:
    return {
        "functionResponse": {
            "id": result.call_id,
            "name": result.wire_name,
            "response": {"error" if result.is_error else "output": result.text},
        }
    }


def _recorded(call: PlacedCall) -> dict[str, Any]:
    return {
        "functionCall": {"id": call.call_id, "name": call.wire_name, "args": call.object},
    }


def _check(part: Mapping[str, Any], provider: str) -> None:
    present = [key for key, value in part.items() if value is not None]
    for key in present:
        if key in _EXECUTED:
            raise executed(provider, key)
    if present and _KNOWN.isdisjoint(present):
        raise unreadable(provider, present[0])


def _either(fields: Mapping[str, Any], camel: str, snake: str) -> Any:
    value = fields.get(camel)
    return fields.get(snake) if value is None else value


def _values(fields: Any) -> Iterable[Any]:
    return fields.values() if isinstance(fields, Mapping) else ()
