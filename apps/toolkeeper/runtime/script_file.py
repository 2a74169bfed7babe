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
    response: Any = None
    """instead of `calls`: the JSON file of a provider's raw response, or a list of them"""
    approvals: dict[str, Any] = Field(default_factory=dict)
    """answers by call id; `*` stands for every other call"""
    child: "ChildFile | None" = None
    """what the turn delegates when its calls are done"""


class ChildFile(Section):
    tools: list[Text] | None = None
    """the parent's tools that the child gets; all of them by default"""
    agent: Name | None = None
    """the child's agent; the parent's by default"""
    turns: list[TurnFile] = Field(min_length=1)
    """write a list of turns: `- {user: hello, calls: []}`, say"""


TurnFile.model_rebuild()


class ScriptFile(Section):
    """A recorded session."""

    agent: Name | None = None
    """the agent's name"""
    user: Name | None = None
    """on whose behalf"""
    provider: Annotated[str, Choice(PROVIDERS)] | None = None
    """whose wire format is priced and rendered"""
    model: Text | None = None
    """the provider's model; it decides whether the provider can search for tools itself"""
    endpoint: Text | None = None
    """where the provider is asked, when not at its own address"""
    attributes: dict[str, Any] = Field(default_factory=dict)
    """session attributes, for pin rules and conditions"""
    intent: Any = None
    """what the user toggled"""
    turns: list[TurnFile] = Field(min_length=1)
    """write a list of turns: `- {user: hello, calls: []}`, say"""
