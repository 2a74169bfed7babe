"""Which names may stand for a tool, a parameter or a server, and which are reserved?"""

import re

CONTROL_TOOLS = ("tool.call", "tool.search", "tool.result")
"""The framework's own tools; the set is closed at build time."""

TOOL_CALL, TOOL_SEARCH, TOOL_RESULT = CONTROL_TOOLS

MALFORMED = "tool.malformed"
"""The reserved name of a row whose call named no usable tool."""

RESERVED_PREFIXES = ("tool.", "mcp.", "device.")
"""What a configured tool's name must not start with."""

_TOOL = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_PARAMETER = re.compile(r"[A-Za-z0-9_.$@:-]{1,128}")
_SERVER = re.compile(r"[A-Za-z0-9_-]{1,64}")
_POINTER = re.compile(r"(/([^/~]|~[01])+)+")
_CANONICAL = re.compile(r"[A-Za-z0-9_.-]{1,210}")


def is_tool_name(name: str) -> bool:
    """Whether a source may publish a tool under this raw name."""
    return _TOOL.fullmatch(name) is not None


def is_parameter_name(name: str) -> bool:
    """Whether a parameter may bear this name (real tools have `$meta`)."""
    return _PARAMETER.fullmatch(name) is not None


def is_argument_pointer(text: object) -> bool:
    """Whether `text` is a JSON pointer into arguments (`/path`); a `*` stands for any key."""
    return isinstance(text, str) and _POINTER.fullmatch(text) is not None


def is_server_id(name: str) -> bool:
    """Whether a server may be configured under this id; without dots, so joined names are clear."""
    return _SERVER.fullmatch(name) is not None


def is_canonical_name(name: str) -> bool:
    """Whether this could be a canonical name at all (what may stand on a row)."""
    return _CANONICAL.fullmatch(name) is not None


def is_reserved(name: str) -> bool:
    """Whether a configured tool must not bear this name, in any spelling of a control tool."""
    folded = name.strip().lower().replace("_", ".").replace("-", ".")
    return name.startswith(RESERVED_PREFIXES) or folded in CONTROL_TOOLS
