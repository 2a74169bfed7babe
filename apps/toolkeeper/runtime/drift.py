"""What is told of a listed definition that is not the accepted one, and what is done about it?"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from toolkeeper.runtime.acceptance import TRUSTED_SERVER
from toolkeeper.runtime.definition_change import change
from toolkeeper_contract import AcceptedTool, Event, Ledger, Tool

QUARANTINED = "tool.quarantined"
REPINNED = "tool.repinned"


@dataclass(frozen=True, slots=True)
class Drift:
    """A listed definition that is not the accepted one.

    `was` is what is accepted under the name, None for a new tool. `quarantined` says that an
    operator has to accept it first; otherwise it is pinned anew.
    """

    tool: Tool
    was: AcceptedTool | None
    quarantined: bool

    async def event(self, ledger: Ledger, run_id: str | None) -> Event:
        """`tool.quarantined` or `tool.repinned`, with what is different about the definition."""
        before = await ledger.accepted_definition(self.was.fingerprint) if self.was else None
        data = {
            "tool": self.tool.name,
            "source": self.tool.identity.source,
            "state": "changed" if self.was else "new",
            "was": self.was.fingerprint if self.was else None,
            "now": self.tool.fingerprint,
            "diff": change(before, self.tool.definition),
        }
        return Event(QUARANTINED if self.quarantined else REPINNED, data, run_id)


async def drift_events(
    ledger: Ledger, session_id: str, drifts: Sequence[Drift], run_id: str
) -> list[Event]:
    """What a beginning turn tells; of a quarantined definition a session hears once."""
    told: set[tuple[object, object]] = set()
    if any(drift.quarantined for drift in drifts):
        told = {
            (record.event.data.get("tool"), record.event.data.get("now"))
            for record in await ledger.events(session_id)
            if record.event.name == QUARANTINED
        }
    return [
        await drift.event(ledger, run_id)
        for drift in drifts
        if not drift.quarantined or (drift.tool.name, drift.tool.fingerprint) not in told
    ]


async def take_over(ledger: Ledger, drifts: Sequence[Drift], at: datetime) -> None:
    """Accepts what trusted servers have changed, once a turn was planned with it."""
    taken = [drift.tool for drift in drifts if not drift.quarantined]
    await ledger.accept(
        accepted_by(TRUSTED_SERVER, taken, at), definitions=[tool.definition for tool in taken]
    )


def accepted_by(by: str, tools: Sequence[Tool], at: datetime) -> list[AcceptedTool]:
    """The entries by which `tools` are accepted."""
    return [
        AcceptedTool(tool.name, tool.fingerprint, tool.identity.source, at, by) for tool in tools
    ]
