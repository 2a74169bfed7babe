"""What do the framework's own tools look like to a model?

Their definitions are constants: how many tools are deferred and what they are called stands in the
index region only, so deferring one more does not change a byte of the tools array.
"""

from typing import Any

from toolkeeper_contract import (
    CONTROL,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_SEARCH,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)

CONTROL_SOURCE = "control"
"""The source id of the control tools."""


def control_tool(name: str) -> Tool:
    """The control tool called `name`; ValueError when there is none."""
    tool = _TOOLS.get(name)
    if tool is None:
        raise ValueError(f"`{name}` is no control tool")
    return tool


def _control(name: str, title: str, description: str, schema: dict[str, Any]) -> Tool:
    return Tool.of(
        ToolIdentity(SourceKind.CONTROL, CONTROL_SOURCE, name),
        ToolDefinition(name, title, description, schema),
        CONTROL,
    )


_TOOLS = {
    TOOL_CALL: _control(
        TOOL_CALL,
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
    TOOL_SEARCH: _control(
        TOOL_SEARCH,
        "Search for tools",
        "Find tools that have no definition here, by what they do. Answers with the full "
        "definitions of the best matches, which can be called at once. Search with a few words "
        "for the action and its object, or with a tool's exact name; use `select` to get the "
        "definitions of tools whose names you know. If nothing matches, no such tool exists: do "
        "not repeat the search in other words more than once.",
        {
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
                    "description": "Exact names of tools whose definitions are wanted, instead of "
                    "a query.",
                },
            },
            "additionalProperties": False,
        },
    ),
    TOOL_RESULT: _control(
        TOOL_RESULT,
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
