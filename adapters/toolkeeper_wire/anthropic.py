"""How do Anthropic's Messages write tools, calls and results?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool, ToolIdentity, canonical_text
from toolkeeper_wire.definition import CleanTool
from toolkeeper_wire.format import WireCall, WireResult
from toolkeeper_wire.name_codec import NameCodec
from toolkeeper_wire.response import body_of, list_at, refused, text_at
from toolkeeper_wire.wire_name import PROVIDER_NAMES


@dataclass(frozen=True, slots=True)
class Anthropic:
    """The Messages endpoint: calls and results are blocks, all results in one user message."""

    name: str = "anthropic"

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        return NameCodec.of(tools, PROVIDER_NAMES)

    def texts(self, tool: Tool) -> tuple[str, ...]:
        return (
            canonical_text(
                anthropic_definition(CleanTool(tool), PROVIDER_NAMES.name(tool.identity))
            ),
        )

    def tools(self, tools: Sequence[Tool], codec: NameCodec) -> list[dict[str, Any]]:
        return [anthropic_definition(CleanTool(tool), codec.wire(tool.name)) for tool in tools]

    def request(self, tools: Sequence[Tool], codec: NameCodec, system: str) -> dict[str, Any]:
        return {"tools": self.tools(tools, codec), "system": system}

    def calls(self, response: Any) -> list[WireCall]:
        body = body_of(response, self.name)
        if "content" not in body:
            raise refused(self.name, "`content` is missing")
        if isinstance(body["content"], str):
            return []
        return [
            WireCall(text_at(block, "id"), text_at(block, "name"), block.get("input"))
            for block in list_at(body, "content", self.name)
            if isinstance(block, Mapping) and block.get("type") == "tool_use"
        ]

    def result(self, result: WireResult) -> dict[str, Any]:
        return {"role": "user", "content": [_block(result)]}

    def results(self, results: Sequence[WireResult]) -> list[dict[str, Any]]:
        if not results:
            return []
        # The endpoint refuses a turn whose results are spread over several messages.
        return [{"role": "user", "content": [_block(result) for result in results]}]


def cache_marked(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same tools array with a cache marker on its last tool that is not deferred."""
    marked = [dict(tool) for tool in tools]
    for tool in reversed(marked):
        if not tool.get("defer_loading"):
            tool["cache_control"] = {"type": "ephemeral"}
            break
    return marked


def anthropic_definition(tool: CleanTool, name: str) -> dict[str, Any]:
    """One entry of the tools array."""
    return {
        "name": name,
        "description": tool.description,
        "input_schema": tool.plain_root,
    }


def _block(result: WireResult) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.text,
        "is_error": result.is_error,
    }
