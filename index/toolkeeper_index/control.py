"""What do the framework's own tools look like to a model?

Their definitions are constants: how many tools are deferred and what they are called stands in the
index region only, so deferring one more does not change a byte of the tools array.
"""

from functools import lru_cache
from typing import Any

from toolkeeper_contract import (
    CONTROL,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_SEARCH,
    Plan,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)

CONTROL_SOURCE = "control"
"""The source id of the control tools."""


def control_tool(name: str, *, role: str | None = None, loads: bool = False) -> Tool:
    """The control tool called `name`; ValueError when there is none.

    `role` says which one it is where it bears another name, as a renamed search does; left out,
    the name is the role. `loads` is for disclosure `search`, where a search loads what it answers.
    The same arguments always give the same definition.
    """
    return _named(name, role or name, loads and (role or name) == TOOL_SEARCH)


def plan_control(plan: Plan, name: str) -> Tool:
    """The control tool that `plan` advertises as `name`; ValueError when it advertises none so.

    A name outside the closed set is the search's: no other control tool can be renamed.
    """
    if name not in plan.controls:
        raise ValueError(f"`{name}` is no control tool of this plan")
    role = name if name in _DEFINITIONS else TOOL_SEARCH
    return control_tool(name, role=role, loads=plan.disclosure.used == "search")


@lru_cache(maxsize=256)
def _named(name: str, role: str, loads: bool) -> Tool:
    definition = _LOADING_SEARCH if loads else _DEFINITIONS.get(role)
    if definition is None:
        raise ValueError(f"`{role}` is no control tool")
    title, description, schema = definition
    return Tool.of(
        ToolIdentity(SourceKind.CONTROL, CONTROL_SOURCE, name),
        ToolDefinition(name, title, description, schema),
        CONTROL,
    )


_SEARCH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "What the tool should do, for example `cancel a meeting`.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "description": "How many tools to answer with at most.",
        },
        "select": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Exact names of tools whose definitions are wanted, instead of a query.",
        },
    },
    "additionalProperties": False,
}

_LOADING_SEARCH = (
    "Search for tools",
    "Find tools that have no definition here, by what they do, and load them. Answers with the "
    "full definitions of the best matches. A loaded tool can be called at once, directly by the "
    "name that its definition gives, and stays loaded. Search with a few words for the action and "
    "its object, or with a tool's exact name; use `select` to load tools whose names you know. If "
    "nothing matches, no such tool exists: do not repeat the search in other words more than once.",
    _SEARCH_SCHEMA,
)

_DEFINITIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    TOOL_CALL: (
        "Call a tool",
        "Call a tool that has no definition of its own here: one that the tool index in the "
        "instructions lists, or one that a search found. Give its exact name, and its arguments "
        "as an object. The call is checked and runs like a direct one. If the arguments do not "
        "fit, the error carries the tool's schema: correct them and call again.",
        {
            "type": "object",
            "properties": {
                "name": {
                    "type": "string",
                    "description": "The exact name of the tool, as the index or the search gives "
                    "it.",
                },
                "arguments": {
                    "type": "object",
                    "description": "The tool's arguments by name. Leave it out for a tool without "
                    "any.",
                    "additionalProperties": True,
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    ),
    TOOL_SEARCH: (
        "Search for tools",
        "Find tools that have no definition here, by what they do. Answers with the full "
        "definitions of the best matches, which can be called at once. Search with a few words "
        "for the action and its object, or with a tool's exact name; use `select` to get the "
        "definitions of tools whose names you know. If nothing matches, no such tool exists: do "
        "not repeat the search in other words more than once.",
        _SEARCH_SCHEMA,
    ),
    TOOL_RESULT: (
        "Read a kept result",
        "Read on in a result that was too long to show whole. The shortened result gave its "
        "handle. Answers with the part that begins at `offset`.",
        {
            "type": "object",
            "properties": {
                "handle": {
                    "type": "string",
                    "description": "The handle that the shortened result gave.",
                },
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Where to begin, in characters from the start. Default 0.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "How many characters to read at most.",
                },
            },
            "required": ["handle"],
            "additionalProperties": False,
        },
    ),
}
