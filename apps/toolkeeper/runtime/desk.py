"""Where do operators answer what parked calls ask?

A desk opens the ledger and the policy, and no tool's source: answering only decides.
"""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkeeper.runtime.answering import answer, entitled, find_approval, not_pending
from toolkeeper.runtime.approver_secret import check_secret
from toolkeeper.runtime.assembly import load_policies, open_store, redactor_of
from toolkeeper.runtime.clock import RandomIds, SystemClock
from toolkeeper.runtime.configuration import Configuration, load_configuration
from toolkeeper.runtime.editing import amended
from toolkeeper.runtime.notifying import Notifications
from toolkeeper.runtime.profile import trusts_source
from toolkeeper.runtime.redaction import Redactor
from toolkeeper.runtime.session_facts import facts_of
from toolkeeper_contract import (
    Approval,
    ApprovalState,
    Clock,
    Ids,
    Ledger,
    Sealer,
    ToolIdentity,
)
from toolkeeper_pipeline import SessionFacts
from toolkeeper_policy import Policy


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
        if asked.state is not ApprovalState.PENDING:
            raise not_pending(asked)
        row = await self.ledger.invocation(asked.invocation_id)
        if row is None:
            raise not_pending(asked)
        session = await self.ledger.session(row.session_id)
        edit = amended(
            asked,
            row,
            arguments,
            agent=self.configuration.agents.get(asked.binding.agent),
            principal=self.configuration.principal(asked.binding.user),
            attributes=session.attributes if session else {},
            facts=await facts_of(self.ledger, session) if session else SessionFacts(tainted=True),
            trusted=trusts_source(self.configuration, ToolIdentity.of_name(row.tool)),
            policy=self.policy,
            classification=self.configuration.classification,
            redactor=self.redactor,
            approval_id=self.ids.new("apr"),
            by=name,
            at=self.clock.now(),
            reason=reason,
        )
        sealed = self.sealer.seal(edit.data, row.invocation_id)
        if not await self.ledger.amend(approval_id, edit.row, edit.approval, sealed, edit.events):
            raise not_pending(await find_approval(self.ledger, approval_id))
        return edit.approval

    def _prove(self, approval: Approval, by: str | None) -> str:
        name = entitled(approval, by)
        secrets = self.configuration.approver_secrets
        check_secret(name, secrets, self.secret(name) if name in secrets else None)
        return name


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
