"""Where do operators answer what parked calls ask?

A desk opens the ledger and the policy, and no tool's source: answering only decides.
"""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from toolkeeper.runtime.answering import answer, entitled, find_approval, not_pending
from toolkeeper.runtime.approver_secret import check_secret
from toolkeeper.runtime.assembly import load_policies, open_store, redactor_of
from toolkeeper.runtime.clock import RandomIds, SystemClock
from toolkeeper.runtime.configuration import Configuration, load_configuration
from toolkeeper.runtime.editing import amended
from toolkeeper.runtime.granting import Granted, Wanted, new_grant, revoked_event
from toolkeeper.runtime.notifying import Notifications
from toolkeeper.runtime.operands import folder_of
from toolkeeper.runtime.parked_call import ParkedCall, frozen_arguments, parked_call
from toolkeeper.runtime.redaction import Redactor
from toolkeeper.runtime.revoking import check_may_revoke, find_grant, not_active
from toolkeeper_contract import (
    Approval,
    ApprovalState,
    Clock,
    ConfigError,
    Grant,
    Ids,
    Ledger,
    Scope,
    Sealer,
    ToolIdentity,
)
from toolkeeper_policy import Policy
from toolkeeper_sources import operand_digests


def _nobody(name: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Desk:
    """Answers approvals on one ledger.

    `secret` is asked for the secret of an approver who has one configured; None: not given.
    """

    configuration: Configuration
    policy: Policy
    ledger: Ledger
    sealer: Sealer
    redactor: Redactor
    clock: Clock
    ids: Ids
    secret: Callable[[str], str | None] = _nobody

    async def answer(
        self,
        approval_id: str,
        state: ApprovalState,
        *,
        by: str | None = None,
        reason: str | None = None,
    ) -> Approval:
        """Approves or denies, once. NotAnswerable or NotProven when that cannot be."""
        self._prove(await find_approval(self.ledger, approval_id), by)
        return await answer(self.ledger, self.clock, approval_id, state, by=by, reason=reason)

    async def grant(
        self,
        approval_id: str,
        scope: Scope,
        *,
        by: str | None = None,
        reason: str | None = None,
        lasting: timedelta | None = None,
        condition: str | None = None,
        despite_taint: bool = False,
    ) -> Granted:
        """Approves this call, and with it, in one commit, the like of it that follow.

        `scope` is SESSION or ALWAYS. `condition` is CEL over the call (None: any arguments), and
        has to hold for this call. Raises as `answer` does, and ConfigError for a condition or a
        time that cannot be.
        """
        if scope is Scope.ONCE:
            raise ConfigError("a grant is for a session or always", "use `answer` for one call")
        asked = await find_approval(self.ledger, approval_id)
        name = self._prove(asked, by)
        call = await self._waiting(asked)
        wanted = Wanted(scope, lasting, condition, despite_taint)
        grant = new_grant(
            call,
            wanted,
            await frozen_arguments(call, self.ledger, self.sealer) if condition else None,
            grant_id=self.ids.new("gra"),
            by=name,
            at=self.clock.now(),
            reason=reason,
        )
        approval = await answer(
            self.ledger,
            self.clock,
            approval_id,
            ApprovalState.APPROVED,
            by=by,
            reason=reason,
            grant=grant,
        )
        return Granted(approval, grant)

    async def grants(self, *, all: bool = False) -> Sequence[Grant]:
        """The grants that hold now, the oldest first; `all`: those that are over as well."""
        return await self.ledger.grants(active_at=None if all else self.clock.now())

    async def revoke(self, grant_id: str, *, by: str | None = None) -> Grant:
        """Ends a grant; what runs already runs on. NotAnswerable where there is none to end.

        `by` is one of those who could answer when it was given, or one of the agent's approvers
        now; left out, whoever gave it.
        """
        grant = await find_grant(self.ledger, grant_id)
        name = by or grant.granted_by
        given_with = await find_approval(self.ledger, grant.approval_id)
        agent = self.configuration.agents.get(grant.agent)
        check_may_revoke(name, given_with, (agent.approvers if agent else None) or ())
        self._check(name)
        now = self.clock.now()
        if grant.state(now) == "active":
            event = revoked_event(grant, name)
            ended = await self.ledger.revoke(grant_id, by=name, at=now, events=(event,))
            if ended is not None:
                return ended
        raise not_active(await find_grant(self.ledger, grant_id), now)

    async def edit(
        self,
        approval_id: str,
        arguments: Any,
        *,
        by: str | None = None,
        reason: str | None = None,
    ) -> Approval:
        """Approves the call with other arguments; `arguments` is the whole new object.

        They are a new frozen call: validated and decided anew, and both versions are kept.
        NotAnswerable when they are invalid or denied; the call then stays parked as it was.
        """
        asked = await find_approval(self.ledger, approval_id)
        name = self._prove(asked, by)
        call = await self._waiting(asked)
        edit = amended(
            call,
            arguments,
            policy=self.policy,
            classification=self.configuration.classification,
            redactor=self.redactor,
            approval_id=self.ids.new("apr"),
            by=name,
            at=self.clock.now(),
            reason=reason,
        )
        # What the new arguments name is what is approved, as it is now.
        folder = folder_of(self.configuration, ToolIdentity.of_name(call.row.tool))
        operands = await operand_digests(tuple(asked.operands), arguments, folder)
        approval = replace(edit.approval, operands=operands)
        sealed = self.sealer.seal(edit.data, call.row.invocation_id)
        if not await self.ledger.amend(approval_id, edit.row, approval, sealed, edit.events):
            raise not_pending(await find_approval(self.ledger, approval_id))
        return approval

    async def _waiting(self, asked: Approval) -> ParkedCall:
        call = await parked_call(asked, self.ledger, self.configuration)
        if asked.state is not ApprovalState.PENDING or call is None:
            raise not_pending(asked)
        return call

    def _prove(self, approval: Approval, by: str | None) -> str:
        name = entitled(approval, by)
        self._check(name)
        return name

    def _check(self, name: str) -> None:
        secrets = self.configuration.approver_secrets
        check_secret(name, secrets, self.secret(name) if name in secrets else None)


@asynccontextmanager
async def open_desk(
    path: str | Path,
    *,
    environment: Mapping[str, str] | None = None,
    secret: Callable[[str], str | None] = _nobody,
) -> AsyncIterator[Desk]:
    """The desk of the configuration at `path`; what expired is reaped first."""
    values = os.environ if environment is None else environment
    configuration = load_configuration(Path(path), values)
    policy = load_policies(configuration)
    clock = SystemClock()
    notifications = Notifications(configuration, clock)
    # Where nothing was ever asked there is nothing to answer, and no store to make.
    ledger, sealer = open_store(configuration, clock=clock, create=False)
    try:
        notifications.open(ledger)
        await ledger.reap(clock.now())
        notifications.start()
        yield Desk(
            configuration=configuration,
            policy=policy,
            ledger=ledger,
            sealer=sealer,
            redactor=redactor_of(configuration),
            clock=clock,
            ids=RandomIds(),
            secret=secret,
        )
    finally:
        await notifications.close()
        await ledger.close()
