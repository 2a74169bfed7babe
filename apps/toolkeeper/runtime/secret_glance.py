"""Is there surely no secret in a text, told by one look at it?

Most of what a call brings holds nothing to mask. One automaton for all words of keys and all hints
of shapes, whose time is linear in the text, is far quicker than to take the text apart. It may only
err on one side: where it finds nothing, there is nothing to be found.
"""

import re
from collections.abc import Iterable

import re2  # type: ignore[import-untyped]

SHORT = 100
"""Characters up to which it is as quick to look for one thing after the other."""

_GAP = r"(?:[^a-z]|\\[a-z])*"
"""What stands between two words of one key: anything but letters, but for those of JSON escapes."""


class Glance:
    """A quick look for `phrases`, words of keys that follow each other, and for `hints`, patterns.

    Phrases are looked for in any case and also inside longer words. All are ASCII. No hint may
    ask for a quote, a backslash or a blank that JSON writes in another way.
    """

    def __init__(self, phrases: Iterable[tuple[str, ...]] = (), hints: Iterable[str] = ()) -> None:
        keys = sorted({_GAP.join(map(re.escape, phrase)) for phrase in phrases})
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        parts = [f"(?i:{'|'.join(keys)})"] if keys else []
        self._automaton = re2.compile("|".join([*parts, *sorted(set(hints))]), options)

    def meets(self, text: str) -> bool:
        """Whether one of them may stand in `text`, or in what it holds as JSON.

        Of JSON that holds only where it is spelled out, without escapes of letters and slashes.
        """
        # Half a pair is no UTF-8; what stands for it is in no word and in no hint.
        return self._automaton.search(text.encode("utf-8", "replace")) is not None
