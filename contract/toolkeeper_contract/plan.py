"""What does a session see, and what became of everything else?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from toolkeeper_contract.canonical import digest
from toolkeeper_contract.tool import RefusedTool


class Reason(StrEnum):
    """Why a candidate was deferred, skipped or filtered."""

    CONFIGURED = "configured"
    DEFINITION_CAP = "definition_cap"
    DEFINITION_TOKENS = "definition_tokens"
    INDEX_ENTRIES = "index_entries"
    INDEX_TOKENS = "index_tokens"
    NO_TOOL_CALL = "no_tool_call"
    SOURCE_UNAVAILABLE = "source_unavailable"
    NOT_PERMITTED = "not_permitted"
    DISABLED = "disabled"
    SCOPE = "scope"
    POLICY = "policy"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class Caps:
    """The budget of a plan: counts, and estimated tokens of the provider's request."""

    definitions: int = 30
    definition_tokens: int = 9_000
    index_entries: int = 40
    index_tokens: int = 2_000


@dataclass(frozen=True, slots=True)
class Placed:
    """A name and the reason for its place."""

    name: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The asked and the used way to disclose; `reason` says why they differ."""

    asked: str = "index"
    used: str = "index"
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Costs:
    """Estimated tokens.

    `definition_tokens` sums the defined tools, control tools included. `index_tokens` sums the
    index lines; `index_overhead_tokens` is the calling convention and the envelopes around them
    (the cap holds for both together). `tools` has every defined and deferred name.
    """

    definition_tokens: int
    index_tokens: int
    index_overhead_tokens: int
    tools: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """The immutable result of planning, content-addressed by `digest`.

    `defined` is the tools array in its order, control tools included. `pins` maps every canonical
    name that a run may call to its fingerprint (control tools have none). `loaded` are the defined
    tools that a search loaded earlier, in load order; `overflow` are loaded ones that the caps kept
    out of the array: they stay callable and stand in `deferred` or `searchable` as well. `listing`
    says how the deferred tools are shown: `index` lines, bare `names`, or `none` (also when the
    provider searches on its side).
    """

    builder: str
    agent: str
    agent_revision: str
    provider: str
    disclosure: Disclosure
    caps: Caps
    defined: tuple[str, ...]
    deferred: tuple[Placed, ...]
    searchable: tuple[str, ...]
    skipped: tuple[Placed, ...]
    filtered: tuple[Placed, ...]
    refused: tuple[RefusedTool, ...]
    pins: Mapping[str, str]
    costs: Costs
    intent: Any = None
    loaded: tuple[str, ...] = ()
    overflow: tuple[Placed, ...] = ()
    listing: str = "index"
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest(self.body()))

    @property
    def controls(self) -> tuple[str, ...]:
        """The control tools that this plan advertises; they are the defined names without a pin."""
        return tuple(name for name in self.defined if name not in self.pins)

    @property
    def deferred_names(self) -> tuple[str, ...]:
        return tuple(placed.name for placed in self.deferred)

    def body(self) -> dict[str, Any]:
        """The JSON form without the digest: what `plan --json` prints and the ledger keeps."""
        deferred = self.deferred_names
        return {
            "builder": self.builder,
            "agent": self.agent,
            "agent_revision": self.agent_revision,
            "provider": self.provider,
            "disclosure": {
                "asked": self.disclosure.asked,
                "used": self.disclosure.used,
                "reason": self.disclosure.reason,
            },
            "caps": {
                "definitions": self.caps.definitions,
                "definition_tokens": self.caps.definition_tokens,
                "index_entries": self.caps.index_entries,
                "index_tokens": self.caps.index_tokens,
            },
            "costs": {
                "definition_tokens": self.costs.definition_tokens,
                "index_tokens": self.costs.index_tokens,
                "index_overhead_tokens": self.costs.index_overhead_tokens,
                "tools": dict(self.costs.tools),
            },
            "defined_tool_names": list(self.defined),
            "deferred_tool_names": list(deferred),
            "deferred_tool_specs": {name: self.pins[name] for name in deferred},
            "deferred_reasons": {placed.name: placed.reason.value for placed in self.deferred},
            "searchable_tool_names": list(self.searchable),
            "skipped_tool_names": _rows(self.skipped),
            "filtered_tool_names": _rows(self.filtered),
            "refused_tools": [
                {"source": tool.source, "name": tool.name, "reason": tool.reason}
                for tool in self.refused
            ],
            "pins": dict(sorted(self.pins.items())),
            "intent": self.intent,
            "loaded_tool_names": list(self.loaded),
            "loaded_overflow": _rows(self.overflow),
            "listing": self.listing,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> "Plan":
        """The plan whose `body()` this is; the digest is worked out anew."""
        reasons = body["deferred_reasons"]
        return cls(
            builder=body["builder"],
            agent=body["agent"],
            agent_revision=body["agent_revision"],
            provider=body["provider"],
            disclosure=Disclosure(**body["disclosure"]),
            caps=Caps(**body["caps"]),
            defined=tuple(body["defined_tool_names"]),
            deferred=tuple(
                Placed(name, Reason(reasons[name])) for name in body["deferred_tool_names"]
            ),
            searchable=tuple(body["searchable_tool_names"]),
            skipped=_placed(body["skipped_tool_names"]),
            filtered=_placed(body["filtered_tool_names"]),
            refused=tuple(RefusedTool(**row) for row in body["refused_tools"]),
            pins=dict(body["pins"]),
            costs=Costs(**body["costs"]),
            intent=body["intent"],
            loaded=tuple(body["loaded_tool_names"]),
            overflow=_placed(body["loaded_overflow"]),
            listing=body["listing"],
        )


def _rows(placed: tuple[Placed, ...]) -> list[dict[str, str]]:
    return [{"name": row.name, "reason": row.reason.value} for row in placed]


def _placed(rows: list[dict[str, str]]) -> tuple[Placed, ...]:
    return tuple(Placed(row["name"], Reason(row["reason"])) for row in rows)
