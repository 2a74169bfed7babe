"""What did the model ask for, before anything is made of it?"""

from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Invocation


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it came in; nothing about it has been checked.

    `name` is canonical where the edge could decode it (wire names are the edge's business) and
    anything at all otherwise. `arguments` is the raw text that the model wrote (str), or an already
    parsed value. `step` counts the run's model steps from 1, `position` the calls in a step from 0.
    `parked` is the row of a call that was asked about before and is now taken up again; its
    `arguments` are then the frozen ones.
    """

    call_id: str
    name: Any
    arguments: Any
    step: int = 1
    position: int = 0
    parked: Invocation | None = None
