"""Events get to whoever is to be told of them, at least once, whatever the way there is like."""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from toolkeeper.testing import FixedClock, MemoryLedger
from toolkeeper_contract import Event, RecordedEvent, SessionRecord, Undelivered
from toolkeeper_sinks import (
    Courier,
    Round,
    Schedule,
    SigningSecret,
    WebhookSink,
    verify_signature,
)

SECRET = "a secret that nobody else has"
START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


class Book:
    """A log that a test can read."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def info(self, event: str, **values: Any) -> None:
        self.lines.append((event, str(values)))

    def warning(self, event: str, **values: Any) -> None:
        self.lines.append((event, str(values)))


class Desk:
    """A ledger in memory with a session, and a courier to one receiver."""

    def __init__(self, sink: Any, **more: Any) -> None:
        self.clock = FixedClock(START)
        self.ledger = MemoryLedger(self.clock)
        self.sink = sink
        self.log = Book()
        self.courier = Courier(
            sink, self.ledger, self.clock, chance=lambda: 1.0, log=self.log, **more
        )
        self.ledger.subscribe({sink.name: sink.events}, self.courier.wake)

    async def open(self) -> None:
        session = SessionRecord("ses_1", "chat", "ana", "generic", START)
        await self.ledger.open_session(session, [])

    async def tell(self, *names: str) -> None:
        await self.ledger.append("ses_1", [Event(name, {"tool": "mail.send"}) for name in names])

    async def names(self) -> list[str]:
        return [record.event.name for record in await self.ledger.events("ses_1")]

    async def waiting(self) -> int:
        return (await self.ledger.backlog(self.clock.now())).undelivered


def webhook(url: str, *events: str, timeout: float = 5.0) -> WebhookSink:
    return WebhookSink(
        url,
        SigningSecret.of(SECRET),
        events or ("approval.asked",),
        name="hook",
        timeout=timeout,
        now=lambda: START,
    )


async def rounds(desk: Desk, *pauses: float) -> list[Round]:
    """Delivers what is due, and again after each pause."""
    made = [await desk.courier.deliver_due()]
    for pause in pauses:
        desk.clock.advance(seconds=pause)
        made.append(await desk.courier.deliver_due())
    await desk.sink.close()
    return made


def told(desk: Desk, *names: str) -> Callable[[], Any]:
    async def run() -> None:
        await desk.open()
        await desk.tell(*names)

    return run


def test_an_event_is_posted_signed_and_struck_off(hook: Any) -> None:
    receiver = hook("200")

    async def main() -> list[Round]:
        desk = Desk(webhook(receiver.url))
        await told(desk, "session.read", "approval.asked")()
        made = await rounds(desk)
        assert await desk.waiting() == 0
        return made

    assert asyncio.run(main()) == [Round(delivered=1)]
    (seen,) = receiver.rest()
    body = seen["body"].encode()
    assert verify_signature(body, seen["headers"], SECRET, now=START.timestamp()) == "ses_1:2"
    assert json.loads(body) == {
        "id": "ses_1:2",
        "type": "approval.asked",
        "timestamp": "2026-11-29T12:00:00.000000+00:00",
        "session_id": "ses_1",
        "seq": 2,
        "run_id": None,
        "invocation_id": None,
        "data": {"tool": "mail.send"},
    }


@pytest.mark.parametrize("failure", ["500", "503", "404", "429", "drop"])
def test_what_was_not_taken_comes_again_with_growing_pauses_and_the_same_id(
    hook: Any, failure: str
) -> None:
    receiver = hook(failure, failure, "204")

    async def main() -> list[Round]:
        desk = Desk(webhook(receiver.url))
        await told(desk, "approval.asked")()
        return await rounds(desk, 0.9, 0.1, 1.9, 0.1)

    assert asyncio.run(main()) == [
        Round(postponed=1),
        Round(),
        Round(postponed=1),
        Round(),
        Round(delivered=1),
    ]
    assert [each["headers"]["webhook-id"] for each in receiver.rest()] == ["ses_1:1"] * 3


def test_a_receiver_that_hangs_is_given_up_after_the_timeout(hook: Any) -> None:
    receiver = hook("hang", "200")

    async def main() -> list[Round]:
        desk = Desk(webhook(receiver.url, timeout=1.0))
        await told(desk, "approval.asked")()
        made = await rounds(desk)
        # On a machine that is busy the next one may come too late as well.
        while not made[-1].delivered:
            made += (await rounds(desk, 3600))[1:]
        return made

    first, *_, last = asyncio.run(main())
    assert (first, last) == (Round(postponed=1), Round(delivered=1))


def test_nobody_there_is_waited_for(hook: Any) -> None:
    receiver = hook("200")
    receiver.rest()

    async def main() -> Any:
        desk = Desk(webhook(receiver.url))
        await told(desk, "approval.asked")()
        made = await rounds(desk)
        now = desk.clock.now() + timedelta(hours=1)
        (waiting,) = await desk.ledger.take_deliveries(["hook"], now, now, 1)
        return made, waiting.last_error

    assert asyncio.run(main()) == ([Round(postponed=1)], "it cannot be reached")


def test_a_redirect_is_not_followed(hook: Any) -> None:
    receiver = hook("redirect")

    async def main() -> list[Round]:
        desk = Desk(webhook(receiver.url))
        await told(desk, "approval.asked")()
        return await rounds(desk)

    assert asyncio.run(main()) == [Round(postponed=1)]
    assert [each["path"].partition("?")[0] for each in receiver.rest()] == ["/hook"]


def test_a_receiver_that_is_gone_for_good_is_told_no_more_and_the_ledger_says_so(
    hook: Any,
) -> None:
    receiver = hook("410")

    async def main() -> None:
        desk = Desk(webhook(receiver.url, "approval.asked", "delivery.abandoned"))
        await told(desk, "approval.asked")()
        # The abandonment is told as well, and that it could not be told is not.
        assert await rounds(desk) == [Round(abandoned=2)]
        assert await desk.names() == ["approval.asked", "delivery.abandoned"]
        (_, abandoned) = await desk.ledger.events("ses_1")
        assert abandoned.event.data == {
            "sink": "hook",
            "seq": 1,
            "told": "approval.asked",
            "attempts": 1,
            "reason": "it answered 410: nobody is there any more",
        }
        assert await desk.waiting() == 0

    asyncio.run(main())


def test_an_event_that_is_too_old_is_given_up_and_the_ledger_says_so(hook: Any) -> None:
    receiver = hook("500")

    async def main() -> None:
        desk = Desk(webhook(receiver.url), schedule=Schedule(give_up_after=timedelta(minutes=5)))
        await told(desk, "approval.asked")()
        assert await rounds(desk, 299, 1) == [
            Round(postponed=1),
            Round(postponed=1),
            Round(),
        ]
        desk.clock.advance(seconds=1)
        assert await rounds(desk) == [Round(abandoned=1)]
        assert await desk.names() == ["approval.asked", "delivery.abandoned"]

    asyncio.run(main())


def test_no_address_and_no_secret_stands_in_a_log_or_the_ledger(
    hook: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    receiver = hook("500", "410")
    caplog.set_level(logging.DEBUG)

    async def main() -> str:
        desk = Desk(webhook(receiver.url))
        await told(desk, "approval.asked")()
        await rounds(desk, 1)
        return str([record.event for record in await desk.ledger.events("ses_1")])

    written = asyncio.run(main())
    output = capsys.readouterr()
    for canary in (SECRET, "in-the-address"):
        assert canary not in written + output.out + output.err + caplog.text


class Fickle:
    """A sink of a program's own, which does as it is told."""

    name = "own"
    events = ("approval.asked",)

    def __init__(self, *answers: Exception | float | None) -> None:
        self.answers = list(answers)
        self.seen: list[str] = []
        self.took = asyncio.Event()

    async def deliver(self, event: RecordedEvent) -> None:
        self.seen.append(f"{event.session_id}:{event.seq}")
        answer = self.answers.pop(0) if self.answers else None
        self.took.set()
        if isinstance(answer, Exception):
            raise answer
        if answer is not None:
            await asyncio.sleep(answer)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Undelivered("not now"), "not now"),
        (ValueError("the words of a library"), "it raised ValueError"),
        (3600.0, "it did not answer in time"),
    ],
)
def test_a_sink_of_the_programs_own_may_fail_in_any_way(
    answer: Exception | float, reason: str
) -> None:
    async def main() -> Any:
        desk = Desk(Fickle(answer), timeout=0.1)
        await told(desk, "approval.asked")()
        assert await desk.courier.deliver_due() == Round(postponed=1)
        desk.clock.advance(seconds=1)
        (again,) = await desk.ledger.take_deliveries(["own"], desk.clock.now(), desk.clock.now(), 1)
        return again.last_error

    assert asyncio.run(main()) == reason


def test_a_courier_that_runs_is_woken_by_an_event_and_ends_when_it_is_stopped() -> None:
    async def main() -> list[str]:
        sink = Fickle()
        desk = Desk(sink)
        await desk.open()
        running = asyncio.create_task(desk.courier.run())
        await asyncio.sleep(0)
        await desk.tell("approval.asked", "approval.asked")
        async with asyncio.timeout(30):
            await sink.took.wait()
            desk.courier.stop()
            await running
        return sink.seen

    assert asyncio.run(main()) == ["ses_1:1", "ses_1:2"]


def test_what_is_on_the_way_when_a_process_ends_is_free_for_the_next_at_once() -> None:
    async def main() -> None:
        sink = Fickle(3600.0)
        desk = Desk(sink)
        await told(desk, "approval.asked")()
        running = asyncio.create_task(desk.courier.run())
        await sink.took.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert await desk.courier.deliver_due() == Round(delivered=1)
        assert sink.seen == ["ses_1:1", "ses_1:1"]

    asyncio.run(main())


def test_an_operator_can_drop_what_waits_for_nobody() -> None:
    async def main() -> None:
        sink = Fickle(Undelivered("not now"))
        desk = Desk(sink)
        await told(desk, "approval.asked", "approval.asked")()
        await desk.courier.deliver_due()
        assert await desk.courier.drop() == Round(abandoned=2)
        assert (await desk.names())[2:] == ["delivery.abandoned"] * 2
        assert await desk.waiting() == 0

    asyncio.run(main())
