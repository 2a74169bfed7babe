"""What does the operator say about the class of the tools that a pattern names?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from toolkeeper_contract import (
    CONTROL_TOOLS,
    Code,
    ConfigError,
    Flag,
    SideEffect,
    SourceKind,
    ToolIdentity,
    any_matches,
    is_argument_pointer,
)

_T = TypeVar("_T")

FUNCTIONS = "functions"
"""The source name under which selectors know the tools of this program."""


def source_name(identity: ToolIdentity) -> str:
    """How selectors name the source of a tool: its server id, or `functions`."""
    return FUNCTIONS if identity.kind is SourceKind.FUNCTION else identity.source


@dataclass(frozen=True, slots=True)
class ClassificationRule:
    """One rule of the operator's; None leaves a field as it was.

    `tools` are canonical names or written globs, `sources` server ids (or `functions`); a rule
    with both needs both. `arguments` (name -> values) holds for calls in which each of these
    arguments is there and is one of its values, exactly; empty for all calls. `result` says
    whether results may be read as ours. `destination` and `payload` name the arguments by which a
    call can carry data out. `operands` are JSON pointers of arguments that name files of this
    machine: an approval covers their content too.
    """

    tools: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    arguments: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    side_effect: SideEffect | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    private: bool | None = None
    result: str | None = None
    destination: tuple[str, ...] = ()
    payload: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.tools and not self.sources:
            raise ConfigError(
                "a classification rule names no tools",
                "say which it is for with `tools` or `sources`",
            )
        for pattern in self.tools:
            if pattern in CONTROL_TOOLS:
                raise ConfigError(
                    f"the control tool `{pattern}` cannot be classified",
                    "a call through it has the class of the tool that it calls",
                    code=Code.CONFIG_INVALID,
                )
        for pointer in self.operands:
            if not is_argument_pointer(pointer):
                raise ConfigError(
                    f"the operand `{pointer}` is no json pointer of an argument",
                    "write `/path` for the argument `path`",
                )
        if self.result not in (None, "trusted", "untrusted"):
            raise ConfigError(
                f"`{self.result}` is not a trust for results", "write `trusted` or `untrusted`"
            )

    def covers(self, identity: ToolIdentity) -> bool:
        """Whether this rule is about that tool."""
        if self.sources and source_name(identity) not in self.sources:
            return False
        return not self.tools or any_matches(self.tools, identity.canonical_name)

    def holds(self, arguments: Mapping[str, Any] | None) -> bool:
        """Whether this rule is about a call with these arguments; None: about every call."""
        if not self.arguments:
            return True
        return arguments is not None and all(
            name in arguments and any(_is_same(arguments[name], value) for value in values)
            for name, values in self.arguments.items()
        )

    @property
    def flags(self) -> dict[Flag, bool]:
        """The flags that this rule sets (True) or clears (False)."""
        said = {
            Flag.DESTRUCTIVE: self.destructive,
            Flag.IDEMPOTENT: self.idempotent,
            Flag.OPEN_WORLD: self.open_world,
            Flag.PRIVATE: self.private,
        }
        return {flag: value for flag, value in said.items() if value is not None}


def _is_same(given: Any, value: Any) -> bool:
    # To Python `true` is 1; to whoever wrote the rule it is not.
    return given == value and isinstance(given, bool) == isinstance(value, bool)


def merged(
    rules: Iterable[ClassificationRule],
    identity: ToolIdentity,
    arguments: Mapping[str, Any] | None = None,
) -> ClassificationRule | None:
    """Everything that the rules for this tool say, the last word on each field winning.

    Without `arguments` the rules that hold for some calls only say nothing.
    """
    covering = [rule for rule in rules if rule.covers(identity) and rule.holds(arguments)]
    if not covering:
        return None
    if len(covering) == 1:
        return covering[0]
    return ClassificationRule(
        tools=(identity.canonical_name,),
        side_effect=_last(rule.side_effect for rule in covering),
        destructive=_last(rule.destructive for rule in covering),
        idempotent=_last(rule.idempotent for rule in covering),
        open_world=_last(rule.open_world for rule in covering),
        private=_last(rule.private for rule in covering),
        result=_last(rule.result for rule in covering),
        destination=_last(rule.destination or None for rule in covering) or (),
        payload=_last(rule.payload or None for rule in covering) or (),
        # To name one more file is never a wish to have the others looked at no longer.
        operands=tuple(dict.fromkeys(each for rule in covering for each in rule.operands)),
    )


def _last(values: Iterable[_T | None]) -> _T | None:
    said = [value for value in values if value is not None]
    return said[-1] if said else None
