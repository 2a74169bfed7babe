"""In what surroundings do workers die: which tools, which policy, which store and which clock?"""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from outside import Notebook
from tripwire import Tripwire

from toolkeeper import Toolkeeper, tool
from toolkeeper.runtime.configuration import Agent, Configuration
from toolkeeper.runtime.configuration.agent import Limits
from toolkeeper.runtime.configuration.configuration import Redaction
from toolkeeper_contract import LostAfterDispatch, Undelivered
from toolkeeper_ledger import SealingKey, open_ledger
from toolkeeper_policy import load_policy
from toolkeeper_sinks import Courier

POLICY = """
version: 1
defaults: {workspace_read: allow, workspace_write: allow, network_read: ask, message_send: ask}
rules:
  - {id: never, tools: [notes.drop], effect: deny}
  - {id: read, tools: [web.get], effect: allow}
"""
POLICIES = load_policy([("policy.yaml", POLICY)])
LEASE = timedelta(minutes=5)
LATER = LEASE + timedelta(seconds=1)
"""When a lease of the machine's clock is over."""
TOLD = ("call.claimed", "call.settled")
"""What the sink wants to hear of."""
SECRET = "hunter2-correct-horse"


class MovedClock:
    """The machine's clock, moved by `ahead`: what ran out is a matter of the reaper's clock."""

    def __init__(self, ahead=timedelta()):
        self.ahead = ahead

    def now(self):
        return datetime.now(UTC) + self.ahead


class _Sink:
    """Refuses whatever it is told first, and takes it the second time."""

    name = "notebook"
    events = TOLD

    def __init__(self, scene):
        self._scene = scene

    async def deliver(self, record):
        scene = self._scene
        name = f"{record.session_id}:{record.seq}"
        seen = scene.told.lines()
        scene.wire.reach("sink: before it hears")
        first = all(line["id"] != name for line in seen)
        scene.told.write(id=name, taken=not first)
        scene.wire.reach("sink: after it heard")
        if first:
            raise Undelivered("not at the first time")


@dataclass
class Scene:
    """One store with what surrounds it. Every process makes its own from the same folder."""

    folder: Path
    store: str
    wire: Tripwire = field(default_factory=Tripwire)
    ahead: timedelta = timedelta()
    lease: timedelta = LEASE
    patience: float = 10.0
    breaks: int = 0
    renewed: asyncio.Event | None = None

    @property
    def file(self):
        """The file of a store on SQLite."""
        return Path(self.store.removeprefix("sqlite:///"))

    @property
    def effects(self):
        return Notebook(self.folder / "effects")

    @property
    def journal(self):
        """What the host knows: calls that it began, and what it was told of them."""
        return Notebook(self.folder / "journal")

    @property
    def told(self):
        """Events that a sink was given."""
        return Notebook(self.folder / "told")

    def note(self, number, **state):
        """Keeps what a later process of the same run needs."""
        (self.folder / f"state-{number}").write_text(json.dumps(state))

    def noted(self, number):
        return json.loads((self.folder / f"state-{number}").read_text())

    def happened(self, what, title):
        self.wire.reach("tool: before its effect")
        self.effects.write(what=what, title=title)
        self.wire.reach("tool: after its effect")

    def tools(self):
        @tool(name="notes.add", side_effect="workspace_write")
        def add(title: str) -> str:
            """Add a note."""
            self.happened("add", title)
            return f"noted {title}"

        @tool(name="notes.put", side_effect="workspace_write", idempotent=True)
        def put(title: str) -> str:
            """Put a note where one of this title may be already."""
            self.happened("put", title)
            return f"put {title}"

        @tool(name="notes.read", side_effect="workspace_read")
        def read(title: str, token: str) -> str:
            """Read a note."""
            assert token == SECRET
            self.happened("read", title)
            return f"the note {title}"

        @tool(name="notes.long", side_effect="workspace_read")
        def long(title: str) -> str:
            """Read a long note."""
            self.happened("long", title)
            return f"the note {title} " * 2000

        @tool(name="web.get", side_effect="network_read")
        def get(title: str) -> str:
            """Read a page that anybody may have written."""
            self.happened("get", title)
            return f"the page {title}"

        @tool(name="web.find", side_effect="network_read")
        def find(title: str, token: str = "") -> str:
            """Find pages; every look costs something, so it asks."""
            self.happened("find", title)
            return f"pages on {title}"

        @tool(name="notes.weak", side_effect="workspace_read")
        def weak(title: str) -> str:
            """Read a note over a connection that breaks each time at first."""
            self.happened("weak", title)
            if self.breaks > 0:
                self.breaks -= 1
                raise LostAfterDispatch("the connection broke")
            return f"the note {title}"

        @tool(name="notes.slow", side_effect="workspace_write")
        async def slow(title: str) -> str:
            """Add a note after a while."""
            if self.renewed is not None:
                await self.renewed.wait()
            self.happened("slow", title)
            return f"noted {title}"

        @tool(name="notes.drop", side_effect="workspace_write", destructive=True)
        def drop(title: str) -> str:
            """Drop a note."""
            self.happened("drop", title)
            return "dropped"

        @tool(name="mail.send", side_effect="message_send")
        def send(title: str, token: str = "") -> str:
            """Send a mail."""
            self.happened("send", title)
            return f"sent {title}"

        return [add, put, read, long, get, find, weak, slow, drop, send]

    def ledger(self):
        """The store alone, on the machine's clock."""
        return open_ledger(self.store, clock=MovedClock(), busy_timeout=self.patience)

    def courier(self, ledger, clock):
        """Who brings to a sink what waits for it in the ledger."""
        return Courier(_Sink(self), ledger, clock, chance=lambda: 1.0)

    @asynccontextmanager
    async def keeper(self, *, ahead=None):
        """An open keeper on the scene's store; opening reaps what is over by its clock."""
        clock = MovedClock(self.ahead if ahead is None else ahead)
        tools = self.tools()
        limits = Limits(lease=self.lease.total_seconds(), approval_expiry=3600, result_bytes=2000)
        chat = Agent(name="chat", tools=tuple(each.name for each in tools), limits=limits)
        configuration = Configuration(
            file="crash",
            folder=self.folder,
            store=self.store,
            agents={"chat": chat},
            redaction=Redaction(keys=("token",)),
        )
        ledger = open_ledger(self.store, clock=clock, busy_timeout=self.patience)
        try:
            keeper = Toolkeeper(
                configuration,
                policy=POLICIES,
                ledger=ledger,
                sealer=SealingKey(b"k" * 32),
                clock=clock,
            )
            for each in tools:
                keeper.add(each)
            async with keeper:
                yield keeper
        finally:
            await ledger.close()

    async def turn(self, keeper, session_id=None):
        if session_id is None:
            session = await keeper.open_session(agent="chat", user="ana")
        else:
            session = await keeper.resumed_session(session_id)
        return await session.begin_turn("go on")

    async def call(self, turn, name, title, **more):
        """One call, as a host makes it: noted before, and noted again with what it was told."""
        return (await self.call_all(turn, name, [title], **more))[0]

    async def call_all(self, turn, name, titles, key=None, **more):
        calls = []
        for title in titles:
            self.journal.write(began=title, tool=name)
            arguments = {"title": title, **more}
            calls.append(turn.read(f"c-{title}", name, arguments, idempotency_key=key))
        outcomes = await turn.call_all(calls)
        for title, outcome in zip(titles, outcomes, strict=True):
            row = outcome.row
            self.journal.write(told=title, outcome=row.outcome, invocation_id=row.invocation_id)
        return outcomes
