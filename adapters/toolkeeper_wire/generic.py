"""How is a session rendered and priced whose provider is not known?"""

from dataclasses import dataclass

from toolkeeper_contract import Tool, canonical_text
from toolkeeper_wire.anthropic import anthropic_definition
from toolkeeper_wire.definition import clean_tool
from toolkeeper_wire.gemini import gemini_definition
from toolkeeper_wire.mcp import mcp_definition
from toolkeeper_wire.openai_chat import OpenAIChat, chat_definition
from toolkeeper_wire.openai_responses import responses_definition
from toolkeeper_wire.wire_name import MCP_NAMES, PROVIDER_NAMES


@dataclass(frozen=True, slots=True)
class Generic(OpenAIChat):
    """Written like Chat Completions, priced as the dearest of all formats."""

    name: str = "generic"

    def texts(self, tool: Tool) -> tuple[str, ...]:
        clean = clean_tool(tool)
        name = PROVIDER_NAMES.name(tool.identity)
        return (
            canonical_text(chat_definition(clean, name)),
            canonical_text(responses_definition(clean, name)),
            canonical_text(anthropic_definition(clean, name)),
            canonical_text(gemini_definition(clean, name)),
            canonical_text(mcp_definition(clean, MCP_NAMES.name(tool.identity))),
        )
