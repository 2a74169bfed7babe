"""How are standing approvals kept where nothing is stored?"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from toolkeeper_contract import Grant, Invocation, Scope
from toolkeeper_ledger.fault import conflict


class MemoryGrants:
    """The grants of a ledger in memory, in the order in which they were given."""

    def __init__(self) -> None:
        self._grants: dict[str, Grant] = {}

    async def usable_grants(
        self, *, tool: str, fingerprint: str, user: str, agent: str, session_id: str, now: datetime
    ) -> Sequence[Grant]:
        wanted = (tool, fingerprint, user, agent)
        return [
            each
            for each in await self.grants(active_at=now)
            if (each.tool, each.fingerprint, each.user, each.agent) == wanted
            and _reaches(each, session_id)
        ]

    async def grant(self, grant_id: str) -> Grant | None:
        return self._grants.get(grant_id)

    async def grants(self, *, active_at: datetime | None = None) -> Sequence[Grant]:
        known = sorted(self._grants.values(), key=lambda grant: grant.granted_at)
        return [each for each in known if active_at is None or each.state(active_at) == "active"]

    def _check_new(self, grant: Grant | None) -> None:
        if grant is not None and grant.grant_id in self._grants:
            raise conflict(f"grant `{grant.grant_id}` is already in the ledger")

    def _give(self, grant: Grant | None) -> None:
        if grant is not None:
            self._grants[grant.grant_id] = grant

    def _grant_holds(self, grant_id: str, row: Invocation, at: datetime) -> bool:
        """Whether the grant still lets this call pass."""
        grant = self._grants.get(grant_id)
        return (
            grant is not None
            and grant.state(at) == "active"
            and (grant.tool, grant.fingerprint) == (row.tool, row.fingerprint)
            and _reaches(grant, row.session_id)
        )

    def _revoke(self, grant_id: str, by: str, at: datetime) -> Grant | None:
        grant = self._grants.get(grant_id)
        if grant is None or grant.revoked_at is not None:
            return None
        revoked = replace(grant, revoked_at=at, revoked_by=by)
        self._grants[grant_id] = revoked
        return revoked


def _reaches(grant: Grant, session_id: str) -> bool:
    return grant.scope is Scope.ALWAYS or grant.session_id == session_id
