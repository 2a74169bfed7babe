"""What is different between two requests, as a provider's cache sees them?"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper.runtime.index_entry import HEADING, entry_name, line_part
from toolkeeper.runtime.request_prefix import MESSAGES, SYSTEM, TOOLS, Piece, RequestPrefix, encoded
from toolkeeper_planner import moved_names

ADDED, REMOVED, MOVED, REDEFINED, CHANGED = "added", "removed", "moved", "redefined", "changed"

KEY_ORDER = "key order"
"""The reason of a tool whose object says the same with its keys in another order."""

_ORDER = (TOOLS, SYSTEM, MESSAGES)


@dataclass(frozen=True, slots=True)
class PrefixChange:
    """One difference.

    `part` is `tools`, `system` or `messages`; `change` is `added`, `removed`, `moved`, `redefined`
    (a tool or an index entry with another text) or `changed` (any other text). `name` is the
    tool's, the message's role, or what a line of the system text is: an index entry by its tool,
    `boundary`, `searchable`, `convention` or `text`. `position` is its place in the later request
    and `was` that in the earlier one: of a tool in the array, a line, a message, from 0; None
    where it is not there. `reason` says why, where that is known: of a tool that reads otherwise at
    least which of its keys do, or that only their order changed.
    """

    part: str
    change: str
    name: str
    position: int | None
    was: int | None
    reason: str | None = None

    def at(self, piece: Piece) -> bool:
        """Whether this is (one cause of) the difference at `piece`."""
        return self.part == piece.kind and piece.position in (self.position, self.was)

    def as_json(self) -> dict[str, Any]:
        return {
            "part": self.part,
            "change": self.change,
            "name": self.name,
            "position": self.position,
            "was": self.was,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """`kept` are the bytes from the start that both requests share. `parted` is the first piece
    that differs, None when the later request begins with all of the earlier one. `changes` are all
    differences, but for messages that were only added at the end."""

    kept: int
    parted: Piece | None
    changes: tuple[PrefixChange, ...]

    @property
    def broke(self) -> PrefixChange | None:
        """The change at which the two part."""
        if self.parted is None:
            return None
        piece = self.parted
        for change in self.changes:
            if change.at(piece):
                return change
        name = line_part(piece.text) if piece.kind == SYSTEM else piece.name
        return PrefixChange(piece.kind, CHANGED, name, piece.position, piece.position)


def compare(before: RequestPrefix, after: RequestPrefix) -> Comparison:
    """What `after` shares with `before`, and what is different."""
    kept, at = 0, 0
    for old, new in zip(before.pieces, after.pieces, strict=False):
        if (old.kind, old.text) != (new.kind, new.text):
            kept += _common(old.text, new.text) if old.kind == new.kind else 0
            break
        kept += new.size
        at += 1
    parted = None
    if at < len(before.pieces):
        # One of the two has more of the kind that comes first.
        ends = [pieces[at] for pieces in (after.pieces, before.pieces) if at < len(pieces)]
        parted = min(ends, key=lambda piece: _ORDER.index(piece.kind))
    return Comparison(kept, parted, tuple(_changes(before, after)))


def _common(before: str, after: str) -> int:
    old, new = encoded(before), encoded(after)
    length = min(len(old), len(new))
    if old[:length] == new[:length]:
        return length
    return next(at for at in range(length) if old[at] != new[at])


def _changes(before: RequestPrefix, after: RequestPrefix) -> Iterator[PrefixChange]:
    yield from _by_name(TOOLS, _keyed(before.of_kind(TOOLS)), _keyed(after.of_kind(TOOLS)))
    yield from _of_lines(before.of_kind(SYSTEM), after.of_kind(SYSTEM))
    yield from _of_messages(before.of_kind(MESSAGES), after.of_kind(MESSAGES))


def _of_lines(before: Sequence[Piece], after: Sequence[Piece]) -> Iterator[PrefixChange]:
    """Index entries by the names of their tools, every other line by its text."""
    (entries, old), (listed, new) = _sorted_out(before), _sorted_out(after)
    yield from _by_name(SYSTEM, entries, listed)
    gone, come = _first_of_each(old, new), _first_of_each(new, old)
    for name in dict.fromkeys((*come, *gone)):
        yield PrefixChange(SYSTEM, CHANGED, name, come.get(name), gone.get(name))


def _first_of_each(lines: Sequence[Piece], others: Sequence[Piece]) -> dict[str, int]:
    """Where, for each kind of line, the first one stands that `others` have less often."""
    left = Counter(line.text for line in others)
    first: dict[str, int] = {}
    for line in lines:
        left[line.text] -= 1
        if left[line.text] < 0:
            first.setdefault(line_part(line.text), line.position)
    return first


def _sorted_out(lines: Sequence[Piece]) -> tuple[dict[str, Piece], list[Piece]]:
    """The entries behind the index's heading, by name, and all other lines."""
    entries: dict[str, Piece] = {}
    others: list[Piece] = []
    inside = False
    for line in lines:
        inside = inside or line.text.strip("\n") == HEADING
        name = entry_name(line.text) if inside else None
        if name is None or name in entries:
            others.append(line)
        else:
            entries[name] = line
    return entries, others


def _of_messages(before: Sequence[Piece], after: Sequence[Piece]) -> Iterator[PrefixChange]:
    for old, new in zip(before, after, strict=False):
        if old.text != new.text:
            yield PrefixChange(MESSAGES, CHANGED, new.name, new.position, old.position)
            return
    if len(after) < len(before):
        gone = before[len(after)]
        yield PrefixChange(MESSAGES, REMOVED, gone.name, None, gone.position)


def _by_name(
    part: str, before: dict[str, Piece], after: dict[str, Piece]
) -> Iterator[PrefixChange]:
    redefined = {
        name
        for name, piece in after.items()
        if name in before and before[name].text.strip("\n") != piece.text.strip("\n")
    }
    moved = set(moved_names(tuple(before), tuple(after), rather=redefined))
    for name, piece in after.items():
        old = before.get(name)
        if old is None:
            yield PrefixChange(part, ADDED, name, piece.position, None)
        elif name in redefined:
            reason = _rewritten(old, piece) if part == TOOLS else None
            yield PrefixChange(part, REDEFINED, name, piece.position, old.position, reason)
        elif name in moved:
            yield PrefixChange(part, MOVED, name, piece.position, old.position)
    for name, piece in before.items():
        if name not in after:
            yield PrefixChange(part, REMOVED, name, None, piece.position)


def _rewritten(before: Piece, after: Piece) -> str | None:
    """Which keys of a tool read otherwise, or that they only stand in another order."""
    try:
        old, new = (_fields(json.loads(piece.text)) for piece in (before, after))
    except RecursionError:
        return None
    if old is None or new is None:
        return None
    keys = [key for key in dict.fromkeys((*new, *old)) if old.get(key) != new.get(key)]
    return ", ".join(keys) or KEY_ORDER


def _fields(tool: Any) -> dict[str, str] | None:
    """The text of each field of a tool, whatever the order of keys inside it."""
    inner = tool.get("function") if isinstance(tool, dict) else None
    fields = inner if isinstance(inner, dict) else tool
    if not isinstance(fields, dict):
        return None
    return {key: json.dumps(value, sort_keys=True) for key, value in fields.items()}


def _keyed(pieces: Sequence[Piece]) -> dict[str, Piece]:
    """By name; a second one of a name is told apart by counting."""
    seen: Counter[str] = Counter()
    keyed = {}
    for piece in pieces:
        seen[piece.name] += 1
        again = seen[piece.name]
        keyed[piece.name if again == 1 else f"{piece.name}#{again}"] = piece
    return keyed
