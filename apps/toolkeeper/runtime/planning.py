"""How does a configuration become plans?"""

from collections.abc import Sequence

from toolkeeper.runtime.configuration import Agent, Configuration
from toolkeeper.runtime.placing import placed
from toolkeeper.runtime.profile import profile_of
from toolkeeper_contract import (
    Classification,
    ConfigError,
    Plan,
    Principal,
    Question,
    Registry,
    SessionRecord,
    Tool,
)
from toolkeeper_planner import Intent, Prices, build_plan, check_profile
from toolkeeper_planner.tokens import estimate
from toolkeeper_policy import Policy, check_policy, source_name
from toolkeeper_wire import format_for


class Planning:
    """Plans for the agents of one configuration; prices are worked out once per fingerprint."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._prices: dict[str, Prices] = {}
        self._checked: set[str] = set()

    def check(self, agent: Agent, registry: Registry, policy: Policy) -> None:
        """Raises ConfigError for what cannot be meant. Once an agent, while wiring.

        A server that drops a configured tool later ends no session; the plan says that the tool is
        unavailable.
        """
        if agent.name in self._checked:
            return
        configuration = self._configuration
        try:
            check_profile(profile_of(agent), registry, self._pricing("generic"))
        except ConfigError as error:
            raise placed(error, configuration.file, ("agents", agent.name)) from None
        self.check_policy(registry, policy)
        self._checked.add(agent.name)

    def check_policy(self, registry: Registry, policy: Policy) -> None:
        """Raises ConfigError for a rule that cannot be meant.

        It is all that a turn needs which was planned before: what it shows is decided, and whether
        a call may happen is not.
        """
        configuration = self._configuration
        for finding in check_policy(policy, registry, configuration.servers, configuration.agents):
            if finding.severity == "error":
                raise finding.error()

    def plan(
        self,
        registry: Registry,
        agent: Agent,
        principal: Principal,
        policy: Policy,
        *,
        record: SessionRecord,
        intent: Intent | None,
        loaded: Sequence[tuple[str, str]] = (),
        forced: str | None = None,
        native: bool = False,
        native_reason: str | None = None,
    ) -> Plan:
        """The plan of this agent for this user and session, over this registry."""
        return build_plan(
            agent=profile_of(agent),
            registry=registry,
            principal=principal,
            pricing=self._pricing(record.provider),
            provider=record.provider,
            intent=intent,
            attributes=record.attributes,
            policy_hidden=_hidden(registry, agent.name, principal, policy),
            loaded=loaded,
            forced=forced,
            granted=record.granted,
            native=native,
            native_reason=native_reason,
        )

    def _pricing(self, provider: str) -> Prices:
        prices = self._prices.get(provider)
        if prices is None:
            prices = self._prices[provider] = Prices(format_for(provider), estimate)
        return prices


def _hidden(registry: Registry, agent: str, principal: Principal, policy: Policy) -> frozenset[str]:
    return frozenset(
        tool.name
        for tool in registry.tools.values()
        # A tool is hidden where no call of it could be let through, whatever its arguments.
        if all(
            policy.hides(_asked_without(tool, classification, agent, principal))
            for classification in _possible(tool)
        )
    )


def _possible(tool: Tool) -> Sequence[Classification]:
    return tool.by_arguments.possible if tool.by_arguments else (tool.classification,)


def _asked_without(
    tool: Tool, classification: Classification, agent: str, principal: Principal
) -> Question:
    """What would be asked about a call whose arguments are not known."""
    return Question(
        tool=tool.name,
        source=source_name(tool.identity),
        classification=classification,
        agent=agent,
        principal=principal,
        arguments={},
    )
