"""How does MCP write tools, calls and results?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import ConfigError, Tool, ToolIdentity, canonical_text
from toolkeeper_wire.definition import CleanTool, clean_tool, unshared
from toolkeeper_wire.format import WireCall, WireResult
from toolkeeper_wire.history import Entry
from toolkeeper_wire.name_codec import NameCodec
from toolkeeper_wire.native import NativeTools, search_refused
from toolkeeper_wire.pause import Continue
from toolkeeper_wire.response import body_of, mapping_at, refused, text_at
from toolkeeper_wire.tool_choice import ChoiceMode, ToolChoice, checked_choice
from toolkeeper_wire.wire_name import MCP_NAMES

_METHOD = "tools/call"


@dataclass(frozen=True, slots=True)
class Mcp:
    """`tools/list` and `tools/call`; canonical names keep their dots, schemas stay as they are."""

    name: str = "mcp"

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        return NameCodec.of(tools, MCP_NAMES)

    def texts(self, tool: Tool) -> tuple[str, ...]:
        name = MCP_NAMES.name(tool.identity)
        return (canonical_text(mcp_definition(clean_tool(tool), name)),)

    def tools(
        self, tools: Sequence[Tool], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        if native is not None:
            raise search_refused(self.name)
        return [unshared(mcp_definition(clean_tool(tool), codec.wire(tool.name))) for tool in tools]

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
        """A choice other than `auto` is a ConfigError: the protocol has no word for it."""
        checked = checked_choice(choice, tools)
        if checked is not None and checked.mode is not ChoiceMode.AUTO:
            raise ConfigError(
                "provider `mcp` has no tool choice: its client's model chooses by itself",
                "leave the tool choice out",
            )
        return {"tools": self.tools(tools, codec, native), "system": system}

    def calls(self, response: Any) -> list[WireCall]:
        """The one call of a `tools/call` request; arguments left out are `{}`, null is not."""
        body = body_of(response, self.name)
        if body.get("method") != _METHOD:
            raise refused(self.name, f"the method must be `{_METHOD}`")
        params = mapping_at(body, "params")
        call_id = body.get("id")
        return [
            WireCall(
                "" if call_id is None else str(call_id),
                text_at(params, "name"),
                params.get("arguments", {}),
            )
        ]

    def result(self, result: WireResult) -> dict[str, Any]:
        return {
            "content": [{"type": "text", "text": result.text}],
            "isError": result.is_error,
        }

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
        """Always a ConfigError: a client keeps its own conversation and never hands it over."""
        raise ConfigError(
            "provider `mcp` carries no conversation",
            "render the history for the provider that the model is asked with",
        )


def mcp_definition(tool: CleanTool, name: str) -> dict[str, Any]:
    """One entry of the tools array."""
    schema = {**tool.schema}
    # The protocol wants these two said, even where they say nothing.
    schema["type"] = "object"
    schema.setdefault("properties", {})
    defined = {
        "name": name,
        "description": tool.description,
        "inputSchema": schema,
    }
    if tool.title:
        defined["title"] = tool.title
    return defined
