"""A place with tools to approve, on each store; its clock goes on only when a test moves it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from toolkeeper import Toolkeeper, Turn, tool
from toolkeeper.runtime import resume_all
from toolkeeper.runtime.configuration import Agent, Configuration
from toolkeeper.testing import CountingIds, FixedClock
from toolkeeper_contract import ApprovalState, Grant, Invocation, Ledger, Scope
from toolkeeper_ledger import MemoryLedger, SealingKey, open_ledger
from toolkeeper_policy import load_policy

T = TypeVar("T")


@dataclass
class Place:
    """One ledger, and keepers over it that come and go like processes do.

    `agent` and `users` are what the next keeper is configured with, `policy` the text of its
    policy document.
    """

    ledger: Ledger
    clock: FixedClock
    effects: list[Any] = field(default_factory=list)
    agent: dict[str, Any] = field(default_factory=dict)
    users: dict[str, frozenset[str]] = field(default_factory=dict)
    policy: str | None = None
    description: str = "Send a mail."
    sealer: SealingKey = field(default_factory=SealingKey.generate)
    ids: CountingIds = field(default_factory=CountingIds)

    def tools(self) -> list[Any]:
        effects = self.effects

        @tool(name="mail.send", side_effect="message_send", description=self.description)
        def send(to: str, text: str = "") -> str:
            effects.append(("send", to))
            return f"sent to {to}"

        @tool(name="crm.lookup", side_effect="network_write")
        def crm_lookup(name: str) -> str:
            """Look somebody up, and leave a trace of it."""
            effects.append(("crm", name))
            return "found"

        @tool(name="lookup", side_effect="network_write")
        def lookup(name: str) -> str:
            """Look somebody up somewhere else."""
            effects.append(("lookup", name))
            return "found"

        @tool(name="hr.lookup", side_effect="network_write")
        def hr_lookup(name: str) -> str:
            """Look somebody up among the staff."""
            effects.append(("hr", name))
            return "found"

        @tool(name="disk.wipe", side_effect="workspace_write", destructive=True)
        def wipe(disk: str) -> str:
            """Wipe a disk."""
            effects.append(("wipe", disk))
            return "wiped"

        @tool(name="web.read", side_effect="network_read")
        def read(url: str) -> str:
            """Read a page."""
            return "words of strangers"

        @tool(name="script.run", side_effect="code_execution", operands=["/path"])
        def run(path: str) -> str:
            """Run a script."""
            text = Path(path).read_text()
            effects.append(("run", text))
            return text

        return [send, crm_lookup, lookup, hr_lookup, wipe, read, run]

    def keeper(self) -> Toolkeeper:
        """A keeper as a process of its own would have it: from the configuration of now."""
        tools = self.tools()
        agents = {
            name: Agent(**{"name": name, "tools": tuple(t.name for t in tools), **self.agent})
            for name in ("chat", "desk")
        }
        configuration = Configuration(
            file="testing", folder=Path.cwd(), store="testing", agents=agents, users=self.users
        )
        documents = [] if self.policy is None else [("policy.yaml", self.policy)]
        keeper = Toolkeeper(
            configuration,
            policy=load_policy(documents),
            ledger=self.ledger,
            sealer=self.sealer,
            clock=self.clock,
            ids=self.ids,
        )
        for each in tools:
            keeper.add(each)
        return keeper

    def do(self, work: Callable[[Toolkeeper], Awaitable[T]]) -> T:
        """What `work` gives, in a process of its own."""

        async def run() -> T:
            async with self.keeper() as keeper:
                return await work(keeper)

        return asyncio.run(run())

    def call(
        self, *calls: tuple[str, Any], user: str = "ana", agent: str = "chat", session: str = ""
    ) -> list[Invocation]:
        """The rows of these calls, one model step each, in one turn of a session."""

        async def work(keeper: Toolkeeper) -> list[Invocation]:
            opened = (
                await keeper.resumed_session(session)
                if session
                else await keeper.open_session(agent=agent, user=user)
            )
            turn: Turn = await opened.begin_turn()
            return [
                (await turn.call(turn.read(f"c{n}", name, arguments))).row
                for n, (name, arguments) in enumerate(calls, 1)
            ]

        return self.do(work)

    def ask(self, name: str, arguments: Any, **more: Any) -> Invocation:
        """The row of a call that is asked about."""
        (row,) = self.call((name, arguments), **more)
        assert row.outcome == "suspended", row
        assert row.approval_id is not None
        return row

    def answer(self, row: Invocation, yes: bool = True, **more: Any) -> None:
        state = ApprovalState.APPROVED if yes else ApprovalState.DENIED
        self.do(lambda keeper: keeper.desk().answer(row.approval_id or "", state, **more))

    def grant(self, row: Invocation, scope: Scope = Scope.ALWAYS, **more: Any) -> Grant:
        given = self.do(lambda keeper: keeper.desk().grant(row.approval_id or "", scope, **more))
        return given.grant

    def resume(self) -> list[Invocation]:
        """The rows of everything that was taken up."""
        taken = self.do(resume_all)
        return [outcome.row for outcome in taken.outcomes]

    def row(self, row: Invocation) -> Invocation:
        found = asyncio.run(self.ledger.invocation(row.invocation_id))
        assert found is not None
        return found

    def events(self, name: str) -> list[dict[str, Any]]:
        found = asyncio.run(self.ledger.events())
        return [each.as_json() for each in found if each.event.name == name]

    def configure(self, **agent: Any) -> None:
        """What the agent says from the next process on."""
        self.agent = {**self.agent, **agent}


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    clock = FixedClock()
    ledger: Any
    if request.param == "memory":
        ledger = MemoryLedger(clock)
    elif request.param == "sqlite":
        ledger = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", clock=clock)
    else:
        ledger = open_ledger(request.getfixturevalue("postgres_store"), clock=clock)
    yield Place(ledger, clock)
    asyncio.run(ledger.close())


@pytest.fixture
def swift() -> Place:
    """The place in memory, for what no store has a part in."""
    clock = FixedClock()
    return Place(MemoryLedger(clock), clock)
