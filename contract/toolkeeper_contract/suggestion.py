"""What did the writer probably mean?"""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, options: Iterable[str]) -> str | None:
    """The option closest to `name`, or None when nothing is close."""
    # Sorted, so that equally close options always give the same answer.
    close = get_close_matches(name, sorted(set(options)), n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(name: str, options: Iterable[str]) -> str | None:
    """A hint for an error message: the nearest option, or the few there are."""
    choices = sorted(set(options))
    close = nearest(name, choices)
    if close is not None:
        return f"did you mean `{close}`?"
    if 0 < len(choices) <= 12:
        return "known: " + ", ".join(f"`{choice}`" for choice in choices)
    return None
