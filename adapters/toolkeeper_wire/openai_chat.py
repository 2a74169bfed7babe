"""How do OpenAI's Chat Completions write tools, calls and results?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool, ToolIdentity, canonical_text
from toolkeeper_wire.definition import CleanTool
from toolkeeper_wire.format import WireCall, WireResult
from toolkeeper_wire.name_codec import NameCodec
from toolkeeper_wire.response import body_of, list_at, mapping_at, refused, text_at
from toolkeeper_wire.wire_name import PROVIDER_NAMES


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """Chat Completions; many other providers and local servers speak it too."""

    name: str = "openai"

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        return NameCodec.of(tools, PROVIDER_NAMES)

    def texts(self, tool: Tool) -> tuple[str, ...]:
        return (
            canonical_text(chat_definition(CleanTool(tool), PROVIDER_NAMES.name(tool.identity))),
        )

    def tools(self, tools: Sequence[Tool], codec: NameCodec) -> list[dict[str, Any]]:
        return [chat_definition(CleanTool(tool), codec.wire(tool.name)) for tool in tools]

    def request(self, tools: Sequence[Tool], codec: NameCodec, system: str) -> dict[str, Any]:
        return {"tools": self.tools(tools, codec), "system": system}

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
