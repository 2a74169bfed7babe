"""Under which id may a recorded call stand in a provider's conversation?

Servers repeat ids, leave them empty, or make them longer than another provider takes. A clash gets
a number, a foreign id a readable prefix and a hash: a function of the conversation so far, never of
chance, so that the cached prefix stays what it was.
"""

import re

from toolkeeper_contract import digest

_LEGAL = re.compile(r"[A-Za-z0-9_-]+")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_HASH = 16
_NAMELESS = "call"


class CallIds:
    """Hands out one id for each call of a conversation, in its order; none is handed out twice.

    What was handed out does not depend on what comes later, so a growing conversation never
    changes its beginning.
    """

    def __init__(self, limit: int) -> None:
        """`limit` is the number of characters that the provider takes."""
        self._limit = limit
        self._taken: set[str] = set()
        self._seen: dict[str, int] = {}

    def next(self, call_id: str) -> str:
        """The id for the next call, which its server called `call_id`."""
        base = self._legal(call_id)
        count = self._seen.get(base, 0) + 1
        while (found := self._numbered(base, count)) in self._taken:
            count += 1
        self._seen[base] = count
        self._taken.add(found)
        return found

    def _legal(self, call_id: str) -> str:
        if not call_id:
            return _NAMELESS
        if len(call_id) <= self._limit and _LEGAL.fullmatch(call_id) is not None:
            return call_id
        text = call_id.encode("utf-8", "replace").decode("utf-8")
        readable = _FOREIGN.sub("_", text[: self._limit - _HASH - 1])
        return f"{readable}_{digest(text)[:_HASH]}"

    def _numbered(self, base: str, count: int) -> str:
        suffix = "" if count == 1 else f"_{count}"
        if len(base) + len(suffix) <= self._limit:
            return base + suffix
        hashed = digest(base)[:_HASH]
        return f"{base[: self._limit - _HASH - 1 - len(suffix)]}_{hashed}{suffix}"
