"""What recorded searches have loaded is read back, and nothing else counts."""

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Ending, Event, Loading, State
from toolkeeper_ledger import verify

TOOLS = {"z.last": "1" * 64, "a.first": "2" * 64, "m.middle": "3" * 64}


def search(desk: Any, make: ModuleType, name: str, tools: Any = TOOLS, **changes: Any) -> Any:
    row = make.a_row(name, tool="tool.search", state=State.SETTLED, outcome=Ending.COMPLETED)
    row = replace(row, **changes)
    event = Event("tools.loaded", {"tools": tools}, row.run_id, name)
    desk.wait(desk.ledger.settle(row, [event, Event("call.settled", {}, row.run_id, name)]))
    return row


def clear(desk: Any, make: ModuleType, session_id: str = "ses_1", run_id: str = "run_1") -> None:
    row = make.a_row(
        f"clearing {len(desk.wait(desk.ledger.events()))}", session_id=session_id, run_id=run_id
    )
    desk.wait(desk.ledger.settle(row, [Event("conversation.cleared", {})]))


def loaded(desk: Any, *session_ids: str) -> list[str]:
    return [one.invocation_id for one in desk.wait(desk.ledger.loadings(session_ids))]


def test_what_a_search_loaded_reads_back_in_its_order(desk: Any, make: ModuleType) -> None:
    row = search(desk, make, "inv_1")
    (one,) = desk.wait(desk.ledger.loadings(["ses_1"]))
    assert one == Loading("inv_1", "ses_1", row.call_id, TOOLS)
    assert list(one.tools) == list(TOOLS)


def test_sessions_come_in_the_order_asked_and_searches_as_they_happened(
    desk: Any, make: ModuleType
) -> None:
    make.begin(desk.ledger, "ses_2", "run_2")
    child = {"session_id": "ses_2", "run_id": "run_2"}
    search(desk, make, "inv_4", **child)
    search(desk, make, "inv_3")
    search(desk, make, "inv_2", **child)
    search(desk, make, "inv_1")
    assert loaded(desk, "ses_1", "ses_2") == ["inv_3", "inv_1", "inv_4", "inv_2"]
    assert loaded(desk, "ses_2", "ses_1") == ["inv_4", "inv_2", "inv_3", "inv_1"]
    assert loaded(desk, "ses_2", "ses_2") == ["inv_4", "inv_2"]
    assert loaded(desk) == []
    assert loaded(desk, "ses_9") == []


@pytest.mark.parametrize("outcome", [Ending.FAILED, Ending.REFUSED])
def test_a_search_that_did_not_end_well_is_told_and_loads_nothing(
    desk: Any, make: ModuleType, outcome: Ending
) -> None:
    search(desk, make, "inv_1", outcome=outcome)
    assert [one.tools for one in desk.wait(desk.ledger.loadings(["ses_1"]))] == [{}]


def test_a_search_without_an_end_is_not_told(desk: Any, make: ModuleType) -> None:
    search(desk, make, "inv_1", outcome=None)
    assert loaded(desk, "ses_1") == []


def test_a_search_that_is_still_running_has_loaded_nothing(desk: Any, make: ModuleType) -> None:
    event = Event("tools.loaded", {"tools": TOOLS}, "run_1", "inv_1")
    row = make.a_row("inv_1", tool="tool.search")
    lease = desk.wait(desk.ledger.claim(row, make.LEASE, [event]))
    assert loaded(desk, "ses_1") == []
    desk.wait(desk.ledger.settle(make.ended(row, lease.fence), []))
    assert loaded(desk, "ses_1") == ["inv_1"]


@pytest.mark.parametrize("tools", [[], "z.last", None, 1])
def test_an_event_that_is_not_one_of_ours_loads_nothing(
    desk: Any, make: ModuleType, tools: Any
) -> None:
    search(desk, make, "inv_1", tools)
    assert loaded(desk, "ses_1") == []


def test_a_search_that_found_nothing_is_told_with_no_tools(desk: Any, make: ModuleType) -> None:
    row = search(desk, make, "inv_1", {})
    search(desk, make, "inv_2", {"z.last": 1})
    (first, second) = desk.wait(desk.ledger.loadings(["ses_1"]))
    assert first == Loading("inv_1", "ses_1", row.call_id, {})
    assert second.tools == {}


def test_an_event_of_no_call_or_of_another_sessions_loads_nothing(
    desk: Any, make: ModuleType
) -> None:
    make.begin(desk.ledger, "ses_2", "run_2")
    desk.wait(desk.ledger.settle(make.a_row("inv_1"), []))
    told = [
        Event("tools.loaded", {"tools": TOOLS}),
        Event("tools.loaded", {"tools": TOOLS}, None, "inv_9"),
        Event("tools.loaded", {"tools": TOOLS}, None, "inv_1"),
    ]
    other = make.a_row("inv_2", session_id="ses_2", run_id="run_2", outcome=Ending.COMPLETED)
    desk.wait(desk.ledger.settle(other, told))
    assert loaded(desk, "ses_1", "ses_2") == []


def test_clearing_ends_what_was_loaded_before(desk: Any, make: ModuleType) -> None:
    search(desk, make, "inv_1")
    clear(desk, make)
    assert loaded(desk, "ses_1") == []
    search(desk, make, "inv_2")
    assert loaded(desk, "ses_1") == ["inv_2"]


def test_clearing_a_session_ends_what_it_had_from_those_before_it(
    desk: Any, make: ModuleType
) -> None:
    make.begin(desk.ledger, "ses_2", "run_2")
    search(desk, make, "inv_1")
    search(desk, make, "inv_2", session_id="ses_2", run_id="run_2")
    clear(desk, make, "ses_2", "run_2")
    search(desk, make, "inv_3")
    search(desk, make, "inv_4", session_id="ses_2", run_id="run_2")
    assert loaded(desk, "ses_1", "ses_2") == ["inv_3", "inv_4"]
    assert loaded(desk, "ses_1") == ["inv_1", "inv_3"]


def test_clearing_a_session_leaves_those_after_it(desk: Any, make: ModuleType) -> None:
    make.begin(desk.ledger, "ses_2", "run_2")
    search(desk, make, "inv_1")
    search(desk, make, "inv_2", session_id="ses_2", run_id="run_2")
    clear(desk, make)
    assert loaded(desk, "ses_1", "ses_2") == ["inv_2"]


def fork(desk: Any, make: ModuleType) -> dict[str, str]:
    """Opens `ses_2` as a child of `ses_1`; gives what places a row in it."""
    session = make.a_session("ses_2", parent="ses_1")
    desk.wait(desk.ledger.open_session(session, [Event("session.opened")]))
    desk.wait(desk.ledger.begin_run(make.a_run("run_2", "ses_2"), make.PLAN, []))
    return {"session_id": "ses_2", "run_id": "run_2"}


def test_a_fork_has_what_was_loaded_before_it_and_nothing_later(
    desk: Any, make: ModuleType
) -> None:
    search(desk, make, "inv_1")
    child = fork(desk, make)
    search(desk, make, "inv_2")
    search(desk, make, "inv_3", **child)
    assert loaded(desk, "ses_1", "ses_2") == ["inv_1", "inv_3"]
    assert loaded(desk, "ses_1") == ["inv_1", "inv_2"]


def test_clearing_a_parent_leaves_its_forks_and_clearing_a_fork_its_parent(
    desk: Any, make: ModuleType
) -> None:
    search(desk, make, "inv_1")
    child = fork(desk, make)
    search(desk, make, "inv_2", **child)
    clear(desk, make)
    assert loaded(desk, "ses_1", "ses_2") == ["inv_1", "inv_2"]
    assert loaded(desk, "ses_1") == []
    search(desk, make, "inv_3")
    clear(desk, make, **child)
    assert loaded(desk, "ses_1", "ses_2") == []
    assert loaded(desk, "ses_1") == ["inv_3"]


def test_a_settled_search_whose_lease_was_lost_loads_nothing(desk: Any, make: ModuleType) -> None:
    row = make.a_row("inv_1", tool="tool.search")
    desk.wait(desk.ledger.claim(row, make.LEASE, []))
    stale = make.ended(row, 0)
    event = Event("tools.loaded", {"tools": TOOLS}, "run_1", "inv_1")
    assert desk.wait(desk.ledger.settle(stale, [event])) is False
    assert loaded(desk, "ses_1") == []


def test_the_order_of_an_events_data_does_not_break_its_chain(desk: Any, make: ModuleType) -> None:
    search(desk, make, "inv_1", {**TOOLS, "big": "x"})
    desk.wait(desk.ledger.settle(make.a_row("inv_2"), [Event("x", {"z": 2**70, "a": ["ü"]})]))
    records = desk.wait(desk.ledger.events("ses_1"))
    (head,) = desk.wait(desk.ledger.heads())
    assert verify(records, head) is None
    assert list(records[-1].event.data) == ["z", "a"]
