"""Which tools has a conversation loaded by searching, in this branch of it?

The transcript says which recorded searches are visible; the ledger says what they loaded. Text
alone loads nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from toolkeeper.runtime.past import Past
from toolkeeper_contract import Ledger, Loading, RunRecord, SessionRecord
from toolkeeper_wire import Capability, native_search
from toolkeeper_wire.transcript import Transcript

FOUND = "tools.found"
"""The event that records what a provider's own search found, with names and fingerprints."""

Loads = tuple[tuple[str, str], ...]
"""Names and fingerprints in load order."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A transcript as far as tools go; `answered` counts the user's messages that were answered."""

    transcript: Transcript
    answered: int

    @classmethod
    def of(cls, transcript: Transcript, messages: Sequence[object]) -> "Seen":
        waiting = bool(transcript.turns) and transcript.turns[-1] == len(messages) - 1
        return cls(transcript, len(transcript.turns) - waiting)


@dataclass(frozen=True, slots=True)
class LoadedSet:
    """What is loaded: each name once, with the fingerprint that it was loaded with.

    `searches` are the recorded searches of ours that did it. `mentioned` are the tools that the
    provider's own results in the conversation name, which have to stay in its array in some form.
    """

    tools: Loads = ()
    searches: tuple[Loading, ...] = ()
    mentioned: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Found:
    """What a provider's search found once; `turn` is 0 where it is not known any more."""

    tools: dict[str, str]
    session: SessionRecord
    turn: int


async def loaded_set(
    ledger: Ledger, record: SessionRecord, past: Past, seen: Seen | None = None
) -> LoadedSet:
    """What this branch has loaded, in load order.

    Without a transcript everything counts that this lineage recorded since its conversation was
    cleared.
    """
    ids = [*(elder.record.session_id for elder in past.elders), record.session_id]
    loadings = list(await ledger.loadings(ids))
    if seen is not None:
        loadings = _visible(loadings, seen.transcript)
    loaded: dict[str, str] = {}
    for loading in loadings:
        # A tool that was loaded anew after it changed counts as it is now, in its old place.
        loaded.update(loading.tools)
    mentioned = _mentioned(seen, past)
    found = await _found(ledger, record, past)
    for each in found:
        for name, fingerprint in each.tools.items():
            if seen is None or name in mentioned or _carried(each, record, seen):
                loaded.setdefault(name, fingerprint)
    if seen is None:
        near = (each for each in found if each.session.provider == record.provider)
        mentioned = frozenset(name for each in near for name in each.tools)
    return LoadedSet(tuple(loaded.items()), tuple(loadings), mentioned)


def _visible(loadings: Sequence[Loading], seen: Transcript) -> list[Loading]:
    """The recorded searches that this transcript shows, or whose note it carries."""
    visible = set(seen.notes)
    by_call: dict[str, list[Loading]] = defaultdict(list)
    for loading in loadings:
        # A note stands for searches that are in the conversation no more: where ids are used
        # twice, those that are still there are later ones.
        if loading.invocation_id not in visible:
            by_call[loading.call_id].append(loading)
    for search in seen.searches:
        recorded = by_call.get(search.call_id, [])
        if search.occurrence <= len(recorded):
            visible.add(recorded[search.occurrence - 1].invocation_id)
    return [loading for loading in loadings if loading.invocation_id in visible]


def _mentioned(seen: Seen | None, past: Past) -> frozenset[str]:
    if seen is None:
        return frozenset()
    names = (past.codec.canonical(name) for each in seen.transcript.native for name in each.names)
    return frozenset(name for name in names if name is not None)


def _carried(found: _Found, record: SessionRecord, seen: Seen) -> bool:
    """Whether a find counts that this provider's form of the conversation cannot show.

    Another model found it; the conversation still has to have the turn in which that was.
    """
    if _model(found.session) == _model(record):
        return False
    return bool(seen.transcript.notes) or 0 < found.turn <= seen.answered


def _model(record: SessionRecord) -> tuple[str, str | None, str | None]:
    return record.provider, record.endpoint, record.model


async def _found(ledger: Ledger, record: SessionRecord, past: Past) -> list[_Found]:
    """What the providers' own searches found in this lineage since it was cleared."""
    sessions: list[tuple[SessionRecord, Sequence[RunRecord], bool]] = [
        *((elder.record, elder.runs, True) for elder in past.elders),
        (record, past.own, False),
    ]
    found: list[_Found] = []
    for session, runs, forked in sessions:
        # Most sessions cannot have found anything, and their events need not be read.
        if not isinstance(native_search(*_model(session)), Capability):
            continue
        turns = {run.run_id: run.turn for run in runs}
        for told in await ledger.events(session_id=session.session_id):
            event = told.event
            if event.name == "session.forked" and forked and _is_left(event.data, sessions):
                break
            if event.name == "conversation.cleared":
                found.clear()
            elif event.name == FOUND:
                turn = turns.get(event.run_id or "", 0)
                found.append(_Found(dict(event.data["tools"]), session, turn))
    return found


def _is_left(
    data: object, sessions: Sequence[tuple[SessionRecord, Sequence[RunRecord], bool]]
) -> bool:
    """Whether this lineage left the session at that fork."""
    to = data.get("to") if isinstance(data, dict) else None
    return any(record.session_id == to for record, _, _ in sessions)
