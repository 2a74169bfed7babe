"""How long does the ledger take for one governed call: claim, then settle, each one commit?

    python bench/ledger.py [CALLS]

Prints the median, in microseconds, for each store and for SQLite's two ways to synchronise.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from toolkeeper_contract import (
    AdvertisedAs,
    Caps,
    Costs,
    Decision,
    Disclosure,
    Effect,
    Ending,
    Event,
    Invocation,
    Ledger,
    Plan,
    RunRecord,
    SessionRecord,
    State,
)
from toolkeeper_ledger import MemoryLedger, open_ledger


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


CLOCK = SystemClock()
PLAN = Plan(
    builder="1",
    agent="chat",
    agent_revision="r",
    provider="generic",
    disclosure=Disclosure(),
    caps=Caps(),
    defined=("notes.add",),
    deferred=(),
    searchable=(),
    skipped=(),
    filtered=(),
    refused=(),
    pins={"notes.add": "f"},
    costs=Costs(10, 0, 0, {"notes.add": 10}),
)


async def measure(ledger: Ledger, calls: int) -> float:
    now = CLOCK.now()
    await ledger.open_session(SessionRecord("ses_1", "chat", "ana", "generic", now), [])
    await ledger.begin_run(RunRecord("run_1", "ses_1", 1, PLAN.digest, now), PLAN, [])
    decision = Decision(Effect.ALLOW, ("r1",), ("rule r1 allows it",), "p" * 64)
    took: list[float] = []
    for number in range(calls):
        name = f"inv_{number}"
        row = Invocation(
            invocation_id=name,
            session_id="ses_1",
            run_id="run_1",
            call_id=f"c{number}",
            step=number,
            position=0,
            tool="notes.add",
            advertised_as=AdvertisedAs.DEFINITION,
            idempotency_key=f"key_{number}",
            opened_at=now,
            state=State.RUNNING,
            decision=decision,
            fingerprint="f" * 64,
            side_effect="workspace_write",
            arguments={"title": "dentist", "body": "friday at nine, bring the papers"},
            arguments_digest="d" * 64,
        )
        began = time.perf_counter()
        lease = await ledger.claim(
            row,
            now + timedelta(minutes=5),
            [Event("call.claimed", {"tool": row.tool}, row.run_id, name)],
        )
        assert lease is not None
        ended = replace(row, outcome=Ending.COMPLETED, result="noted", bytes=5, fence=lease.fence)
        settled = await ledger.settle(
            ended, [Event("call.settled", {"tool": row.tool}, row.run_id, name)]
        )
        took.append(time.perf_counter() - began)
        assert settled
    await ledger.close()
    return statistics.median(took) * 1e6


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"{calls} calls, claim + settle, one event each; median in microseconds")
    print(f"memory           {asyncio.run(measure(MemoryLedger(CLOCK), calls)):8.0f}")
    for mode in ("NORMAL", "FULL"):
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{Path(folder) / 'bench.db'}"
            ledger = open_ledger(url, clock=CLOCK, synchronous=mode)
            print(f"sqlite {mode:<8}  {asyncio.run(measure(ledger, calls)):8.0f}")


if __name__ == "__main__":
    main()
