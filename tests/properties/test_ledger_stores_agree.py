"""Whatever is asked of them, in whatever order, both stores give the same answers."""

import asyncio
import importlib.util
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolkeeper_contract import (
    AcceptedTool,
    Answer,
    ApprovalState,
    Ending,
    Event,
    Lease,
    RunError,
    State,
)
from toolkeeper_ledger import MemoryLedger, open_ledger, verify


def _making() -> ModuleType:
    path = Path(__file__).parents[1] / "ledger" / "making.py"
    spec = importlib.util.spec_from_file_location("ledger_making_for_properties", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MAKING = _making()
NAMES = st.sampled_from(["inv_1", "inv_2", "inv_3"])
APPROVALS = st.sampled_from(["apr_1", "apr_2", "apr_3"])
FENCES = st.integers(0, 4)
CLASSES = st.sampled_from(["network_read", "network_write"])
DEFINITIONS = st.tuples(
    st.sampled_from(["mcp.a.x", "mcp.a.y", "mcp.b.x"]), st.sampled_from(["a" * 64, "b" * 64])
)
STEPS = st.one_of(
    st.tuples(st.just("claim"), NAMES, st.one_of(st.none(), APPROVALS), CLASSES),
    st.tuples(st.just("claim twin"), NAMES, NAMES),
    st.tuples(st.just("park"), NAMES, APPROVALS),
    st.tuples(st.just("answer"), APPROVALS, st.sampled_from(["approved", "denied"])),
    st.tuples(st.just("amend"), NAMES, APPROVALS, APPROVALS),
    st.tuples(st.just("settle"), NAMES, FENCES, CLASSES, st.booleans(), st.booleans()),
    st.tuples(st.just("accept"), st.lists(DEFINITIONS, max_size=3), st.booleans()),
    st.tuples(st.just("load"), NAMES, st.permutations(["b", "a", "c"])),
    st.tuples(st.just("clear")),
    st.tuples(st.just("renew"), NAMES, FENCES),
    st.tuples(st.just("wait"), st.sampled_from([1, 200, 600, 90_000])),
    st.tuples(st.just("reap")),
)


async def take(ledger: Any, clock: Any, step: tuple[Any, ...]) -> Any:
    """The answer to one step, or the code of its refusal."""
    what, *rest = step
    told = [Event(f"step.{what.replace(' ', '_')}", {"rest": [str(part) for part in rest]})]
    until = clock.now() + (MAKING.LEASE - MAKING.START)
    try:
        if what == "claim":
            name, approval_id, side_effect = rest
            row = MAKING.a_row(name, approval_id=approval_id, side_effect=side_effect)
            return await ledger.claim(row, until, told)
        if what == "claim twin":
            name, other = rest
            row = MAKING.a_row(f"twin of {name}", idempotency_key=f"key of {other}")
            return await ledger.claim(row, until, told)
        if what == "park":
            name, approval_id = rest
            approval = MAKING.an_approval(
                approval_id,
                name,
                asked_at=clock.now(),
                expires_at=clock.now() + (MAKING.LEASE - MAKING.START) * 100,
            )
            return await ledger.park(MAKING.parked_row(name, approval_id), approval, b"s", told)
        if what == "answer":
            approval_id, state = rest
            decided = Answer(ApprovalState(state), "ana", clock.now())
            return await ledger.answer(approval_id, decided, told)
        if what == "amend":
            name, asked, approval_id = rest
            approval = MAKING.an_approval(
                approval_id,
                name,
                state=ApprovalState.APPROVED,
                decided_at=clock.now(),
                decided_by="ana",
                expires_at=clock.now() + (MAKING.LEASE - MAKING.START) * 100,
            )
            row = MAKING.parked_row(name, approval_id)
            return await ledger.amend(asked, row, approval, b"t", told)
        if what == "settle":
            name, fence, side_effect, tainted, private = rest
            row = MAKING.a_row(name, side_effect=side_effect)
            end = replace(row, fence=fence, state=State.SETTLED, outcome=Ending.COMPLETED)
            return await ledger.settle(end, told, tainted=tainted, private=private)
        if what == "accept":
            definitions, first = rest
            tools = [
                AcceptedTool(tool, print_, tool.split(".")[1], clock.now(), "ana")
                for tool, print_ in definitions
            ]
            return await ledger.accept(tools, first=first)
        if what == "load":
            name, tools = rest
            loaded = Event("tools.loaded", {"tools": dict.fromkeys(tools, "f")}, "run_1", name)
            row = replace(MAKING.a_row(name), state=State.SETTLED, outcome=Ending.COMPLETED)
            return await ledger.settle(row, [loaded])
        if what == "clear":
            row = MAKING.a_row("clearing", tool="tool.call")
            return await ledger.settle(row, [Event("conversation.cleared")])
        if what == "renew":
            name, fence = rest
            return await ledger.renew(Lease(name, fence, until), until)
        assert what == "reap"
        return list(await ledger.reap(clock.now()))
    except RunError as error:
        return error.code


async def everything(ledger: Any) -> dict[str, Any]:
    rows = list(await ledger.invocations())
    return {
        "rows": rows,
        "sealed": [await ledger.sealed(row.invocation_id) for row in rows],
        "approvals": list(await ledger.approvals(pending_only=False)),
        "pending": list(await ledger.approvals(pending_only=True)),
        "parked": list(await ledger.parked()),
        "retryable": list(await ledger.retryable()),
        "usable": await ledger.usable_approval(MAKING.BINDING.digest(), MAKING.START),
        "events": list(await ledger.events()),
        "heads": list(await ledger.heads()),
        "loaded": [list(one.tools.items()) for one in await ledger.loadings(["ses_1"])],
        "loadings": list(await ledger.loadings(["ses_0", "ses_1"])),
        "session": await ledger.session("ses_1"),
        "accepted": list(await ledger.accepted_tools()),
        "runs": list(await ledger.runs("ses_1")),
    }


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, max_size=14))
def test_both_stores_answer_alike(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        compare(f"sqlite:///{folder}/ledger.db", steps)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, max_size=14))
def test_a_store_on_a_server_answers_alike(
    postgres_stores: Any, steps: list[tuple[Any, ...]]
) -> None:
    url = postgres_stores.lend()
    compare(url, steps)
    postgres_stores.take_back(url)


def compare(url: str, steps: list[tuple[Any, ...]]) -> None:
    """Plays the steps on the store at `url` and in memory."""
    clock = MAKING.HandClock()
    sql = open_ledger(url, clock=clock)
    memory = MemoryLedger(clock)

    async def play() -> None:
        for step in steps:
            if step[0] == "wait":
                clock.forward(seconds=step[1])
                continue
            assert await take(sql, clock, step) == await take(memory, clock, step)
        kept = await everything(sql)
        assert kept == await everything(memory)
        check(kept)

    try:
        MAKING.begin(sql)
        MAKING.begin(memory)
        asyncio.run(play())
    finally:
        asyncio.run(sql.close())


def check(kept: dict[str, Any]) -> None:
    """What holds after any history."""
    (head,) = kept["heads"]
    assert verify(kept["events"], head) is None
    spent = [a for a in kept["approvals"] if a.state is ApprovalState.SPENT]
    assert all(approval.spent_by is not None for approval in spent)
    assert len({approval.approval_id for approval in spent}) == len(spent)
    waiting = {row.invocation_id for row in kept["parked"]}
    for approval in kept["pending"]:
        assert approval.invocation_id in waiting
    for row, sealed in zip(kept["rows"], kept["sealed"], strict=True):
        if row.state is State.SETTLED and row not in kept["retryable"]:
            assert sealed is None
