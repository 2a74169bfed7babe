"""Does a standing approval answer what this decision asks?

A grant is looked at anew for every call, under the policy of that moment; it satisfies ASK and
nothing else.
"""

from datetime import datetime

from toolkeeper_contract import Grant, Scope
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Decided
from toolkeeper_policy import answerers, lets_through


async def granted(decided: Decided, run: Run, rim: Rim) -> Grant | None:
    """The oldest grant under which the call may run without being asked about; None: there is none.

    Looked up by the tool's full identity and fingerprint, the user, the agent and the session.
    """
    decision = decided.decision
    if decision.scope is Scope.ONCE or not decision.asked_by:
        # To be asked each time; or nobody knows what is asked, so nothing can have answered it.
        return None
    tool = decided.frozen.tool
    now = rim.clock.now()
    usable = await rim.ledger.usable_grants(
        tool=tool.name,
        fingerprint=tool.fingerprint,
        user=run.principal.user,
        agent=run.agent,
        session_id=run.session_id,
        now=now,
    )
    return next((grant for grant in usable if _answers(grant, decided, run, now)), None)


def approvers(decided: Decided, run: Run) -> tuple[str, ...]:
    """Who may answer: the policy's names, else the agent's, else the session's own user."""
    return answerers(
        decided.decision,
        run.principal.user,
        approvers=run.approvers,
        exclude_requester=run.exclude_requester,
    )


def _answers(grant: Grant, decided: Decided, run: Run, now: datetime) -> bool:
    decision = decided.decision
    return (
        grant.scope.rank <= decision.scope.rank
        # A question that was not there when it was given has not been answered.
        and set(decision.asked_by) <= set(grant.rules)
        and grant.granted_by in approvers(decided, run)
        and grant.granted_at + run.limits.grant_expiry > now
        and lets_through(grant.condition, decided.question)
    )
