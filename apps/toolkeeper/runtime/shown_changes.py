"""What does a turn show otherwise than the turn before it, and why?

Every byte that a provider has to read anew is told by an event: `tools.changed` for the array,
`index.changed` for the prompt region behind it. Where not a byte changed there is no event.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from toolkeeper.runtime.earlier_turns import plan_of, rendering_of
from toolkeeper.runtime.index_entry import CONVENTION, index_entries
from toolkeeper.runtime.rendering import Rendering
from toolkeeper.runtime.request_prefix import NAMESPACE, TOOLS, RequestPrefix
from toolkeeper_contract import Event, Ledger, Plan, RunRecord
from toolkeeper_planner import (
    ArrayChanges,
    IndexChanges,
    array_changes,
    general_cause,
    index_changes,
    moved_names,
)
from toolkeeper_wire import NameCodec

MENTIONED = "mentioned"
"""A tool is gone, and stands in the array only as long as the conversation mentions it."""

RENDERED = "rendering"
"""The same definition is written otherwise, as by another version of this program."""


async def shown_changes(
    ledger: Ledger,
    before: RunRecord | None,
    plan: Plan,
    rendering: Rendering,
    codec: NameCodec,
    *,
    run_id: str,
    forced: str | None = None,
) -> tuple[Event, ...]:
    """The events of a turn that follows `before` and shows `rendering`.

    `codec` knows every wire name of both turns; `forced` is the tool that this turn forces.
    """
    if before is None or before.rendering == rendering.digest:
        return ()
    old_plan, old = await plan_of(ledger, before), await rendering_of(ledger, before)
    events = []
    there, here = _pieces(old, codec), _pieces(rendering, codec)
    if list(there.items()) != list(here.items()):
        known = array_changes(
            old_plan, plan, forced=forced, forced_before=await forced_in(ledger, before)
        )
        why = _only_in_bytes(old_plan, plan, codec)
        events.append(_whole(known, there, here, why).event(run_id=run_id))
    if old.system != rendering.system:
        known_lines = index_changes(old_plan, plan)
        general = general_cause(old_plan, plan)
        listed = _listed(known_lines, old.system, rendering.system, general)
        events.append(listed.event(run_id=run_id))
    return tuple(events)


async def forced_in(ledger: Ledger, run: RunRecord) -> str | None:
    """The tool that this turn forced, as the event of its beginning tells."""
    for record in await ledger.events(session_id=run.session_id):
        if record.event.name == "run.began" and record.event.run_id == run.run_id:
            name = record.event.data.get("forced")
            return name if isinstance(name, str) else None
    return None


def _listed(known: IndexChanges, before: str, after: str, general: str) -> IndexChanges:
    """`known` as far as the region's lines tell it; never empty. `general` is why lines move."""
    there, here = index_entries(before), index_entries(after)
    redefined = tuple(name for name in known.redefined if there.get(name) != here.get(name))
    moved = moved_names(tuple(there), tuple(here), rather=redefined)
    changes = replace(known, redefined=redefined, moved=moved)
    if not changes:
        return replace(changes, text=(CONVENTION,), reasons={CONVENTION: RENDERED})
    named = (*changes.added, *changes.removed, *changes.redefined, *changes.moved, *changes.text)
    return replace(changes, reasons={name: known.reasons.get(name, general) for name in named})


def _pieces(rendering: Rendering, codec: NameCodec) -> dict[str, str]:
    """The text of each tool in the array, in its order, by canonical name.

    The provider's own search keeps the provider's name; a namespace is there for its tools.
    """
    tools = RequestPrefix.of(rendering.parts).of_kind(TOOLS)
    return {
        codec.canonical(piece.name) or piece.name: piece.text
        for piece in tools
        if not piece.name.startswith(NAMESPACE)
    }


def _whole(
    known: ArrayChanges,
    before: dict[str, str],
    after: dict[str, str],
    why: Callable[[str], str],
) -> ArrayChanges:
    """`known` as far as bytes tell it, with those changes that stand in the bytes only."""
    changed = [name for name in after if name in before and before[name] != after[name]]
    redefined = tuple(name for name in known.redefined if name in changed)
    told = {*known.added, *known.removed, *redefined}

    def untold(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in told)

    more = (
        untold(name for name in after if name not in before),
        untold(name for name in before if name not in after),
        untold(changed),
        () if known.moved else untold(moved_names(tuple(before), tuple(after), rather=changed)),
    )
    lists = (known.added, known.removed, redefined, known.moved)
    added, removed, redefined, moved = (a + b for a, b in zip(lists, more, strict=True))
    reasons = {
        name: known.reasons.get(name) or why(name)
        for name in (*added, *removed, *redefined, *moved)
    }
    return ArrayChanges(added, removed, redefined, moved, reasons)


def _only_in_bytes(before: Plan, after: Plan, codec: NameCodec) -> Callable[[str], str]:
    """Why a tool changed of which the plans say nothing."""
    disclosed = before.disclosure.used != after.disclosure.used
    named = codec.names()

    def why(name: str) -> str:
        if name in after.pins or name in after.controls:
            return RENDERED
        if name in named:
            return MENTIONED
        # The provider's own search: it comes and goes with what it can find.
        return "disclosure" if disclosed else "deferral"

    return why
