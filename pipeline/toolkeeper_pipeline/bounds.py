"""How much of a result is taken in, before anything of it is copied?

What goes beyond a limit is left out with a count, in words of ours; a result is never a reason to
fail because of its size alone. Nothing is walked by recursion and no walk goes beyond its limit.
"""

from dataclasses import dataclass, replace
from typing import Any

from toolkeeper_contract import Blob, Text, ToolResult
from toolkeeper_contract.draft import drafted
from toolkeeper_pipeline.limits import Limits

MARGIN = 65_536
"""Characters beyond what is kept in which a secret may end that began before."""

_SHORT_NAME = 64


class ResultTooLarge(Exception):
    """Raised by a source: the tool ran, and what it gave is too large or too deep to be read."""


@drafted
@dataclass(frozen=True, slots=True)
class Bounded:
    """A result within its limits. `notes` tell what was left out, one line each.

    `whole` is false when structured content was left out, so that no schema can judge it.
    """

    result: ToolResult
    notes: tuple[str, ...] = ()
    whole: bool = True


def bounded(result: ToolResult, limits: Limits) -> Bounded:
    """The part of `result` that is within `limits`: blocks, bytes, depth and nodes.

    Texts may still have MARGIN characters too many, to be cut once secrets are out of them.
    """
    notes = []
    parts: tuple[Text | Blob, ...] = result.parts
    room = limits.result_kept_bytes + MARGIN
    size = 0
    for part in parts:
        if isinstance(part, Text):
            size += len(part.text)
    if size > room:
        parts, dropped = _shortened(parts, room)
        notes.append(f"[{dropped:,} more characters are not kept]")
    if len(parts) > limits.result_blocks:
        parts, left_out = _taken_together(parts, limits.result_blocks)
        if left_out:
            notes.append(f"[{left_out:,} of {len(result.parts):,} parts are left out]")
    excess = None
    if isinstance(result.structured, dict | list | str):
        excess = oversize(
            result.structured,
            depth=limits.result_depth,
            nodes=limits.result_nodes,
            size=limits.result_kept_bytes,
        )
        if excess is not None:
            notes.append(f"[structured content {excess} is left out]")
    if parts is result.parts and excess is None:
        return Bounded(result)
    structured = None if excess else result.structured
    return Bounded(replace(result, parts=parts, structured=structured), tuple(notes), not excess)


def oversize(value: Any, *, depth: int, nodes: int, size: int) -> str | None:
    """In which way a JSON-like value is too big; None when it is not.

    `size` bounds the characters of all texts and names together. Anything but mappings, lists,
    tuples and texts counts as one node.
    """
    seen, characters = 1, len(value) if isinstance(value, str) else 0
    level = [value] if isinstance(value, dict | list | tuple) else []
    levels = 0
    while level:
        levels += 1
        if levels > depth:
            return f"of more than {depth:,} levels"
        below: list[Any] = []
        for container in level:
            # Before anything in it is touched.
            seen += len(container)
            if seen > nodes:
                return f"of more than {nodes:,} values"
            if isinstance(container, dict):
                for key in container:
                    # Names are texts like others; short ones count with what they name.
                    if isinstance(key, str) and len(key) > _SHORT_NAME:
                        seen += 1
                        characters += len(key)
            for item in container.values() if isinstance(container, dict) else container:
                if isinstance(item, str):
                    characters += len(item)
                elif isinstance(item, dict | list | tuple):
                    below.append(item)
            if seen > nodes:
                return f"of more than {nodes:,} values"
            if characters > size:
                return f"of more than {size:,} characters"
        level = below
    return f"of more than {size:,} characters" if characters > size else None


def _taken_together(
    parts: tuple[Text | Blob, ...], limit: int
) -> tuple[tuple[Text | Blob, ...], int]:
    """The parts with all texts after the first `limit` as one, and how many others went."""
    rest = parts[limit:]
    texts = [part.text for part in rest if isinstance(part, Text)]
    together = (Text("\n".join(texts)),) if texts else ()
    return (*parts[:limit], *together), len(rest) - len(texts)


def _shortened(parts: tuple[Text | Blob, ...], room: int) -> tuple[tuple[Text | Blob, ...], int]:
    """The parts with at most `room` characters of text, and how many characters went."""
    kept: list[Text | Blob] = []
    dropped = 0
    for part in parts:
        if isinstance(part, Text):
            dropped += max(0, len(part.text) - room)
            if room <= 0:
                continue
            part = Text(part.text[:room])
            room -= len(part.text)
        kept.append(part)
    return tuple(kept), dropped
