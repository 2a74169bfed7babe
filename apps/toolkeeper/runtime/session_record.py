"""Which session of the store is meant, and is it the one that its caller takes it for?"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_contract import Clock, ConfigError, Ids, Ledger, SessionRecord


def new_record(
    ids: Ids,
    clock: Clock,
    agent: str,
    user: str,
    provider: str,
    attributes: Mapping[str, Any] | None,
) -> SessionRecord:
    """The record of a session that is opened now. ConfigError for a user without a name."""
    if not user:
        raise ConfigError("the user's name is empty", "name one, or leave it out", key="user")
    return SessionRecord(
        session_id=ids.new("ses"),
        agent=agent,
        user=user,
        provider=provider,
        opened_at=clock.now(),
        attributes=dict(attributes or {}),
    )


async def known_record(ledger: Ledger, session_id: str) -> SessionRecord:
    """The record of that id; ConfigError when the store has none."""
    record = await ledger.session(session_id)
    if record is None:
        raise ConfigError(
            f"unknown session `{session_id}`", "`toolkeeper audit plans` lists sessions"
        )
    return record


def same_record(
    record: SessionRecord, attributes: Mapping[str, Any] | None, **wanted: str | None
) -> SessionRecord:
    """`record`, where all that is wanted of it is absent or equal; ConfigError otherwise."""
    for key, value in wanted.items():
        own = getattr(record, key)
        if value is not None and value != own:
            raise ConfigError(
                f"the session's {key} is `{own}`, not `{value}`"
                if own is not None
                else f"the session has no {key}, so it is not `{value}`",
                f"leave the {key} out, or start a new session",
                key=key,
            )
    if attributes is not None and dict(attributes) != dict(record.attributes):
        raise ConfigError(
            "the session has other attributes",
            "leave the attributes out, or start a new session",
            key="attributes",
        )
    return record
