"""Can an agent disclose its tools the way that its configuration asks for?"""

from toolkeeper_contract import (
    CONTROL_TOOLS,
    MALFORMED,
    TOOL_SEARCH,
    Code,
    Registry,
    did_you_mean,
    is_tool_name,
)
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.profile_error import profile_error

DISCLOSURES = ("index", "search", "native")
LISTINGS = ("index", "names", "none")
_OTHERS = frozenset((*CONTROL_TOOLS, MALFORMED)) - {TOOL_SEARCH}


def check_disclosure(agent: AgentProfile) -> None:
    """Raises ConfigError for a way to disclose that is none, or that lacks its control tool."""
    if agent.disclosure not in DISCLOSURES:
        raise profile_error(
            agent,
            ("disclosure",),
            f"`{agent.disclosure}` is no way to disclose tools",
            did_you_mean(agent.disclosure, DISCLOSURES) or _known(DISCLOSURES),
        )
    if agent.listing not in LISTINGS:
        raise profile_error(
            agent,
            ("listing",),
            f"`{agent.listing}` is no way to list tools",
            did_you_mean(agent.listing, LISTINGS) or _known(LISTINGS),
        )
    if agent.searches:
        return
    if agent.disclosure == "search":
        key, cause = "disclosure", "disclosure `search`"
    elif agent.disclosure == "index" and agent.listing == "none":
        # Tools that are neither listed nor found would be there for nobody.
        key, cause = "listing", "listing `none`"
    else:
        return
    raise profile_error(
        agent,
        (key,),
        f"{cause} needs `{TOOL_SEARCH}`, and this agent does not have it",
        f"add `{TOOL_SEARCH}` to `control_tools`",
        code=Code.CONTROL_TOOL_UNAVAILABLE,
    )


def check_search_name(agent: AgentProfile, registry: Registry) -> None:
    """Raises ConfigError for a name of the search that a tool has, or could have."""
    name, path = agent.search_name, ("search", "name")
    if name == TOOL_SEARCH:
        return
    if not is_tool_name(name):
        raise profile_error(
            agent,
            path,
            f"`{name}` cannot be the name of a tool",
            "1 to 128 letters, digits, `_`, `-` and `.`",
        )
    folded = _folded(name)
    if name.startswith(("mcp.", "device.")) or folded in _OTHERS:
        raise profile_error(
            agent,
            path,
            f"`{name}` is reserved and cannot be what the search is called",
            "choose a name of its own, for example `find_tools`",
            code=Code.TOOL_NAME_RESERVED,
        )
    for taken in registry.tools:
        if _folded(taken) == folded:
            raise profile_error(
                agent,
                path,
                f"`{taken}` is a tool, so the search cannot be called `{name}`",
                "choose another name for one of the two",
                code=Code.TOOL_NAME_TAKEN,
            )


def _known(names: tuple[str, ...]) -> str:
    return "known: " + ", ".join(f"`{name}`" for name in names)


def _folded(name: str) -> str:
    # As reserved names are compared: providers see `.` and `-` as `_`.
    return name.lower().replace("_", ".").replace("-", ".")
