"""How many bytes of each request's prefix stayed as they were, and what broke it?

`measure` takes the request bodies of any loop; `measure_session` what the ledger keeps of a
session, with the causes that the plans tell.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolkeeper.runtime.cache_report import CacheLine, CacheReport, joined
from toolkeeper.runtime.earlier_turns import plan_of, rendering_of
from toolkeeper.runtime.lineage import elders_of
from toolkeeper.runtime.prefix_change import PrefixChange, compare
from toolkeeper.runtime.recorded_causes import RecordedCauses
from toolkeeper.runtime.request_prefix import MESSAGES, SYSTEM, TOOLS, RequestPrefix
from toolkeeper_contract import ConfigError, Ledger, RunRecord

_FORM = "a request body has `tools`, a system text and messages in its provider's form"


def measure(requests: Sequence[Mapping[str, Any]]) -> CacheReport:
    """The requests of one conversation in their order, each beside the one before it.

    ConfigError, with the request's number, for a body that no provider takes.
    """
    lines: list[CacheLine] = []
    before: RequestPrefix | None = None
    for number, body in enumerate(requests, start=1):
        after = _prefix(body, number)
        lines.append(_line(number, before, after))
        before = after
    return CacheReport(tuple(lines))


async def measure_session(ledger: Ledger, session_id: str) -> CacheReport:
    """The requests of a recorded session, as far as its calls tell how many there were.

    The tools array and the prompt region stand in the ledger, the messages do not. The first
    request of a fork stands beside the last one before it. Each change has
    the reason that was recorded with it, else what the two plans say. RunError when the ledger has
    lost a plan or a rendering.
    """
    causes = await RecordedCauses.read(ledger, session_id)
    steps = await _steps(ledger, session_id)
    lines: list[CacheLine] = []
    earlier = await _forked_from(ledger, session_id)
    before = None if earlier is None else await _shown(ledger, earlier)
    for run in await ledger.runs(session_id):
        after = await _shown(ledger, run)
        line = _line(1, before, after)
        if earlier is not None and line.causes:
            old, new = await plan_of(ledger, earlier), await plan_of(ledger, run)
            line = _explained(line, causes.between(old, new, earlier.run_id, run.run_id))
        line = replace(line, session_id=session_id, turn=run.turn, run_id=run.run_id)
        lines.append(line)
        # The ledger keeps one rendering of a turn: all of its requests show these bytes.
        again = replace(
            line, kept_bytes=line.prefix_bytes, rewrite=False, broke=None, causes=(), first=False
        )
        lines += [
            replace(again, request=number) for number in range(2, steps.get(run.run_id, 1) + 1)
        ]
        before, earlier = after, run
    return CacheReport(tuple(lines))


async def measured_sessions(ledger: Ledger) -> CacheReport:
    """All sessions of the ledger, in the order in which they began."""
    ids = dict.fromkeys(turn.session_id for turn in await ledger.planned_turns())
    return joined([await measure_session(ledger, session_id) for session_id in ids])


async def _shown(ledger: Ledger, run: RunRecord) -> RequestPrefix:
    rendering = await rendering_of(ledger, run)
    return RequestPrefix.of({TOOLS: rendering.tools, SYSTEM: rendering.system})


async def _forked_from(ledger: Ledger, session_id: str) -> RunRecord | None:
    """The last turn before a fork: with the same provider its prefix is still in the cache."""
    record = await ledger.session(session_id)
    if record is None:
        return None
    for elder in reversed(await elders_of(ledger, record)):
        if elder.record.provider != record.provider:
            return None
        if elder.runs:
            return elder.runs[-1]
    return None


async def _steps(ledger: Ledger, session_id: str) -> dict[str, int]:
    """How many model steps of each turn made calls: so many requests are recorded."""
    steps: dict[str, int] = {}
    for row in await ledger.invocations(session_id=session_id):
        steps[row.run_id] = max(steps.get(row.run_id, 1), row.step)
    return steps


def _explained(line: CacheLine, explain: Callable[[PrefixChange], PrefixChange]) -> CacheLine:
    causes = tuple(map(explain, line.causes))
    return replace(line, causes=causes, broke=line.broke and explain(line.broke))


def _prefix(body: Any, number: int) -> RequestPrefix:
    if not isinstance(body, Mapping):
        raise ConfigError(f"request {number} is not an object", _FORM)
    try:
        return RequestPrefix.of(body)
    except RecursionError:
        raise ConfigError(f"request {number} is nested too deeply", _FORM) from None
    except ValueError as error:
        key = str(error)
        raise ConfigError(
            f"request {number} has `{key}` in a form that no provider takes", _FORM, key=key
        ) from None


def _line(number: int, before: RequestPrefix | None, after: RequestPrefix) -> CacheLine:
    tools, system = after.size(TOOLS), after.size(SYSTEM)
    messages = after.size(MESSAGES)
    line = CacheLine(number, tools, system, 0, False, messages, first=before is None)
    if before is None:
        return line
    compared = compare(before, after)
    prefix = tools + system
    same = compared.kept >= prefix and before.size(TOOLS, SYSTEM) == prefix
    return replace(
        line,
        kept_bytes=min(compared.kept, prefix),
        rewrite=not same,
        kept_message_bytes=compared.kept - prefix if same else 0,
        broke=compared.broke or (compared.changes[0] if compared.changes else None),
        causes=compared.changes,
    )
