"""Which tools can a field name, and what is said about other names?"""

from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from toolkeeper.runtime.configuration.field_type import shown, text_of, told
from toolkeeper_contract import (
    CONTROL_TOOLS,
    MALFORMED,
    TOOL_SEARCH,
    Code,
    did_you_mean,
    is_canonical_name,
    is_literal,
    is_pattern,
    is_reserved,
    is_tool_name,
)


def _tool_pattern(value: Any) -> str:
    text = text_of(value)
    if not is_pattern(text):
        raise told(
            f"{shown(text)} holds a character that no tool's name can have",
            "names have letters, digits, `_`, `.` and `-`; `*` stands for any characters",
        )
    if is_literal(text):
        _refuse_reserved(text)
        if not is_canonical_name(text):
            raise told(f"{shown(text)} is too long for a tool's name")
    return text


def _tool_name(value: Any) -> str:
    text = text_of(value)
    if is_pattern(text) and not is_literal(text):
        raise told(
            f"{shown(text)} is a pattern, but only names can stand here",
            "name each tool; `servers` of an agent brings in all tools of a server",
        )
    return _tool_pattern(text)


def _refuse_reserved(name: str) -> None:
    if name.startswith(("mcp.", "device.")):
        parts = name.split(".", 2)
        if len(parts) < 3 or not parts[1] or not parts[2]:
            raise told(
                f"{shown(name)} names no tool",
                f"a discovered tool is called `{parts[0]}.<server>.<tool>`",
            )
        return
    if name in CONTROL_TOOLS:
        raise told(
            f"`{name}` is a control tool and cannot stand here",
            "the control tools that an agent has stand under its `control_tools`",
            Code.TOOL_NAME_RESERVED,
        )
    if is_reserved(name):
        raise told(
            f"{shown(name)} is a reserved name",
            "no tool can bear it; names that begin with `tool.` are the framework's own",
            Code.TOOL_NAME_RESERVED,
        )


def _control_tool(value: Any) -> str:
    text = text_of(value)
    if text not in CONTROL_TOOLS:
        raise told(
            f"there is no control tool {shown(text)}",
            did_you_mean(text, CONTROL_TOOLS),
            Code.CONTROL_TOOL_UNAVAILABLE,
        )
    return text


def folded(name: str) -> str:
    """`name` as reserved names are compared: whatever reads as equal to a model is equal."""
    return name.lower().replace("_", ".").replace("-", ".")


def _search_name(value: Any) -> str:
    text = text_of(value)
    if not is_tool_name(text):
        raise told(
            f"{shown(text)} cannot be the name of the search tool",
            "names have 1 to 128 letters, digits, `_`, `.` and `-`",
        )
    plain = folded(text)
    if plain in _NOT_SEARCH or plain.startswith(("mcp.", "device.")):
        raise told(
            f"`{text}` is reserved and cannot be the name of the search tool",
            "choose a name of its own, `find_tools`, say",
            Code.TOOL_NAME_RESERVED,
        )
    return text


_NOT_SEARCH = frozenset((*CONTROL_TOOLS, MALFORMED)) - {TOOL_SEARCH}


_NAME = r"^[A-Za-z0-9_.-]+$"
_PATTERN = r"^[A-Za-z0-9_.*-]+$"

ToolName = Annotated[
    str, PlainValidator(_tool_name), WithJsonSchema({"type": "string", "pattern": _NAME})
]
ToolPattern = Annotated[
    str, PlainValidator(_tool_pattern), WithJsonSchema({"type": "string", "pattern": _PATTERN})
]
ControlTool = Annotated[
    str,
    PlainValidator(_control_tool),
    WithJsonSchema({"type": "string", "enum": list(CONTROL_TOOLS)}),
]
SearchName = Annotated[
    str, PlainValidator(_search_name), WithJsonSchema({"type": "string", "pattern": _NAME})
]
