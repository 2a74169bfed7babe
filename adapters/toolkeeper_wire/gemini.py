"""How does Gemini write tools, calls and results?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool, ToolIdentity, canonical_text
from toolkeeper_wire.definition import CleanTool
from toolkeeper_wire.format import WireCall, WireResult
from toolkeeper_wire.gemini_schema import gemini_subset
from toolkeeper_wire.name_codec import NameCodec
from toolkeeper_wire.response import body_of, list_at, mapping_at, refused, text_at
from toolkeeper_wire.wire_name import PROVIDER_NAMES


@dataclass(frozen=True, slots=True)
class Gemini:
    """`generateContent`: one tool that declares all functions, calls and results as parts."""

    name: str = "gemini"

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        return NameCodec.of(tools, PROVIDER_NAMES)

    def texts(self, tool: Tool) -> tuple[str, ...]:
        return (
            canonical_text(gemini_definition(CleanTool(tool), PROVIDER_NAMES.name(tool.identity))),
        )

    def tools(self, tools: Sequence[Tool], codec: NameCodec) -> list[dict[str, Any]]:
        declared = [gemini_definition(CleanTool(tool), codec.wire(tool.name)) for tool in tools]
        return [{"functionDeclarations": declared}] if declared else []

    def request(self, tools: Sequence[Tool], codec: NameCodec, system: str) -> dict[str, Any]:
        return {"tools": self.tools(tools, codec), "system": system}

    def calls(self, response: Any) -> list[WireCall]:
        """The calls of the first candidate; one without an id gets its position as one."""
        body = body_of(response, self.name)
        if "candidates" not in body and "promptFeedback" not in body:
            raise refused(self.name, "`candidates` is missing")
        candidates = list_at(body, "candidates", self.name)
        content = mapping_at(candidates[0], "content") if candidates else {}
        calls: list[WireCall] = []
        for part in list_at(content, "parts", self.name):
            call = mapping_at(part, "functionCall") or mapping_at(part, "function_call")
            if not call:
                continue
            arguments = call.get("args")
            calls.append(
                WireCall(
                    text_at(call, "id") or f"call_{len(calls) + 1}",
                    text_at(call, "name"),
                    # This wire leaves an empty object out.
                    {} if arguments is None else arguments,
                )
            )
        return calls

    def result(self, result: WireResult) -> dict[str, Any]:
        return {"role": "user", "parts": [_part(result)]}

    def results(self, results: Sequence[WireResult]) -> list[dict[str, Any]]:
        return [{"role": "user", "parts": [_part(result) for result in results]}] if results else []


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
