"""In whose name, under which plan and with which ports does a call run?"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from toolkeeper_contract import (
    Clock,
    Ids,
    Ledger,
    Plan,
    Principal,
    Registry,
    Sealer,
    Tool,
    ToolSource,
)
from toolkeeper_contract.draft import drafted
from toolkeeper_pipeline.facts import Facts
from toolkeeper_pipeline.halt import Halt
from toolkeeper_pipeline.limits import Limits
from toolkeeper_pipeline.observe import Observer
from toolkeeper_pipeline.pace import Pace
from toolkeeper_pipeline.schema import ArgumentSchema
from toolkeeper_pipeline.secret_schema import SecretSchema
from toolkeeper_pipeline.work import Work
from toolkeeper_policy import Policy


class Redactor(Protocol):
    """Takes secrets out before anything is kept.

    `pointers` name further values of a JSON value, or of a text that is JSON; a `*` in one stands
    for any key or index. Long texts are searched in threads.
    """

    def redact(
        self, value: Any, pointers: Collection[str] = (), text: bytes | None = None
    ) -> tuple[Any, tuple[str, ...]]:
        """A copy without secrets; with its canonical `text`, itself where there are none."""
        ...

    def redact_text(self, text: str, pointers: Collection[str] = ()) -> tuple[str, int]: ...

    def knowing(self, values: Collection[str]) -> "Redactor":
        """The same, for which these values are secrets too, wherever they stand."""
        ...

    def argument_pointers(self, tool: str) -> Sequence[str]:
        """The arguments of this tool that the operator calls secret."""
        ...

    def result_pointers(self, tool: str) -> Sequence[str]:
        """The same for what it gives back."""
        ...


Contents = Callable[[Tool, Sequence[str], Mapping[str, Any]], Awaitable[Mapping[str, str]]]
"""Digests of what the arguments at these JSON pointers name, by pointer; every pointer has one."""


async def nothing_named(
    tool: Tool, pointers: Sequence[str], arguments: Mapping[str, Any]
) -> Mapping[str, str]:
    """Where nobody can look: an operand has no content that could change."""
    return dict.fromkeys(pointers, "unknown")


@drafted
@dataclass(frozen=True, slots=True)
class Run:
    """One turn of a session, as far as its calls are concerned.

    `token` is the boundary of the plan's envelopes. `enabled` answers live whether the user still
    has a tool switched on. `controls` serves `tool.search` and `tool.result` for this run. `found`
    are names that a search brought up, which nothing in the request advertises. `formerly` are
    names that earlier turns of the session pinned. `facts` are what the session has read.
    `slots` are those of the turn's calls that run at once. `halt` stops the calls of this step.
    `again`: the turn is done once more, so calls may have been made already.
    """

    run_id: str
    session_id: str
    agent: str
    principal: Principal
    plan: Plan
    token: str
    enabled: Callable[[str], bool]
    controls: ToolSource
    facts: Facts
    limits: Limits = field(default_factory=Limits)
    approvers: tuple[str, ...] = ()
    exclude_requester: bool = False
    found: Collection[str] = ()
    formerly: Collection[str] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8))
    halt: Halt = field(default_factory=Halt)
    again: bool = False


@dataclass(frozen=True, slots=True)
class Rim:
    """The ports at which deciding touches the world.

    `registry` and `policy` are asked anew for every call, so that what was taken away is gone at
    once. `source` finds the source of a tool, None when it is configured no longer;
    `rewrite` gives the arguments that the program wants instead of those that were sent to a tool.
    `contents` looks at what arguments name; `trusted` says whether the tool's source is. `work` is
    what is under way, `pace` how long is waited before something is tried again. `observer` watches
    calls from outside, where somebody does.
    """

    ledger: Ledger
    sealer: Sealer
    clock: Clock
    ids: Ids
    redactor: Redactor
    registry: Callable[[], Registry]
    policy: Callable[[], Policy]
    source: Callable[[Tool], ToolSource | None]
    schemas: "Schemas"
    trusted: Callable[[Tool], bool]
    contents: Contents = nothing_named
    rewrite: Callable[[str, Mapping[str, Any]], Mapping[str, Any]] | None = None
    work: Work = field(default_factory=Work)
    pace: Pace = field(default_factory=Pace)
    observer: Observer | None = None


_KEPT = 10_000
"""Compiled schemas of each kind: a server that changes for weeks must not grow the process."""

_Compiled = TypeVar("_Compiled")


class Schemas:
    """Compiled input and output schemas, once per fingerprint."""

    def __init__(self) -> None:
        self._inputs: dict[str, ArgumentSchema] = {}
        self._outputs: dict[str, ArgumentSchema] = {}
        self._secret_inputs: dict[str, SecretSchema] = {}
        self._secret_outputs: dict[str, SecretSchema] = {}

    def input(self, tool: Tool) -> ArgumentSchema:
        """The compiled input schema of `tool`."""
        return _once(self._inputs, tool, tool.definition.input_schema, ArgumentSchema)

    def output(self, tool: Tool) -> ArgumentSchema | None:
        """The compiled output schema of `tool`, where it declares one."""
        declared = tool.definition.output_schema
        return None if declared is None else _once(self._outputs, tool, declared, ArgumentSchema)

    def secret_arguments(self, tool: Tool) -> SecretSchema:
        """What the input schema of `tool` calls secret."""
        return _once(self._secret_inputs, tool, tool.definition.input_schema, SecretSchema)

    def secret_results(self, tool: Tool) -> SecretSchema | None:
        """What the output schema of `tool` calls secret, where it declares one."""
        declared = tool.definition.output_schema
        if declared is None:
            return None
        return _once(self._secret_outputs, tool, declared, SecretSchema)


def _once(
    kept: dict[str, _Compiled],
    tool: Tool,
    schema: Mapping[str, Any],
    compile: Callable[[Mapping[str, Any]], _Compiled],
) -> _Compiled:
    found = kept.get(tool.fingerprint)
    if found is None:
        if len(kept) >= _KEPT:
            del kept[next(iter(kept))]
        found = kept[tool.fingerprint] = compile(schema)
    return found
