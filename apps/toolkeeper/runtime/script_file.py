"""Which keys may stand in a recorded session?"""

from typing import Annotated, Any

from pydantic import Field

from toolkeeper.runtime.configuration.field_type import AnyText, Choice, Name, Section, Text

PROVIDERS = ("generic", "openai", "openai-responses", "anthropic", "gemini", "mcp")


class TurnFile(Section):
    user: AnyText = ""
    """the user's message"""
    override: Any = None
    """the toggles of this turn alone"""
    tool_choice: Text | None = None
    """a tool that the model is made to call"""
    calls: list[Any] = Field(default_factory=list)
    """calls one after another; a list inside the list is one step of parallel calls"""
    approvals: dict[str, Any] = Field(default_factory=dict)
    """answers by call id; `*` stands for every other call"""


class ScriptFile(Section):
    """A recorded session."""

    agent: Name | None = None
    """the agent's name"""
    user: Name | None = None
    """on whose behalf"""
    provider: Annotated[str, Choice(PROVIDERS)] | None = None
    """whose wire format is priced and rendered"""
    attributes: dict[str, Any] = Field(default_factory=dict)
    """session attributes, for pin rules and conditions"""
    intent: Any = None
    """what the user toggled"""
    turns: list[TurnFile] = Field(min_length=1)
    """write a list of turns: `- {user: hello, calls: []}`, say"""
