"""What waits, counted without looking at what is done."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from toolkeeper_contract import Backlog, Code, Ending, Event, State


def backlog(desk: Any) -> Backlog:
    found: Backlog = desk.wait(desk.ledger.backlog(desk.clock.now()))
    return found


def settle(desk: Any, make: Any, name: str, outcome: Ending) -> None:
    row = replace(make.a_row(name), state=State.SETTLED, outcome=outcome, code=Code.FAILED)
    desk.wait(desk.ledger.settle(row, [Event("call.settled", {}, "run_1", name)]))


def test_nothing_waits_in_a_new_ledger(desk: Any) -> None:
    assert backlog(desk) == Backlog({}, 0, None, 0, 0, 0, 0, 0)


def test_settled_calls_are_counted_by_their_outcome(desk: Any, make: Any) -> None:
    for number, outcome in enumerate(["completed", "failed", "completed", "refused"]):
        settle(desk, make, f"inv_done_{number}", Ending(outcome))
    assert backlog(desk).calls == {"completed": 2, "failed": 1, "refused": 1}
    desk.park()
    desk.wait(desk.ledger.claim(make.a_row("inv_runs"), desk.clock.now(), []))
    assert backlog(desk).calls == {"completed": 2, "failed": 1, "refused": 1}


def test_a_ledger_in_which_nothing_completed_counts_no_completed_call(desk: Any, make: Any) -> None:
    settle(desk, make, "inv_1", Ending.FAILED)
    assert backlog(desk).calls == {"failed": 1}


def test_a_parked_call_waits_and_is_no_settled_one(desk: Any) -> None:
    desk.park()
    desk.clock.forward(minutes=3)
    found = backlog(desk)
    assert (found.calls, found.parked, found.pending_approvals) == ({}, 1, 1)
    assert found.account(desk.clock.now())["oldest_pending_seconds"] == 180.0


def test_an_answered_approval_waits_for_nobody_but_its_call_is_still_parked(desk: Any) -> None:
    desk.park()
    desk.approve()
    found = backlog(desk)
    assert (found.parked, found.pending_approvals, found.oldest_pending) == (1, 0, None)


def test_an_approval_whose_time_is_over_waits_no_more(desk: Any) -> None:
    desk.park()
    desk.clock.forward(days=2)
    assert backlog(desk).pending_approvals == 0


def test_a_lease_counts_as_running_and_when_it_is_over_as_overdue(desk: Any, make: Any) -> None:
    until = desk.clock.now() + timedelta(minutes=1)
    desk.wait(desk.ledger.claim(make.a_row(), until, []))
    assert (backlog(desk).running, backlog(desk).overdue) == (1, 0)
    desk.clock.forward(minutes=1)
    assert (backlog(desk).running, backlog(desk).overdue) == (1, 1)


def test_a_reaped_read_is_retryable(desk: Any, make: Any) -> None:
    row = make.a_row(side_effect="workspace_read")
    desk.wait(desk.ledger.claim(row, desk.clock.now() + timedelta(minutes=1), []))
    desk.clock.forward(minutes=2)
    desk.wait(desk.ledger.reap(desk.clock.now()))
    found = backlog(desk)
    assert (found.running, found.overdue, found.retryable) == (0, 0, 1)


def test_undelivered_events_are_counted_for_all_sinks(desk: Any) -> None:
    desk.ledger.subscribe({"hook": ("approval.asked",), "log": ("approval.asked",)})
    desk.park()
    assert backlog(desk).undelivered == 2


def test_no_count_looks_at_rows_that_it_does_not_count(sql: Any, make: Any) -> None:
    from toolkeeper_ledger import backlog as module

    statements = [
        module._MISSED,
        module._ALL,
        module._PENDING,
        module._PARKED,
        module._RUNNING,
        module._RETRYABLE,
    ]
    plans: list[str] = []

    def explain(connection: Any) -> None:
        for statement in statements:
            query = str(
                statement.compile(connection, compile_kwargs={"literal_binds": True})
                if ":now" not in str(statement)
                else statement.params(now="2026").compile(
                    connection, compile_kwargs={"literal_binds": True}
                )
            )
            plans.extend(row[3] for row in connection.execute(text(f"EXPLAIN QUERY PLAN {query}")))

    import asyncio

    asyncio.run(sql._writer.read(explain))
    assert len(plans) >= len(statements)
    assert all("USING" in plan and "INDEX" in plan for plan in plans if "TEMP" not in plan)
