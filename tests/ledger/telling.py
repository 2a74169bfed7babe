"""A session whose events tell of its rows as the pipeline tells of them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import create_engine

from toolkeeper_contract import (
    Answer,
    Approval,
    ApprovalState,
    Binding,
    Code,
    Ending,
    Event,
    Grant,
    Invocation,
    KeptResult,
    Scope,
    State,
)
from toolkeeper_ledger import SqlLedger


class Teller:
    """Opens a session, and makes calls in it that end in every way."""

    def __init__(self, ledger: SqlLedger, make: Any, session: str = "ses_1") -> None:
        self.ledger = ledger
        self.make = make
        self.session = session
        self.run = f"run of {session}"
        self.now = make.START

    async def open(self, **changes: Any) -> None:
        record = self.make.a_session(self.session, **changes)
        told = {
            "agent": record.agent,
            "user": record.user,
            "provider": record.provider,
            "parent": record.parent,
        }
        await self.ledger.open_session(record, [Event("session.opened", told)])
        run = self.make.a_run(self.run, self.session)
        began = Event("run.began", {"turn": 1, "plan": run.plan_digest}, self.run)
        await self.ledger.begin_run(run, self.make.PLAN, [began])

    def row(self, name: str, **changes: Any) -> Invocation:
        row: Invocation = self.make.a_row(
            f"{name} of {self.session}",
            session_id=self.session,
            run_id=self.run,
            opened_at=self.now,
            arguments_digest=digest_of(name),
            **changes,
        )
        return row

    def decided(self, row: Invocation) -> Event:
        told = {"tool": row.tool, "arguments_digest": row.arguments_digest}
        return Event("call.decided", told, self.run, row.invocation_id)

    def claimed(self, row: Invocation) -> Event:
        told = {"tool": row.tool, "approval_id": row.approval_id}
        return Event("call.claimed", told, self.run, row.invocation_id)

    def settled(self, row: Invocation, trusted: bool | None = True) -> Event:
        told = {
            "tool": row.tool,
            "outcome": row.outcome.value if row.outcome else None,
            "code": row.code.value if row.code else None,
            "result_trusted": trusted,
        }
        return Event("call.settled", told, self.run, row.invocation_id)

    async def ran(self, name: str, *, trusted: bool = True, **changes: Any) -> Invocation:
        """A call that ran."""
        row = self.row(name, **changes)
        lease = await self.ledger.claim(
            row, self.now + timedelta(minutes=5), [self.decided(row), self.claimed(row)]
        )
        assert lease is not None
        ended: Invocation = self.make.ended(row, lease.fence, settled_at=self.now)
        assert await self.ledger.settle(ended, [self.settled(ended, trusted)], tainted=not trusted)
        return ended

    async def running(self, name: str) -> Invocation:
        """A call that runs, for five minutes."""
        row = self.row(name)
        events = [self.decided(row), self.claimed(row)]
        assert await self.ledger.claim(row, self.now + timedelta(minutes=5), events)
        return row

    async def refused(self, name: str) -> Invocation:
        """A call that never ran."""
        row = self.row(name, outcome=Ending.REFUSED, code=Code.DENIED_POLICY, settled_at=self.now)
        await self.ledger.settle(row, [self.settled(row, None)])
        return row

    async def asked(self, name: str) -> Approval:
        """A call that waits for an answer, for a day."""
        row = self.row(
            name, state=State.PARKED, outcome=Ending.SUSPENDED, approval_id=f"apr {name}"
        )
        approval: Approval = self.make.an_approval(
            f"apr {name} of {self.session}",
            row.invocation_id,
            run_id=self.run,
            binding=Binding(
                row.tool, "f" * 64, row.arguments_digest or "", "ana", "chat", self.session
            ),
            asked_at=self.now,
            expires_at=self.now + timedelta(hours=24),
        )
        row = replace(row, approval_id=approval.approval_id)
        told = {
            "approval_id": approval.approval_id,
            "tool": row.tool,
            "approvers": ["ana"],
            "expires_at": approval.expires_at.isoformat(),
        }
        event = Event("approval.asked", told, self.run, row.invocation_id)
        await self.ledger.park(row, approval, b"sealed", [self.decided(row), event])
        return approval

    async def answered(
        self, approval: Approval, state: ApprovalState, grant: Grant | None = None
    ) -> None:
        told = {"approval_id": approval.approval_id, "state": state.value, "by": "ana"}
        events = [
            Event("approval.answered", told, self.run, approval.invocation_id),
            *([self.given(grant, approval)] if grant else []),
        ]
        answer = Answer(state, "ana", self.now)
        assert await self.ledger.answer(approval.approval_id, answer, events, grant=grant)

    def grant(self, name: str, approval: Approval, **changes: Any) -> Grant:
        grant = Grant(
            grant_id=name,
            scope=Scope.ALWAYS,
            tool="notes.add",
            fingerprint="f" * 64,
            user="ana",
            agent="chat",
            session_id=None,
            condition=None,
            rules=("ask",),
            approval_id=approval.approval_id,
            granted_by="ana",
            granted_at=self.now,
            expires_at=self.now + timedelta(days=7),
        )
        return replace(grant, **changes)

    def given(self, grant: Grant, approval: Approval) -> Event:
        told = {
            "grant_id": grant.grant_id,
            "approval_id": grant.approval_id,
            "scope": grant.scope.value,
            "tool": grant.tool,
            "condition": grant.condition,
            "rules": list(grant.rules),
            "expires_at": grant.expires_at.isoformat(),
            "by": grant.granted_by,
        }
        return Event("grant.given", told, self.run, approval.invocation_id)

    async def spent(self, name: str) -> Invocation:
        """A call that was asked about, approved and ran."""
        approval = await self.asked(name)
        await self.answered(approval, ApprovalState.APPROVED)
        return await self.ran(name, approval_id=approval.approval_id)

    async def denied(self, name: str) -> None:
        approval = await self.asked(name)
        await self.answered(approval, ApprovalState.DENIED)
        row = self.row(
            name,
            approval_id=approval.approval_id,
            outcome=Ending.REFUSED,
            code=Code.APPROVAL_REJECTED,
            settled_at=self.now,
        )
        assert await self.ledger.settle(row, [self.settled(row, None)])

    async def kept(self, name: str, words: str) -> None:
        row = await self.ran(name, handle=f"res {name} of {self.session}")
        await self.ledger.keep_results(row, {str(row.handle): KeptResult(words)})

    async def everything(self) -> None:
        """A session with a call in every way that leaves nothing open."""
        await self.open()
        await self.ran("read")
        await self.ran("foreign", trusted=False)
        await self.refused("refused")
        await self.spent("spent")
        await self.denied("denied")
        await self.kept("kept", "the whole result")


def digest_of(name: str) -> str:
    return f"{name:x<64}"[:64]


def tamper(url: str, *statements: str) -> None:
    """Does what only somebody can do who has the database in their hands."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SET session_replication_role = replica")
        for statement in statements:
            assert connection.exec_driver_sql(statement).rowcount, statement
    engine.dispose()
