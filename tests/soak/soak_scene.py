"""On what do the processes of a soak run agree: tools, policy, limits, and who answers what how?

A call's number says what becomes of it, so every process and the count at the end come to the same
answer without telling each other.
"""

import os
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from toolkeeper import Toolkeeper, tool
from toolkeeper.runtime.configuration import Agent, Configuration
from toolkeeper.runtime.configuration.agent import Limits
from toolkeeper_ledger import SealingKey, open_ledger
from toolkeeper_policy import load_policy

POLICY = """
version: 1
taint: "off"
defaults: {workspace_read: allow, workspace_write: allow, message_send: ask}
rules:
  - {id: never, tools: [notes.drop], effect: deny}
"""


class Fate(StrEnum):
    """What is to become of a call, if no process dies over it."""

    READ = "read"
    WRITE = "write"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    FORBIDDEN = "forbidden"


_OF_TWENTY = (
    (Fate.READ,) * 9
    + (Fate.WRITE,) * 5
    + (Fate.APPROVED,) * 3
    + (Fate.DENIED, Fate.EXPIRED, Fate.FORBIDDEN)
)
TOOLS = {
    Fate.READ: "notes.read",
    Fate.WRITE: "notes.add",
    Fate.APPROVED: "mail.send",
    Fate.DENIED: "mail.send",
    Fate.EXPIRED: "mail.send",
    Fate.FORBIDDEN: "notes.drop",
}


def fate_of(number):
    # Seven and twenty have no common factor: neighbours differ, and every client meets all of them.
    return _OF_TWENTY[number * 7 % 20]


class SystemTime:
    """The machine's clock, in UTC."""

    def now(self):
        from datetime import UTC, datetime

        return datetime.now(UTC)


@dataclass(frozen=True)
class SoakScene:
    """A store and a folder. `lease` and `expiry` are in seconds."""

    folder: Path
    store: str
    lease: float = 3.0
    expiry: float = 20.0

    @property
    def effects(self):
        """One line for each effect: what happened, and to which call."""
        return self.folder / "effects"

    def happened(self, what, number):
        # One write of one line: whole, whichever processes write, and still there when they die.
        descriptor = os.open(self.effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, f"{what} {number}\n".encode())
        finally:
            os.close(descriptor)

    def tools(self):
        @tool(name="notes.read", side_effect="workspace_read")
        async def read(number: int) -> str:
            """Read a note."""
            self.happened("read", number)
            return f"the note {number}"

        @tool(name="notes.add", side_effect="workspace_write")
        async def add(number: int) -> str:
            """Add a note."""
            self.happened("add", number)
            return f"noted {number}"

        @tool(name="notes.drop", side_effect="workspace_write", destructive=True)
        async def drop(number: int) -> str:
            """Drop a note."""
            self.happened("drop", number)
            return "dropped"

        @tool(name="mail.send", side_effect="message_send")
        async def send(number: int) -> str:
            """Send a mail."""
            self.happened("send", number)
            return f"sent {number}"

        return [read, add, drop, send]

    @asynccontextmanager
    async def keeper(self):
        """An open keeper on the store, as every process makes it."""
        tools = self.tools()
        limits = Limits(lease=self.lease, approval_expiry=self.expiry)
        chat = Agent(
            name="chat",
            tools=tuple(each.name for each in tools),
            limits=limits,
            approvers=("ops",),
        )
        configuration = Configuration(
            file="soak", folder=self.folder, store=self.store, agents={"chat": chat}
        )
        clock = SystemTime()
        # Every process of the run writes here; on one file they wait for each other.
        ledger = open_ledger(self.store, clock=clock, busy_timeout=30.0)
        try:
            keeper = Toolkeeper(
                configuration,
                policy=load_policy([("policy.yaml", POLICY)]),
                ledger=ledger,
                sealer=SealingKey(b"s" * 32),
                clock=clock,
            )
            for each in tools:
                keeper.add(each)
            async with keeper:
                yield keeper
        finally:
            await ledger.close()
