"""What happens in a recorded session, as plain values?

Whatever a model could have sent, however odd, is data here: the pipeline refuses it and keeps a
row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final

from toolkeeper_contract import Json

EVERY_CALL = "*"
"""The key of `approvals` for every call that has no answer of its own."""


class Absent(Enum):
    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""What `Script.intent` is when the file does not mention it; None is an explicit null."""


class Verdict(StrEnum):
    """What the script does about a parked call."""

    APPROVE = "approve"
    DENY = "deny"
    LEAVE = "leave"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """An answer to an approval; `arguments` are the new ones of an EDIT."""

    verdict: Verdict
    arguments: Mapping[str, Json] | None = None


LEAVE = ScriptedAnswer(Verdict.LEAVE)


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call as a model would send it.

    `tool` is any JSON value, None when it is left out. `arguments` is any JSON value; a string is
    raw text, also where the file holds numbers that JSON cannot write. `in_script` and `in_turn`
    count, from 1, the calls with this id so far.
    """

    call_id: str
    tool: Json
    arguments: Json
    in_script: int
    in_turn: int


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """A user message and the model steps that follow; each step is one or more parallel calls."""

    user: str
    override: Json
    tool_choice: str | None
    steps: tuple[tuple[ScriptedCall, ...], ...]
    approvals: Mapping[str, ScriptedAnswer]

    def answer(self, call: ScriptedCall, earlier: int = 0) -> ScriptedAnswer:
        """What is to be done about `call` when it is parked.

        `earlier` counts the calls with its id in the session before this script. `c1#2` is the
        session's second call `c1`; a plain `c1` is the first in this turn; then comes `*`.
        """
        exact = f"{call.call_id}#{earlier + call.in_script}"
        if exact in self.approvals:
            return self.approvals[exact]
        if call.in_turn == 1 and call.call_id in self.approvals:
            return self.approvals[call.call_id]
        return self.approvals.get(EVERY_CALL, LEAVE)


@dataclass(frozen=True, slots=True)
class Script:
    """A recorded session; agent, user and provider are None where the file leaves them out.

    `intent` is ABSENT, None, an object or a list of names, checked for its form.
    """

    file: str
    agent: str | None
    user: str | None
    provider: str | None
    attributes: Mapping[str, Json]
    intent: Json | Absent
    turns: tuple[ScriptedTurn, ...]
