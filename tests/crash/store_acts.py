"""What is done to a store as a whole when workers die?"""

import importlib.util
import sqlite3
from datetime import timedelta
from pathlib import Path

from scene import SECRET, MovedClock
from sqlalchemy import create_engine

from toolkeeper.runtime.resumption import resume_one
from toolkeeper_contract import ApprovalState
from toolkeeper_ledger import open_ledger, open_sealer, verify
from toolkeeper_ledger.chain import PRUNED

_OLD = ("sessions", "runs", "plans", "invocations", "approvals", "events", "results")
_COUNT = "SELECT count(*) FROM {}"


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
    old = _old_store()
    if scene.store.startswith("sqlite"):
        old.make_old(scene.file)
    else:
        old.old_on_server(scene.store)


async def upgrade(scene, number):
    scene.wire.arm()
    await open_ledger(scene.store, clock=MovedClock()).close()


async def look_at_the_upgraded(scene):
    """Everything that stood in the old store stands in the new one."""
    model = sqlite3.connect(":memory:")
    model.executescript(_old_store().VERSION_1)
    before = {name: model.execute(_COUNT.format(name)).fetchone()[0] for name in _OLD}
    model.close()
    found = {"lost": 0, "broken chains": 0}
    ledger = open_ledger(scene.store, clock=MovedClock())
    for head in await ledger.heads():
        events = await ledger.events(head.session_id)
        found["broken chains"] += verify(events, head) is not None
    found["broken chains"] += len((await ledger.audit()).findings)
    await ledger.close()
    found["lost"] += _counts(scene.store, _OLD) != before
    return found


def _counts(store, names):
    engine = create_engine(store.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        counts = {
            name: connection.exec_driver_sql(_COUNT.format(name)).scalar_one() for name in names
        }
    engine.dispose()
    return counts


def _old_store():
    path = Path(__file__).parents[1] / "ledger" / "old_store.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def prune(scene, number):
    """Removes what is in the session of the run before, all of which is old enough."""
    ledger = scene.ledger()
    scene.wire.arm()
    await ledger.prune_session(scene.noted(number)["session"], _soon())
    await ledger.close()


async def be_old(scene, number):
    """A session with calls, a kept result, and an approval that was spent."""
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        await scene.call(turn, "notes.add", f"{number}")
        await scene.call(turn, "notes.long", f"{number}")
        asked = await scene.call(turn, "mail.send", f"{number}", token=SECRET)
        await keeper.desk().answer(asked.row.approval_id, ApprovalState.APPROVED)
        await resume_one(keeper, asked.row.approval_id)
        scene.note(number, session=asked.row.session_id)


async def look_at_the_pruned(scene):
    """A session is there with all that it held, or is gone but for its head; it can still go."""
    found = {"lost": 0, "stuck": 0, "broken chains": 0}
    ledger = scene.ledger()
    found["broken chains"] += len((await ledger.audit()).findings)
    for head in await ledger.heads():
        name = head.session_id
        gone = [record.event.name for record in await ledger.events(name)] == [PRUNED]
        rows = await ledger.invocations(name)
        kept = [await ledger.kept_by(name, row.invocation_id) for row in rows if row.handle]
        held = (len(rows), len(await ledger.runs(name)), sum(map(len, kept)))
        found["lost"] += held != ((0, 0, 0) if gone else (3, 1, 1))
        await ledger.prune_session(name, _soon())
    found["broken chains"] += len((await ledger.audit()).findings)
    found["stuck"] += len(await ledger.invocations())
    await ledger.close()
    return found


def _soon():
    return MovedClock(timedelta(hours=1)).now()
