"""How much may one call take?"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a call.

    `argument_bytes` counts the UTF-8 bytes of the arguments' text, `argument_depth` its levels.
    `result_bytes` counts the UTF-8 bytes that the model reads, without the envelope.
    """

    call_timeout: timedelta = timedelta(seconds=60)
    approval_expiry: timedelta = timedelta(hours=24)
    grant_expiry: timedelta = timedelta(days=30)
    lease: timedelta = timedelta(minutes=5)
    result_bytes: int = 50_000
    argument_bytes: int = 1_000_000
    argument_depth: int = 256
    parallel_calls: int = 8
