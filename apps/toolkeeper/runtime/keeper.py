"""What do users import and run?"""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.accepting import acceptance_now, keep_first_listings
from toolkeeper.runtime.approver_check import check_approvers
from toolkeeper.runtime.assembly import (
    build_sources,
    load_policies,
    open_store,
    open_store_to_read,
    redactor_of,
)
from toolkeeper.runtime.catalogs import Catalogs
from toolkeeper.runtime.clock import RandomIds, SystemClock
from toolkeeper.runtime.configuration import Agent, Configuration, load_configuration
from toolkeeper.runtime.discovery import Discovery
from toolkeeper.runtime.drift import Drift
from toolkeeper.runtime.lookout import Lookout
from toolkeeper.runtime.planning import Planning
from toolkeeper.runtime.profile import agent_named
from toolkeeper.runtime.rewriting import Hook, Rewriting
from toolkeeper.runtime.rim import rim_of
from toolkeeper.runtime.session import Session
from toolkeeper.runtime.session_facts import FactsInUse
from toolkeeper.runtime.session_record import known_record, new_record, same_record
from toolkeeper.runtime.sight import Sight
from toolkeeper.runtime.wish import Wish
from toolkeeper_contract import (
    Clock,
    ConfigError,
    Event,
    EventSink,
    Ids,
    Ledger,
    Registry,
    Sealer,
    SessionRecord,
)
from toolkeeper_pipeline import Pace, Rim
from toolkeeper_planner import parse_intent
from toolkeeper_policy import Policy
from toolkeeper_sources import FunctionTool, tool
from toolkeeper_wire import format_for

if TYPE_CHECKING:
    from toolkeeper.runtime.desk import Desk


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
        sinks: Sequence[EventSink] = (),
        telemetry: Any = None,
        pace: Pace | None = None,
    ) -> None:
        """`sinks` are told of events beside the configured ones; `telemetry` is the program's own
        (`toolkeeper_telemetry.Telemetry`) and stands for the configured one."""
        self.configuration = configuration
        self.policy = policy or load_policies(configuration)
        check_approvers(configuration, self.policy)
        self.clock = clock or SystemClock()
        self.lookout = Lookout(configuration, self.clock, sinks=sinks, telemetry=telemetry)
        self.ids = ids or RandomIds()
        self._pace = pace or Pace()
        self.redactor = redactor_of(configuration)
        self.rewriting = Rewriting()
        self._given = (ledger, sealer)
        self._functions: list[FunctionTool] = []
        self._discovery: Discovery | None = None
        self._rim: Rim | None = None
        self.facts = FactsInUse()
        self.planning = Planning(configuration)
        self.catalogs = Catalogs()

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

    def rewrite(self, *tools: str) -> Callable[[Hook], Hook]:
        """Decorator: a function of a tool's name and arguments that gives the ones to use instead.

        `tools` are names or globs. Where the function raises, the call is refused.
        """

        return self.rewriting.adding(tools or ("*",))

    # life

    async def open(self) -> None:
        """Opens the store and reaps what expired. Sources start later, when they are needed."""
        if self._rim is not None:
            return
        self.lookout.watch()
        ledger, sealer = self._given
        if ledger is None or sealer is None:
            opened, key = open_store(self.configuration, clock=self.clock)
            ledger, sealer = ledger or opened, sealer or key
        self._rim = rim_of(self, ledger, sealer, self._pace)
        await self.lookout.open(ledger)

    async def close(self) -> None:
        """Ends the sources' processes and closes the store; sinks have a short time to be told."""
        if self._rim is not None:
            # What runs ends on its row, while there is a store to write it to.
            await self._rim.work.close()
        if self._discovery is not None:
            await self._discovery.close()
            self._discovery = None
        if self._rim is not None:
            await self.lookout.close()
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
        self, *, agent: str, user: str = "local", provider: str = "generic", **more: Any
    ) -> AsyncIterator[Session]:
        """A new session, as `open_session` makes it.

        Opens the keeper where that was not done, and closes it again then.
        """
        alone = self._rim is None
        try:
            if alone:
                # What cannot work leaves no store behind.
                known = {
                    key: more[key]
                    for key in ("attributes", "intent", "model", "endpoint")
                    if key in more
                }
                await self.sight(agent=agent, user=user, provider=provider, **known)
                await self.open()
            session = await self.open_session(agent=agent, user=user, provider=provider, **more)
            try:
                yield session
            finally:
                if self._rim is not None:
                    await session.close()
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
        model: str | None = None,
        endpoint: str | None = None,
    ) -> Session:
        """A new session on an open keeper. ConfigError for an unknown agent or provider.

        `model` and `endpoint` (None: the provider's own) say whether the provider can search for
        tools on its side.
        """
        record = self._new_record(agent, user, provider, attributes)
        return await self.open_record(
            replace(record, intent=intent, model=model, endpoint=endpoint)
        )

    async def open_record(
        self, record: SessionRecord, *, delegated_by: str | None = None
    ) -> Session:
        """The session that `record` describes; stored once it is known that it can be planned.

        `delegated_by` is the run that delegates it.
        """
        parse_intent(record.intent)
        agent_named(self.configuration, record.agent)
        session = Session(self, record, format_for(record.provider), self.ledger)
        # Planned once before anything is stored: a configuration that cannot work leaves no row.
        await Session(self, record, format_for(record.provider), None).preview()
        data = {
            "agent": record.agent,
            "user": record.user,
            "provider": record.provider,
            "model": record.model,
            "endpoint": record.endpoint,
            "parent": record.parent,
            "delegated_by": delegated_by,
        }
        await self.keep_first_listings(agent_named(self.configuration, record.agent))
        await self.ledger.open_session(record, (Event("session.opened", data),))
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
        model: str | None = None,
        endpoint: str | None = None,
        tool_choice: str | None = None,
    ) -> Sight:
        """What a new session, or the next turn of `session_id`, would show. Writes nothing.

        For a known session who and what it is for is absent or equal to its own, and `intent` is
        an override.
        """
        wish = Wish(override=intent, tool_choice=tool_choice)
        if session_id is None:
            if agent is None:
                raise ConfigError("name an agent with `--agent`, or a session with `--session`")
            user = "local" if user is None else user
            new = self._new_record(agent, user, provider or "generic", attributes)
            record = replace(new, model=model, endpoint=endpoint)
            session = Session(self, record, format_for(record.provider), None)
            return await session.preview(wish)
        ledger = open_store_to_read(self.configuration, clock=self.clock)
        try:
            record = same_record(
                await known_record(ledger, session_id),
                attributes,
                agent=agent,
                user=user,
                provider=provider,
                model=model,
                endpoint=endpoint,
            )
            session = Session(self, record, format_for(record.provider), ledger)
            return await session.preview(wish)
        finally:
            await ledger.close()

    async def everything(self) -> Registry:
        """The registry over all sources, whatever agent uses them."""
        await self._look_again(self.discovery.names)
        return self.discovery.registry(self.discovery.names)

    async def resumed_session(
        self,
        session_id: str,
        *,
        agent: str | None = None,
        user: str | None = None,
        provider: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        model: str | None = None,
        endpoint: str | None = None,
    ) -> Session:
        """The session of an earlier process; what else is given must be equal to its own.

        ConfigError when this store has no session of that id.
        """
        record = same_record(
            await known_record(self.ledger, session_id),
            attributes,
            agent=agent,
            user=user,
            provider=provider,
            model=model,
            endpoint=endpoint,
        )
        session = Session(self, record, format_for(record.provider), self.ledger)
        await session.refresh()
        return session

    def kept_text(self, text: str) -> str:
        """`text` as it is stored: without secrets, and as every store can carry it."""
        redacted, _ = self.redactor.redact_text(text)
        return redacted.encode("utf-8", "replace").decode("utf-8")

    def desk(self) -> "Desk":
        """Where parked calls of this keeper's ledger are answered, at the approver's word."""
        from toolkeeper.runtime.desk import Desk

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
        await self._look_again(self._needed(agent))
        registry = self.registry(agent)
        self.planning.check(agent, registry, self.policy)
        return registry

    async def relisted(self, agent: Agent) -> Registry:
        """The same for a turn that began before: it goes on whatever a server dropped since."""
        await self._look_again(self._needed(agent))
        registry = self.registry(agent)
        self.planning.check_policy(registry, self.policy)
        return registry

    async def keep_first_listings(self, agent: Agent) -> bool:
        """Accepts what `agent`'s servers list for the first time; whether there was any."""
        return await keep_first_listings(
            self.ledger, self.discovery, self._needed(agent), self.clock
        )

    def drifts(self, agent: Agent) -> tuple[Drift, ...]:
        """The definitions of `agent`'s servers that are not the accepted ones, as last listed."""
        return self.discovery.drifts(self._needed(agent))

    def registry(self, agent: Agent) -> Registry:
        """The registry that `agent` plans over, as last listed."""
        return self.discovery.registry(self._needed(agent))

    def _new_record(
        self, agent: str, user: str, provider: str, attributes: Mapping[str, Any] | None
    ) -> SessionRecord:
        agent_named(self.configuration, agent)
        return new_record(self.ids, self.clock, agent, user, provider, attributes)

    async def _look_again(self, names: frozenset[str]) -> None:
        await self.discovery.refresh(names)
        if self.discovery.needs_acceptance(names):
            ledger = self._rim.ledger if self._rim else self._given[0]
            self.discovery.know(await acceptance_now(ledger, self.configuration, self.clock))

    def _needed(self, agent: Agent) -> frozenset[str]:
        return self.discovery.needed(agent)
