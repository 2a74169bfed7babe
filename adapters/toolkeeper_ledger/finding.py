"""What does an audit find, and where?"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toolkeeper_ledger.chain import ChainFault, FaultKind


class Subject(StrEnum):
    """What a finding is about."""

    EVENT = "event"
    SESSION = "session"
    RUN = "run"
    CALL = "call"
    APPROVAL = "approval"
    GRANT = "grant"
    RESULT = "result"
    CONTENT = "content"
    """A plan, a rendering or a definition, which is kept under the digest of its text."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written.

    `seq` is the event where it shows, None when no event tells of it. `id` names the row, None for
    an event. `session_id` is None for what many sessions share. `says` is one clause for people,
    without any value that a call carried.
    """

    session_id: str | None
    seq: int | None
    kind: FaultKind
    of: Subject
    id: str | None
    says: str

    def as_json(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "seq": self.seq,
            "kind": self.kind.value,
            "of": self.of.value,
            "id": self.id,
            "says": self.says,
        }


_SAYS = {
    FaultKind.CHANGED: "was changed",
    FaultKind.REMOVED: "was removed",
    FaultKind.INSERTED: "was inserted",
    FaultKind.REORDERED: "is not in its place",
}


def chain_finding(fault: ChainFault) -> Finding:
    return Finding(
        fault.session_id,
        fault.seq,
        fault.kind,
        Subject.EVENT,
        None,
        f"event {fault.seq} {_SAYS[fault.kind]}",
    )
