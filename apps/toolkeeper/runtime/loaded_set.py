"""Which tools has a conversation loaded by searching, in this branch of it?

The transcript says which recorded searches are visible; the ledger says what they loaded. Text
alone loads nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

from toolkeeper_contract import Ledger, Loading, SessionRecord
from toolkeeper_wire.transcript import Transcript

MAX_ANCESTORS = 64
"""A lineage longer than this is cut at its root: what was loaded there is loaded by searching."""

FOUND = "tools.found"
"""The event that records what a provider's own search found, with names and fingerprints."""

Loads = tuple[tuple[str, str], ...]
"""Names and fingerprints in load order."""


async def lineage(ledger: Ledger, record: SessionRecord) -> list[str]:
    """The session and those that it was forked from, the eldest first.

    A delegated session begins with nothing loaded, whoever delegated it.
    """
    ids = [record.session_id]
    elder: SessionRecord | None = record
    while elder is not None and elder.parent is not None and elder.granted is None:
        if elder.parent in ids or len(ids) >= MAX_ANCESTORS:
            break
        ids.append(elder.parent)
        elder = await ledger.session(elder.parent)
    return ids[::-1]


async def loaded_set(
    ledger: Ledger,
    record: SessionRecord,
    *,
    transcript: Transcript | None = None,
    mentioned: Collection[str] = (),
) -> Loads:
    """What is loaded, in load order; each name once, with the fingerprint that it was loaded with.

    Without a transcript everything counts that this lineage recorded since its conversation was
    cleared. `mentioned` are the canonical names that the transcript's native results hold.
    """
    ids = await lineage(ledger, record)
    loadings = await ledger.loadings(ids)
    if transcript is not None:
        loadings = _visible(loadings, transcript)
    loaded: dict[str, str] = {}
    for loading in loadings:
        # A tool that was loaded anew after it changed counts as it is now, in its old place.
        loaded.update(loading.tools)
    if transcript is None or mentioned:
        for name, fingerprint in (await _found(ledger, ids)).items():
            if transcript is None or name in mentioned:
                loaded.setdefault(name, fingerprint)
    return tuple(loaded.items())


def _visible(loadings: Sequence[Loading], seen: Transcript) -> list[Loading]:
    """The recorded searches that this transcript shows, or whose note it carries."""
    by_call: dict[str, list[Loading]] = defaultdict(list)
    for loading in loadings:
        by_call[loading.call_id].append(loading)
    visible = set(seen.notes)
    for search in seen.searches:
        recorded = by_call.get(search.call_id, [])
        if search.occurrence <= len(recorded):
            visible.add(recorded[search.occurrence - 1].invocation_id)
    # In the order in which they were loaded: a note stands for what came before it.
    return [loading for loading in loadings if loading.invocation_id in visible]


async def _found(ledger: Ledger, ids: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for session_id in ids:
        for record in await ledger.events(session_id=session_id):
            if record.event.name == "conversation.cleared":
                found.clear()
            elif record.event.name == FOUND:
                found.update(record.event.data["tools"])
    return found
