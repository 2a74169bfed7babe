"""What do workers do in one process, from the first word to the last?

An act is a coroutine of one run; `arm` begins the part in which the worker can die.
"""

import asyncio
import itertools
from collections import Counter
from datetime import timedelta

from aftermath import look
from scene import LATER, SECRET, TOLD

from toolkeeper.runtime.resumption import resume_one
from toolkeeper_contract import ApprovalState


async def write(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call(turn, "notes.add", f"{number}")


async def read(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call(turn, "notes.read", f"{number}", token=SECRET)


async def idempotent(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call(turn, "notes.put", f"{number}")


async def keyed(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call(turn, "notes.add", f"{number}", key=f"key {number}")


async def keyed_again(scene, number):
    """The caller, who was told nothing, asks once more under the same key."""
    async with scene.keeper(ahead=LATER) as keeper:
        turn = await scene.turn(keeper)
        await scene.call(turn, "notes.add", f"{number}", key=f"key {number}")


async def look_at_the_keyed(scene):
    found = await look(scene)
    times = Counter(line["title"] for line in scene.effects.lines())
    found["duplicate effects"] += sum(count - 1 for count in times.values())
    return found


async def refuse(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call(turn, "notes.drop", f"{number}")


async def park(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call(turn, "mail.send", f"{number}", token=SECRET)


async def offload(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call(turn, "notes.long", f"{number}")


async def try_again(scene, number):
    """A read whose connection breaks twice, and that is tried again each time."""
    scene.breaks = 2
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call(turn, "notes.weak", f"{number}")


async def delegate(scene, number):
    async with scene.keeper() as keeper:
        session = await keeper.open_session(agent="chat", user="ana")
        turn = await session.begin_turn("go on")
        child = await turn.delegate()
        below = await child.begin_turn("look around")
        scene.wire.arm()
        await scene.call(below, "web.get", f"{number}")


async def look_at_the_delegated(scene):
    """Whatever a delegated session has read, its parent has: they are marked together."""
    unmarked = await _unmarked(scene)
    found = await look(scene)
    found["lost"] += unmarked + await _unmarked(scene)
    return found


async def _unmarked(scene):
    ledger = scene.ledger()
    read = {row.session_id for row in await ledger.invocations() if row.result is not None}
    wrong = 0
    for head in await ledger.heads():
        session = await ledger.session(head.session_id)
        if session.granted is not None:
            parent = await ledger.session(session.parent)
            wrong += (session.session_id in read) is not session.tainted
            wrong += session.tainted is not parent.tainted
    await ledger.close()
    return wrong


async def tell(scene, number):
    """A write, with somebody who wants to be told of it."""
    async with scene.keeper() as keeper:
        keeper.ledger.subscribe({"notebook": TOLD})
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call(turn, "notes.add", f"{number}")


async def together(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        scene.wire.arm()
        await scene.call_all(turn, "notes.add", [f"{number}.{each}" for each in range(5)])


async def renew(scene, number):
    scene.lease = timedelta(seconds=0.06)
    scene.renewed = asyncio.Event()
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        renewing = keeper.ledger.renew

        async def watched(*args):
            held = await renewing(*args)
            scene.wire.reach("renew: after its answer")
            scene.renewed.set()
            return held

        keeper.ledger.renew = watched
        scene.wire.arm()
        await scene.call(turn, "notes.slow", f"{number}")


async def begin(scene, number):
    async with scene.keeper() as keeper:
        scene.wire.arm()
        turn = await scene.turn(keeper)
        await scene.call(turn, "notes.add", f"{number}")


async def busy(scene, number):
    """Calls of every kind, several at once, until the end."""
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        for each in itertools.count():
            titles = [f"{number}.{each}.{place}" for place in range(3)]
            await scene.call_all(turn, "notes.add", titles)
            await scene.call(turn, "notes.read", f"{number}.{each}", token=SECRET)
            await scene.call(turn, "notes.long", f"{number}.{each}")
            asked = await scene.call(turn, "mail.send", f"{number}.{each}", token=SECRET)
            await keeper.desk().answer(asked.row.approval_id, ApprovalState.APPROVED)
            await resume_one(keeper, asked.row.approval_id)


async def clear(scene, number):
    async with scene.keeper() as keeper:
        session = await keeper.open_session(agent="chat", user="ana")
        await session.begin_turn("go on")
        scene.wire.arm()
        await session.set_intent({"disabled": ["notes.drop"]})
        await session.clear()
