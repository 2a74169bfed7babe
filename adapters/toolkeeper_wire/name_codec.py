"""Which tool did the model mean by this wire name, and under which name does it know a tool?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from toolkeeper_contract import SourceKind, ToolIdentity
from toolkeeper_wire.wire_name import PROVIDER_NAMES, NameForm

_ORDER = {
    SourceKind.CONTROL: 0,
    SourceKind.FUNCTION: 1,
    SourceKind.MCP: 2,
    SourceKind.DEVICE: 2,
}


@dataclass(frozen=True, slots=True)
class NameCodec:
    """A table of canonical and wire names, one to one; it only ever grows.

    The same set of tools gives the same table in any order. Of tools whose plain names clash, a
    control tool, then a configured tool that needs no change, then the first by canonical name
    keeps the plain form, and the others get aliases.
    """

    form: NameForm = PROVIDER_NAMES
    _wire: Mapping[str, str] = field(default_factory=dict)
    _canonical: Mapping[str, str] = field(default_factory=dict)
    _identities: Mapping[str, ToolIdentity] = field(default_factory=dict)

    @classmethod
    def of(cls, tools: Iterable[ToolIdentity], form: NameForm = PROVIDER_NAMES) -> "NameCodec":
        """The table for these tools."""
        return cls(form).extended(tools)

    def extended(self, tools: Iterable[ToolIdentity]) -> "NameCodec":
        """This table with further tools; no name that is in it changes."""
        new = {tool.canonical_name: tool for tool in tools}
        added = [(name, tool) for name, tool in new.items() if name not in self._wire]
        if not added:
            return self
        wire = dict(self._wire)
        canonical = dict(self._canonical)
        identities = dict(self._identities)
        for _, _, name, plain in sorted(self._ranked(name, tool) for name, tool in added):
            free = plain if plain and plain not in canonical else self._alias(new[name], canonical)
            wire[name] = free
            canonical[free] = name
            identities[name] = new[name]
        return NameCodec(
            self.form,
            MappingProxyType(wire),
            MappingProxyType(canonical),
            MappingProxyType(identities),
        )

    def wire(self, canonical_name: str) -> str:
        """The wire name of a tool of this table; KeyError for any other."""
        return self._wire[canonical_name]

    def canonical(self, wire_name: str) -> str | None:
        """The tool that exactly this wire name stands for; None when there is none."""
        return self._canonical.get(wire_name)

    def identity(self, canonical_name: str) -> ToolIdentity | None:
        """The identity of a tool of this table, as it came in; None for any other."""
        return self._identities.get(canonical_name)

    def spoken(self, name: str) -> str:
        """The wire name under which a call of `name` stands in a conversation.

        A name that this table does not know stays as it is where a provider takes it, and becomes
        a legal alias where it would have the whole request refused.
        """
        wire = self._wire.get(name)
        if wire is not None:
            return wire
        if self.form.takes(name):
            return name
        # A lone surrogate has no bytes, and so no digest.
        text = name.encode("utf-8", "replace").decode("utf-8")
        identity = ToolIdentity.of_name(text)
        if identity.kind is SourceKind.FUNCTION:
            return self.form.alias(identity)
        return self.form.name(identity)

    def names(self) -> Mapping[str, str]:
        """Canonical to wire names."""
        return MappingProxyType(self._wire)

    def _ranked(self, name: str, tool: ToolIdentity) -> tuple[int, bool, str, str]:
        """Where a tool stands when plain names are given out, and its own, "" for none."""
        plain = self.form.plain(tool)
        return _ORDER[tool.kind], plain != name, name, plain or ""

    def _alias(self, tool: ToolIdentity, taken: Mapping[str, str]) -> str:
        # Sixteen digits are enough unless somebody searched for two names that share them.
        for length in (16, 24, 32, 48, self.form.limit - 2):
            name = self.form.alias(tool, length)
            if name not in taken:
                return name
        raise ValueError(f"no free wire name for `{tool.canonical_name}`")
