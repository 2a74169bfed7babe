"""How did one call end, and what does the model read?"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolkeeper_contract.invocation import Invocation


@dataclass(frozen=True, slots=True)
class Completed:
    """The tool ran and its result is sealed (`row.is_error`: by its own account it failed).

    `structured` is what it gave beside its text, without secrets, for the program; None also where
    the outcome was read back from its row.
    """

    row: Invocation
    structured: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """The tool was not run; `row.code` says why."""

    row: Invocation


@dataclass(frozen=True, slots=True)
class Failed:
    """The tool was dispatched or was to be, and gave no result; `row.code` says which."""

    row: Invocation


@dataclass(frozen=True, slots=True)
class Suspended:
    """The call waits for `row.approval_id`; the model reads a fixed placeholder meanwhile."""

    row: Invocation


Outcome: TypeAlias = Completed | Refused | Failed | Suspended
