"""Which sessions does a conversation come from?

A fork goes on from its parent's conversation and carries on its count of turns; a delegated session
begins one of its own.
"""

from dataclasses import dataclass, replace
from typing import Any

from toolkeeper_contract import Ledger, Plan, RunRecord, SessionRecord

MAX_ELDERS = 64
"""A lineage longer than this is cut at its root: what was loaded there is loaded by searching."""


@dataclass(frozen=True, slots=True)
class Elder:
    """A session that this one was forked from, with its turns up to the fork."""

    record: SessionRecord
    runs: tuple[RunRecord, ...]


async def elders_of(ledger: Ledger, record: SessionRecord) -> tuple[Elder, ...]:
    """The sessions that this one was forked from, directly or not; the eldest first."""
    found: list[Elder] = []
    seen = {record.session_id}
    younger = record
    cut = await _forked_after(ledger, record)
    while younger.parent is not None and younger.parent not in seen and len(found) < MAX_ELDERS:
        elder = await ledger.session(younger.parent)
        # What somebody else's session loaded is nothing to this one.
        if elder is None or elder.user != record.user:
            break
        if await _delegated_by(ledger, younger) is not None:
            break
        runs = await ledger.runs(elder.session_id)
        found.append(Elder(elder, tuple(run for run in runs if run.turn <= cut)))
        cut = min(cut, runs[0].turn - 1 if runs else elder.turn)
        seen.add(elder.session_id)
        younger = elder
    return tuple(found[::-1])


@dataclass(frozen=True, slots=True)
class Delegator:
    """A session whose toggles bind a delegated one, as it was in the turn that delegated it."""

    record: SessionRecord
    run: RunRecord
    plan: Plan

    def intent(self) -> Any:
        """The intent in force in that turn."""
        return self.record.intent if self.run.override is None else self.run.override

    async def refreshed(self, ledger: Ledger) -> "Delegator":
        """With the toggles of this moment."""
        record = await ledger.session(self.record.session_id)
        return self if record is None else replace(self, record=record)


async def delegators_of(ledger: Ledger, record: SessionRecord) -> tuple[Delegator, ...]:
    """Who delegated this session, and who delegated that one, and so on upwards."""
    found: list[Delegator] = []
    younger = record
    while younger.granted is not None and younger.parent is not None and len(found) < MAX_ELDERS:
        elder = await ledger.session(younger.parent)
        if elder is None:
            break
        run_id = await _delegated_by(ledger, younger)
        run = await ledger.run(run_id) if run_id else None
        plan = await ledger.plan(run.plan_digest) if run else None
        if run is not None and plan is not None:
            found.append(Delegator(elder, run, plan))
        younger = elder
    return tuple(found)


async def _delegated_by(ledger: Ledger, record: SessionRecord) -> str | None:
    """The turn that delegated this session; None for a fork, of a delegated one too."""
    if record.granted is None:
        return None
    first = (await ledger.events(session_id=record.session_id))[:1]
    run_id = first[0].event.data.get("delegated_by") if first else None
    return run_id if isinstance(run_id, str) else None


async def _forked_after(ledger: Ledger, record: SessionRecord) -> int:
    """How many turns the conversation had when this session was opened."""
    if record.parent is None:
        return 0
    runs = await ledger.runs(record.session_id)
    return runs[0].turn - 1 if runs else record.turn
