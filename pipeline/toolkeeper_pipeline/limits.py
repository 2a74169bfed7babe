"""How much may one call take?"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a call.

    `argument_bytes` counts the UTF-8 bytes of the arguments' text, `argument_depth` its levels.
    `result_bytes` counts the UTF-8 bytes that the model reads, without the envelope.
    `result_kept_bytes` bounds what is kept aside of one result: its text, and its other parts
    together. `result_blocks` counts its parts, `result_depth` and `result_nodes` the levels and
    values of its structured content.
    `call_timeout` bounds a call with all its attempts, `attempt_timeout` each of them (None: by
    the time that is left). `retries` is how often a read or an idempotent call may be repeated.
    """

    call_timeout: timedelta = timedelta(seconds=60)
    approval_expiry: timedelta = timedelta(hours=24)
    grant_expiry: timedelta = timedelta(days=30)
    lease: timedelta = timedelta(minutes=5)
    result_bytes: int = 50_000
    result_kept_bytes: int = 10_000_000
    result_blocks: int = 1_000
    result_depth: int = 128
    result_nodes: int = 100_000
    argument_bytes: int = 1_000_000
    argument_depth: int = 256
    parallel_calls: int = 8
    retries: int = 2
    attempt_timeout: timedelta | None = None
