"""What is there to read of a result, once secrets are out of it?

Texts as they are, everything else as a line that names its type, its size and the handle under
which its bytes are kept.
"""

import json
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Blob, Text, ToolResult, canonical_text
from toolkeeper_pipeline.bounds import MARGIN
from toolkeeper_pipeline.media import as_text, described, media_type
from toolkeeper_pipeline.reading import Kept, cut, readable
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
    structured = _structured(result, redactor, pointers)
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
    if not result.parts and structured is not None:
        parts = [readable(canonical_text(structured))]
    text = "\n".join(parts)
    if len(parts) > 1:
        # A pattern, or a key with its value, may reach from one part into the next.
        text, _ = redactor.redact_text(text)
    shown, size, total = cut(text, limit, encoded=False)
    dropped = (f"[{total - size:,} more bytes are not kept]",) if size < total else ()
    heard = "\n".join([shown, *(as_text(each.data or b"") or "" for _, each in kept)])
    return Rendition(
        shown, heard if kept else shown, tuple(kept), structured, (*executed.notes, *dropped)
    )


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


def _structured(result: ToolResult, redactor: Redactor, pointers: tuple[str, ...]) -> Any:
    if result.structured is None:
        return None
    return redactor.redact(result.structured, pointers)[0]


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
