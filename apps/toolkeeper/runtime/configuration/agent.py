"""What does an agent's configuration say?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkeeper_contract import CONTROL_TOOLS, TOOL_SEARCH, Caps


@dataclass(frozen=True, slots=True)
class Pin:
    """Moves `tools` (names or globs) to the front of sessions whose attributes match `when`.

    A value of `"*"` in `when` stands for any value of that attribute.
    """

    when: Mapping[str, str | int | float | bool]
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """`limit` results unless the model asks for more, never more than `max_limit`."""

    limit: int = 5
    max_limit: int = 20
    name: str = TOOL_SEARCH


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a call. Times are in seconds.

    `result_bytes` counts the UTF-8 bytes that the model reads, `result_kept_bytes` those that are
    kept aside of one result: of its text, and of its other parts together. `result_blocks` counts
    its parts, `result_depth` and `result_nodes` the levels and values of its structured content.
    `argument_bytes` and `argument_depth` bound the text of one call's arguments. `lease` is renewed
    while a call runs.
    """

    call_timeout: float = 60.0
    attempt_timeout: float | None = None
    retries: int = 2
    result_bytes: int = 50_000
    parallel_calls: int = 8
    approval_expiry: float = 86_400.0
    grant_expiry: float = 2_592_000.0
    lease: float = 300.0
    argument_bytes: int = 1_048_576
    argument_depth: int = 256
    result_kept_bytes: int = 10_000_000
    result_blocks: int = 1_000
    result_depth: int = 128
    result_nodes: int = 100_000


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent as the file describes it.

    `tools`, `always_defined` are canonical names in configuration order; `deferred_tools` may hold
    globs. `toolsets` and `overlays` are the ones that an intent may ask for, with their contents.
    `approvers` is None where the file says nothing: the session's own user answers then.
    `exclude_requester`: that user may not answer.
    `control_tools` stand in the framework's own order. `replan` is `on_change` or `never`.
    """

    name: str
    tools: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    toolsets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overlays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    deferred_tools: tuple[str, ...] = ()
    always_defined: tuple[str, ...] = ()
    pin: tuple[Pin, ...] = ()
    control_tools: tuple[str, ...] = CONTROL_TOOLS
    disclosure: str = "index"
    listing: str = "index"
    search: Search = Search()
    caps: Caps = field(default_factory=Caps)
    replan: str = "on_change"
    limits: Limits = Limits()
    approvers: tuple[str, ...] | None = None
    exclude_requester: bool = False
