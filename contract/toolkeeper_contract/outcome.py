"""How did one call end, and what does the model read?

`repeated` says that this very call was made before: nothing ran now, and `row` is the earlier one.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolkeeper_contract.draft import drafted
from toolkeeper_contract.invocation import Invocation


@drafted
@dataclass(frozen=True, slots=True)
class Completed:
    """The tool ran and its result is sealed (`row.is_error`: by its own account it failed).

    `structured` is what it gave beside its text, without secrets, for the program; None also where
    the outcome was read back from its row.
    """

    row: Invocation
    structured: Any = field(default=None, compare=False, repr=False)
    repeated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """The tool was not run; `row.code` says why."""

    row: Invocation
    repeated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """The tool was dispatched or was to be, and gave no result; `row.code` says which."""

    row: Invocation
    repeated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Suspended:
    """The call waits for `row.approval_id`; the model reads a fixed placeholder meanwhile."""

    row: Invocation
    repeated: bool = field(default=False, compare=False)


Outcome: TypeAlias = Completed | Refused | Failed | Suspended
