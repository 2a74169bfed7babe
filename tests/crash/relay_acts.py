"""What do workers do that others have begun, in processes before them?"""

from contextlib import suppress
from datetime import timedelta

from aftermath import look
from scene import LATER, SECRET, TOLD, MovedClock

from toolkeeper.runtime.resumption import resume_all, resume_one
from toolkeeper_contract import ApprovalState, RunError, Scope


async def ask(scene, number, titles=None, name="mail.send"):
    async with scene.keeper() as keeper:
        turn = await scene.turn(keeper)
        titles = titles or [f"{number}"]
        outcomes = await scene.call_all(turn, name, titles, token=SECRET)
        scene.note(
            number,
            session=turn._session.session_id,
            approvals=[outcome.row.approval_id for outcome in outcomes],
            invocations=[outcome.row.invocation_id for outcome in outcomes],
        )
        return keeper, outcomes


async def ask_and_approve(scene, number):
    await ask(scene, number)
    await _approve(scene, number)


async def ask_to_read(scene, number):
    await ask(scene, number, name="web.find")
    await _approve(scene, number)


async def _approve(scene, number):
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


async def deliver(scene, number):
    """A courier brings what waits, is refused once, and comes again later."""
    for ahead in (timedelta(), timedelta(hours=1)):
        clock = MovedClock(ahead)
        ledger = scene.ledger()
        scene.wire.arm()
        await scene.courier(ledger, clock).deliver_due()
        await ledger.close()


async def look_at_the_told(scene):
    """Every event that the sink wanted gets to it; a later courier brings what is left."""
    ledger = scene.ledger()
    wanted = {
        f"{record.session_id}:{record.seq}"
        for record in await ledger.events()
        if record.event.name in TOLD
    }
    found = await look(scene)
    clock = MovedClock(timedelta(hours=2))
    for _ in range(4):
        await scene.courier(ledger, clock).deliver_due()
        clock.ahead += timedelta(hours=1)
    found["stuck"] += (await ledger.backlog(clock.now())).undelivered
    await ledger.close()
    found["lost"] += len(wanted - {line["id"] for line in scene.told.lines() if line["taken"]})
    return found


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
