"""What are workers doing when they die?

An act is a coroutine of one run in one process; `prepare` runs before it, in a process of its own
that is not killed. `arm` begins the part in which the worker can die.
"""

import asyncio
import itertools
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from aftermath import look
from scene import LEASE, SECRET, MovedClock, Scene

from toolkeeper.runtime.resumption import resume_all, resume_one
from toolkeeper_contract import ApprovalState, RunError, Scope
from toolkeeper_ledger import open_ledger, open_sealer, verify

LATER = LEASE + timedelta(seconds=1)
VERSION_1 = Path(__file__).parents[1] / "ledger" / "stores" / "version_1.sql"
_OLD = ("sessions", "runs", "plans", "invocations", "approvals", "events", "results")


@dataclass(frozen=True)
class Act:
    """`only` are the beginnings of the boundaries that count; those of another act are left out.

    `own_store` acts need a store of their own for each run, which is not there yet. `look` finds
    out what is left where that is not a matter of calls. `grouped`: how many commits it takes is
    another in each run, so that only the first of them is sure to come. `again` is what somebody
    does afterwards in a process of their own, once for each run. `endless` ones are killed from
    outside, at any moment.
    """

    name: str
    play: object
    prepare: object = None
    only: tuple = ("",)
    databases: tuple = ("sqlite", "postgresql")
    own_store: bool = False
    look: object = None
    grouped: bool = False
    again: object = None
    endless: bool = False


# one process from the first word to the last


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


async def create(scene, number):
    scene.wire.arm()
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        await scene.call(turn, "notes.add", f"{number}")


async def seal_first(scene, number):
    # Not the scene's own key: one in a file, which the first who seals something makes.
    scene.wire.arm()
    sealed = open_sealer(scene.store, environ={}).seal(b"frozen", f"{number}")
    scene.journal.write(sealed=sealed.hex(), context=f"{number}")


async def look_at_the_key(scene):
    """Whoever comes later has a whole key, and it is the one that was used before."""
    sealer = open_sealer(scene.store, environ={})
    opened = [
        sealer.open(bytes.fromhex(line["sealed"]), line["context"])
        for line in scene.journal.lines()
    ]
    again = sealer.open(sealer.seal(b"frozen", "again"), "again")
    return {"lost": sum(each != b"frozen" for each in (*opened, again))}


async def make_old(scene, number):
    with closing(sqlite3.connect(scene.file)) as connection:
        connection.executescript(VERSION_1.read_text("utf-8"))


async def upgrade(scene, number):
    scene.wire.arm()
    await open_ledger(scene.store, clock=MovedClock()).close()


async def look_at_the_upgraded(scene):
    """Everything that stood in the old store stands in the new one."""
    model = Scene(scene.folder, f"sqlite:///{scene.folder / 'model.db'}")
    await make_old(model, 0)
    with closing(sqlite3.connect(model.file)) as connection:
        before = [connection.execute(f"SELECT count(*) FROM {name}").fetchone() for name in _OLD]
    found = {"lost": 0, "broken chains": 0}
    ledger = open_ledger(scene.store, clock=MovedClock())
    for head in await ledger.heads():
        events = await ledger.events(head.session_id)
        found["broken chains"] += verify(events, head) is not None
    await ledger.invocations()
    await ledger.close()
    with closing(sqlite3.connect(scene.file)) as connection:
        after = [connection.execute(f"SELECT count(*) FROM {name}").fetchone() for name in _OLD]
    found["lost"] += before != after
    return found


# several processes


async def ask(scene, number, titles=None):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        titles = titles or [f"{number}"]
        outcomes = await scene.call_all(turn, "mail.send", titles, token=SECRET)
        scene.note(
            number,
            session=turn._session.session_id,
            approvals=[outcome.row.approval_id for outcome in outcomes],
            invocations=[outcome.row.invocation_id for outcome in outcomes],
        )
        return keeper, outcomes


async def ask_and_approve(scene, number):
    await ask(scene, number)
    async with scene.keeper() as keeper:
        for approval_id in scene.noted(number)["approvals"]:
            await keeper.desk().answer(approval_id, ApprovalState.APPROVED)


async def answer(scene, number):
    async with scene.keeper() as keeper:
        desk = keeper.desk()
        (approval_id,) = scene.noted(number)["approvals"]
        scene.wire.arm()
        state = ApprovalState.APPROVED if number % 2 else ApprovalState.DENIED
        await desk.answer(approval_id, state, reason="as it happens")


async def edit(scene, number):
    async with scene.keeper() as keeper:
        desk = keeper.desk()
        (approval_id,) = scene.noted(number)["approvals"]
        scene.wire.arm()
        await desk.edit(approval_id, {"title": f"{number}", "token": "other"})


async def resume(scene, number):
    async with scene.keeper() as keeper:
        (approval_id,) = scene.noted(number)["approvals"]
        scene.wire.arm()
        await resume_one(keeper, approval_id)


async def equal(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper, scene.noted(number)["session"])
        scene.wire.arm()
        await scene.call(turn, "mail.send", f"{number}", token=SECRET)


async def grant(scene, number):
    async with scene.keeper() as keeper:
        desk = keeper.desk()
        (approval_id,) = scene.noted(number)["approvals"]
        scene.wire.arm()
        await desk.grant(approval_id, Scope.SESSION)


async def ask_and_grant(scene, number):
    await ask(scene, number, [f"{number}.asked"])
    async with scene.keeper() as keeper:
        state = scene.noted(number)
        (approval_id,) = state["approvals"]
        given = await keeper.desk().grant(approval_id, Scope.SESSION)
        await resume_one(keeper, approval_id)
        scene.note(number, **state, grant=given.grant.grant_id)


async def granted(scene, number):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper, scene.noted(number)["session"])
        scene.wire.arm()
        await scene.call(turn, "mail.send", f"{number}", token=SECRET)


async def revoke(scene, number):
    async with scene.keeper() as keeper:
        desk = keeper.desk()
        grant_id = scene.noted(number)["grant"]
        scene.wire.arm()
        await desk.revoke(grant_id)


async def look_at_the_revoked(scene):
    """A grant that was revoked is revoked, one that was not can still be; nothing in between."""
    found = await look(scene)
    async with scene.keeper() as keeper:
        ledger = keeper.ledger
        told = {
            record.event.data["grant_id"]
            for record in await ledger.events()
            if record.event.name == "grant.revoked"
        }
        for each in await ledger.grants():
            found["lost"] += (each.revoked_at is not None) is not (each.grant_id in told)
            if each.revoked_at is None:
                await keeper.desk().revoke(each.grant_id)
        found["stuck"] += len(await keeper.desk().grants())
    return found


async def die_in_a_read(scene, number):
    """A read that is reaped in the act; nobody is killed for it, the process merely ends."""
    await _leave_running(scene, "notes.read", number, token=SECRET)


async def die_in_a_write(scene, number):
    await _leave_running(scene, "notes.add", number)
    await ask(scene, number, [f"{number}.asked"])


async def retry(scene, number):
    async with scene.keeper(ahead=LATER) as keeper:
        scene.wire.arm()
        await resume_all(keeper)


async def reap(scene, number):
    scene.wire.arm()
    async with scene.keeper(ahead=timedelta(hours=2)):
        pass


async def _leave_running(scene, name, number, **more):
    """A call whose worker goes away in the middle: its end is never written."""

    class Gone(BaseException):
        pass

    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)

        async def settle(*_, **__):
            raise Gone

        keeper.ledger.settle = settle
        with suppress(Gone, RunError):
            await scene.call(turn, name, f"{number}", **more)


_TRANSACTIONS = ("claim:", "settle:")
_RUNNING = (
    "before approve",
    "after approve",
    "before claim",
    "after claim",
    "before execute",
    "after execute",
    "before seal",
    "after seal",
    "tool:",
    *_TRANSACTIONS,
)

ACTS = (
    Act("write", write),
    Act("read", read, only=("tool:", *_TRANSACTIONS)),
    Act("idempotent", idempotent, only=("tool:", "settle: a", "settle: b")),
    Act("refuse", refuse, only=("before refuse", "after refuse", "settle:")),
    Act("park", park, only=("before approve", "after approve", "park:")),
    Act("answer", answer, prepare=ask, only=("answer:",)),
    Act("edit", edit, prepare=ask, only=("amend:",)),
    Act("resume", resume, prepare=ask_and_approve, only=_RUNNING),
    Act("equal", equal, prepare=ask_and_approve, only=("tool:", *_TRANSACTIONS)),
    Act("keyed", keyed, again=keyed_again, only=("tool:", *_TRANSACTIONS), look=look_at_the_keyed),
    Act("grant", grant, prepare=ask, only=("answer:",)),
    Act("granted", granted, prepare=ask_and_grant, only=("tool:", *_TRANSACTIONS)),
    Act("revoke", revoke, prepare=ask_and_grant, only=("revoke:",), look=look_at_the_revoked),
    Act("retry", retry, prepare=die_in_a_read, only=("tool:", *_TRANSACTIONS)),
    Act("reap", reap, prepare=die_in_a_write, only=("reap:",)),
    Act("renew", renew, only=("renew:",)),
    Act("offload", offload, only=("settle:",)),
    Act("together", together, only=("before execute", "tool:", *_TRANSACTIONS), grouped=True),
    Act("busy", busy, endless=True),
    Act("begin", begin, only=("open_session:", "begin_run:")),
    Act("clear", clear, only=("append:", "set_intent:")),
    Act("create", create, only=("open:",), own_store=True),
    Act(
        "upgrade",
        upgrade,
        prepare=make_old,
        only=("open:",),
        databases=("sqlite",),
        own_store=True,
        look=look_at_the_upgraded,
    ),
    Act(
        "seal_first",
        seal_first,
        only=("key file:",),
        databases=("sqlite",),
        own_store=True,
        look=look_at_the_key,
    ),
)
