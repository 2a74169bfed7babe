"""What has a session read, told again from its ledger?

Another process that goes on with a session knows what the first one knew: whether it has read
untrusted or private text, which sources were written to meanwhile, and which words were the user's,
trusted or somebody else's. A fork, and a session that was delegated, begin with what their parent
had read by then.
"""

import html
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from weakref import WeakValueDictionary

from toolkeeper.runtime.lineage import MAX_ELDERS, delegators_of
from toolkeeper_contract import (
    Event,
    Flag,
    Invocation,
    Ledger,
    RecordedEvent,
    RunRecord,
    SessionRecord,
    SideEffect,
    ToolIdentity,
)
from toolkeeper_pipeline import Kept, Lesson, SessionFacts, heard
from toolkeeper_policy import source_name

READ_BELOW = "session.read"
"""The event that a delegated session, which `by` names, has read what marks its parent too."""

_ENVELOPE = re.compile(
    r"<EXTERNAL_UNTRUSTED [^>\n]*>\n(.*)\n</EXTERNAL_UNTRUSTED [^>\n]*>(?:\n\[[^\n]*\])*",
    re.DOTALL,
)


async def facts_of(ledger: Ledger, record: SessionRecord) -> SessionFacts:
    """The facts of a stored session, with those that it began with.

    Results that were cut and not kept aside are known as far as they were shown, and the user's
    words without their secrets: what is not known is from nowhere, which is never positive.
    """
    facts = SessionFacts()
    async for _ in told_facts(ledger, record, facts):
        pass
    facts.mark(tainted=record.tainted, private=record.private)
    return facts


async def told_facts(
    ledger: Ledger, record: SessionRecord, facts: SessionFacts | None = None
) -> AsyncIterator[tuple[RecordedEvent, SessionFacts]]:
    """The events of a session, each with the facts as they were before it.

    Calls of one model step have the same facts, as when they were decided. It is one value that
    grows as the iteration goes on (`facts`, where it is given); after the last event it holds what
    that told, too.
    """
    facts = SessionFacts() if facts is None else facts
    for own, younger in await _lineage(ledger, record):
        events = await ledger.events(session_id=own.session_id)
        telling = _Telling(
            ledger,
            facts,
            own,
            {run.run_id: run for run in await ledger.runs(own.session_id)},
            {row.invocation_id: row for row in await ledger.invocations(own.session_id)},
        )
        for told in events if younger is None else _up_to(events, younger):
            telling.steps_to(told.event)
            if younger is None:
                yield told, facts
            await telling.tell(told.event)
        telling.end_step()


def hear_user(facts: SessionFacts, record: SessionRecord, message: str) -> None:
    """Takes in the message of a turn.

    It is the user's own word only where a user speaks: a delegated session is told what to do by
    the model that delegates.
    """
    if record.granted is None:
        facts.heard.user(message)
    else:
        facts.heard.untrusted(message)


class FactsInUse:
    """The facts of the sessions that this process is working with, one value for each of them.

    So a call that is resumed tells the session that it belongs to, by whatever object that is used.
    """

    def __init__(self) -> None:
        self._known: WeakValueDictionary[str, SessionFacts] = WeakValueDictionary()

    async def of(self, ledger: Ledger, record: SessionRecord) -> SessionFacts:
        """The facts of a stored session, told from the ledger where they are not known."""
        known = self._known.get(record.session_id)
        if known is None:
            told = await facts_of(ledger, record)
            known = self._known.setdefault(record.session_id, told)
        known.mark(tainted=record.tainted, private=record.private)
        return known

    def begin(self, session_id: str, facts: SessionFacts) -> SessionFacts:
        """A new session begins with a copy of `facts`, its parent's."""
        return self._known.setdefault(session_id, facts.copy())

    async def tell_above(self, ledger: Ledger, record: SessionRecord, facts: SessionFacts) -> None:
        """What a delegated session has read marks those that delegated it: they read its answer.

        The ledger has marked them with the reading; here it is told to those of this process.
        """
        for delegator in await delegators_of(ledger, record):
            known = self._known.get(delegator.record.session_id)
            if known is not None:
                known.mark(tainted=facts.tainted, private=facts.private)


async def _lineage(
    ledger: Ledger, record: SessionRecord
) -> list[tuple[SessionRecord, SessionRecord | None]]:
    """The session and those above it, the eldest first, each with the younger one; None for it."""
    found: list[tuple[SessionRecord, SessionRecord | None]] = [(record, None)]
    seen = {record.session_id}
    younger = record
    while younger.parent is not None and younger.parent not in seen and len(found) < MAX_ELDERS:
        elder = await ledger.session(younger.parent)
        if elder is None or elder.user != record.user:
            break
        found.append((elder, younger))
        seen.add(elder.session_id)
        younger = elder
    return found[::-1]


def _up_to(events: Sequence[RecordedEvent], younger: SessionRecord) -> list[RecordedEvent]:
    """What happened in a session before `younger` went its own way."""
    before: list[RecordedEvent] = []
    for told in events:
        if told.event.name == "session.forked" and told.event.data["to"] == younger.session_id:
            break
        if datetime.fromisoformat(told.at) > younger.opened_at:
            break
        before.append(told)
    return before


class _Telling:
    """Tells the facts of one session from its events, step by step."""

    def __init__(
        self,
        ledger: Ledger,
        facts: SessionFacts,
        record: SessionRecord,
        runs: Mapping[str, RunRecord],
        rows: Mapping[str, Invocation],
    ) -> None:
        self._ledger = ledger
        self._facts = facts
        self._record = record
        self._runs = runs
        self._rows = rows
        self._step: tuple[str, int] | None = None
        self._waiting: list[Lesson] = []

    def steps_to(self, event: Event) -> None:
        """What the calls of a step brought is known when a call of another one is decided."""
        row = self._rows.get(event.invocation_id or "")
        if event.name == "call.decided" and row is not None and _step(row) != self._step:
            self.end_step()
            self._step = _step(row)

    def end_step(self) -> None:
        for lesson in self._waiting:
            self._facts.learn(lesson)
        self._waiting.clear()

    async def tell(self, event: Event) -> None:
        data, facts = event.data, self._facts
        run = self._runs.get(event.run_id or "")
        if event.name == "run.began" and run is not None:
            self.end_step()
            hear_user(facts, self._record, run.user_message)
        elif event.name == READ_BELOW:
            facts.mark(tainted=data["tainted"], private=data["private"])
        elif event.name == "call.claimed":
            # As when it was dispatched: its worker may have died before it could say more.
            claimed = self._rows.get(event.invocation_id or "")
            if claimed is not None and _may_write(claimed):
                facts.wrote(source_name(ToolIdentity.of_name(claimed.tool)))
        elif event.name == "call.settled":
            if data.get("wrote_tainted"):
                facts.written.add(data["wrote_tainted"])
            row = self._rows.get(event.invocation_id or "")
            trusted = data.get("result_trusted", _by_its_look(row))
            if row is not None and trusted is not None:
                text = await _whole(self._ledger, row)
                private = Flag.PRIVATE.value in row.flags
                self._waiting.append(Lesson(text, trusted, private, row.arguments))
                if _step(row) != self._step:
                    self.end_step()


def _by_its_look(row: Invocation | None) -> bool | None:
    """Whether a result counted as ours that was stored before this was said."""
    shown = (row.result or "") if row is not None else ""
    return False if shown.startswith("<EXTERNAL_UNTRUSTED ") else None


def _may_write(row: Invocation) -> bool:
    return row.side_effect is None or not SideEffect(row.side_effect).reads


def _step(row: Invocation) -> tuple[str, int]:
    return (row.run_id, row.step)


async def _whole(ledger: Ledger, row: Invocation) -> str:
    """The text of a result as its tool gave it, as far as it was kept."""
    shown = row.result or ""
    inside = _ENVELOPE.fullmatch(shown)
    text = html.unescape(inside.group(1)) if inside else shown
    if row.handle is None:
        return text
    kept = await ledger.kept_by(row.session_id, row.invocation_id)
    return heard(text, map(Kept.unpacked, kept.values()))
