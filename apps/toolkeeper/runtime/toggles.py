"""Which of a plan's tools does the user still have switched on, at this moment?"""

from collections.abc import Callable, Mapping
from typing import Any

from toolkeeper_contract import Plan, Registry
from toolkeeper_planner import AgentProfile, expand, parse_intent


class Toggles:
    """The live side of an intent: what was switched off since the plan was made is off at once.

    What was switched on since is not on before the next turn, because the plan does not pin it.
    """

    def __init__(
        self,
        plan: Plan,
        agent: AgentProfile,
        registry: Callable[[], Registry],
        intent: Callable[[], Any],
        granted: Mapping[str, str] | None = None,
        bound: Callable[[], frozenset[str] | None] | None = None,
    ) -> None:
        """`intent` reads the intent in force; `granted` is what a delegating parent pins.

        `bound` are the names that are enabled for whoever delegated the session, None for all.
        """
        self._agent = agent
        self._registry = registry
        self._intent = intent
        self._granted = granted
        self._bound = bound
        self._planned = parse_intent(plan.intent)
        # Another process may go on with a turn under a configuration that was changed meanwhile.
        self._same_agent = plan.agent_revision == agent.revision
        self._seen: tuple[Registry, Any, frozenset[str] | None] | None = None
        self._names: frozenset[str] | None = None

    def __call__(self, name: str) -> bool:
        """Whether a tool that the plan pins is still enabled."""
        allowed = self.allowed()
        return allowed is None or name in allowed

    def allowed(self) -> frozenset[str] | None:
        """The names that are enabled now; None when nothing was toggled since the plan was made.

        One value as long as nothing changes. ConfigError for a stored intent that cannot be read.
        """
        registry, intent = self._registry(), self._intent()
        bound = self._bound() if self._bound else None
        seen = self._seen
        if seen is None or seen[0] is not registry or seen[1:] != (intent, bound):
            names = self._expanded(registry, intent)
            self._names = names if bound is None else bound if names is None else names & bound
            self._seen = (registry, intent, bound)
        return self._names

    def _expanded(self, registry: Registry, value: Any) -> frozenset[str] | None:
        intent = parse_intent(value)
        if self._same_agent and intent == self._planned:
            return None
        expansion = expand(self._agent, registry, intent, self._granted)
        return frozenset(tool.name for tool in (*expansion.configured, *expansion.discovered))
