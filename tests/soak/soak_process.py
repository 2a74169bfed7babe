"""One process of a soak run: a worker, which may be killed at any moment, or the approver.

    python soak_process.py worker FOLDER STORE LEASE EXPIRY SOCKET
    python soak_process.py approver FOLDER STORE LEASE EXPIRY

A worker makes the calls that clients send it, and runs what is answered meanwhile. The approver
answers what waits, as the call's number wants it, until its input ends; then it prints how often.
"""

import asyncio
import json
import sys
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from soak_scene import TOOLS, Fate, SoakScene, fate_of

from toolkeeper.runtime.answering import NotAnswerable
from toolkeeper.runtime.watching import watch
from toolkeeper_contract import ApprovalState

ANSWERS = {Fate.APPROVED: ApprovalState.APPROVED, Fate.DENIED: ApprovalState.DENIED}


async def worker(scene, socket):
    async with scene.keeper() as keeper:
        turns = {}

        async def turn_of(session_id):
            # Whoever takes over from a dead worker begins a turn of its own in the session.
            if session_id not in turns:
                session = await keeper.resumed_session(session_id)
                turns[session_id] = await session.begin_turn("go on")
            return turns[session_id]

        async def answered(asked):
            if asked["op"] == "open":
                return (await keeper.open_session(agent="chat", user="ana")).session_id
            number = asked["number"]
            turn = await turn_of(asked["session"])
            call = turn.read(
                f"c{number}",
                TOOLS[fate_of(number)],
                {"number": number},
                # A client that heard nothing asks again, and must not get it done twice.
                idempotency_key=f"call {number}",
            )
            row = (await turn.call(call)).row
            return [row.outcome, row.code]

        async def serve(reader, writer):
            async for line in reader:
                answer = await answered(json.loads(line))
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
            writer.close()

        server = await asyncio.start_unix_server(serve, socket)
        async with server:
            async for _ in watch(keeper, asyncio.Event()):
                pass


async def approver(scene):
    answers = Counter()
    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, over.set)
    async with scene.keeper() as keeper:
        desk = keeper.desk()
        while not over.is_set():
            for asked in await keeper.ledger.approvals(pending_only=True):
                state = ANSWERS.get(fate_of(asked.arguments["number"]))
                if state is not None:
                    with suppress(NotAnswerable):
                        await desk.answer(asked.approval_id, state, by="ops")
                        answers[state.value] += 1
            await keeper.ledger.changed(timedelta(seconds=0.5))
    print(json.dumps(answers))


def main():
    role, folder, store, lease, expiry, *more = sys.argv[1:]
    scene = SoakScene(Path(folder), store, float(lease), float(expiry))
    asyncio.run(worker(scene, *more) if role == "worker" else approver(scene))


if __name__ == "__main__":
    main()
