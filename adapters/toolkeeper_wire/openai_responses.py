"""How does OpenAI's Responses endpoint write tools, calls and results?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool, ToolIdentity, canonical_text
from toolkeeper_wire.definition import CleanTool
from toolkeeper_wire.format import WireCall, WireResult
from toolkeeper_wire.name_codec import NameCodec
from toolkeeper_wire.response import body_of, list_at, refused, text_at
from toolkeeper_wire.wire_name import PROVIDER_NAMES

_ARGUMENTS = {"function_call": "arguments", "custom_tool_call": "input"}


@dataclass(frozen=True, slots=True)
class OpenAIResponses:
    """The Responses endpoint: flat definitions, and calls as items of the output."""

    name: str = "openai-responses"

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        return NameCodec.of(tools, PROVIDER_NAMES)

    def texts(self, tool: Tool) -> tuple[str, ...]:
        return (
            canonical_text(
                responses_definition(CleanTool(tool), PROVIDER_NAMES.name(tool.identity))
            ),
        )

    def tools(self, tools: Sequence[Tool], codec: NameCodec) -> list[dict[str, Any]]:
        return [responses_definition(CleanTool(tool), codec.wire(tool.name)) for tool in tools]

    def request(self, tools: Sequence[Tool], codec: NameCodec, system: str) -> dict[str, Any]:
        return {"tools": self.tools(tools, codec), "system": system}

    def calls(self, response: Any) -> list[WireCall]:
        body = body_of(response, self.name)
        if "output" not in body:
            raise refused(self.name, "`output` is missing")
        return [
            WireCall(
                text_at(item, "call_id"),
                text_at(item, "name"),
                item.get(_ARGUMENTS[text_at(item, "type")]),
            )
            for item in list_at(body, "output", self.name)
            if isinstance(item, Mapping) and text_at(item, "type") in _ARGUMENTS
        ]

    def result(self, result: WireResult) -> dict[str, Any]:
        return {
            "type": "function_call_output",
            "call_id": result.call_id,
            "output": result.text,
        }

    def results(self, results: Sequence[WireResult]) -> list[dict[str, Any]]:
        return [self.result(result) for result in results]


def responses_definition(tool: CleanTool, name: str) -> dict[str, Any]:
    """One entry of the tools array."""
    return {
        "type": "function",
        "name": name,
        "description": tool.description,
        "parameters": tool.root,
        # Left out, the endpoint rewrites the schema and requires every optional argument.
        "strict": False,
    }
