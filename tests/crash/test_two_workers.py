"""Several workers go for the same approvals at once: each is spent once, whoever is first."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aftermath import FINDINGS, look
from scene import SECRET

from toolkeeper import resume_one
from toolkeeper_contract import ApprovalState, Code, Ending

RACE = Path(__file__).with_name("race.py")


def raced(scene: Any, what: str, count: int, workers: int) -> Any:
    done = subprocess.run(
        [sys.executable, str(RACE), scene.store, str(scene.folder), what, str(count), str(workers)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_two_workers_that_claim_a_thousand_approvals_run_a_thousand_calls(scene: Any) -> None:
    count = 1000
    told = raced(scene, "claim", count, 2)
    assert Counter(told["effects"]) == Counter(f"{number}" for number in range(count))
    assert told["states"] == ["spent"] * count
    assert told["claimed"] == told["claimed once"] == count


@pytest.mark.slow
def test_of_answers_against_each_other_one_decides(scene: Any) -> None:
    count = 60
    told = raced(scene, "answer", count, 4)
    assert sum(won for won, _ in told["won"]) == count
    assert sum(lost for _, lost in told["won"]) == 3 * count
    states = Counter(told["states"])
    assert set(states) <= {"spent", "denied"}
    approved = [f"{n}" for n, state in enumerate(told["states"]) if state == "spent"]
    assert Counter(told["effects"]) == Counter(approved)


def test_of_reapers_at_once_one_ends_each_call(scene: Any) -> None:
    count = 40
    told = raced(scene, "reap", count, 3)
    assert told["reaped"] == told["reaped once"] == sum(told["won"]) == count
    assert told["states"] == ["settled"] * count


def test_a_worker_that_ends_late_is_told_and_changes_nothing(scene: Any) -> None:
    """Its lease was reaped while it was still at it: the ledger's word stands."""

    async def play() -> Any:
        happened = scene.happened
        async with scene.keeper() as keeper:
            turn = await scene.turn(keeper)
            loop = asyncio.get_running_loop()

            async def reap() -> None:
                async with scene.keeper(ahead=timedelta(minutes=20)):
                    pass

            def slow(what: str, title: str) -> None:
                happened(what, title)
                asyncio.run_coroutine_threadsafe(reap(), loop).result(30)

            scene.happened = slow
            outcome = await scene.call(turn, "notes.add", "one")
            scene.happened = happened
            return outcome.row, await keeper.ledger.events()

    row, events = asyncio.run(play())
    assert (row.outcome, row.code) == (Ending.FAILED, Code.FAILED_UNKNOWN_OUTCOME)
    names = [record.event.name for record in events]
    assert names.index("lease.reaped") < names.index("call.fenced")
    assert "call.settled" not in names
    found = asyncio.run(look(scene))
    assert {name: found[name] for name in FINDINGS} == dict.fromkeys(FINDINGS, 0)


def test_a_call_that_somebody_else_ends_while_it_is_taken_up_tells_how_it_ended(scene: Any) -> None:
    async def play() -> Any:
        async with scene.keeper() as keeper, scene.keeper() as other:
            turn = await scene.turn(keeper)
            asked = await scene.call(turn, "mail.send", "one", token=SECRET)
            approval_id = asked.row.approval_id
            await keeper.desk().answer(approval_id, ApprovalState.APPROVED)
            sealed = keeper.ledger.sealed

            async def late(invocation_id: str) -> bytes | None:
                # Read as parked, and over before its arguments are looked for.
                keeper.ledger.sealed = sealed
                await resume_one(other, approval_id)
                return await sealed(invocation_id)

            keeper.ledger.sealed = late
            return await resume_one(keeper, approval_id), await keeper.ledger.events()

    taken, events = asyncio.run(play())
    assert [outcome.row.outcome for outcome in taken.outcomes] == [Ending.COMPLETED]
    assert len(scene.effects.lines()) == 1
    assert [record.event.name for record in events].count("call.claimed") == 1
