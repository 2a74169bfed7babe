"""How does a conversation that was compacted still say which searches have loaded tools?

By a system message that consists of a note and of nothing else. It names the tools for the model
and cites the recorded searches for us. Only its citations count, and only in the ledger: whoever
could write a note would still have to name searches that this session's own calls have recorded.
"""

import re
from collections.abc import Iterable, Sequence

from toolkeeper_contract import ConfigError, is_canonical_name

_HEAD = "[toolkeeper: tools loaded before this conversation was shortened]"
_FOOT = "[toolkeeper: end; they can still be called by these names]"
_LINE = re.compile(r"- ([A-Za-z0-9_.-]+(?:, [A-Za-z0-9_.-]+)*) \(search ([A-Za-z0-9_.:-]{1,128})\)")
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def compaction_note(loaded: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The text of the system message that keeps what was loaded; "" when nothing was.

    `loaded` are invocation ids of recorded searches, each with the names of the tools that it
    loaded, in load order. It must stand alone, as a whole system message or a whole text part of
    one. ConfigError for an id or a name that a note cannot hold.
    """
    lines: dict[str, str] = {}
    for invocation_id, names in loaded:
        if _ID.fullmatch(invocation_id) is None:
            raise ConfigError(
                f"`{invocation_id}` is not an invocation id", "cite the id of a recorded search"
            )
        for name in names:
            if not is_canonical_name(name):
                raise ConfigError(f"`{name}` is not a tool name", "give the tools' own names")
        if names:
            lines.setdefault(
                invocation_id, f"- {', '.join(dict.fromkeys(names))} (search {invocation_id})"
            )
    return "\n".join([_HEAD, *lines.values(), _FOOT]) if lines else ""


def cited(texts: Iterable[str]) -> tuple[str, ...]:
    """The invocation ids that the notes among these texts cite, each once.

    A text that holds more than a note, or only a piece of one, is no note.
    """
    found: dict[str, None] = {}
    for text in texts:
        if text.lstrip().startswith(_HEAD):
            found.update(dict.fromkeys(_cited(text.strip())))
    return tuple(found)


def _cited(text: str) -> list[str]:
    head, *lines = text.splitlines()
    if head != _HEAD or not lines or lines.pop() != _FOOT:
        return []
    matches = [_LINE.fullmatch(line) for line in lines]
    ids = [match.group(2) for match in matches if match is not None]
    return ids if len(ids) == len(lines) else []
