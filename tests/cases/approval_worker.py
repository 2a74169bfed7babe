"""A process beside the tests: opens a configured keeper, says `ready`, waits for a word, acts.

    approval_worker.py answer CONFIG approved|denied NAME ID...
    approval_worker.py resume CONFIG ID...
    approval_worker.py repeat CONFIG SESSION TITLE...

Prints one JSON list with what came of each.
"""

import asyncio
import json
import sys

from toolkeeper import Code, RunError, Toolkeeper, ToolkeeperError, open_desk, resume_one
from toolkeeper_contract import ApprovalState


def ready():
    print("ready", flush=True)
    sys.stdin.readline()


async def answer(config, state, name, *ids):
    told = []
    async with open_desk(config) as desk:
        ready()
        for id in ids:
            try:
                approval = await desk.answer(id, ApprovalState(state), by=name)
                told.append([True, approval.decided_by])
            except ToolkeeperError as error:
                told.append([False, str(error)])
    return told


async def resume(config, *ids):
    lines = []
    async with Toolkeeper.from_config(config) as keeper:
        await keeper.everything()
        ready()
        for id in ids:
            taken = await resume_one(keeper, id)
            lines += [outcome.row.line() for outcome in taken.outcomes]
    return lines


async def a_turn(keeper, session_id):
    while True:
        session = await keeper.resumed_session(session_id)
        try:
            return await session.begin_turn("once more")
        except RunError as error:
            # The other process began this very turn; the next one is ours.
            if error.code is not Code.LEDGER_CONFLICT:
                raise


async def repeat(config, session_id, *titles):
    async with Toolkeeper.from_config(config) as keeper:
        turn = await a_turn(keeper, session_id)
        ready()
        lines = []
        for title in titles:
            outcome = await turn.call(turn.read("again", "notes.add", {"title": title}))
            lines.append(outcome.row.line())
        return lines


verb = {"answer": answer, "resume": resume, "repeat": repeat}[sys.argv[1]]
print(json.dumps(asyncio.run(verb(*sys.argv[2:]))))
