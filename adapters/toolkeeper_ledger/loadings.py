"""What have the recorded searches of some sessions loaded, and not lost again?"""

from collections.abc import Callable, Iterable, Sequence

from sqlalchemy import Connection, literal_column, select

from toolkeeper_contract import Ending, Invocation, Loading, RecordedEvent, State
from toolkeeper_ledger.call_rows import find_invocation
from toolkeeper_ledger.rows import event_of
from toolkeeper_ledger.schema import IS_OF_LOADING, events

LOADED = "tools.loaded"
CLEARED = "conversation.cleared"


def loadings_of(
    session_ids: Sequence[str],
    records: Iterable[RecordedEvent],
    call: Callable[[str], Invocation | None],
) -> list[Loading]:
    """What these sessions have loaded: in their order, then as it happened.

    `records` are in the order in which they were written, of any sessions and names; `call` finds
    a call by its id. Only a search that has ended well loads, and only in its own session.
    """
    place = {session_id: index for index, session_id in enumerate(dict.fromkeys(session_ids))}
    loaded: list[list[Loading]] = [[] for _ in place]
    for record in records:
        index = place.get(record.session_id)
        if index is None:
            continue
        if record.event.name == CLEARED:
            for earlier in loaded[: index + 1]:
                earlier.clear()
        elif record.event.name == LOADED:
            found = _loading(record, call)
            if found is not None:
                loaded[index].append(found)
    return [loading for own in loaded for loading in own]


def _loading(record: RecordedEvent, call: Callable[[str], Invocation | None]) -> Loading | None:
    invocation_id = record.event.invocation_id
    row = None if invocation_id is None else call(invocation_id)
    if (
        row is None
        or row.session_id != record.session_id
        or row.state is not State.SETTLED
        or row.outcome is not Ending.COMPLETED
    ):
        return None
    told = record.event.data.get("tools")
    tools = {
        name: fingerprint
        for name, fingerprint in (told.items() if isinstance(told, dict) else ())
        if isinstance(name, str) and isinstance(fingerprint, str)
    }
    if not tools:
        return None
    return Loading(row.invocation_id, row.session_id, row.call_id, tools)


def read_loadings(connection: Connection, session_ids: Sequence[str]) -> list[Loading]:
    """As `loadings_of`, from the events that say what was loaded and cleared."""
    wanted = list(dict.fromkeys(session_ids))
    if not wanted:
        return []
    query = (
        select(events)
        .where(events.c.session_id.in_(wanted), literal_column(f"({IS_OF_LOADING})"))
        .order_by(events.c.ordinal)
    )
    records = [event_of(row) for row in connection.execute(query).mappings().all()]
    return loadings_of(session_ids, records, lambda name: find_invocation(connection, name))
