"""How do Anthropic's Messages write tools, calls and results?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool, ToolIdentity, canonical_text
from toolkeeper_wire.capability import BM25, REGEX
from toolkeeper_wire.definition import CleanTool, clean_tool, unshared
from toolkeeper_wire.format import WireCall, WireResult
from toolkeeper_wire.history import Entry, PlacedCall, Said, placed
from toolkeeper_wire.name_codec import NameCodec
from toolkeeper_wire.native import TOMBSTONE, NativeTools, decoded, empty_schema, search_refused
from toolkeeper_wire.pause import Continue
from toolkeeper_wire.response import (
    body_of,
    check_parts,
    executed,
    list_at,
    mapping_at,
    refused,
    sendable,
    text_at,
)
from toolkeeper_wire.tool_choice import ChoiceMode, ToolChoice, checked_choice
from toolkeeper_wire.wire_name import PROVIDER_NAMES

_SEARCHES = {
    BM25: {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    REGEX: {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
}
_SEARCH_NAMES = frozenset(search["name"] for search in _SEARCHES.values())
_CHOICES = {ChoiceMode.AUTO: "auto", ChoiceMode.NONE: "none", ChoiceMode.REQUIRED: "any"}
_ID_LIMIT = 64
_SERVER_USE = "server_tool_use"
_SEARCH_RESULT = "tool_search_tool_result"
_KNOWN = frozenset(
    {
        "compaction",
        "fallback",
        "redacted_thinking",
        "text",
        "thinking",
        "tool_use",
        _SEARCH_RESULT,
        _SERVER_USE,
    }
)
_EXECUTED = frozenset(
    {
        "advisor_tool_result",
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "container_upload",
        "mcp_tool_listing",
        "mcp_tool_result",
        "mcp_tool_use",
        "text_editor_code_execution_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)


@dataclass(frozen=True, slots=True)
class Anthropic:
    """The Messages endpoint: calls and results are blocks, all results in one user message."""

    name: str = "anthropic"

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        return NameCodec.of(tools, PROVIDER_NAMES)

    def texts(self, tool: Tool) -> tuple[str, ...]:
        name = PROVIDER_NAMES.name(tool.identity)
        return (canonical_text(anthropic_definition(clean_tool(tool), name)),)

    def tools(
        self, tools: Sequence[Tool], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        defined = [
            unshared(anthropic_definition(clean_tool(tool), codec.wire(tool.name)))
            for tool in tools
        ]
        return defined if native is None else [*self._search(native, tools, codec, defined)]

    def _search(
        self,
        native: NativeTools,
        tools: Sequence[Tool],
        codec: NameCodec,
        defined: Sequence[dict[str, Any]],
    ) -> Iterator[dict[str, Any]]:
        search = _SEARCHES.get(native.capability.variant)
        if search is None or native.capability.provider != self.name:
            raise search_refused(self.name)
        # First, so that what the provider keeps in its cache begins with what never changes.
        yield dict(search)
        yield from defined
        for tool in native.deferred:
            entry = unshared(anthropic_definition(clean_tool(tool), codec.wire(tool.name)))
            yield {**entry, "defer_loading": True}
        for identity in native.gone(tools):
            yield {
                "name": codec.wire(identity.canonical_name),
                "description": TOMBSTONE,
                "input_schema": empty_schema(),
                "defer_loading": True,
            }

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
        array = self.tools(tools, codec, native)
        parts = {"tools": cache_marked(array) if cached else array, "system": system}
        checked = checked_choice(choice, tools)
        if checked is None:
            return parts
        if checked.tool is not None:
            return {**parts, "tool_choice": {"type": "tool", "name": codec.wire(checked.tool)}}
        return {**parts, "tool_choice": {"type": _CHOICES[checked.mode]}}

    def calls(self, response: Any) -> list[WireCall]:
        return [
            WireCall(text_at(block, "id"), text_at(block, "name"), block.get("input"))
            for block in self._blocks(response)
            if block["type"] == "tool_use"
        ]

    def found(self, response: Any, codec: NameCodec) -> tuple[str, ...]:
        names = [
            text_at(reference, "tool_name")
            for block in self._blocks(response)
            if block["type"] == _SEARCH_RESULT
            for reference in list_at(mapping_at(block, "content"), "tool_references", self.name)
            if isinstance(reference, Mapping)
        ]
        return decoded(names, codec)

    def pause(self, response: Any) -> Continue | None:
        blocks = self._blocks(response)
        if body_of(response, self.name).get("stop_reason") != "pause_turn":
            return None
        if any(block["type"] == "tool_use" for block in blocks):
            return None
        return Continue(({"role": "assistant", "content": [sendable(block) for block in blocks]},))

    def result(self, result: WireResult) -> dict[str, Any]:
        return {"role": "user", "content": [_block(result)]}

    def results(self, results: Sequence[WireResult]) -> list[dict[str, Any]]:
        if not results:
            return []
        # The endpoint refuses a turn whose results are spread over several messages.
        return [{"role": "user", "content": [_block(result) for result in results]}]

    def history(
        self, entries: Sequence[Entry], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        for entry in placed(entries, codec, _ID_LIMIT):
            if isinstance(entry, Said):
                messages.append({"role": entry.role, "content": entry.text})
                continue
            text, calls = entry
            said = [{"type": "text", "text": text}] if text else []
            messages.append({"role": "assistant", "content": [*said, *map(_use, calls)]})
            messages.extend(self.results([WireResult.of(call) for call in calls]))
        return messages

    def _blocks(self, response: Any) -> Sequence[Mapping[str, Any]]:
        """The content of a response; ProtocolViolation for what no session asked for."""
        body = body_of(response, self.name)
        if "content" not in body:
            raise refused(self.name, "`content` is missing")
        if isinstance(body["content"], str):
            return ()
        blocks = list_at(body, "content", self.name)
        check_parts(self.name, blocks, _KNOWN, _EXECUTED)
        for block in blocks:
            if block["type"] == _SERVER_USE and text_at(block, "name") not in _SEARCH_NAMES:
                raise executed(self.name, text_at(block, "name"))
        return blocks


def cache_marked(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same tools array with a cache marker on its last tool that is not deferred.

    None where all are: the endpoint refuses a marker on a deferred one.
    """
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


def _use(call: PlacedCall) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call.call_id,
        "name": call.wire_name,
        "input": call.object,
    }


def _block(result: WireResult) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.text,
        "is_error": result.is_error,
    }
