"""What is an agent of the file, once everything that it names has been found?"""

from collections.abc import Mapping, Sequence

from toolkeeper.runtime.configuration.agent import Agent, Limits, Pin, Search
from toolkeeper.runtime.configuration.disclosure_section import check_disclosure
from toolkeeper.runtime.configuration.file_model import AgentFile, ConfigurationFile
from toolkeeper.runtime.configuration.file_text import Documents
from toolkeeper_contract import CONTROL_TOOLS, Caps, ConfigError, did_you_mean, is_literal


def agents(
    file: ConfigurationFile, documents: Documents, errors: list[ConfigError]
) -> dict[str, Agent]:
    """The agents by name; what is wrong with them is added to `errors`."""
    return {
        name: _agent(name, section, file, documents, errors)
        for name, section in file.agents.items()
    }


def check_servers_of_tools(
    names: Sequence[str],
    path: tuple[str | int, ...],
    file: ConfigurationFile,
    documents: Documents,
    errors: list[ConfigError],
) -> None:
    """Adds an error for each `mcp.<server>.<tool>` whose server is not configured."""
    for index, name in enumerate(names):
        check_server_of_tool(name, (*path, index), file, documents, errors)


def check_server_of_tool(
    name: str,
    at: tuple[str | int, ...],
    file: ConfigurationFile,
    documents: Documents,
    errors: list[ConfigError],
) -> None:
    """Adds an error for `mcp.<server>.<tool>` at `at` when that server is not configured."""
    if not name.startswith("mcp."):
        return
    server = name.split(".", 2)[1]
    if is_literal(server) and server not in file.servers:
        errors.append(
            documents.error(
                at,
                f"there is no server `{server}`, so `{name}` names no tool",
                did_you_mean(server, file.servers),
            )
        )


def _agent(
    name: str,
    section: AgentFile,
    file: ConfigurationFile,
    documents: Documents,
    errors: list[ConfigError],
) -> Agent:
    at = ("agents", name)
    for key in ("tools", "always_defined", "deferred_tools"):
        check_servers_of_tools(getattr(section, key), (*at, key), file, documents, errors)
    for index, pin in enumerate(section.pin):
        check_servers_of_tools(pin.tools, (*at, "pin", index, "tools"), file, documents, errors)
    _check_both_lists(at, section, documents, errors)
    check_disclosure(at, section, file, documents, errors)
    if section.search.limit > section.search.max_limit:
        errors.append(
            documents.error(
                (*at, "search", "limit"),
                f"`limit` is {section.search.limit}, more than `max_limit`, "
                f"which is {section.search.max_limit}",
                "lower `limit` or raise `max_limit`",
            )
        )
    for index, server in enumerate(section.servers):
        if server not in file.servers:
            errors.append(
                documents.error(
                    (*at, "servers", index),
                    f"there is no server `{server}`",
                    did_you_mean(server, file.servers) or "configure it under `servers`",
                )
            )
    return Agent(
        name=name,
        tools=tuple(section.tools),
        servers=tuple(section.servers),
        toolsets=_named("toolset", section.toolsets, file.toolsets, at, documents, errors),
        overlays=_named("overlay", section.overlays, file.overlays, at, documents, errors),
        deferred_tools=tuple(section.deferred_tools),
        always_defined=tuple(section.always_defined),
        pin=tuple(Pin(dict(pin.when), tuple(pin.tools)) for pin in section.pin),
        control_tools=tuple(name for name in CONTROL_TOOLS if name in section.control_tools),
        disclosure=section.disclosure,
        listing=section.listing,
        search=Search(**section.search.model_dump()),
        caps=Caps(**section.caps.model_dump()),
        replan=section.replan,
        limits=Limits(**section.limits.model_dump()),
        approvers=None if section.approvers is None else tuple(section.approvers),
        exclude_requester=section.exclude_requester,
    )


def _check_both_lists(
    at: tuple[str, str], section: AgentFile, documents: Documents, errors: list[ConfigError]
) -> None:
    for index, name in enumerate(section.deferred_tools):
        if name in section.always_defined:
            line = documents.document(at).line(
                (*at, "always_defined", section.always_defined.index(name))
            )
            errors.append(
                documents.error(
                    (*at, "deferred_tools", index),
                    f"`{name}` stands in `always_defined` (line {line}) too",
                    "remove it from one of the two lists",
                )
            )


def _named(
    what: str,
    names: Sequence[str],
    known: Mapping[str, Sequence[str]],
    at: tuple[str, str],
    documents: Documents,
    errors: list[ConfigError],
) -> dict[str, tuple[str, ...]]:
    """The toolsets or overlays that an agent lists, with their contents."""
    found = {}
    for index, name in enumerate(names):
        if name in known:
            found[name] = tuple(known[name])
        else:
            errors.append(
                documents.error(
                    (*at, f"{what}s", index),
                    f"there is no {what} `{name}`",
                    did_you_mean(name, known) or f"configure it under `{what}s`",
                )
            )
    return found
