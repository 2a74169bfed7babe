"""What happens in a recorded session, as plain values?

Whatever a model could have sent, however odd, is data here: the pipeline refuses it and keeps a
row.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final

from toolkeeper.runtime.configuration.file_text import Documents
from toolkeeper_contract import ConfigError, Json, Path

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
    raw text, also where the file holds numbers that JSON cannot write. `idempotency_key` is the
    caller's name for what is to happen once.
    """

    call_id: str
    tool: Json
    arguments: Json
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptedResponse:
    """A provider's raw response: one model step with whatever calls it holds.

    `body` is the response's JSON object, `file` where it stands, `path` its place in the script.
    Only the session's provider format can read it.
    """

    body: Mapping[str, Json]
    file: str
    path: Path


Step = tuple[ScriptedCall, ...] | ScriptedResponse
"""One model step: parallel calls, or the response that holds them."""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """A user message and the model steps that follow.

    `child` is delegated to when they are done. `path` is the turn's place in the script.
    """

    user: str
    override: Json
    tool_choice: str | None
    steps: tuple[Step, ...]
    approvals: Mapping[str, ScriptedAnswer]
    child: "ScriptedChild | None"
    path: Path

    def answer(self, call_id: str, *, in_session: int, in_turn: int) -> ScriptedAnswer:
        """What is to be done about a call when it is parked.

        The numbers count, from 1, the calls with its id in the session and in this turn. `c1#2` is
        the session's second call `c1`; a plain `c1` is the first in this turn; then comes `*`.
        """
        exact = f"{call_id}#{in_session}"
        if exact in self.approvals:
            return self.approvals[exact]
        if in_turn == 1 and call_id in self.approvals:
            return self.approvals[call_id]
        return self.approvals.get(EVERY_CALL, LEAVE)

    def unknown_answer(self, ids: Collection[str]) -> str | None:
        """The first key of `approvals` that is about none of the calls with these ids."""
        for key in self.approvals:
            name, mark, number = key.rpartition("#")
            known = key in ids or (mark and number.isdecimal() and name in ids)
            if key != EVERY_CALL and not known:
                return key
        return None


@dataclass(frozen=True, slots=True)
class ScriptedChild:
    """A delegated session: the turns that it plays with `tools` of its parent's turn.

    `tools` are canonical names, None for everything that the turn pins. `agent` is None where the
    child is the parent's own agent.
    """

    tools: tuple[str, ...] | None
    agent: str | None
    turns: tuple[ScriptedTurn, ...]
    path: Path


@dataclass(frozen=True, slots=True)
class Script:
    """A recorded session; who and what it is for is None where the file leaves it out.

    `intent` is ABSENT, None, an object or a list of names, checked for its form. `documents` knows
    where everything stands.
    """

    agent: str | None
    user: str | None
    provider: str | None
    model: str | None
    endpoint: str | None
    attributes: Mapping[str, Json]
    intent: Json | Absent
    turns: tuple[ScriptedTurn, ...]
    documents: Documents = field(repr=False, compare=False)

    def placed(self, error: ConfigError, path: Path) -> ConfigError:
        """`error` with the script's file and the line of `path`; one that has a file as it is."""
        if error.file is not None:
            return error
        return self.documents.error(path, error.message, error.hint, code=error.code)

    def every_turn(self) -> Iterator[ScriptedTurn]:
        """All turns, those of children after their parent's."""
        yield from _with_children(self.turns)


def _with_children(turns: Sequence[ScriptedTurn]) -> Iterator[ScriptedTurn]:
    for turn in turns:
        yield turn
        if turn.child is not None:
            yield from _with_children(turn.child.turns)
