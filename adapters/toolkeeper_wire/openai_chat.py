"""How do OpenAI's Chat Completions write tools, calls and results?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool, ToolIdentity, canonical_text
from toolkeeper_wire.definition import CleanTool, clean_tool, unshared
from toolkeeper_wire.format import WireCall, WireResult
from toolkeeper_wire.history import Entry, PlacedCall, Said, placed
from toolkeeper_wire.name_codec import NameCodec
from toolkeeper_wire.native import NativeTools, search_refused
from toolkeeper_wire.pause import Continue
from toolkeeper_wire.response import body_of, list_at, mapping_at, refused, text_at
from toolkeeper_wire.tool_choice import ToolChoice, checked_choice
from toolkeeper_wire.wire_name import PROVIDER_NAMES

_ID_LIMIT = 40
"""What this endpoint takes of a call's id."""


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """Chat Completions; many other providers and local servers speak it too."""

    name: str = "openai"

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        return NameCodec.of(tools, PROVIDER_NAMES)

    def texts(self, tool: Tool) -> tuple[str, ...]:
        return (
            canonical_text(chat_definition(clean_tool(tool), PROVIDER_NAMES.name(tool.identity))),
        )

    def tools(
        self, tools: Sequence[Tool], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        if native is not None:
            raise search_refused(self.name)
        return [
            unshared(chat_definition(clean_tool(tool), codec.wire(tool.name))) for tool in tools
        ]

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
        if checked.tool is None:
            return {**parts, "tool_choice": checked.mode.value}
        forced = {"type": "function", "function": {"name": codec.wire(checked.tool)}}
        return {**parts, "tool_choice": forced}

    def calls(self, response: Any) -> list[WireCall]:
        """The calls of the first choice; a bare assistant message is taken as well."""
        body = body_of(response, self.name)
        if "choices" in body:
            choices = list_at(body, "choices", self.name)
            message = mapping_at(choices[0], "message") if choices else {}
        elif body.get("role") == "assistant":
            message = body
        else:
            raise refused(self.name, "`choices` is missing")
        calls = [_call(call) for call in list_at(message, "tool_calls", self.name)]
        legacy = message.get("function_call")
        if isinstance(legacy, Mapping) and not calls:
            calls.append(
                WireCall("function_call", text_at(legacy, "name"), legacy.get("arguments"))
            )
        return calls

    def result(self, result: WireResult) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": result.call_id, "content": result.text}

    def results(self, results: Sequence[WireResult]) -> list[dict[str, Any]]:
        return [self.result(result) for result in results]

    def found(self, response: Any, codec: NameCodec) -> tuple[str, ...]:
        self.calls(response)
        return ()

    def pause(self, response: Any) -> Continue | None:
        self.calls(response)
        return None

    def history(
        self, entries: Sequence[Entry], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        for entry in placed(entries, codec, _ID_LIMIT):
            if isinstance(entry, Said):
                messages.append({"role": entry.role, "content": entry.text})
                continue
            text, calls = entry
            messages.append(
                {
                    "role": "assistant",
                    "content": text or None,
                    "tool_calls": [_recorded(call) for call in calls],
                }
            )
            messages.extend(self.results([WireResult.of(call) for call in calls]))
        return messages


def chat_definition(tool: CleanTool, name: str) -> dict[str, Any]:
    """One entry of the tools array."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": tool.description,
            "parameters": tool.root,
        },
    }


def _call(call: Any) -> WireCall:
    if not isinstance(call, Mapping):
        return WireCall("", "", None)
    if call.get("type") == "custom":
        # Nobody offered it one, but a call that came is a call: it gets its refusal and its row.
        custom = mapping_at(call, "custom")
        return WireCall(text_at(call, "id"), text_at(custom, "name"), custom.get("input"))
    function = mapping_at(call, "function")
    return WireCall(text_at(call, "id"), text_at(function, "name"), function.get("arguments"))


def _recorded(call: PlacedCall) -> dict[str, Any]:
    return {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.wire_name, "arguments": call.text},
    }
