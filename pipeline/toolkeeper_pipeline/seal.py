"""Stage 12: what does the model read, and what stays behind?

One cap at the executor's exit for every source: secrets out first, then the cut, then the envelope.
The full text is kept aside under a handle that only this principal, agent and session can use.
"""

from dataclasses import replace

from toolkeeper_contract import (
    TOOL_RESULT,
    Code,
    Completed,
    Ending,
    Failed,
    Flag,
    Invocation,
    Outcome,
    SourceKind,
    State,
)
from toolkeeper_index import clean, enveloped
from toolkeeper_pipeline import message
from toolkeeper_pipeline.control import is_search
from toolkeeper_pipeline.facts import Lesson
from toolkeeper_pipeline.reading import Kept, cut, read
from toolkeeper_pipeline.rendition import Rendition, error_text, rendition
from toolkeeper_pipeline.row import loading_events, settled_event
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Executed
from toolkeeper_policy import source_name


async def seal(executed: Executed, run: Run, rim: Rim) -> Outcome:
    """Settles the row with what the model reads. One commit, after dispatch.

    What the session has read by it is marked in the same commit, and told to `run.facts`.
    """
    row = replace(executed.row, state=State.SETTLED, settled_at=rim.clock.now())
    result = executed.result
    lesson: Lesson | None = None
    structured = None
    if result is None:
        # The tool's author may have written this, so it is held to what holds for results.
        whole = error_text(executed, run, rim)
        text, size, total = cut(whole, run.limits.result_bytes, encoded=False)
        row = _read_as(row, text, outcome=Ending.FAILED, code=executed.code, error=True)
        row = replace(row, truncated=size < total)
        if executed.text not in message.AFTER_DISPATCH:
            lesson = _lesson(executed, whole, run)
    elif executed.tool.identity.kind is SourceKind.CONTROL:
        # Our own words, enveloped and bounded where they were made. What they quote of others was
        # heard before or is no result, so nothing comes from here.
        invalid = result.is_error and is_search(executed.tool)
        code = Code.SEARCH_INVALID if invalid else None
        row = _read_as(
            row, read(result), outcome=Ending.COMPLETED, code=code, error=result.is_error
        )
    else:
        trusts = run.facts.trusts(executed.classification, source_name(executed.tool.identity))
        whose = None if trusts else source_name(executed.tool.identity)
        told = rendition(executed, result, run, rim, whose)
        structured = told.structured
        lesson = _lesson(executed, told.heard, run)
        row = await _completed(
            row, executed, told, run, rim, trusted=lesson.trusted, error=result.is_error
        )
    trusted = lesson.trusted if lesson else None
    ended = settled_event(row, trusted=trusted, wrote_tainted=_wrote_tainted(executed, run))
    settled = await rim.ledger.settle(
        row,
        (ended, *loading_events(row, run, result)),
        tainted=trusted is False,
        private=lesson is not None and lesson.private,
    )
    if not settled:
        # Somebody reaped this call while it ran; the ledger's word stands, not ours.
        row = await rim.ledger.invocation(row.invocation_id) or row
        structured = None
    elif lesson is not None:
        run.facts.learn(lesson)
    return Completed(row, structured) if row.outcome is Ending.COMPLETED else Failed(row)


def _lesson(executed: Executed, text: str, run: Run) -> Lesson:
    classification = executed.classification
    return Lesson(
        text,
        trusted=run.facts.trusts(classification, source_name(executed.tool.identity)),
        private=Flag.PRIVATE in classification.flags,
        given=executed.row.arguments,
    )


def _wrote_tainted(executed: Executed, run: Run) -> str | None:
    if executed.classification.side_effect.reads:
        return None
    source = source_name(executed.tool.identity)
    return source if run.facts.wrote(source) else None


def _read_as(
    row: Invocation, text: str, *, outcome: Ending, code: Code | None, error: bool
) -> Invocation:
    size = len(text.encode("utf-8"))
    return replace(row, outcome=outcome, code=code, result=text, is_error=error, bytes=size)


async def _completed(
    row: Invocation,
    executed: Executed,
    told: Rendition,
    run: Run,
    rim: Rim,
    *,
    trusted: bool,
    error: bool,
) -> Invocation:
    foreign = not trusted
    source = source_name(executed.tool.identity)
    for place, part in told.kept:
        await rim.ledger.keep_result(place, row, part.packed())
    whole = clean(told.text) if foreign else told.text
    shown, size, total = cut(whole, run.limits.result_bytes, encoded=foreign)
    handle: str | None = None
    if size < total and TOOL_RESULT in run.plan.controls:
        handle = rim.ids.new("res")
        kept = Kept(source if foreign else None, whole)
        await rim.ledger.keep_result(handle, row, kept.packed())
    notes = told.notes
    if size < total:
        notes = (_note(size, total, handle, len(shown)), *notes)
    if foreign:
        shown = enveloped(shown, token=run.token, source=source)
    return replace(
        row,
        outcome=Ending.COMPLETED,
        result="\n".join([shown, *notes]),
        is_error=error,
        truncated=bool(notes),
        handle=handle or next((place for place, _ in told.kept), None),
        bytes=size,
    )


def _note(size: int, total: int, handle: str | None, offset: int) -> str:
    rest = (
        f'read on with tool.result {{"handle": "{handle}", "offset": {offset}}}'
        if handle
        else "ask for less to see the rest"
    )
    return f"[cut after {size:,} of {total:,} bytes; {rest}]"
