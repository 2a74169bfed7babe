"""How do configured words become sources, a policy and a store?"""

from collections.abc import Sequence

from toolkeeper.runtime.approver_check import check_approvers
from toolkeeper.runtime.configuration import (
    Catalog,
    Command,
    Configuration,
    Server,
)
from toolkeeper.runtime.placing import placed
from toolkeeper.runtime.policy_document import configured_policy
from toolkeeper.runtime.redaction import Redactor
from toolkeeper_contract import Clock, ConfigError, Ledger, Sealer, ToolSource
from toolkeeper_policy import FUNCTIONS, Policy
from toolkeeper_sources import (
    CatalogSource,
    FunctionSource,
    FunctionTool,
    ListingLimits,
    SchemaLimits,
    load_functions,
)


def build_sources(
    configuration: Configuration, functions: Sequence[FunctionTool]
) -> dict[str, ToolSource]:
    """Every configured source by its name; nothing is started yet.

    `functions` are those that the program itself decorated, before the configured ones.
    """
    bounds = configuration.schema_limits
    limits = ListingLimits(
        schemas=SchemaLimits(bounds.schema_bytes, bounds.schema_depth, bounds.schema_nodes)
    )
    loaded = [
        tool
        for index, reference in enumerate(configuration.functions)
        for tool in _functions(index, reference, configuration)
    ]
    try:
        own = FunctionSource([*functions, *loaded], FUNCTIONS)
    except ConfigError as error:
        raise placed(error, configuration.file, ("functions",)) from None
    sources: dict[str, ToolSource] = {FUNCTIONS: own}
    for name, server in configuration.servers.items():
        sources[name] = _source(name, server, limits)
    return sources


def _functions(index: int, reference: str, configuration: Configuration) -> Sequence[FunctionTool]:
    try:
        return load_functions([reference], configuration.folder)
    except ConfigError as error:
        raise placed(error, configuration.file, ("functions", index)) from None


def load_policies(configuration: Configuration) -> Policy:
    """The policy of all configured documents and packs. ConfigError with file, line and key."""
    policy = configured_policy(configuration)
    check_approvers(configuration, policy)
    return policy


def redactor_of(configuration: Configuration) -> Redactor:
    """What takes secrets out: by the operator's words, patterns and pointers, by known values."""
    redaction = configuration.redaction
    return Redactor(
        redaction.keys, redaction.patterns, configuration.secrets, tools=redaction.tools
    )


def open_store(
    configuration: Configuration, *, clock: Clock, create: bool = True
) -> tuple[Ledger, Sealer]:
    """The configured ledger and the key that seals beside it.

    A missing store is created, or with `create` off a ConfigError. Who creates no store answers
    what others have asked, for which no key is needed.
    """
    from toolkeeper_ledger import open_ledger, open_sealer

    sealer = open_sealer(configuration.store, answering=not create)
    return open_ledger(configuration.store, clock=clock, create=create), sealer


def open_store_to_read(configuration: Configuration, *, clock: Clock) -> Ledger:
    """The configured ledger as it is; nothing is created or written."""
    from toolkeeper_ledger import open_ledger

    return open_ledger(configuration.store, clock=clock, read_only=True, create=False)


def _source(name: str, server: Server, limits: ListingLimits) -> ToolSource:
    transport = server.transport
    if isinstance(transport, Catalog):
        return CatalogSource(name, transport.file, transport.server, limits=limits.schemas)
    # Loaded for who has such servers: the MCP library is a large one.
    if isinstance(transport, Command):
        from toolkeeper_sources import McpSource

        return McpSource(
            name,
            command=transport.command,
            args=transport.args,
            env=transport.env,
            cwd=transport.cwd,
            timeout=server.timeout,
            limits=limits,
        )
    from toolkeeper_sources import HttpMcpSource

    return HttpMcpSource(
        name, transport.url, headers=transport.headers, timeout=server.timeout, limits=limits
    )
