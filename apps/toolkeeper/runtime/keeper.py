"""What do users import and run?"""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolkeeper.runtime.assembly import (
    build_sources,
    load_policies,
    open_store,
    open_store_to_read,
    redactor_of,
)
from toolkeeper.runtime.clock import RandomIds, SystemClock
from toolkeeper.runtime.configuration import Agent, Configuration, load_configuration
from toolkeeper.runtime.desk import Desk
from toolkeeper.runtime.discovery import Discovery
from toolkeeper.runtime.placing import placed
from toolkeeper.runtime.profile import agent_named, profile_of, sources_of
from toolkeeper.runtime.session import Session
from toolkeeper.runtime.sight import Sight
from toolkeeper_contract import (
    Clock,
    ConfigError,
    Event,
    Ids,
    Ledger,
    Plan,
    Principal,
    Question,
    Registry,
    Sealer,
    SessionRecord,
)
from toolkeeper_pipeline import Rim, Schemas
from toolkeeper_planner import Intent, Prices, build_plan, check_profile, parse_intent
from toolkeeper_planner.tokens import estimate
from toolkeeper_policy import Policy, check_policy, source_name
from toolkeeper_sources import FunctionTool, tool
from toolkeeper_wire import format_for


class Toolkeeper:
    """Decides which tools an assistant sees, and governs every call it makes.

    Use it as an async context manager, or call `open` and `close`. Sources start when a session
    first needs them.
    """

    def __init__(
        self,
        configuration: Configuration,
        *,
        policy: Policy | None = None,
        ledger: Ledger | None = None,
        sealer: Sealer | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
    ) -> None:
        self.configuration = configuration
        self.policy = policy or load_policies(configuration)
        self.clock = clock or SystemClock()
        self.ids = ids or RandomIds()
        self.redactor = redactor_of(configuration)
        self._given = (ledger, sealer)
        self._functions: list[FunctionTool] = []
        self._discovery: Discovery | None = None
        self._rim: Rim | None = None
        self._prices: dict[str, Prices] = {}
        self._checked: set[str] = set()

    @classmethod
    def from_config(
        cls, path: str | Path, *, environment: Mapping[str, str] | None = None, **ports: Any
    ) -> "Toolkeeper":
        """The keeper that the file at `path` describes. ConfigError names file, line and key."""
        values = os.environ if environment is None else environment
        return cls(load_configuration(Path(path), values), **ports)

    def tool(self, function: Callable[..., Any] | None = None, **declaration: Any) -> Any:
        """Decorator: makes a function one of this keeper's tools (see `toolkeeper.tool`)."""

        def register(function: Callable[..., Any]) -> FunctionTool:
            return self.add(tool(function, **declaration))

        return register if function is None else register(function)

    def add(self, made: FunctionTool) -> FunctionTool:
        """Adds a tool of this program's. ConfigError once the sources are in use."""
        if self._discovery is not None:
            raise ConfigError(
                "a tool cannot be added to a keeper that is in use",
                "add tools before the first session",
            )
        self._functions.append(made)
        return made

    # life

    async def open(self) -> None:
        """Opens the store and reaps what expired. Sources start later, when they are needed."""
        if self._rim is not None:
            return
        ledger, sealer = self._given
        if ledger is None or sealer is None:
            opened, key = open_store(self.configuration, clock=self.clock)
            ledger, sealer = ledger or opened, sealer or key
        self._rim = Rim(
            ledger=ledger,
            sealer=sealer,
            clock=self.clock,
            ids=self.ids,
            redactor=self.redactor,
            registry=self._whole_registry,
            policy=lambda: self.policy,
            source=lambda tool: self.discovery.source(tool),
            schemas=Schemas(),
        )
        await ledger.reap(self.clock.now())

    async def close(self) -> None:
        """Ends the sources' processes and closes the store."""
        if self._discovery is not None:
            await self._discovery.close()
            self._discovery = None
        if self._rim is not None:
            # A ledger that was handed in belongs to whoever made it.
            if self._given[0] is None:
                await self._rim.ledger.close()
            self._rim = None

    async def __aenter__(self) -> "Toolkeeper":
        await self.open()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    # sessions

    @asynccontextmanager
    async def session(
        self,
        *,
        agent: str,
        user: str = "local",
        provider: str = "generic",
        attributes: Mapping[str, Any] | None = None,
        intent: Any = None,
    ) -> AsyncIterator[Session]:
        """A new session. Opens the keeper where that was not done, and closes it again then."""
        alone = self._rim is None
        try:
            if alone:
                # What cannot work leaves no store behind.
                await self.sight(
                    agent=agent, user=user, provider=provider, attributes=attributes, intent=intent
                )
                await self.open()
            yield await self.open_session(
                agent=agent, user=user, provider=provider, attributes=attributes, intent=intent
            )
        finally:
            if alone:
                await self.close()

    async def open_session(
        self,
        *,
        agent: str,
        user: str = "local",
        provider: str = "generic",
        attributes: Mapping[str, Any] | None = None,
        intent: Any = None,
    ) -> Session:
        """A new session on an open keeper. ConfigError for an unknown agent or provider."""
        parse_intent(intent)
        record = replace(self._new_record(agent, user, provider, attributes), intent=intent)
        format = format_for(provider)
        # Planned once before anything is stored: a configuration that cannot work leaves no row.
        session = Session(self, record, format)
        await session.preview()
        opened = Event("session.opened", {"agent": agent, "user": user, "provider": provider})
        await self.ledger.open_session(record, (opened,))
        return session

    async def sight(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        provider: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        intent: Any = None,
        session_id: str | None = None,
    ) -> Sight:
        """What a new session, or the next turn of `session_id`, would show. Writes nothing.

        For a known session `agent`, `user`, `provider` and `attributes` are absent or equal to its
        own, and `intent` is an override.
        """
        if session_id is None:
            if agent is None:
                raise ConfigError("name an agent with `--agent`, or a session with `--session`")
            user = "local" if user is None else user
            record = self._new_record(agent, user, provider or "generic", attributes)
            return await Session(self, record, format_for(record.provider)).preview(intent)
        ledger = open_store_to_read(self.configuration, clock=self.clock)
        try:
            record = _same(await _known(ledger, session_id), agent, user, provider, attributes)
        finally:
            await ledger.close()
        return await Session(self, record, format_for(record.provider)).preview(intent)

    async def everything(self) -> Registry:
        """The registry over all sources, whatever agent uses them."""
        await self.discovery.refresh(self.discovery.names)
        return self.discovery.registry(self.discovery.names)

    async def resumed_session(
        self,
        session_id: str,
        *,
        agent: str | None = None,
        user: str | None = None,
        provider: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Session:
        """The session of an earlier process; what else is given must be equal to its own.

        ConfigError when this store has no session of that id.
        """
        known = await _known(self.ledger, session_id)
        record = _same(known, agent, user, provider, attributes)
        return Session(self, record, format_for(record.provider))

    def desk(self) -> Desk:
        """Where parked calls of this keeper's ledger are answered, at the approver's word."""
        rim = self.rim
        return Desk(
            configuration=replace(self.configuration, approver_secrets={}),
            policy=self.policy,
            ledger=rim.ledger,
            sealer=rim.sealer,
            redactor=self.redactor,
            clock=self.clock,
            ids=self.ids,
        )

    # what sessions and commands ask for

    @property
    def rim(self) -> Rim:
        if self._rim is None:
            raise ConfigError("the keeper is not open", "use `async with keeper:`")
        return self._rim

    @property
    def ledger(self) -> Ledger:
        return self.rim.ledger

    @property
    def discovery(self) -> Discovery:
        """The sources; built on first use, started when they are first listed."""
        if self._discovery is None:
            sources = build_sources(self.configuration, self._functions)
            self._discovery = Discovery(sources, self.configuration)
        return self._discovery

    def agent(self, name: str) -> Agent:
        return agent_named(self.configuration, name)

    async def refreshed(self, agent: Agent) -> Registry:
        """The registry that `agent` plans over, listed anew where something changed."""
        await self.discovery.refresh(self._needed(agent))
        registry = self.registry(agent)
        if agent.name not in self._checked:
            # Once, while wiring: a server that drops a configured tool later ends no session; the
            # plan says that the tool is unavailable.
            try:
                check_profile(profile_of(agent), registry, self._pricing("generic"))
            except ConfigError as error:
                raise placed(error, self.configuration.file, ("agents", agent.name)) from None
            self._check_policy(registry)
            self._checked.add(agent.name)
        return registry

    def registry(self, agent: Agent) -> Registry:
        """The registry that `agent` plans over, as last listed."""
        return self.discovery.registry(self._needed(agent))

    def plan_over(
        self,
        registry: Registry,
        agent: Agent,
        principal: Principal,
        *,
        provider: str,
        intent: Intent | None,
        attributes: Mapping[str, Any],
    ) -> Plan:
        """The plan of this agent for this user, over this registry."""
        return build_plan(
            agent=profile_of(agent),
            registry=registry,
            principal=principal,
            pricing=self._pricing(provider),
            provider=provider,
            intent=intent,
            attributes=attributes,
            policy_hidden=self._hidden(registry, agent.name, principal),
        )

    def _new_record(
        self, agent: str, user: str, provider: str, attributes: Mapping[str, Any] | None
    ) -> SessionRecord:
        agent_named(self.configuration, agent)
        if not user:
            raise ConfigError("the user's name is empty", "name one, or leave it out", key="user")
        return SessionRecord(
            session_id=self.ids.new("ses"),
            agent=agent,
            user=user,
            provider=provider,
            opened_at=self.clock.now(),
            attributes=dict(attributes or {}),
        )

    def _needed(self, agent: Agent) -> frozenset[str]:
        return sources_of(agent, self.configuration) | self.discovery.functions

    def _whole_registry(self) -> Registry:
        return self.discovery.registry(self.discovery.names)

    def _pricing(self, provider: str) -> Prices:
        prices = self._prices.get(provider)
        if prices is None:
            prices = self._prices[provider] = Prices(format_for(provider), estimate)
        return prices

    def _hidden(self, registry: Registry, agent: str, principal: Principal) -> frozenset[str]:
        return frozenset(
            tool.name
            for tool in registry.tools.values()
            if self.policy.hides(
                Question(
                    tool=tool.name,
                    source=source_name(tool.identity),
                    classification=tool.classification,
                    agent=agent,
                    principal=principal,
                    arguments={},
                )
            )
        )

    def _check_policy(self, registry: Registry) -> None:
        findings = check_policy(
            self.policy, registry, self.configuration.servers, self.configuration.agents
        )
        for finding in findings:
            if finding.severity == "error":
                raise finding.error()


async def _known(ledger: Ledger, session_id: str) -> SessionRecord:
    record = await ledger.session(session_id)
    if record is None:
        raise ConfigError(
            f"unknown session `{session_id}`", "`toolkeeper audit plans` lists sessions"
        )
    return record


def _same(
    record: SessionRecord,
    agent: str | None,
    user: str | None,
    provider: str | None,
    attributes: Mapping[str, Any] | None,
) -> SessionRecord:
    for key, wanted, own in (
        ("agent", agent, record.agent),
        ("user", user, record.user),
        ("provider", provider, record.provider),
    ):
        if wanted is not None and wanted != own:
            raise ConfigError(
                f"the session's {key} is `{own}`, not `{wanted}`",
                f"leave the {key} out, or start a new session",
                key=key,
            )
    if attributes is not None and dict(attributes) != dict(record.attributes):
        raise ConfigError(
            "the session has other attributes",
            "leave the attributes out, or start a new session",
            key="attributes",
        )
    return record
