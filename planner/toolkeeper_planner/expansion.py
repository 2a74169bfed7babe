"""Which tools does an intent ask for, and which of those does the agent permit?

The one function that expands an intent. It runs over the live registry at every plan: a tool that
was added since reaches old sessions too, a removed one is gone.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from toolkeeper_contract import Placed, Reason, Registry, Tool, is_literal
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.intent import Intent
from toolkeeper_planner.ranking import RankedRegistry
from toolkeeper_planner.reasons import all_placed
from toolkeeper_planner.sources import MissingTools, source_of


@dataclass(frozen=True, slots=True)
class Expansion:
    """Every name that the agent or the intent brings up, each in exactly one place.

    `configured` and `discovered` are the selected tools in rank order; the first `always` of
    `configured` are the always defined ones. `unavailable` are selected names that the registry
    does not have. `filtered` are names that the user switched off or may not ask for.
    """

    configured: tuple[Tool, ...]
    discovered: tuple[Tool, ...]
    always: int
    unavailable: tuple[str, ...]
    filtered: tuple[Placed, ...]

    @property
    def names(self) -> list[str]:
        """All names, those of `configured` and `discovered` first."""
        return [
            *[tool.name for tool in self.configured],
            *[tool.name for tool in self.discovered],
            *self.unavailable,
            *[placed.name for placed in self.filtered],
        ]


def expand(
    agent: AgentProfile,
    registry: Registry,
    intent: Intent | None = None,
    granted: Mapping[str, str] | None = None,
) -> Expansion:
    """(preset, hand-picked list or the agent's own) and allowed, plus overlays, minus disabled.

    The order never comes from the intent: tools that two intents select stand in the same order in
    both. Names that an intent asks for and the agent does not permit are filtered, and so are the
    agent's own tools that it leaves out. Control tools are no candidates: an intent that names
    them neither adds nor removes them.

    `granted` (name -> fingerprint) is what a delegating parent pins: the session then has what the
    agent permits of it, toolsets and overlays included, and nothing else. The rest, a tool whose
    definition is another one by now too, is filtered as `not_permitted`.
    """
    named = _unique(agent, agent.always_defined, agent.tools, _missing_deferrals(agent, registry))
    discovered = [
        tool
        for tool in RankedRegistry.of(registry).discovered(agent.servers)
        if tool.name not in named
    ]
    if intent is None and granted is None:
        return _sorted_out(agent, registry, named, discovered)
    own = {*named, *(tool.name for tool in discovered)}
    permitted = _permitted(agent)
    # What a parent gives is the child's own set, whatever brought it into the parent's.
    extra = [name for name in permitted if name not in own and name in (granted or ())]
    own.update(extra)
    if intent is None:
        return _sorted_out(agent, registry, [*named, *extra], discovered, granted=granted)
    wish = _Wish.of(agent, intent, own)
    refused: dict[str, None] = {}
    for name in wish.brought_up:
        if name not in own:
            if name in permitted or _awaited(agent, registry, name):
                extra.append(name)
            else:
                refused[name] = None
    # By the configuration's order, not the intent's.
    extra.sort(key=lambda name: (permitted.get(name, len(permitted)), name))
    for kind, name in wish.unknown_sets:
        # A set and a tool may share a name, and each name stands once on a plan.
        taken = name in own or name in extra or name in refused
        refused[f"{kind} {name}" if taken else name] = None
    return _sorted_out(
        agent,
        registry,
        [*named, *extra],
        discovered,
        selected=wish.selected,
        refused=refused,
        granted=granted,
    )


@dataclass(frozen=True, slots=True)
class _Wish:
    """`selected` is the formula's result; `brought_up` also has what was named without effect."""

    selected: frozenset[str]
    brought_up: Collection[str]
    unknown_sets: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, agent: AgentProfile, intent: Intent, own: Collection[str]) -> "_Wish":
        unknown: list[tuple[str, str]] = []
        preset: tuple[str, ...] = ()
        if intent.toolset is not None:
            if intent.toolset not in agent.toolsets:
                # Its place is taken by nothing: a preset that is gone must not become everything.
                unknown.append(("toolset", intent.toolset))
            preset = agent.toolsets.get(intent.toolset, ())
        overlaid: list[str] = []
        for overlay in intent.switched_on:
            if overlay not in agent.overlays:
                unknown.append(("overlay", overlay))
            overlaid += agent.overlays.get(overlay, ())
        if intent.picked is not None:
            selected = set(intent.picked)
        else:
            selected = set(own if intent.toolset is None else preset)
        if intent.allowed is not None:
            selected &= set(intent.allowed)
        selected |= set(overlaid)
        selected -= set(intent.disabled or ())
        return cls(
            frozenset() if intent.nothing else frozenset(selected),
            _unique(agent, preset, overlaid, intent.picked or (), intent.allowed or ()),
            tuple(unknown),
        )


def _sorted_out(
    agent: AgentProfile,
    registry: Registry,
    named: Iterable[str],
    discovered: list[Tool],
    *,
    selected: Collection[str] | None = None,
    refused: Iterable[str] = (),
    granted: Mapping[str, str] | None = None,
) -> Expansion:
    configured: list[Tool] = []
    unavailable: list[str] = []
    filtered = [Placed(name, Reason.NOT_PERMITTED) for name in refused]
    always = 0
    for name in named:
        tool = registry.tools.get(name)
        if granted is not None and not _grants(granted, name, tool):
            filtered.append(Placed(name, Reason.NOT_PERMITTED))
        elif selected is not None and name not in selected:
            filtered.append(Placed(name, Reason.DISABLED))
        elif tool is None:
            unavailable.append(name)
        else:
            configured.append(tool)
            always += name in agent.always_defined
    if granted is not None:
        beyond = [tool for tool in discovered if not _grants(granted, tool.name, tool)]
        filtered += all_placed(beyond, Reason.NOT_PERMITTED)
        discovered = [tool for tool in discovered if _grants(granted, tool.name, tool)]
    if selected is not None:
        off = [tool for tool in discovered if tool.name not in selected]
        filtered += all_placed(off, Reason.DISABLED)
        discovered = [tool for tool in discovered if tool.name in selected]
    return Expansion(
        tuple(configured), tuple(discovered), always, tuple(unavailable), tuple(filtered)
    )


def _grants(granted: Mapping[str, str], name: str, tool: Tool | None) -> bool:
    # A name that the registry lacks cannot be compared; it is unavailable anyway.
    return name in granted and (tool is None or granted[name] == tool.fingerprint)


def _missing_deferrals(agent: AgentProfile, registry: Registry) -> list[str]:
    # Deferred by its exact name, from a source that cannot be listed now: a tool of this agent
    # that the plan has to account for.
    return [
        name for name in agent.deferred_tools if is_literal(name) and name not in registry.tools
    ]


def _permitted(agent: AgentProfile) -> dict[str, int]:
    lists = (*sorted(agent.toolsets.items()), *sorted(agent.overlays.items()))
    names = _unique(agent, *(members for _, members in lists))
    return {name: position for position, name in enumerate(names)}


def _awaited(agent: AgentProfile, registry: Registry, name: str) -> bool:
    return (
        name not in registry.tools
        and source_of(name) in agent.servers
        and MissingTools.of(registry).excuse(name)
    )


def _unique(agent: AgentProfile, *lists: Iterable[str]) -> dict[str, None]:
    names = dict.fromkeys(name for names in lists for name in names)
    for control in agent.control_names:
        names.pop(control, None)
    return names
