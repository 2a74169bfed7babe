"""What does this program change about a call's arguments before anybody looks at them?

Hooks are the library's alone. What they make is what is validated, shown, approved and run.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolkeeper_contract import ConfigError, any_matches, is_pattern

Hook: TypeAlias = Callable[[str, dict[str, Any]], Mapping[str, Any]]
"""Takes a tool's canonical name and a copy of the arguments, and gives the arguments to use."""


@dataclass(slots=True)
class Rewriting:
    """The hooks in the order in which they were added; each sees what the one before it made."""

    _hooks: list[tuple[tuple[str, ...], Hook]] = field(default_factory=list)

    def adding(self, tools: Sequence[str]) -> Callable[[Hook], Hook]:
        """A decorator that adds a hook for `tools`, canonical names or globs.

        ConfigError for what can be neither.
        """
        for pattern in tools:
            if not is_pattern(pattern):
                raise ConfigError(
                    f"`{pattern}` cannot be a tool's name", "write a name, or a glob with `*`"
                )

        def add(hook: Hook) -> Hook:
            self._hooks.append((tuple(tools), hook))
            return hook

        return add

    def __call__(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments as the hooks of this tool make them; whatever a hook raises passes on."""
        for patterns, hook in self._hooks:
            if any_matches(patterns, tool):
                # A hook may change what it is given, and what came in is still to be recorded.
                arguments = hook(tool, deepcopy(dict(arguments)))
        return arguments
