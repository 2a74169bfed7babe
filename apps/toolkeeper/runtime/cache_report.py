"""How much of each request could a provider take from its cache?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper.runtime.prefix_change import PrefixChange

UNEXPLAINED = "unexplained"
"""What is told of a change whose cause nobody recorded."""


@dataclass(frozen=True, slots=True)
class CacheLine:
    """One request beside the one before it; sizes are UTF-8 bytes.

    `request` counts from 1, in its turn where it is one of a recorded session, which `session_id`,
    `turn` and `run_id` name. The prefix is the tools array and the system text behind it;
    `kept_bytes` of it are the same as before, from the first byte on, and `reread_bytes` are not.
    `rewrite` says that there was a request before and its prefix was another one. `message_bytes`
    and `kept_message_bytes` are those of the conversation behind the prefix, 0 where it was not
    recorded: a rewrite of the prefix keeps none. `broke` is the change at which the two part,
    `causes` are all of them.
    """

    request: int
    tools_bytes: int
    system_bytes: int
    kept_bytes: int
    rewrite: bool
    message_bytes: int = 0
    kept_message_bytes: int = 0
    broke: PrefixChange | None = None
    causes: tuple[PrefixChange, ...] = ()
    first: bool = False
    session_id: str | None = None
    turn: int | None = None
    run_id: str | None = None

    @property
    def prefix_bytes(self) -> int:
        return self.tools_bytes + self.system_bytes

    @property
    def reread_bytes(self) -> int:
        """What of the prefix had to be read anew although there was a request before."""
        return 0 if self.first else self.prefix_bytes - self.kept_bytes

    def as_json(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "turn": self.turn,
            "run_id": self.run_id,
            "request": self.request,
            "prefix_bytes": self.prefix_bytes,
            "tools_bytes": self.tools_bytes,
            "system_bytes": self.system_bytes,
            "kept_bytes": self.kept_bytes,
            "reread_bytes": self.reread_bytes,
            "message_bytes": self.message_bytes,
            "kept_message_bytes": self.kept_message_bytes,
            "rewrite": self.rewrite,
            "broke": None if self.broke is None else self.broke.as_json(),
            "causes": [cause.as_json() for cause in self.causes],
        }


@dataclass(frozen=True, slots=True)
class CacheReport:
    """The requests of one or several conversations, in their order."""

    lines: tuple[CacheLine, ...]

    @property
    def requests(self) -> int:
        return len(self.lines)

    @property
    def rewrites(self) -> int:
        """How many requests came with another prefix than the one before them."""
        return sum(line.rewrite for line in self.lines)

    @property
    def prefix_bytes(self) -> int:
        """The bytes of all prefixes together: what is read without a cache."""
        return sum(line.prefix_bytes for line in self.lines)

    @property
    def kept_bytes(self) -> int:
        return sum(line.kept_bytes for line in self.lines)

    @property
    def reread_bytes(self) -> int:
        """The bytes of prefixes that had to be read anew because something before them changed."""
        return sum(line.reread_bytes for line in self.lines)

    @property
    def causes(self) -> dict[str, int]:
        """How many rewrites each reason had a part in, the most frequent first."""
        counted = Counter(
            reason
            for line in self.lines
            if line.rewrite
            for reason in dict.fromkeys(cause.reason or UNEXPLAINED for cause in line.causes)
        )
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def joined(reports: Sequence[CacheReport]) -> CacheReport:
    """Several conversations in one report."""
    return CacheReport(tuple(line for report in reports for line in report.lines))
