"""Stage 12: what does the model read, and what stays behind?

One cap at the executor's exit for every source: secrets out first, then the cut, then the envelope.
The full text is kept aside under a handle that only this principal, agent and session can use.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from toolkeeper_contract import (
    TOOL_RESULT,
    Code,
    Completed,
    Ending,
    Event,
    Failed,
    Flag,
    Invocation,
    KeptResult,
    Outcome,
    SourceKind,
    State,
)
from toolkeeper_contract.draft import drafted, replace
from toolkeeper_index import clean, enveloped
from toolkeeper_pipeline import message
from toolkeeper_pipeline.aside import aside
from toolkeeper_pipeline.control import is_search
from toolkeeper_pipeline.facts import Lesson
from toolkeeper_pipeline.reading import Kept, cut, read
from toolkeeper_pipeline.rendition import Rendition, error_text, rendition
from toolkeeper_pipeline.row import loading_events, settled_event
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Executed
from toolkeeper_policy import source_name


@drafted
@dataclass(frozen=True, slots=True)
class Sealed:
    """How a call that ran ends, to be written: as often as it takes, it is the same end.

    `kept` is what its text does not show, by handle. `lesson` is what the session has read by it.
    """

    row: Invocation
    events: tuple[Event, ...]
    kept: Mapping[str, KeptResult]
    lesson: Lesson | None
    structured: Any


@drafted
@dataclass(frozen=True, slots=True)
class _Shown:
    """What the model reads: `size` in UTF-8 bytes, without the envelope and notes."""

    text: str
    size: int
    truncated: bool = False
    handle: str | None = None
    code: Code | None = None
    kept: Mapping[str, KeptResult] = field(default_factory=dict)


async def seal(executed: Executed, run: Run, rim: Rim) -> Sealed:
    """Works out what the model reads, and what the row says."""
    settled_at = rim.clock.now()
    result = executed.result
    lesson: Lesson | None = None
    structured = None
    if result is None:
        # The tool's author may have written this, so it is held to what holds for results.
        whole = await error_text(executed, run, rim)
        text, size, total = cut(whole, run.limits.result_bytes, encoded=False)
        shown = _Shown(text, size, truncated=size < total, code=executed.code)
        if executed.text not in message.AFTER_DISPATCH:
            lesson = _lesson(executed, whole, _trusts(executed, run))
    elif executed.tool.identity.kind is SourceKind.CONTROL:
        # Our own words, enveloped and bounded where they were made. What they quote of others was
        # heard before or is no result, so nothing comes from here.
        invalid = result.is_error and is_search(executed.tool)
        text = read(result)
        code = Code.SEARCH_INVALID if invalid else None
        shown = _Shown(text, len(text.encode("utf-8")), code=code)
    else:
        trusted = _trusts(executed, run)
        whose = None if trusted else source_name(executed.tool.identity)
        told = await rendition(executed, result, run, rim, whose)
        structured = told.structured
        lesson = _lesson(executed, told.heard, trusted)
        shown = await _shown(told, run, rim, whose)
    row = replace(
        executed.row,
        state=State.SETTLED,
        outcome=Ending.FAILED if result is None else Ending.COMPLETED,
        code=shown.code,
        result=shown.text,
        is_error=result is None or result.is_error,
        truncated=shown.truncated,
        handle=shown.handle,
        bytes=shown.size,
        settled_at=settled_at,
    )
    heard = lesson.trusted if lesson else None
    ended = settled_event(row, trusted=heard, wrote_tainted=_wrote_tainted(executed, run))
    events = (ended, *loading_events(row, run, result))
    return Sealed(row, events, shown.kept, lesson, structured)


async def settle(sealed: Sealed, run: Run, rim: Rim) -> Outcome:
    """Writes the end, with all that is kept and with the session's marks, in one commit.

    What the session has read by it is told to `run.facts` then.
    """
    row, lesson, structured = sealed.row, sealed.lesson, sealed.structured
    settled = await rim.ledger.settle(
        row,
        sealed.events,
        tainted=lesson is not None and not lesson.trusted,
        private=lesson is not None and lesson.private,
        kept=sealed.kept,
    )
    if not settled:
        # Somebody reaped this call while it ran; the ledger's word stands, not ours.
        row = await rim.ledger.invocation(row.invocation_id) or row
        structured = None
    elif lesson is not None:
        run.facts.learn(lesson)
    return Completed(row, structured) if row.outcome is Ending.COMPLETED else Failed(row)


def _trusts(executed: Executed, run: Run) -> bool:
    return run.facts.trusts(executed.classification, source_name(executed.tool.identity))


def _lesson(executed: Executed, text: str, trusted: bool) -> Lesson:
    private = Flag.PRIVATE in executed.classification.flags
    return Lesson(text, trusted, private, executed.row.arguments)


def _wrote_tainted(executed: Executed, run: Run) -> str | None:
    if executed.classification.side_effect.reads:
        return None
    source = source_name(executed.tool.identity)
    return source if run.facts.wrote(source) else None


async def _shown(told: Rendition, run: Run, rim: Rim, whose: str | None) -> _Shown:
    kept = {place: part.packed() for place, part in told.kept}
    within = partial(_within, told.text, run.limits.result_bytes, whose)
    shown, size, total, whole = await aside(len(told.text), within)
    handle: str | None = None
    if whole is not None and TOOL_RESULT in run.plan.controls:
        handle = rim.ids.new("res")
        kept[handle] = whole
    notes = told.notes
    if size < total:
        notes = (_note(size, total, handle, len(shown)), *notes)
    if whose is not None:
        shown = enveloped(shown, token=run.token, source=whose)
    return _Shown(
        "\n".join([shown, *notes]) if notes else shown,
        size,
        truncated=bool(notes),
        handle=handle or next((place for place, _ in told.kept), None),
        kept=kept,
    )


def _within(text: str, limit: int, source: str | None) -> tuple[str, int, int, KeptResult | None]:
    """What `cut` gives, and the whole to be kept where it was cut; `source` as `Kept` has it."""
    foreign = source is not None
    whole = clean(text) if foreign else text
    shown, size, total = cut(whole, limit, encoded=foreign)
    return shown, size, total, Kept(source, whole).packed() if size < total else None


def _note(size: int, total: int, handle: str | None, offset: int) -> str:
    rest = (
        f'read on with tool.result {{"handle": "{handle}", "offset": {offset}}}'
        if handle
        else "ask for less to see the rest"
    )
    return f"[cut after {size:,} of {total:,} bytes; {rest}]"
