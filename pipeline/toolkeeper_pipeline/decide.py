"""Stage 8: may this call happen?"""

from toolkeeper_contract import Code, Decision, Effect, Question
from toolkeeper_pipeline import message
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Classified, Decided, Stop
from toolkeeper_policy import source_name


def decide(classified: Classified, run: Run, rim: Rim) -> Decided:
    """Policy of this moment, hardline included. Stops with tool.denied.* and its decision.

    What the session has read counts as it was when this call's model step began; for a call that is
    taken up again, as it is now.
    """
    frozen = classified.frozen
    tool = frozen.tool
    question = Question(
        tool=tool.name,
        source=source_name(tool.identity),
        classification=classified.classification,
        agent=run.agent,
        principal=run.principal,
        arguments=frozen.arguments,
        attributes=run.attributes,
        trusted=rim.trusted(tool),
        tainted=run.facts.tainted,
        private=run.facts.private,
        provenance=run.facts.provenance,
        advertised_as=frozen.recorded.advertised_as.value,
        at=rim.clock.now(),
    )
    decision = _decision(question, rim)
    if decision.effect is Effect.DENY:
        code = decision.code or Code.DENIED_POLICY
        raise Stop(code, message.denied(decision), frozen=frozen, decision=decision)
    return Decided(frozen, classified.classification, decision, question)


def _decision(question: Question, rim: Rim) -> Decision:
    # INVARIANT: whatever a policy does, only a decision of its own can let a call pass.
    policy = rim.policy()
    try:
        decision = policy.decide(question)
    except Exception:
        decision = None
    if isinstance(decision, Decision) and isinstance(decision.effect, Effect):
        return decision
    return Decision(
        effect=Effect.DENY,
        rules=(),
        reasons=("the policy could not be evaluated",),
        revision=str(getattr(policy, "revision", "")),
        code=Code.DENIED_RULE_ERROR,
        errors=("policy",),
    )
