"""How long is a written duration, in seconds?"""

import math
import re
from typing import Any

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_WRITTEN = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(ms|s|m|h|d)?")

LONGEST = 3_650 * 86_400.0
"""Ten years, in seconds; beyond it a date could not be worked out."""


def seconds(value: Any) -> float | None:
    """The seconds in `30`, `"500ms"`, `"5m"`, `"24h"` or `"7d"`; None for what is no duration."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    match = _WRITTEN.fullmatch(value)
    if match is None:
        return None
    return float(match[1]) * _UNITS[match[2] or "s"]
