"""No argument can be read in any file of the store, and no error quotes one."""

import asyncio
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolkeeper_contract import Event, RunError
from toolkeeper_ledger import open_ledger, open_sealer

CANARY = b"Bearer t0k-canary-7391"


def files_with_canary(folder: Path) -> list[str]:
    return [path.name for path in sorted(folder.iterdir()) if CANARY in path.read_bytes()]


def test_a_parked_calls_arguments_stand_nowhere_in_clear(
    store: str, clock: Any, make: ModuleType, tmp_path: Path
) -> None:
    ledger = open_ledger(store, clock=clock)
    sealer = open_sealer(store, environ={})
    make.begin(ledger)
    desk = make.Desk(ledger, clock)
    frozen = b'{"headers":{"Authorization":"' + CANARY + b'"}}'
    row = make.parked_row(arguments={"headers": {"Authorization": "[redacted]"}})
    sealed = sealer.seal(frozen, row.invocation_id)
    desk.wait(ledger.park(row, make.an_approval(), sealed, [Event("approval.asked")]))
    assert files_with_canary(tmp_path) == []
    kept = desk.wait(ledger.sealed("inv_1"))
    assert sealer.open(kept, "inv_1") == frozen

    desk.approve()
    lease = desk.wait(ledger.claim(row, make.LEASE, []))
    assert files_with_canary(tmp_path) == []
    desk.wait(ledger.settle(make.ended(row, lease.fence), []))
    assert desk.wait(ledger.sealed("inv_1")) is None
    desk.wait(ledger.close())
    assert files_with_canary(tmp_path) == []


def test_the_check_would_see_an_argument_in_clear(
    store: str, clock: Any, make: ModuleType, tmp_path: Path
) -> None:
    ledger = open_ledger(store, clock=clock)
    make.begin(ledger)
    asyncio.run(ledger.settle(make.a_row(arguments={"token": CANARY.decode()}), []))
    assert files_with_canary(tmp_path) != []
    asyncio.run(ledger.close())


def test_a_failing_write_does_not_quote_what_it_was_writing(
    store: str, clock: Any, make: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ledger = open_ledger(store, clock=clock)
    make.begin(ledger)
    row = make.a_row(arguments={"token": CANARY.decode()}, result=CANARY.decode() + "\ud800")
    with pytest.raises(RunError) as failure:
        asyncio.run(ledger.settle(row, []))
    text = "".join(traceback.format_exception(failure.value)) + "".join(capfd.readouterr())
    assert CANARY.decode() not in text
    assert asyncio.run(ledger.invocation("inv_1")) is None
    asyncio.run(ledger.close())
