"""How does OpenAI's Responses endpoint write tools, calls and results?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import SourceKind, Tool, ToolIdentity, canonical_text
from toolkeeper_wire.capability import HOSTED
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
from toolkeeper_wire.tool_choice import ToolChoice, checked_choice
from toolkeeper_wire.wire_name import PROVIDER_NAMES

_ARGUMENTS = {"function_call": "arguments", "custom_tool_call": "input"}
_ID_LIMIT = 64
_SEARCH_CALL = "tool_search_call"
_SEARCH_OUTPUT = "tool_search_output"
_SEARCH = frozenset({_SEARCH_CALL, _SEARCH_OUTPUT})
_KNOWN = frozenset({"compaction", "message", "reasoning", *_ARGUMENTS, *_SEARCH})
# Also what this program would have to execute, in a form that it never offered.
_EXECUTED = frozenset(
    {
        "additional_tools",
        "apply_patch_call",
        "apply_patch_call_output",
        "code_interpreter_call",
        "computer_call",
        "computer_call_output",
        "custom_tool_call_output",
        "file_search_call",
        "function_call_output",
        "image_generation_call",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "program",
        "program_output",
        "shell_call",
        "shell_call_output",
        "web_search_call",
    }
)
_KINDS = {SourceKind.MCP: "server", SourceKind.DEVICE: "device"}
# A resent request would be filtered again, or the server goes on by itself.
_FINAL = ("content_filter", "steered")


@dataclass(frozen=True, slots=True)
class OpenAIResponses:
    """The Responses endpoint: flat definitions, and calls as items of the output."""

    name: str = "openai-responses"

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        return NameCodec.of(tools, PROVIDER_NAMES)

    def texts(self, tool: Tool) -> tuple[str, ...]:
        name = PROVIDER_NAMES.name(tool.identity)
        return (canonical_text(responses_definition(clean_tool(tool), name)),)

    def tools(
        self, tools: Sequence[Tool], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        defined = [
            unshared(responses_definition(clean_tool(tool), codec.wire(tool.name)))
            for tool in tools
        ]
        if native is None:
            return defined
        if native.capability.provider != self.name or native.capability.variant != HOSTED:
            raise search_refused(self.name)
        return [{"type": "tool_search"}, *defined, *_deferred(native, tools, codec)]

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
        return {**parts, "tool_choice": {"type": "function", "name": codec.wire(checked.tool)}}

    def calls(self, response: Any) -> list[WireCall]:
        return [
            WireCall(
                text_at(item, "call_id"), text_at(item, "name"), item.get(_ARGUMENTS[item["type"]])
            )
            for item in self._items(response)
            if item["type"] in _ARGUMENTS
        ]

    def found(self, response: Any, codec: NameCodec) -> tuple[str, ...]:
        names = [
            name
            for item in self._items(response)
            if item["type"] == _SEARCH_OUTPUT
            for name in _function_names(list_at(item, "tools", self.name), self.name)
        ]
        return decoded(names, codec)

    def pause(self, response: Any) -> Continue | None:
        """An answer that broke off right after the provider's own search, with nothing said yet."""
        items = self._items(response)
        body = body_of(response, self.name)
        reason = text_at(mapping_at(body, "incomplete_details"), "reason")
        if body.get("status") != "incomplete" or reason in _FINAL:
            return None
        if not items or items[-1]["type"] not in _SEARCH:
            return None
        if any(item["type"] in _ARGUMENTS for item in items):
            return None
        return Continue(tuple(sendable(item) for item in items))

    def result(self, result: WireResult) -> dict[str, Any]:
        return {
            "type": "function_call_output",
            "call_id": result.call_id,
            "output": result.text,
        }

    def results(self, results: Sequence[WireResult]) -> list[dict[str, Any]]:
        return [self.result(result) for result in results]

    def history(
        self, entries: Sequence[Entry], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        deferred = frozenset() if native is None else native.names()
        items: list[dict[str, Any]] = []
        for entry in placed(entries, codec, _ID_LIMIT):
            if isinstance(entry, Said):
                items.append({"role": entry.role, "content": entry.text})
                continue
            text, calls = entry
            if text:
                items.append({"role": "assistant", "content": text})
            items.extend(_recorded(call, codec, deferred) for call in calls)
            items.extend(self.results([WireResult.of(call) for call in calls]))
        return items

    def _items(self, response: Any) -> Sequence[Mapping[str, Any]]:
        """The output of a response; ProtocolViolation for what no session asked for."""
        body = body_of(response, self.name)
        if "output" not in body:
            raise refused(self.name, "`output` is missing")
        items = list_at(body, "output", self.name)
        check_parts(self.name, items, _KNOWN, _EXECUTED)
        for item in items:
            if item["type"] in _SEARCH and item.get("execution") == "client":
                raise executed(self.name, f"{item['type']}.client")
        return items


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


def _deferred(
    native: NativeTools, tools: Sequence[Tool], codec: NameCodec
) -> Iterator[dict[str, Any]]:
    """Ours one by one, then what was discovered in one namespace for each server."""
    spaces: dict[str, dict[str, Any]] = {}
    entries: list[tuple[ToolIdentity, dict[str, Any]]] = [
        (tool.identity, unshared(responses_definition(clean_tool(tool), codec.wire(tool.name))))
        for tool in native.deferred
    ]
    entries += [(gone, _tombstone(codec, gone)) for gone in native.gone(tools)]
    for identity, entry in entries:
        deferred = {**entry, "defer_loading": True}
        name = PROVIDER_NAMES.namespace(identity)
        if name is None:
            yield deferred
            continue
        space = spaces.setdefault(
            name,
            {
                "type": "namespace",
                "name": name,
                "description": f"Tools of the {_KINDS[identity.kind]} {identity.source}.",
                "tools": [],
            },
        )
        space["tools"].append(deferred)
    yield from spaces.values()


def _tombstone(codec: NameCodec, identity: ToolIdentity) -> dict[str, Any]:
    return {
        "type": "function",
        "name": codec.wire(identity.canonical_name),
        "description": TOMBSTONE,
        "parameters": empty_schema(),
        "strict": False,
    }


def _function_names(tools: Sequence[Any], provider: str) -> Iterator[str]:
    for tool in tools:
        if not isinstance(tool, Mapping):
            continue
        if tool.get("type") == "namespace":
            yield from _function_names(list_at(tool, "tools", provider), provider)
        else:
            yield text_at(tool, "name")


def _recorded(call: PlacedCall, codec: NameCodec, deferred: frozenset[str]) -> dict[str, Any]:
    item = {
        "type": "function_call",
        "call_id": call.call_id,
        "name": call.wire_name,
        "arguments": call.text,
    }
    identity = codec.identity(call.call.name) if call.call.name in deferred else None
    namespace = PROVIDER_NAMES.namespace(identity) if identity else None
    # A function of a namespace that is named without it has the request refused.
    return {**item, "namespace": namespace} if namespace else item
