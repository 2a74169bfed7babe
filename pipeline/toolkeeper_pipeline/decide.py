"""Stage 8: may this call happen?"""

from toolkeeper_contract import Code, Effect, Question
from toolkeeper_pipeline import message
from toolkeeper_pipeline.reading import source_name
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Classified, Decided, Stop


def decide(classified: Classified, run: Run, rim: Rim) -> Decided:
    """Policy of this moment, hardline included. Stops with tool.denied.* and its decision."""
    frozen = classified.frozen
    tool = frozen.tool
    decision = rim.policy().decide(
        Question(
            tool=tool.name,
            source=source_name(tool),
            classification=classified.classification,
            agent=run.agent,
            principal=run.principal,
            arguments=frozen.arguments,
            attributes=run.attributes,
        )
    )
    if decision.effect is Effect.DENY:
        code = decision.code or Code.DENIED_POLICY
        raise Stop(code, message.denied(decision), frozen=frozen, decision=decision)
    return Decided(frozen, classified.classification, decision)
