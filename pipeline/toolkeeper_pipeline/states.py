"""How far has a call come? One type a stage; each is made from the one before it.

Call -> Received -> Unwrapped -> Recorded -> Resolved -> Validated -> Frozen -> Classified
     -> Decided -> Approved | Parked -> Claimed -> Executed -> Outcome
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toolkeeper_contract import (
    AdvertisedAs,
    Classification,
    Code,
    Decision,
    Invocation,
    Question,
    Tool,
    ToolResult,
)
from toolkeeper_contract.draft import drafted
from toolkeeper_pipeline.call import Call


@dataclass(frozen=True, slots=True)
class ShapeFault:
    """What is wrong with a call's shape, as a value: it goes on to be recorded.

    `text` is what the model reads. `raw_digest` stands for the input that could not be read.
    `empty` says that there was none at all, which some providers send for no arguments.
    """

    code: Code
    text: str
    raw_digest: str
    empty: bool = False


@drafted
@dataclass(frozen=True, slots=True)
class Received:
    """The call with its arguments parsed once, or the reason why they could not be."""

    call: Call
    arguments: Mapping[str, Any] | ShapeFault
    decoded: bool = False


@drafted
@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The call of the real tool, whatever wrapper brought it. `name` None: it names no tool."""

    call: Call
    name: str | None
    arguments: Mapping[str, Any] | ShapeFault
    wrapped: bool
    decoded: bool


@drafted
@dataclass(frozen=True, slots=True)
class Recorded:
    """The call has an identity of its own; whatever happens now ends on a row.

    `key` is its idempotency key: no two rows have the same one.
    """

    call: Call
    invocation_id: str
    opened_at: datetime
    tool_name: str
    named: bool
    advertised_as: AdvertisedAs
    arguments: Mapping[str, Any] | ShapeFault
    decoded: bool
    key: str


@drafted
@dataclass(frozen=True, slots=True)
class Resolved:
    """The pinned tool is there, unchanged, enabled, and the principal holds its scopes."""

    recorded: Recorded
    tool: Tool


@drafted
@dataclass(frozen=True, slots=True)
class Validated:
    """The arguments satisfy the tool's original input schema."""

    recorded: Recorded
    tool: Tool
    arguments: Mapping[str, Any]


@drafted
@dataclass(frozen=True, slots=True)
class Frozen:
    """The canonical bytes that policy, card, row and executor all see. Nothing rewrites them.

    `redacted` is their form for keeping, with the JSON pointers in `masked` taken out.
    """

    recorded: Recorded
    tool: Tool
    arguments: Mapping[str, Any]
    data: bytes
    digest: str
    redacted: Any
    masked: tuple[str, ...]


@drafted
@dataclass(frozen=True, slots=True)
class Classified:
    frozen: Frozen
    classification: Classification


@drafted
@dataclass(frozen=True, slots=True)
class Decided:
    """Policy did not deny; its decision on `question` says whether an operator has to be asked."""

    frozen: Frozen
    classification: Classification
    decision: Decision
    question: Question


@drafted
@dataclass(frozen=True, slots=True)
class Approved:
    """Nothing stands between this call and its claim.

    `approval_id` is to be spent, `grant_id` has to hold, if there is one.
    """

    decided: Decided
    approval_id: str | None = None
    grant_id: str | None = None


@dataclass(frozen=True, slots=True)
class Parked:
    """The call waits for an answer."""

    row: Invocation


@drafted
@dataclass(frozen=True, slots=True)
class Executed:
    """The tool was dispatched, or could not be: a result, or the code and text of its failure.

    `data` are the frozen arguments. `notes` tell what was left out of the result.
    `ends` is what the tool raised to end the program: it goes on once the row is written.
    """

    row: Invocation
    tool: Tool
    classification: Classification
    result: ToolResult | None
    code: Code | None = None
    text: str = ""
    data: bytes = b""
    notes: tuple[str, ...] = ()
    ends: BaseException | None = None


class Stop(Exception):
    """A stage ends the call; the spine writes the row with what was known by then."""

    def __init__(
        self,
        code: Code,
        text: str,
        *,
        tool: Tool | None = None,
        frozen: Frozen | None = None,
        decision: Decision | None = None,
        approval_id: str | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.text = text
        self.tool = tool or (frozen.tool if frozen else None)
        self.frozen = frozen
        self.decision = decision
        self.approval_id = approval_id
