"""What is there to read of a result, once secrets are out of it?

Texts as they are, everything else as a line that names its type, its size and the handle under
which its bytes are kept.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Blob, Text, ToolResult, canonical_text, canonical_value
from toolkeeper_contract.draft import drafted
from toolkeeper_pipeline.aside import LONG, aside
from toolkeeper_pipeline.bounds import MARGIN
from toolkeeper_pipeline.media import as_text, described, media_type
from toolkeeper_pipeline.reading import Kept, cut, heard, readable
from toolkeeper_pipeline.run import Redactor, Rim, Run
from toolkeeper_pipeline.secrecy import result_redactor
from toolkeeper_pipeline.states import Executed

WITHHELD = "[the text is withheld: it is too long to be searched for the secrets in it]"


@drafted
@dataclass(frozen=True, slots=True)
class Rendition:
    """A result without secrets.

    `text` is all that can be read, at most `result_kept_bytes` of it; `heard` adds the texts among
    the kept parts. `kept` are the parts that are no text, by handle. `structured` is what the
    program gets. `notes` tell what was left out.
    """

    text: str
    heard: str
    kept: tuple[tuple[str, Kept], ...] = ()
    structured: Any = None
    notes: tuple[str, ...] = ()


async def rendition(
    executed: Executed, result: ToolResult, run: Run, rim: Rim, source: str | None
) -> Rendition:
    """What `result` comes to; `source` says whose words it is, None for ours."""
    places = rim.schemas.secret_results(executed.tool)
    secret = places.pointers(result.structured) if places else ()
    pointers = (*secret, *rim.redactor.result_pointers(executed.tool.name))
    redactor = rim.redactor
    if secret or executed.row.masked:
        redactor = redactor_of(executed, rim, result.structured, secret)
    limit = run.limits.result_kept_bytes
    size = 0
    blobs: list[Blob] = []
    for part in result.parts:
        if isinstance(part, Text):
            size += len(part.text)
        else:
            size += len(part.data)
            blobs.append(part)
    # The tool may go on changing what it gave, so this is its value from here on.
    written = None if result.structured is None else _written(result.structured)
    told = _Told(
        result=result,
        written=written,
        redactor=redactor,
        pointers=pointers,
        handles=_handles(blobs, limit, rim) if blobs else (),
        limit=limit,
        source=source,
        notes=executed.notes,
    )
    if written is not None:
        size += len(written)
    return told.rendition() if size < LONG else await aside(size, told.rendition)


@drafted
@dataclass(frozen=True, slots=True)
class _Told:
    """A result with all that is needed to search it.

    `written` is its structured content. `handles` has one entry for each part that is no text,
    None where it is too large to be kept.
    """

    result: ToolResult
    written: str | None
    redactor: Redactor
    pointers: tuple[str, ...]
    handles: tuple[str | None, ...]
    limit: int
    source: str | None
    notes: tuple[str, ...]

    def rendition(self) -> Rendition:
        result = self.result
        too_long = self.pointers and any(
            len(part.text) >= self.limit for part in result.parts if isinstance(part, Text)
        )
        if too_long:
            # What cannot be read as json any more cannot be searched by pointers.
            parts: list[str] = [WITHHELD]
            kept: list[tuple[str, Kept]] = []
        else:
            parts, kept = self._parts()
        notes = list(self.notes)
        structured = None
        if self.written is not None:
            structured = self._structured(self.written, parts)
            if not result.parts:
                parts = [readable(canonical_text(structured))]
        elif result.structured is not None:
            notes.append("[structured content that is no json is left out]")
        text = parts[0] if len(parts) == 1 else "\n".join(parts)
        if len(parts) > 1:
            # A pattern, or a key with its value, may reach from one part into the next.
            text, _ = self.redactor.redact_text(text)
        shown, size, total = cut(text, self.limit, encoded=False)
        if size < total:
            notes.append(f"[{total - size:,} more bytes are not kept]")
        words = heard(shown, [part for _, part in kept]) if kept else shown
        return Rendition(shown, words, tuple(kept), structured, tuple(notes))

    def _structured(self, written: str, shown: list[str]) -> Any:
        """The structured content without secrets; `shown` are the parts, which are so already."""
        result = self.result
        if len(result.parts) == 1 and result.parts[0] == Text(written):
            # Most functions give both in one, and nothing has to be searched twice.
            if shown[0] == written:
                return result.structured
            with suppress(ValueError):
                return json.loads(shown[0])
        # A copy: names are texts in it, and the tool keeps its own.
        data = written.encode("utf-8")
        return self.redactor.redact(canonical_value(data), self.pointers, data)[0]

    def _parts(self) -> tuple[list[str], list[tuple[str, Kept]]]:
        shown: list[str] = []
        kept: list[tuple[str, Kept]] = []
        handles = iter(self.handles)  # one for each part that is no text
        for part in self.result.parts:
            if isinstance(part, Text):
                shown.append(self.redactor.redact_text(readable(part.text), self.pointers)[0])
            elif (handle := next(handles)) is None:
                shown.append(described(part, "too large to be kept"))
            else:
                shown.append(described(part, f"handle {handle}"))
                kept.append((handle, self._kept(part)))
        return shown, kept

    def _kept(self, part: Blob) -> Kept:
        data = part.data
        text = as_text(data)
        if text is not None:
            masked, count = self.redactor.redact_text(text, self.pointers)
            data = masked.encode("utf-8") if count else data
        return Kept(self.source, "", data, media_type(part.mime_type))


def _handles(blobs: Sequence[Blob], room: int, rim: Rim) -> tuple[str | None, ...]:
    """For each part that is no text, where it is kept, while there is room (in bytes)."""
    handles: list[str | None] = []
    for part in blobs:
        fits = len(part.data) <= room
        room -= len(part.data) if fits else 0
        handles.append(rim.ids.new("res") if fits else None)
    return tuple(handles)


def redactor_of(
    executed: Executed, rim: Rim, structured: Any = None, secret: tuple[str, ...] = ()
) -> Redactor:
    """The redactor for what came back, which knows what was secret in the arguments."""
    if not executed.row.masked and not secret:
        return rim.redactor
    arguments = json.loads(executed.data) if executed.row.masked and executed.data else None
    return result_redactor(rim.redactor, arguments, executed.row.masked, structured, secret)


async def error_text(executed: Executed, run: Run, rim: Rim) -> str:
    """The words of a call that gave no result, without secrets."""
    text = executed.text[: run.limits.result_kept_bytes + MARGIN]
    redactor = redactor_of(executed, rim)
    return await aside(len(text), lambda: redactor.redact_text(readable(text))[0])


def _written(structured: Any) -> str | None:
    """The canonical form; None also for what only looks like JSON, from a source of somebody's."""
    try:
        return canonical_text(structured)
    except (TypeError, ValueError, RecursionError):
        return None
