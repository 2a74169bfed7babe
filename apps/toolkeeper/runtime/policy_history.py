"""Which calls has the ledger seen decided, and what was known when each of them was?"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from toolkeeper.runtime.configuration.duration import LONGEST, seconds
from toolkeeper.runtime.policy_replay import RecordedCall
from toolkeeper.runtime.session_facts import told_facts
from toolkeeper_contract import CONTROL_TOOLS, ConfigError, Invocation, Ledger


async def recorded_calls(
    ledger: Ledger, *, since: datetime | None = None, origins: bool = True
) -> AsyncIterator[RecordedCall]:
    """The calls that policy decided, session by session, each in its order.

    With `origins`, a call comes with what its session had heard by then. That grows as the
    iteration goes on, so it is to be used at once.
    """
    sessions: dict[str, dict[str, Invocation]] = {}
    for row in await ledger.invocations():
        if row.decision is None or row.side_effect is None or row.tool in CONTROL_TOOLS:
            continue
        if since is None or row.opened_at >= since:
            sessions.setdefault(row.session_id, {})[row.invocation_id] = row
    for session_id, rows in sessions.items():
        session = await ledger.session(session_id)
        if session is None:
            continue
        if origins:
            async for told, facts in told_facts(ledger, session):
                if told.event.name == "call.decided":
                    found = rows.pop(told.event.invocation_id or "", None)
                    if found is not None:
                        yield RecordedCall(found, session, facts.provenance)
        for row in rows.values():
            yield RecordedCall(row, session)


def moment_of(text: str, now: datetime, *, option: str = "--since") -> datetime:
    """The moment that `text` names: ISO 8601 (UTC where no zone is said), or how long ago.

    ConfigError, which names the `option`, for anything else.
    """
    ago = seconds(text)
    if ago is not None:
        return now - timedelta(seconds=min(ago, LONGEST))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"`{text}` is no moment and no duration",
            "write `2026-12-01`, `2026-12-01T09:00:00Z`, or how long ago: `12h`, `7d`",
            key=option,
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
