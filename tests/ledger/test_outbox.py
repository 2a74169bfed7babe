"""Events that a sink wants wait for it: written with what they tell, taken by one at a time."""

import asyncio
import json
import subprocess
import sys
from datetime import datetime, timedelta
from typing import Any

from toolkeeper_contract import PATIENCE, Delivery, Event

ASKED = ("approval.asked",)


def take(
    desk: Any, *sinks: str, limit: int = 16, lease: timedelta = timedelta(minutes=1)
) -> list[Delivery]:
    now: datetime = desk.clock.now()
    return list(desk.wait(desk.ledger.take_deliveries(sinks or ("hook",), now, now + lease, limit)))


def waiting(desk: Any) -> int:
    return int(desk.wait(desk.ledger.backlog(desk.clock.now())).undelivered)


def tell(desk: Any, *names: str, session_id: str = "ses_1") -> None:
    desk.wait(
        desk.ledger.append(session_id, [Event(name, {"n": n}) for n, name in enumerate(names)])
    )


def test_only_what_a_sink_wants_is_put_into_its_outbox(desk: Any) -> None:
    desk.ledger.subscribe({"hook": ASKED, "log": ("approval.asked", "approval.answered")})
    desk.park()
    desk.approve()
    tell(desk, "session.read")
    assert waiting(desk) == 3
    assert [each.event.event.name for each in take(desk, "hook")] == ["approval.asked"]
    assert [each.sink for each in take(desk, "log")] == ["log"]


def test_a_ledger_without_sinks_keeps_nothing_for_any(desk: Any) -> None:
    desk.park()
    desk.ledger.subscribe({"hook": ASKED})
    desk.ledger.subscribe({})
    desk.park("inv_2", "apr_2")
    assert waiting(desk) == 0
    assert take(desk) == []


def test_a_delivery_holds_the_event_as_the_ledger_holds_it(desk: Any) -> None:
    desk.ledger.subscribe({"hook": ASKED})
    desk.park()
    (delivery,) = take(desk)
    (asked,) = [
        record
        for record in desk.wait(desk.ledger.events("ses_1"))
        if record.event.name == "approval.asked"
    ]
    assert delivery.event == asked
    assert delivery.attempts == 1
    assert delivery.last_error is None


def test_what_is_taken_is_nobody_elses_for_a_while(desk: Any) -> None:
    desk.ledger.subscribe({"hook": ASKED})
    desk.park()
    assert len(take(desk)) == 1
    assert take(desk) == []
    desk.clock.forward(seconds=59)
    assert take(desk) == []
    desk.clock.forward(seconds=1)
    (again,) = take(desk)
    assert again.attempts == 2


def test_what_was_delivered_is_gone(desk: Any) -> None:
    desk.ledger.subscribe({"hook": ASKED})
    desk.park()
    (delivery,) = take(desk)
    desk.wait(desk.ledger.delivered(delivery.delivery_id))
    desk.wait(desk.ledger.delivered(delivery.delivery_id))
    desk.clock.forward(days=1)
    assert take(desk) == []
    assert waiting(desk) == 0


def test_what_was_postponed_comes_again_when_it_is_due_with_what_went_wrong(desk: Any) -> None:
    desk.ledger.subscribe({"hook": ASKED})
    desk.park()
    (delivery,) = take(desk)
    later = desk.clock.now() + timedelta(minutes=5)
    desk.wait(desk.ledger.postpone(delivery.delivery_id, later, "it answered 500"))
    desk.clock.forward(minutes=4)
    assert take(desk) == []
    desk.clock.forward(minutes=1)
    (again,) = take(desk)
    assert (again.attempts, again.last_error) == (2, "it answered 500")


def test_events_of_a_session_come_one_after_another(desk: Any) -> None:
    desk.ledger.subscribe({"hook": ASKED})
    tell(desk, "approval.asked", "approval.asked")
    (first,) = take(desk)
    assert take(desk) == []
    desk.wait(desk.ledger.delivered(first.delivery_id))
    (second,) = take(desk)
    assert second.event.seq == first.event.seq + 1


def test_sessions_and_sinks_do_not_wait_for_each_other(desk: Any, make: Any) -> None:
    desk.ledger.subscribe({"hook": ASKED, "log": ASKED})
    make.begin(desk.ledger, "ses_2", "run_2")
    for session_id in ("ses_1", "ses_2"):
        tell(desk, "approval.asked", "approval.asked", session_id=session_id)
    taken = take(desk, "hook", "log")
    assert sorted((each.sink, each.event.session_id) for each in taken) == [
        ("hook", "ses_1"),
        ("hook", "ses_2"),
        ("log", "ses_1"),
        ("log", "ses_2"),
    ]


def test_an_event_that_never_gets_through_does_not_hold_back_the_others_for_ever(
    desk: Any,
) -> None:
    desk.ledger.subscribe({"hook": ASKED})
    tell(desk, "approval.asked", "approval.asked")
    for attempt in range(1, PATIENCE + 1):
        (stuck,) = take(desk)
        assert stuck.attempts == attempt
        if attempt < PATIENCE:
            desk.wait(desk.ledger.postpone(stuck.delivery_id, desk.clock.now(), "it answered 500"))
    (behind,) = take(desk)
    assert behind.event.seq == stuck.event.seq + 1


def test_no_more_is_taken_than_was_asked_for(desk: Any, make: Any) -> None:
    desk.ledger.subscribe({"hook": ASKED})
    for number in range(2, 6):
        make.begin(desk.ledger, f"ses_{number}", f"run_{number}")
        tell(desk, "approval.asked", session_id=f"ses_{number}")
    assert [each.event.session_id for each in take(desk, limit=3)] == ["ses_2", "ses_3", "ses_4"]
    assert [each.event.session_id for each in take(desk, limit=3)] == ["ses_5"]


def test_whoever_subscribes_is_woken_after_a_commit_that_concerns_it(desk: Any) -> None:
    woken: list[int] = []
    desk.ledger.subscribe({"hook": ASKED}, lambda: woken.append(1))
    tell(desk, "session.read")
    assert woken == []
    desk.park()
    assert woken == [1]


def test_every_way_in_which_the_ledger_writes_an_event_is_seen(desk: Any, make: Any) -> None:
    wanted = (
        "session.opened",
        "call.claimed",
        "call.settled",
        "call.fenced",
        "approval.expired",
        "lease.reaped",
    )
    desk.ledger.subscribe({"hook": wanted})
    make.begin(desk.ledger, "ses_2", "run_2")
    row = make.a_row()

    def told(name: str) -> list[Event]:
        return [Event(name, {}, "run_1", "inv_1")]

    lease = desk.wait(desk.ledger.claim(row, make.LEASE, told("call.claimed")))
    assert desk.wait(desk.ledger.settle(make.ended(row, lease.fence), told("call.settled")))
    assert not desk.wait(desk.ledger.settle(make.ended(row, lease.fence), told("call.settled")))
    desk.wait(desk.ledger.claim(make.a_row("inv_2"), make.LEASE, []))
    desk.park("inv_3", "apr_3")
    desk.clock.forward(days=2)
    desk.wait(desk.ledger.reap(desk.clock.now()))
    found = []
    while taken := take(desk):
        for each in taken:
            found.append(each.event.event.name)
            desk.wait(desk.ledger.delivered(each.delivery_id))
    assert sorted(found) == sorted(wanted)


def test_a_write_that_is_undone_puts_nothing_into_an_outbox(desk: Any, make: Any) -> None:
    woken: list[int] = []
    desk.ledger.subscribe({"hook": ("approval.answered",)}, lambda: woken.append(1))
    desk.park()
    desk.approve()
    assert desk.approve() is None
    assert waiting(desk) == 1
    assert woken == [1]


def test_an_outbox_survives_its_process(store: str, clock: Any, make: Any) -> None:
    from toolkeeper_ledger import open_ledger

    first = open_ledger(store, clock=clock)
    make.begin(first)
    first.subscribe({"hook": ASKED})
    make.Desk(first, clock).park()
    asyncio.run(first.close())
    second = open_ledger(store, clock=clock)
    try:
        (delivery,) = take(make.Desk(second, clock))
        assert delivery.event.event.data["approval_id"] == "apr_1"
    finally:
        asyncio.run(second.close())


TAKER = """
import asyncio, json, sys
from datetime import UTC, datetime, timedelta
from toolkeeper_ledger import open_ledger

NOW = datetime(2030, 1, 1, tzinfo=UTC)


class Clock:
    def now(self):
        return NOW


async def take_all():
    ledger = open_ledger(sys.argv[1], clock=Clock())
    found = []
    print("ready", flush=True)
    sys.stdin.readline()
    while taken := await ledger.take_deliveries(["hook"], NOW, NOW + timedelta(hours=1), 2):
        for each in taken:
            found.append([each.event.session_id, each.event.seq])
            await ledger.delivered(each.delivery_id)
    await ledger.close()
    print(json.dumps(found))


asyncio.run(take_all())
"""


def test_several_processes_take_each_delivery_once(store: str, sql: Any, make: Any) -> None:
    sql.subscribe({"hook": ASKED})
    for number in range(40):
        make.begin(sql, f"ses_{number}", f"run_{number}")
        asyncio.run(sql.append(f"ses_{number}", [Event("approval.asked", {})]))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", TAKER, store],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    taken = [
        tuple(each)
        for process in processes
        for each in json.loads(process.communicate(timeout=60)[0])
    ]
    assert len(taken) == len(set(taken)) == 40
    assert asyncio.run(sql.backlog(make.START)).undelivered == 0
