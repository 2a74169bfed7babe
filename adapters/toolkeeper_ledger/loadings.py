"""What have the recorded searches of some sessions loaded, and not lost again?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, literal_column, select

from toolkeeper_contract import Ending, Invocation, Loading, RecordedEvent, State
from toolkeeper_ledger.prepared import Prepared
from toolkeeper_ledger.rows import event_of
from toolkeeper_ledger.schema import IS_OF_LOADING, events, invocations, sessions

LOADED = "tools.loaded"
CLEARED = "conversation.cleared"

_PARENTS = select(sessions.c.session_id, sessions.c.parent).where(
    sessions.c.session_id.in_(bindparam("wanted", expanding=True))
)
_WANTED = select(events).where(events.c.session_id.in_(bindparam("wanted", expanding=True)))
_OPENINGS = _WANTED.where(events.c.seq == 1)
_TOLD = _WANTED.where(literal_column(f"({IS_OF_LOADING})"))
# Not the whole row: what a search answered is long, and this is asked at every turn.
_SEARCH = Prepared(
    select(
        invocations.c.session_id, invocations.c.call_id, invocations.c.state, invocations.c.outcome
    ).where(invocations.c.invocation_id == bindparam("id"))
)


@dataclass(frozen=True, slots=True)
class Search:
    """A recorded search, as far as what it loaded is concerned.

    One that ended badly has loaded nothing, and counts as a search all the same.
    """

    session_id: str
    call_id: str
    ended: bool
    ended_well: bool

    @classmethod
    def of(cls, row: Invocation) -> "Search":
        return cls.told(row.session_id, row.call_id, row.state, row.outcome)

    @classmethod
    def told(cls, session_id: str, call_id: str, state: str, outcome: str | None) -> "Search":
        settled = state == State.SETTLED
        return cls(
            session_id,
            call_id,
            settled and outcome is not None,
            settled and outcome == Ending.COMPLETED,
        )


def loadings_of(
    session_ids: Sequence[str],
    records: Iterable[RecordedEvent],
    call: Callable[[str], Search | None],
    parents: Mapping[str, str | None],
) -> list[Loading]:
    """What these sessions have loaded: in their order, then as it happened.

    `records` are in the order in which they were written, of any sessions and names, but with the
    first one of each of these sessions; `call` finds a call by its id. Only a search that has
    ended well loads, and only in its own session. Where a session is followed by one that has it
    for its parent, the later one left it when it was opened: what happens in it after that, a
    search or a clearing, is another branch.
    """
    order = list(dict.fromkeys(session_ids))
    place = {session_id: index for index, session_id in enumerate(order)}
    loaded: list[list[Loading]] = [[] for _ in order]
    left = [False for _ in order]
    for record in records:
        index = place.get(record.session_id)
        if index is None:
            continue
        if record.seq == 1 and index and parents.get(record.session_id) == order[index - 1]:
            left[index - 1] = True
        if left[index]:
            continue
        if record.event.name == CLEARED:
            for earlier in loaded[: index + 1]:
                earlier.clear()
        elif record.event.name == LOADED:
            found = _loading(record, call)
            if found is not None:
                loaded[index].append(found)
    return [loading for own in loaded for loading in own]


def _loading(record: RecordedEvent, call: Callable[[str], Search | None]) -> Loading | None:
    invocation_id = record.event.invocation_id
    if invocation_id is None:
        return None
    search = call(invocation_id)
    if search is None or search.session_id != record.session_id or not search.ended:
        return None
    told = record.event.data.get("tools")
    if not isinstance(told, dict):
        return None
    # A search that found nothing is told too: of two under one call id it may be the first.
    tools = {
        name: fingerprint
        for name, fingerprint in told.items()
        if search.ended_well and isinstance(name, str) and isinstance(fingerprint, str)
    }
    return Loading(invocation_id, search.session_id, search.call_id, tools)


def read_loadings(connection: Connection, session_ids: Sequence[str]) -> list[Loading]:
    """As `loadings_of`, from the events that say what was loaded and cleared."""
    wanted = list(dict.fromkeys(session_ids))
    if not wanted:
        return []
    rows = {
        row["ordinal"]: row
        for query in (_OPENINGS, _TOLD)
        for row in connection.execute(query, {"wanted": wanted}).mappings()
    }
    parents = {row[0]: row[1] for row in connection.execute(_PARENTS, {"wanted": wanted})}
    return loadings_of(
        wanted,
        (event_of(rows[ordinal]) for ordinal in sorted(rows)),
        lambda name: _find_search(connection, name),
        parents,
    )


def _find_search(connection: Connection, invocation_id: str) -> Search | None:
    row = _SEARCH.run(connection, {"id": invocation_id}).fetchone()
    return None if row is None else Search.told(row[0], row[1], row[2], row[3])
