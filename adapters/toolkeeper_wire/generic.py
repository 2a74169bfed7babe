"""How is a session rendered and priced whose provider is not known?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool, canonical_text
from toolkeeper_wire.definition import clean_tool
from toolkeeper_wire.gemini import gemini_definition
from toolkeeper_wire.mcp import mcp_definition
from toolkeeper_wire.openai_chat import OpenAIChat
from toolkeeper_wire.openai_responses import responses_definition
from toolkeeper_wire.wire_name import MCP_NAMES, PROVIDER_NAMES

_GROWS = ('"const":', '"allOf":', '"definitions":')
"""What Gemini's subset writes at greater length; everything else it keeps or drops."""

_DIALECT = "://json-schema.org/draft"
_SIGNS = 8
"""So many dots of a name may cost more than the underscores that stand for them elsewhere."""


@dataclass(frozen=True, slots=True)
class Generic(OpenAIChat):
    """Written like Chat Completions, priced as the dearest of all formats."""

    name: str = "generic"

    def texts(self, tool: Tool) -> tuple[str, ...]:
        """The texts of those formats that can be the dearest for this tool; one, mostly."""
        return tuple(_dearest(tool))


def _dearest(tool: Tool) -> Iterator[str]:
    # The formats write the same description, name and schema into different frames, and that of
    # Responses costs the most. Another format is dearer only where it writes one of the three at
    # greater length, as only MCP and Gemini can.
    clean = clean_tool(tool)
    name = PROVIDER_NAMES.name(tool.identity)
    mcp = mcp_definition(clean, MCP_NAMES.name(tool.identity))
    schema = mcp["inputSchema"]
    plain = PROVIDER_NAMES.plain(tool.identity) is not None and name.count("_") <= _SIGNS
    if "title" in mcp or not plain or schema != clean.root:
        yield canonical_text(mcp)
        if plain and _without_dialect(schema) == clean.root:
            # The line that names the dialect costs more than the frames differ by.
            return
    text = canonical_text(responses_definition(clean, name))
    yield text
    if any(map(text.__contains__, _GROWS)):
        yield canonical_text(gemini_definition(clean, name))


def _without_dialect(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    dialect = schema.get("$schema")
    if not isinstance(dialect, str) or _DIALECT not in dialect:
        return None
    return {key: value for key, value in schema.items() if key != "$schema"}
