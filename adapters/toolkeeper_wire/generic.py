"""How is a session rendered and priced whose provider is not known?"""

from dataclasses import dataclass

from toolkeeper_contract import Tool
from toolkeeper_wire.anthropic import Anthropic
from toolkeeper_wire.gemini import Gemini
from toolkeeper_wire.mcp import Mcp
from toolkeeper_wire.openai_chat import OpenAIChat
from toolkeeper_wire.openai_responses import OpenAIResponses

_ALL = (OpenAIChat(), OpenAIResponses(), Anthropic(), Gemini(), Mcp())


@dataclass(frozen=True, slots=True)
class Generic(OpenAIChat):
    """Written like Chat Completions, priced as the dearest of all formats."""

    name: str = "generic"

    def texts(self, tool: Tool) -> tuple[str, ...]:
        return tuple(text for form in _ALL for text in form.texts(tool))
