"""Whatever happens to a turn: each call has one row, a write one effect at most, and they agree."""

import asyncio
import contextlib
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from toolkeeper import ToolError, tool
from toolkeeper.runtime.configuration import Limits
from toolkeeper.testing import FixedClock, keeper_of
from toolkeeper_contract import (
    Code,
    Ending,
    LostAfterDispatch,
    NotDispatched,
    RunError,
    State,
)
from toolkeeper_ledger import open_ledger
from toolkeeper_pipeline import Pace

POLICY = "version: 1\ntaint: off\ndefaults: {workspace_write: allow, network_write: allow}\n"
WAYS = ["works", "raises", "says", "away", "lost", "waits", "stubborn", "rude", "odd"]
KINDS = {"read": "do.read", "write": "do.write", "twice": "do.twice", "one": "do.one"}


class Rude(BaseException):
    """What nobody who catches exceptions expects."""


class Turns(RuleBasedStateMachine):
    """Steps of random calls, cut off, with a store that fails, over one session."""

    store = "memory"

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.effects: Counter[str] = Counter()
        self.called: dict[str, str] = {}
        self.keyed: dict[str, str] = {}
        self.may_be_missing: set[str] = set()
        self.clock = FixedClock()
        self.faults: list[str] = []
        self.last = 0

    def tools(self) -> list[Any]:
        async def act(id: str, way: str) -> str:
            """Have an effect, and end in some way."""
            if way == "away":
                raise NotDispatched("away")
            self.effects[id] += 1
            if way == "raises":
                raise ValueError(id)
            if way == "says":
                raise ToolError(Code.FAILED, "no")
            if way == "lost":
                raise LostAfterDispatch("lost")
            if way == "rude":
                raise asyncio.CancelledError
            if way == "waits":
                await asyncio.Event().wait()
            for _ in range(30 if way == "stubborn" else 0):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)
            return object() if way == "odd" else "done"  # type: ignore[return-value]

        effects = {"read": "network_read"}
        return [
            tool(
                act,
                name=name,
                side_effect=effects.get(kind, "network_write"),
                idempotent=kind == "twice",
                serial=kind == "one",
            )
            for kind, name in KINDS.items()
        ]

    @initialize()
    def open(self) -> None:
        async def sleep(seconds: float) -> None:
            await asyncio.sleep(0)

        keeper = keeper_of(
            self.tools(),
            policy=POLICY,
            clock=self.clock,
            limits=Limits(call_timeout=0.01, parallel_calls=2, retries=1),
        )
        if self.store != "memory":
            ledger = open_ledger(self.store, clock=self.clock)
            keeper._given = (ledger, keeper._given[1])
        keeper._pace = Pace(sleep, lambda: 0.0)
        self.keeper = keeper
        self.wait(keeper.open())
        self._spoil(keeper.ledger)
        self.session = self.wait(keeper.open_session(agent="chat", user="ana"))
        self.turn = self.wait(self.session.begin_turn())

    def _spoil(self, ledger: Any) -> None:
        """Each transaction takes turns of the loop, and fails before or after it when told to."""

        def spoiled(method: Any, name: str) -> Any:
            async def transaction(*args: Any, **more: Any) -> Any:
                await asyncio.sleep(0)
                if name in self.faults:
                    self.faults.remove(name)
                    raise RunError(Code.LEDGER_UNAVAILABLE, "the store is away")
                answer = await method(*args, **more)
                await asyncio.sleep(0)
                if f"after {name}" in self.faults:
                    self.faults.remove(f"after {name}")
                    raise RunError(Code.LEDGER_UNAVAILABLE, "the store went away")
                return answer

            return transaction

        for name in ("claim", "settle", "append", "renew"):
            setattr(ledger, name, spoiled(getattr(ledger, name), name))

    def wait(self, answer: Any) -> Any:
        return self.loop.run_until_complete(answer)

    def _calls(self, wanted: list[tuple[str, str, bool]]) -> list[Any]:
        calls = []
        for kind, way, keyed in wanted:
            self.last += 1
            id = f"c{self.last}"
            key = None
            if keyed:
                key = f"{kind} {way}"
                id = self.keyed.setdefault(key, id)
            self.called[id] = kind
            arguments = {"id": id, "way": way}
            calls.append(self.turn.read(id, KINDS[kind], arguments, idempotency_key=key))
        return calls

    @rule(
        wanted=st.lists(
            st.tuples(st.sampled_from(sorted(KINDS)), st.sampled_from(WAYS), st.booleans()),
            min_size=1,
            max_size=4,
        ),
        faults=st.lists(
            st.sampled_from(["claim", "settle", "append", "after claim", "after settle"]),
            max_size=3,
        ),
        cut=st.none() | st.integers(0, 25),
        times=st.integers(1, 3),
    )
    def step(self, wanted: Any, faults: list[str], cut: int | None, times: int) -> None:
        calls = self._calls(wanted)
        self.faults[:] = faults

        async def play() -> None:
            task = asyncio.ensure_future(self.turn.call_all(calls))
            if cut is not None:
                for _ in range(cut):
                    await asyncio.sleep(0)
                for _ in range(times):
                    task.cancel()
                    await asyncio.sleep(0)
            allowed = (asyncio.CancelledError, *((RunError,) if faults else ()))
            with contextlib.suppress(*allowed):
                outcomes = await task
                assert [each.row.call_id for each in outcomes] == [each.call_id for each in calls]

        if cut is not None or any(fault.endswith("claim") for fault in faults):
            # Cut off before its calls were made, or not written down: then nothing ran.
            self.may_be_missing.update(call.call_id for call in calls)
        self.wait(play())
        self.faults.clear()

    @rule()
    def next_turn(self) -> None:
        self.turn = self.wait(self.session.begin_turn())

    @rule()
    def cancel(self) -> None:
        self.wait(self.turn.cancel())
        self.turn = self.wait(self.session.begin_turn())

    @rule()
    def reap(self) -> None:
        self.clock.advance(hours=1)
        self.wait(self.keeper.ledger.reap(self.clock.now()))
        rows = self.wait(self.keeper.ledger.invocations())
        assert all(row.state is State.SETTLED for row in rows)

    @invariant()
    def rows_and_effects_agree(self) -> None:
        if not hasattr(self, "keeper"):
            return
        rows = self.wait(self.keeper.ledger.invocations())
        by_call: dict[str, list[Any]] = {}
        for row in rows:
            by_call.setdefault(row.call_id, []).append(row)
        for id, kind in self.called.items():
            own = by_call.get(id, [])
            assert own or id in self.may_be_missing, id
            ran = [row for row in own if _ran(row)]
            if kind in ("write", "one"):
                assert self.effects[id] <= 1, own
                assert len(ran) <= 1, own
            if not own or not any(_may_have_run(row) for row in own):
                assert self.effects[id] == 0, own
            if any(row.outcome is Ending.COMPLETED for row in own):
                assert self.effects[id] >= 1, own
            if id not in self.keyed.values():
                assert len(own) <= 1, own

    def teardown(self) -> None:
        if hasattr(self, "keeper"):
            self.wait(self.keeper.close())
            left = [task for task in asyncio.all_tasks(self.loop) if not task.done()]
            assert not left
        self.loop.close()


def _ran(row: Any) -> bool:
    return row.outcome is Ending.COMPLETED or row.code in (
        Code.FAILED,
        Code.FAILED_RESULT_INVALID,
    )


def _may_have_run(row: Any) -> bool:
    unknown = (Code.FAILED_UNKNOWN_OUTCOME, Code.FAILED_TIMEOUT)
    return _ran(row) or row.state is State.RUNNING or row.code in unknown


MODEST = settings(
    max_examples=15,
    stateful_step_count=6,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestTurnsInMemory = Turns.TestCase
TestTurnsInMemory.settings = MODEST


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("turns")


def test_the_same_holds_on_sqlite(folder: Any) -> None:
    from itertools import count

    from hypothesis.stateful import run_state_machine_as_test

    numbers = count()

    class OnSqlite(Turns):
        def __init__(self) -> None:
            self.store = f"sqlite:///{folder / f'{next(numbers)}.db'}"
            super().__init__()

        def teardown(self) -> None:
            ledger = self.keeper.ledger if hasattr(self, "keeper") else None
            closing = super().teardown
            if ledger is not None:
                self.wait(self.keeper.rim.work.close())
                self.wait(ledger.close())
            closing()

    run_state_machine_as_test(OnSqlite, settings=settings(MODEST, max_examples=5))
