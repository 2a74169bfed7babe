"""A process beside the tests: says `ready`, waits for a word, works at the store, prints JSON.

worker.py claim|answer|append|share|die STORE ROUNDS HOW NAME
"""

import asyncio
import json
import sys
from collections import UserDict
from collections.abc import Iterator, Mapping

from making import LEASE, HandClock, a_row, ended, parked_row

from toolkeeper_contract import Answer, ApprovalState, Event
from toolkeeper_ledger import SqlLedger, open_ledger

CLOCK = HandClock()


def ready() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


async def claim(ledger: SqlLedger, rounds: int, who: str, name: str) -> list[bool]:
    won = []
    for number in range(rounds):
        approval_id = f"apr_{number}"
        if who == "same call":
            row = parked_row(f"inv_{number}", approval_id)
        else:
            row = a_row(f"inv_{number}_{name}", approval_id=approval_id)
        event = Event("call.claimed", {}, "run_1", row.invocation_id)
        won.append(await ledger.claim(row, LEASE, [event]) is not None)
    return won


async def answer(ledger: SqlLedger, rounds: int, state: str, name: str) -> list[bool]:
    won = []
    for number in range(rounds):
        decided = Answer(ApprovalState(state), name, CLOCK.now())
        event = Event("approval.answered", {"by": name})
        won.append(await ledger.answer(f"apr_{number}", decided, [event]) is not None)
    return won


async def append(ledger: SqlLedger, rounds: int, session_id: str, name: str) -> list[bool]:
    done = []
    run_id = session_id.replace("ses", "run")
    for number in range(rounds):
        row = a_row(f"inv_{name}_{number}", session_id=session_id, run_id=run_id)
        event = Event("call.settled", {"by": name, "n": number}, run_id, row.invocation_id)
        done.append(await ledger.settle(row, [event]))
        await ledger.events(session_id)
    return done


async def share(ledger: SqlLedger, rounds: int, count: str, name: str) -> list[bool]:
    """Calls in `count` sessions at once, some of which end in a way that takes several steps."""
    order = [f"{n}" for n in range(int(count))]
    order = order[::-1] if name == "two" else order

    async def call(number: int, which: str) -> bool:
        session_id, run_id = f"ses_{which}", f"run_{which}"
        row = a_row(f"inv_{name}_{which}_{number}", session_id=session_id, run_id=run_id)
        if number % 3 == 0:
            return await ledger.settle(row, [Event("call.settled", {}, run_id, row.invocation_id)])
        begun = Event("call.claimed", {}, run_id, row.invocation_id)
        lease = await ledger.claim(row, LEASE, [begun])
        assert lease is not None
        done = Event("call.settled", {}, run_id, row.invocation_id)
        return await ledger.settle(ended(row, lease.fence), [done], tainted=number % 2 == 0)

    won = []
    for number in range(rounds):
        won += await asyncio.gather(*(call(number, which) for which in order))
    return won


class Stuck(UserDict[str, object]):
    """An event's data that stops the process in the middle of a transaction, to be killed."""

    def __iter__(self) -> Iterator[str]:
        wait_to_be_killed()
        return super().__iter__()


def wait_to_be_killed() -> None:
    print("at the point", flush=True)
    sys.stdin.readline()


async def die(ledger: SqlLedger, rounds: int, point: str, name: str) -> list[bool]:
    row = a_row("inv_1")
    if point == "before":
        wait_to_be_killed()
    lease = await ledger.claim(row, LEASE, [Event("call.claimed")])
    assert lease is not None
    if point == "claimed":
        wait_to_be_killed()
    data: Mapping[str, object] = Stuck(n=1) if point == "inside" else {}
    await ledger.settle(ended(row, lease.fence), [Event("call.settled", data)])
    wait_to_be_killed()
    return []


WORK = {"claim": claim, "answer": answer, "append": append, "share": share, "die": die}


def main() -> None:
    what, store, rounds, how, name = sys.argv[1:]
    ledger = open_ledger(store, clock=CLOCK)
    ready()
    print(json.dumps(asyncio.run(WORK[what](ledger, int(rounds), how, name))), flush=True)
    asyncio.run(ledger.close())


if __name__ == "__main__":
    main()
