"""What is there to read of a result, once secrets are out of it?

Texts as they are, everything else as a line that names its type, its size and the handle under
which its bytes are kept.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Blob, Text, ToolResult, canonical_text
from toolkeeper_pipeline.bounds import MARGIN
from toolkeeper_pipeline.media import as_text, described, media_type
from toolkeeper_pipeline.reading import Kept, cut, heard, readable
from toolkeeper_pipeline.run import Redactor, Rim, Run
from toolkeeper_pipeline.secrecy import result_redactor
from toolkeeper_pipeline.states import Executed

WITHHELD = "[the text is withheld: it is too long to be searched for the secrets in it]"


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


def rendition(
    executed: Executed, result: ToolResult, run: Run, rim: Rim, source: str | None
) -> Rendition:
    """What `result` comes to; `source` says whose words it is, None for ours."""
    places = rim.schemas.secret_results(executed.tool)
    secret = places.pointers(result.structured) if places else ()
    pointers = (*secret, *rim.redactor.result_pointers(executed.tool.name))
    redactor = redactor_of(executed, rim, result.structured, secret)
    limit = run.limits.result_kept_bytes
    too_long = pointers and any(
        len(part.text) >= limit for part in result.parts if isinstance(part, Text)
    )
    if too_long:
        # What cannot be read as json any more cannot be searched by pointers.
        parts: list[str] = [WITHHELD]
        kept: list[tuple[str, Kept]] = []
    else:
        parts, kept = _parts(result, redactor, pointers, rim, limit, source)
    notes = list(executed.notes)
    written = _written(result.structured)
    structured = None
    if written is not None:
        structured = _structured(result, written, redactor, pointers, parts)
        if not result.parts:
            parts = [readable(canonical_text(structured))]
    elif result.structured is not None:
        notes.append("[structured content that is no json is left out]")
    text = "\n".join(parts)
    if len(parts) > 1:
        # A pattern, or a key with its value, may reach from one part into the next.
        text, _ = redactor.redact_text(text)
    shown, size, total = cut(text, limit, encoded=False)
    if size < total:
        notes.append(f"[{total - size:,} more bytes are not kept]")
    words = heard(shown, (part for _, part in kept))
    return Rendition(shown, words, tuple(kept), structured, tuple(notes))


def redactor_of(
    executed: Executed, rim: Rim, structured: Any = None, secret: tuple[str, ...] = ()
) -> Redactor:
    """The redactor for what came back, which knows what was secret in the arguments."""
    if not executed.row.masked and not secret:
        return rim.redactor
    arguments = json.loads(executed.data) if executed.row.masked and executed.data else None
    return result_redactor(rim.redactor, arguments, executed.row.masked, structured, secret)


def error_text(executed: Executed, run: Run, rim: Rim) -> str:
    """The words of a call that gave no result, without secrets."""
    text = readable(executed.text[: run.limits.result_kept_bytes + MARGIN])
    return redactor_of(executed, rim).redact_text(text)[0]


def _written(structured: Any) -> str | None:
    """The canonical form; None also for what only looks like JSON, from a source of somebody's."""
    if structured is None:
        return None
    try:
        return canonical_text(structured)
    except (TypeError, ValueError, RecursionError):
        return None


def _structured(
    result: ToolResult,
    written: str,
    redactor: Redactor,
    pointers: tuple[str, ...],
    shown: list[str],
) -> Any:
    """The structured content without secrets; `shown` are the parts, which are so already."""
    whole = result.structured
    if len(result.parts) == 1 and result.parts[0] == Text(written):
        # Most functions give both in one, and nothing has to be searched twice.
        if shown[0] == written:
            return whole
        with suppress(ValueError):
            return json.loads(shown[0])
    # A copy: names are texts in it, and the tool keeps its own.
    return redactor.redact(json.loads(written), pointers)[0]


def _parts(
    result: ToolResult,
    redactor: Redactor,
    pointers: tuple[str, ...],
    rim: Rim,
    limit: int,
    source: str | None,
) -> tuple[list[str], list[tuple[str, Kept]]]:
    shown: list[str] = []
    kept: list[tuple[str, Kept]] = []
    room = limit
    for part in result.parts:
        if isinstance(part, Text):
            shown.append(redactor.redact_text(readable(part.text), pointers)[0])
        elif len(part.data) > room:
            shown.append(described(part, "too large to be kept"))
        else:
            room -= len(part.data)
            handle = rim.ids.new("res")
            shown.append(described(part, f"handle {handle}"))
            kept.append((handle, _kept(part, redactor, pointers, source)))
    return shown, kept


def _kept(part: Blob, redactor: Redactor, pointers: tuple[str, ...], source: str | None) -> Kept:
    data = part.data
    text = as_text(data)
    if text is not None:
        masked, count = redactor.redact_text(text, pointers)
        data = masked.encode("utf-8") if count else data
    return Kept(source, "", data, media_type(part.mime_type))
