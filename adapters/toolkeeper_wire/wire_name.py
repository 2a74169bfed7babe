"""Which name may a provider see for this tool, as a function of its identity alone?

Ours lose their dots (`schedule_update`); discovered ones join kind, server and tool with two
underscores (`mcp__git__status`). Whatever does not fit, or could be read in two ways, becomes a
readable prefix and a hash of the whole identity; nothing is ever merely cut.
"""

import re
from dataclasses import dataclass

from toolkeeper_contract import SourceKind, ToolIdentity, digest

_HASH = 16
_LONGEST_HASH = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_ALIAS = re.compile(r".*_[0-9a-f]{16,}", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_DOTTED = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_OURS = (SourceKind.FUNCTION, SourceKind.CONTROL)
_PROVIDERS_OWN = frozenset({"tool_search_tool_bm25", "tool_search_tool_regex"})
"""The names of tools that a provider adds itself; one of ours must not stand beside them."""


@dataclass(frozen=True, slots=True)
class NameForm:
    """What a wire name may look like: `[A-Za-z][A-Za-z0-9_-]*`, with dots where `dots`, up to
    `limit` characters."""

    limit: int
    dots: bool = False

    def takes(self, name: str) -> bool:
        """Whether a provider accepts this name as it stands."""
        pattern = _DOTTED if self.dots else _PLAIN
        return len(name) <= self.limit and pattern.fullmatch(name) is not None

    def plain(self, identity: ToolIdentity) -> str | None:
        """The readable name, or None where only an alias is safe.

        INVARIANT: no two discovered tools have the same plain name, whichever tools there are,
        and none has the plain name of an alias.
        """
        name = self._readable(identity)
        if not self.takes(name):
            return None
        if identity.kind in _OURS:
            return None if name in _PROVIDERS_OWN else name
        if _ALIAS.fullmatch(name) is not None:
            return None
        if not self.dots and not _separable(identity):
            return None
        return name

    def alias(self, identity: ToolIdentity, length: int = _HASH) -> str:
        """A readable prefix and `length` hex digits of the identity's digest."""
        length = min(length, _LONGEST_HASH, self.limit - 2)
        hashed = digest([identity.kind.value, identity.source, identity.raw_name])[:length]
        readable = _FOREIGN.sub("_", self._readable(identity))
        if not readable[:1].isascii() or not readable[:1].isalpha():
            readable = f"t_{readable}"
        return f"{readable[: self.limit - length - 1]}_{hashed}"

    def name(self, identity: ToolIdentity) -> str:
        """The plain name where there is one, otherwise the alias."""
        return self.plain(identity) or self.alias(identity)

    def namespace(self, identity: ToolIdentity) -> str | None:
        """The name of the group that the tools of one server make; None for tools of ours."""
        if identity.kind in _OURS:
            return None
        name = f"{identity.kind.value}__{identity.source}"
        if len(name) <= self.limit and _ALIAS.fullmatch(name) is None:
            return name
        hashed = digest([identity.kind.value, identity.source])[:_HASH]
        return f"{name[: self.limit - _HASH - 1]}_{hashed}"

    def _readable(self, identity: ToolIdentity) -> str:
        if self.dots:
            return identity.canonical_name
        if identity.kind in _OURS:
            return identity.raw_name.replace(".", "_")
        return f"{identity.kind.value}__{identity.source}__{identity.raw_name}"


PROVIDER_NAMES = NameForm(limit=64)
"""What OpenAI, Anthropic and Gemini all take."""

MCP_NAMES = NameForm(limit=128, dots=True)
"""What MCP takes: canonical names as they are, unless they are too long."""


def _separable(identity: ToolIdentity) -> bool:
    """Whether the first `__` after the kind can only be the one that ends the server's id."""
    source, tool = identity.source, identity.raw_name
    return "__" not in source and not source.endswith("_") and not tool.startswith("_")
