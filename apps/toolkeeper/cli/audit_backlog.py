"""`toolkeeper audit backlog`: what is waiting, and for whom?"""

import asyncio
from typing import Any

from toolkeeper.cli.option import DEFAULT_CONFIG, Config, Json, Store
from toolkeeper.cli.output import print_json, print_table, say
from toolkeeper.cli.reading import ledger_to_read


def backlog(config: Config = DEFAULT_CONFIG, store: Store = None, as_json: Json = False) -> None:
    """Show what waits: for a person, for a worker, for a reaper, for a sink; and what is done.

    Cheap, however long the ledger has grown: for monitors that ask again and again.
    """
    from toolkeeper.runtime.clock import SystemClock

    async def read() -> dict[str, Any]:
        async with ledger_to_read(config, store) as ledger:
            now = SystemClock().now()
            return (await ledger.backlog(now)).account(now)

    found = asyncio.run(read())
    if as_json:
        print_json(found)
        return
    oldest = found["oldest_pending_seconds"]
    print_table(
        ("waiting", "count", "what is done about it"),
        [
            (
                "pending approvals",
                found["pending_approvals"],
                f"the oldest for {_age(oldest)}: `toolkeeper approvals list`"
                if oldest is not None
                else "",
            ),
            ("parked calls", found["parked"], _if(found["parked"], "`toolkeeper resume --all`")),
            ("running calls", found["running"], ""),
            (
                "of these, overdue",
                found["overdue"],
                _if(found["overdue"], "any command that writes ends them"),
            ),
            (
                "reads to run again",
                found["retryable"],
                _if(found["retryable"], "`toolkeeper resume --all`"),
            ),
            (
                "undelivered events",
                found["undelivered"],
                _if(found["undelivered"], "`toolkeeper notify`"),
            ),
        ],
    )
    say()
    calls = found["calls"]
    if not calls:
        say("no call has ended yet")
        return
    print_table(("calls that ended", "count"), list(calls.items()))


def _if(count: int, advice: str) -> str:
    return advice if count else ""


def _age(seconds: float) -> str:
    """In the two greatest units: `2 d 3 h`, `5 min 10 s`."""
    left = max(int(seconds), 0)
    parts: list[str] = []
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, length)
        if count or parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
