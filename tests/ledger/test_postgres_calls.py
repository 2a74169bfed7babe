"""Which work goes to a server in one message, and that sinks are told all the same."""

import asyncio
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Event
from toolkeeper_ledger import open_ledger
from toolkeeper_ledger.calls import Claim, Settle
from toolkeeper_ledger.outbox import Subscription
from toolkeeper_ledger.postgres_calls import plain
from toolkeeper_ledger.subscribed_writer import Subscribed


def works(make: ModuleType) -> list[Any]:
    row = make.a_row("inv_1")
    begun = Event("call.claimed", {}, "run_1", "inv_1")
    done = Event("call.settled", {}, "run_1", "inv_1")
    claim = Claim(row, make.LEASE, make.START, [begun], None)
    return [claim, Settle(make.ended(row, 1), make.START, [done], False, False)]


def test_work_goes_in_one_message_though_sinks_want_other_events(make: ModuleType) -> None:
    for work in works(make):
        wanted = Subscription({"desk": ["approval.requested", "call.parked"]})
        assert plain(work) is work
        assert plain(Subscribed(work, wanted)) is work


def test_work_whose_events_a_sink_wants_goes_step_by_step(make: ModuleType) -> None:
    for work in works(make):
        wanted = Subscription({"desk": [work.events[0].name]})
        assert plain(Subscribed(work, wanted)) is None


@pytest.mark.parametrize(("wanted", "told"), [("call.claimed", 1), ("approval.requested", 0)])
def test_a_sink_gets_what_it_wants_of_a_call(
    postgres_store: str, clock: Any, make: ModuleType, wanted: str, told: int
) -> None:
    ledger = open_ledger(postgres_store, clock=clock)
    make.begin(ledger)
    ledger.subscribe({"desk": [wanted]}, None)

    async def story() -> int:
        claim, settle = works(make)
        assert await ledger.claim(claim.row, make.LEASE, claim.events) is not None
        assert await ledger.settle(settle.row, settle.events)
        taken = await ledger.take_deliveries(["desk"], make.LEASE, make.LEASE, 10)
        await ledger.close()
        return len(taken)

    assert asyncio.run(story()) == told


@pytest.mark.parametrize("text", ["a\0b", "\ufdd0", "\ufdd00\0\ufdd01", "plain ü"])
def test_any_text_of_a_call_comes_back_as_it_was(
    postgres_store: str, clock: Any, make: ModuleType, text: str
) -> None:
    ledger = open_ledger(postgres_store, clock=clock)
    make.begin(ledger)

    async def story() -> Any:
        row = make.a_row("inv_1", call_id=text)
        begun = Event("call.claimed", {"said": text}, "run_1", "inv_1")
        assert await ledger.claim(row, make.LEASE, [begun]) is not None
        done = Event("call.settled", {"said": text}, "run_1", "inv_1")
        assert await ledger.settle(replace(make.ended(row, 1), result=text), [done])
        found = await ledger.invocation("inv_1")
        told = [event.event.data.get("said") for event in await ledger.events("ses_1")][-2:]
        await ledger.close()
        return found.call_id, found.result, told

    assert asyncio.run(story()) == (text, text, [text, text])
