"""No history can be changed without the first changed place being found."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import Event, RecordedEvent
from toolkeeper_ledger import GENESIS, FaultKind, Head, verify
from toolkeeper_ledger.chain import extend

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abé", max_size=2), inner),
    max_leaves=5,
)
DATA = st.dictionaries(st.text("abcé", max_size=3), VALUES, max_size=3)
EVENTS = st.lists(
    st.builds(Event, st.sampled_from(["a.b", "c.d"]), DATA, st.sampled_from([None, "run_1"])),
    min_size=1,
    max_size=8,
)
AT = "2026-11-29T12:00:00.000000+00:00"


def numbered(records: list[RecordedEvent]) -> list[RecordedEvent]:
    return [replace(record, seq=seq) for seq, record in enumerate(records, start=1)]


@settings(max_examples=100, deadline=None)
@given(EVENTS)
def test_a_history_as_it_was_written_holds(events: list[Event]) -> None:
    head, records = extend(Head("ses_1"), AT, events)
    assert verify(records, head) is None
    assert verify(records, head, kept=Head("ses_1", 1, records[0].hash)) is None


@settings(max_examples=150, deadline=None)
@given(EVENTS, st.data())
def test_every_change_is_found_at_its_first_place(events: list[Event], data: st.DataObject) -> None:
    head, records = extend(Head("ses_1"), AT, events)
    place = data.draw(st.integers(0, len(records) - 1))
    renumber = data.draw(st.booleans())
    way = data.draw(st.sampled_from(list(FaultKind)))
    record = records[place]
    changed = list(records)
    if way is FaultKind.CHANGED:
        changed[place] = replace(record, event=replace(record.event, name="x.y"))
    elif way is FaultKind.REMOVED:
        del changed[place]
    elif way is FaultKind.INSERTED:
        changed.insert(place, replace(record, hash="e" * 64, seq=place + 1))
        renumber = True
    else:
        other = data.draw(st.integers(0, len(records) - 1).filter(lambda n: n != place or n == 0))
        if other == place:
            return
        changed.insert(other, changed.pop(place))
        place, renumber = min(place, other), True
    fault = verify(numbered(changed) if renumber else changed, head)
    assert fault is not None
    assert fault.seq == place + 1


@settings(max_examples=50, deadline=None)
@given(EVENTS)
def test_a_history_hashed_anew_is_found_by_a_head_kept_elsewhere(events: list[Event]) -> None:
    kept, _ = extend(Head("ses_1"), AT, events)
    forged = [replace(event, name="x.y") for event in events]
    head, records = extend(Head("ses_1", 0, GENESIS), AT, forged)
    assert verify(records, head) is None
    assert verify(records, head, kept=kept) is not None
