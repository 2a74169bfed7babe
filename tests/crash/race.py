"""Two workers go for the same approvals, and a third party answers against them.

    python tests/crash/race.py STORE FOLDER claim|answer|reap COUNT WORKERS

`claim`: COUNT approved calls, and every worker takes up each of them as a call of its own or as the
one that asked; who wins lets the effect happen. `answer`: COUNT pending ones; half of the workers
approve and half deny; then everything is taken up. `reap`: COUNT calls whose leases are over; every
worker reaps. Prints what came of it, as JSON.
"""

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from forks import forked
from scene import LATER, SECRET, MovedClock, Scene

from toolkeeper.runtime.answering import NotAnswerable
from toolkeeper.runtime.resumption import resume_all, resume_one
from toolkeeper_contract import Answer, ApprovalState, Event

CHUNK = 100


async def park(scene, count):
    """Ids of the approvals of that many parked calls, of one session."""
    ids = []
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        for start in range(0, count, CHUNK):
            titles = [f"{number}" for number in range(start, min(start + CHUNK, count))]
            outcomes = await scene.call_all(turn, "mail.send", titles, token=SECRET)
            ids += [outcome.row.approval_id for outcome in outcomes]
    return {"session": turn._session.session_id, "approvals": ids}


async def approve(scene, ids):
    ledger = scene.ledger()
    clock = MovedClock()
    for approval_id in ids:
        said = Answer(ApprovalState.APPROVED, "ana", clock.now())
        event = Event("approval.answered", {"approval_id": approval_id})
        await ledger.answer(approval_id, said, [event])
    await ledger.close()


async def take_up(scene, ids, barrier):
    async with scene.keeper() as keeper:
        await keeper.everything()
        barrier()
        for approval_id in ids:
            await resume_one(keeper, approval_id)


async def call_again(scene, session_id, ids, barrier):
    """The same calls once more, in the same session: each may use the approval of the first."""
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper, session_id)
        barrier()
        for number in range(len(ids)):
            await scene.call(turn, "mail.send", f"{number}", token=SECRET)


async def answer(scene, ids, state, barrier):
    async with scene.keeper() as keeper:
        desk = keeper.desk()
        barrier()
        won = lost = 0
        for approval_id in ids:
            try:
                await desk.answer(approval_id, state)
                won += 1
            except NotAnswerable:
                lost += 1
        return [won, lost]


async def leave_running(scene, count):
    class Gone(BaseException):
        pass

    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)

        async def settle(*_, **__):
            raise Gone

        keeper.ledger.settle = settle
        for number in range(count):
            with suppress(Gone):
                await scene.call(turn, "notes.add", f"{number}")


async def reap(scene, barrier):
    ledger = scene.ledger()
    barrier()
    told = await ledger.reap(MovedClock(LATER).now())
    await ledger.close()
    return len(told)


async def reaped(scene):
    ledger = scene.ledger()
    told = [
        record.event.invocation_id
        for record in await ledger.events()
        if record.event.name == "lease.reaped"
    ]
    states = [row.state.value for row in await ledger.invocations()]
    await ledger.close()
    return {"reaped": len(told), "reaped once": len(set(told)), "states": states}


async def found(scene, ids):
    """States of the approvals, and what the ledger tells of the calls that ran."""
    ledger = scene.ledger()
    approvals = {each.approval_id: each for each in await ledger.approvals(pending_only=False)}
    claimed = [
        record.event.data["approval_id"]
        for record in await ledger.events()
        if record.event.name == "call.claimed"
    ]
    await ledger.close()
    return {
        "states": [approvals[approval_id].state.value for approval_id in ids],
        "claimed": len(claimed),
        "claimed once": len(set(claimed)),
        "effects": [line["title"] for line in scene.effects.lines()],
    }


def together(plays):
    """Forks one process for each play and lets all of them begin at once."""
    ready, go = os.pipe(), os.pipe()

    def barrier():
        os.write(ready[1], b".")
        os.read(go[0], 1)

    with_answers = [_Forked(play, barrier) for play in plays]
    for _ in plays:
        os.read(ready[0], 1)
    os.write(go[1], b"." * len(plays))
    return [each.answer() for each in with_answers]


class _Forked:
    def __init__(self, play, barrier):
        reading, writing = os.pipe()
        self._reading = reading
        self._child = os.fork()
        if self._child == 0:
            try:
                said = json.dumps(asyncio.run(play(barrier)))
            except BaseException as error:
                said = json.dumps({"error": repr(error)})
            os.write(writing, said.encode())
            os._exit(0)
        os.close(writing)

    def answer(self):
        with os.fdopen(self._reading) as pipe:
            said = pipe.read()
        os.waitpid(self._child, 0)
        answer = json.loads(said)
        assert not (isinstance(answer, dict) and "error" in answer), answer
        return answer


def main():
    store, folder, what, count, workers = sys.argv[1:]
    scene = Scene(Path(folder), store)
    if what == "reap":
        forked(lambda: leave_running(scene, int(count)))
        won = together([lambda barrier: reap(scene, barrier)] * int(workers))
        print(json.dumps({**forked(lambda: reaped(scene)), "won": won}))
        return
    parked = forked(lambda: park(scene, int(count)))
    ids, session_id = parked["approvals"], parked["session"]
    won = None
    if what == "claim":
        forked(lambda: approve(scene, ids))
        plays = [lambda barrier: take_up(scene, ids, barrier)] * int(workers)
        together([*plays[1:], lambda barrier: call_again(scene, session_id, ids, barrier)])
    else:
        states = [ApprovalState.APPROVED, ApprovalState.DENIED]
        won = together(
            [
                lambda barrier, state=states[number % 2]: answer(scene, ids, state, barrier)
                for number in range(int(workers))
            ]
        )
        forked(lambda: take_up_all(scene))
    print(json.dumps({**forked(lambda: found(scene, ids)), "won": won}))


async def take_up_all(scene):
    async with scene.keeper() as keeper:
        await resume_all(keeper)


if __name__ == "__main__":
    main()
