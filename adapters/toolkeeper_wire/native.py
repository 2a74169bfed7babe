"""What is sent where the provider searches on its side, and what did its search find?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import ConfigError, Tool, ToolIdentity
from toolkeeper_wire.capability import Capability
from toolkeeper_wire.name_codec import NameCodec

TOMBSTONE = "This tool is not available any more."
"""The constant description of a tool that only the conversation still mentions."""


def empty_schema() -> dict[str, Any]:
    """The input schema of a tombstone."""
    return {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class NativeTools:
    """The tools that a request carries besides the defined ones, for the provider's own search.

    `deferred` are in the plan's order; a tool stays among them after it was found, so that the
    array never changes for it. `tombstones` are tools that native results in the conversation
    name and that are pinned no more: a provider refuses a conversation that mentions a tool which
    the array lacks. A call to one ends like any call to a tool that is not offered.
    """

    capability: Capability
    deferred: tuple[Tool, ...] = ()
    tombstones: tuple[ToolIdentity, ...] = ()

    def gone(self, defined: Iterable[Tool]) -> list[ToolIdentity]:
        """The tombstones that no tool of the request stands for already, by canonical name."""
        present = {tool.name for tool in (*defined, *self.deferred)}
        missing = {tool.canonical_name: tool for tool in self.tombstones}
        return [missing[name] for name in sorted(missing) if name not in present]

    def names(self) -> frozenset[str]:
        """The canonical names of the deferred tools and the tombstones."""
        return frozenset(
            [tool.name for tool in self.deferred]
            + [tool.canonical_name for tool in self.tombstones]
        )


def tombstones(referenced: Iterable[str], present: Iterable[str]) -> tuple[ToolIdentity, ...]:
    """The tools among `referenced` that are not `present`; canonical names, sorted.

    For a session that goes on in a process which never saw those tools.
    """
    missing = set(referenced).difference(present)
    return tuple(ToolIdentity.of_name(name) for name in sorted(missing))


def search_refused(provider: str) -> ConfigError:
    """The error for native search on a provider without it."""
    return ConfigError(
        f"provider `{provider}` has no tool search of its own",
        "ask `native_search` first, and use the disclosure `index` where it says no",
    )


def decoded(wire_names: Iterable[str], codec: NameCodec) -> tuple[str, ...]:
    """The canonical names of what a search found, each once; unknown names are left out."""
    names = (codec.canonical(name) for name in wire_names)
    return tuple(dict.fromkeys(name for name in names if name is not None))
