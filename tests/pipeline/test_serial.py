"""Calls that must not overlap do not, keep their order, and take no slot while they wait."""

import asyncio
from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper.runtime.configuration import Limits
from toolkeeper_contract import Code, Ending


class Watched:
    """Tools that tell when their calls begin and end."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []
        self.inside = 0
        self.most = 0

    def tool(self, name: str, *, serial: bool) -> Any:
        @tool(name=name, side_effect="workspace_write", serial=serial)
        async def watched(n: int) -> str:
            """Do something that takes a few turns of the loop."""
            self.told.append(("begin", n))
            self.inside += 1
            self.most = max(self.most, self.inside)
            for _ in range(5):
                await asyncio.sleep(0)
            self.inside -= 1
            self.told.append(("end", n))
            return f"{n}"

        return watched


def steps(number: int, name: str) -> Any:
    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        return await turn.call_all([turn.read(f"c{n}", name, {"n": n}) for n in range(number)])

    return act


def test_calls_of_a_serial_tool_do_not_overlap_and_keep_the_order_of_the_step(played: Any) -> None:
    watched = Watched()
    outcomes = played(steps(6, "one.by"), watched.tool("one.by", serial=True))
    assert watched.told == [(what, n) for n in range(6) for what in ("begin", "end")]
    assert {each.row.outcome for each in outcomes} == {Ending.COMPLETED}


def test_other_calls_overlap_up_to_the_limit(played: Any) -> None:
    watched = Watched()
    played(
        steps(9, "many.at"),
        watched.tool("many.at", serial=False),
        limits=Limits(parallel_calls=3),
    )
    assert watched.most == 3


def test_two_turns_of_two_sessions_do_not_overlap_either(played: Any) -> None:
    watched = Watched()

    async def act(keeper: Any, session: Any) -> None:
        other = await keeper.open_session(agent="chat", user="bo")
        turns = [await each.begin_turn() for each in (session, other)]
        await asyncio.gather(
            *(turn.call(turn.read("c", "one.by", {"n": n})) for n, turn in enumerate(turns * 3))
        )

    played(act, watched.tool("one.by", serial=True))
    assert watched.most == 1
    assert len(watched.told) == 12


def test_who_waits_takes_no_slot(played: Any) -> None:
    go = asyncio.Event()

    @tool(name="one.by", side_effect="workspace_write", serial=True)
    async def one(n: int) -> str:
        """Wait until the other tool has run."""
        await go.wait()
        return "done"

    @tool(name="let.go", side_effect="workspace_write")
    async def let_go() -> str:
        """Let the others go on."""
        go.set()
        return "gone"

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        calls = [turn.read(f"c{n}", "one.by", {"n": n}) for n in range(4)]
        return await turn.call_all([*calls, turn.read("last", "let.go", {})])

    # Two slots: one for the call that runs, and one that none of the waiting calls may take.
    outcomes = played(act, one, let_go, limits=Limits(parallel_calls=2, call_timeout=5))
    assert {each.row.outcome for each in outcomes} == {Ending.COMPLETED}


def test_a_serial_tool_that_calls_itself_is_told_so(played: Any) -> None:
    turns: list[Any] = []

    @tool(name="one.self", side_effect="workspace_write", serial=True)
    async def itself(depth: int) -> str:
        """Call itself."""
        inner = await turns[0].call(turns[0].read("in", "one.self", {"depth": depth - 1}))
        return str(inner.row.code)

    async def act(keeper: Any, session: Any) -> Any:
        turns.append(await session.begin_turn())
        first = await turns[0].call(turns[0].read("c1", "one.self", {"depth": 2}))
        # The lane is free again afterwards.
        second = await turns[0].call(turns[0].read("c2", "one.self", {"depth": 2}))
        return first, second

    for outcome in played(act, itself):
        assert outcome.row.result == Code.UNAVAILABLE.value


def test_a_failed_or_refused_call_lets_the_next_one_go(played: Any) -> None:
    @tool(name="one.by", side_effect="workspace_write", serial=True)
    def one(n: int) -> str:
        """Fail now and then."""
        if n % 2:
            raise ValueError
        return "done"

    async def act(keeper: Any, session: Any) -> Any:
        turn = await session.begin_turn()
        values: list[Any] = [0, 1, "two", 3, 4]
        return await turn.call_all([turn.read(f"c{n}", "one.by", {"n": n}) for n in values])

    codes = [each.row.code for each in played(act, one)]
    assert codes == [None, Code.FAILED, Code.ARGUMENTS_INVALID, Code.FAILED, None]


def test_what_is_decided_holds_for_the_moment_when_the_call_runs(played: Any) -> None:
    from toolkeeper_policy import load_policy

    keepers: list[Any] = []

    @tool(name="one.by", side_effect="workspace_write", serial=True)
    async def one(n: int) -> str:
        """Forbid the next one."""
        text = "version: 1\ndefaults: {workspace_write: deny}\n"
        keepers[0].policy = load_policy([("p.yaml", text)])
        return "done"

    async def act(keeper: Any, session: Any) -> Any:
        keepers.append(keeper)
        turn = await session.begin_turn()
        return await turn.call_all([turn.read(f"c{n}", "one.by", {"n": n}) for n in range(2)])

    first, second = played(act, one)
    assert first.row.result == "done"
    assert second.row.code is Code.DENIED_POLICY


@pytest.mark.parametrize("serial", [True, False])
def test_a_server_may_say_that_its_calls_must_not_overlap(serial: bool, tmp_path: Any) -> None:
    from toolkeeper.runtime.configuration import load_configuration
    from toolkeeper.runtime.discovery import Discovery

    listing = tmp_path / "tools.json"
    listing.write_text('{"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}')
    file = tmp_path / "toolkeeper.yaml"
    file.write_text(
        "version: 1\nservers:\n  shelf: {catalog: tools.json, serial: "
        f"{'true' if serial else 'false'}}}\nagents:\n  chat: {{servers: [shelf]}}\n"
    )
    configuration = load_configuration(file, {})

    async def lane() -> Any:
        from toolkeeper.runtime.assembly import build_sources

        discovery = Discovery(build_sources(configuration, []), configuration)
        await discovery.refresh(["shelf"])
        return discovery.registry(frozenset({"shelf"})).tools["mcp.shelf.a"].lane

    assert asyncio.run(lane()) == ("mcp.shelf" if serial else None)
