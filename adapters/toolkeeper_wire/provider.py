"""Which wire format does a provider speak?"""

from toolkeeper_contract import ConfigError, did_you_mean
from toolkeeper_wire.anthropic import Anthropic
from toolkeeper_wire.format import Format
from toolkeeper_wire.gemini import Gemini
from toolkeeper_wire.generic import Generic
from toolkeeper_wire.mcp import Mcp
from toolkeeper_wire.openai_chat import OpenAIChat
from toolkeeper_wire.openai_responses import OpenAIResponses

_FORMATS: tuple[Format, ...] = (
    Generic(),
    OpenAIChat(),
    OpenAIResponses(),
    Anthropic(),
    Gemini(),
    Mcp(),
)
PROVIDERS = tuple(form.name for form in _FORMATS)
"""Every provider's name, as `--provider` takes it."""

_BY_NAME = {form.name: form for form in _FORMATS}


def format_for(provider: str) -> Format:
    """The format of `provider`; ConfigError with the nearest name for an unknown one."""
    form = _BY_NAME.get(provider)
    if form is None:
        raise ConfigError(
            f"`{provider}` is not a known provider", did_you_mean(provider, PROVIDERS)
        )
    return form
