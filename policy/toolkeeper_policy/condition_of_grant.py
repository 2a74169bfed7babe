"""Which calls does the condition of a standing approval let through?"""

from collections.abc import Iterator
from functools import lru_cache

from toolkeeper_contract import Effect, Question, Tool
from toolkeeper_policy.call_view import CallView, ViewPlan
from toolkeeper_policy.condition import CelCondition, compile_condition
from toolkeeper_policy.condition_check import Remark, remarks
from toolkeeper_policy.condition_token import ConditionFault
from toolkeeper_policy.rule import Rule


class GrantCondition:
    """A condition as rules have it, over one call; its time of day is UTC."""

    def __init__(self, text: str) -> None:
        """ConditionFault for what no rule could say either, and for what looks at no call."""
        self.condition: CelCondition = compile_condition(text)
        if self.condition.needs.nothing_of_the_call:
            raise ConditionFault(
                "the condition says the same of every call",
                "compare something of the call: `args.to == ...`",
            )
        self._plan = ViewPlan(self.condition.needs)

    def doubts(self, tool: Tool) -> Iterator[Remark]:
        """What speaks against the condition in the schema of the tool that it is about."""
        bare = Rule(id="grant", effect=Effect.ALLOW, tools=(tool.name,), condition=self.condition)
        return remarks(bare, (tool,))

    def holds(self, question: Question) -> bool:
        """Whether the call is let through; ConditionFailure when that cannot be said."""
        return self.condition.holds(CallView(question, self._plan))


@lru_cache(maxsize=256)
def grant_condition(text: str) -> GrantCondition:
    """The compiled condition, kept for the calls that follow. ConditionFault as above."""
    return GrantCondition(text)


def lets_through(text: str | None, question: Question) -> bool:
    """Whether a grant with this condition is about the call; no condition: about any."""
    if text is None:
        return True
    try:
        return grant_condition(text).holds(question)
    except Exception:
        # INVARIANT: a condition that cannot be evaluated, or read, grants nothing.
        return False
