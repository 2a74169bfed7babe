"""May the model choose a tool, must it, and which one?"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from toolkeeper_contract import ConfigError, Tool, did_you_mean


class ChoiceMode(StrEnum):
    """What the model may do with the tools of one request."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The caller's choice; `tool` is the canonical name of the one forced tool, else None."""

    mode: ChoiceMode
    tool: str | None = None

    def __post_init__(self) -> None:
        if (self.mode is ChoiceMode.TOOL) != (self.tool is not None):
            raise ConfigError("a tool choice names a tool exactly when it forces one")

    @classmethod
    def forced(cls, canonical_name: str) -> "ToolChoice":
        """The choice of exactly this tool."""
        return cls(ChoiceMode.TOOL, canonical_name)


AUTO = ToolChoice(ChoiceMode.AUTO)
NO_TOOL = ToolChoice(ChoiceMode.NONE)
ANY_TOOL = ToolChoice(ChoiceMode.REQUIRED)


def checked_choice(choice: ToolChoice | None, defined: Sequence[Tool]) -> ToolChoice | None:
    """The choice that may go on the wire beside these definitions.

    None where there is nothing to choose from: providers refuse a choice without tools. ConfigError
    when the choice needs a tool that is not defined.
    """
    if choice is None:
        return None
    names = [tool.name for tool in defined]
    if choice.tool is not None and choice.tool not in names:
        raise ConfigError(
            f"the tool choice forces `{choice.tool}`, which this request does not define",
            did_you_mean(choice.tool, names),
        )
    if choice.mode is ChoiceMode.REQUIRED and not names:
        raise ConfigError(
            "the tool choice requires a call, and this request defines no tool",
            "use the tool choice `auto`",
        )
    return choice if names else None
