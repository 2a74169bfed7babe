"""Which description and schema of a tool may go on the wire?"""

from collections.abc import Mapping
from typing import Any, Final

from toolkeeper_contract import Tool, ToolDefinition, canonical_text
from toolkeeper_index import DESCRIPTION_CAP, clean, cleaned_definition_text, cleaned_schema
from toolkeeper_wire.depth import DEEPEST, is_shallow
from toolkeeper_wire.projection import PLAIN_NAME, object_root

_UNCAPPED = 1_000_000
_KEPT: Final = 1 << 14
"""Clean tools kept at most; a registry that changes for weeks must not grow the process."""

_TOO_DEEP: Final = (
    "The arguments are nested too deeply to be told here; they are checked in a call."
)
_ESCAPED: Final = ("\\u", "\\r", "\\b", "\\f")
_CLEAN: "Final[dict[tuple[str, bool], CleanTool]]" = {}


def clean_tool(tool: Tool) -> "CleanTool":
    """The tool's texts and schemas for the wire, worked out once per fingerprint for all formats.

    Equal whether it was kept or not; only to be read.
    """
    key = (tool.fingerprint, tool.foreign)
    kept = _CLEAN.get(key)
    if kept is None or not kept.is_of(tool.definition):
        if len(_CLEAN) >= _KEPT:
            _CLEAN.clear()
        kept = _CLEAN[key] = CleanTool(tool)
    return kept


class CleanTool:
    """A tool's texts without hidden characters and, if foreign, capped; its schema for the wire.

    Each schema is worked out at most once, so one of these may serve several formats; what it
    gives out is shared and only to be read.
    """

    def __init__(self, tool: Tool) -> None:
        # A long description of ours is its author's choice, and priced as such.
        self._cap = DESCRIPTION_CAP if tool.foreign else _UNCAPPED
        self._definition = tool.definition
        self._root: dict[str, Any] | None = None
        self._plain: dict[str, Any] | None = None
        self.schema = _cleaned(tool.definition.input_schema, self._cap)
        """The input schema with its texts cleaned; what it accepts stays the same."""
        self.description = cleaned_definition_text(tool.definition.description, self._cap)

    def is_of(self, definition: ToolDefinition) -> bool:
        """Whether these are the texts of this definition."""
        if self._definition is definition:
            return True
        try:
            return self._definition == definition
        except RecursionError:
            return False

    @property
    def title(self) -> str | None:
        """The title, or None where there is none."""
        title = self._definition.title
        return cleaned_definition_text(title, self._cap) if title else None

    @property
    def root(self) -> dict[str, Any]:
        """The schema as a plain object."""
        if self._root is None:
            self._root = object_root(self.schema)
        return self._root

    @property
    def plain_root(self) -> dict[str, Any]:
        """The same, with no property whose name some providers refuse."""
        if self._plain is None:
            fits = all(PLAIN_NAME.fullmatch(name) for name in self.root["properties"])
            self._plain = self.root if fits else object_root(self.schema, PLAIN_NAME)
        return self._plain


def unshared(value: Any) -> Any:
    """A deep copy of a JSON value, for somebody who may write into it."""
    if isinstance(value, Mapping):
        return {key: unshared(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [unshared(inner) for inner in value]
    return value


def _cleaned(schema: Any, cap: int) -> Mapping[str, Any]:
    if not isinstance(schema, Mapping):
        return {}
    try:
        text = canonical_text(schema)
    except (TypeError, ValueError, RecursionError):
        text = ""
    # No default limit of discovery lets such a schema in; one tool must not cost the whole array.
    if (not text or text.count("{") + text.count("[") > DEEPEST) and not is_shallow(schema):
        return {"type": "object", "description": _TOO_DEEP}
    # Most schemas hold nothing that needs cleaning, and their JSON shows that without a walk.
    if text and _is_clean(text) and _is_short(text, cap):
        return schema
    cleaned = cleaned_schema(schema, cap)
    return cleaned if isinstance(cleaned, Mapping) else {}


def _is_clean(text: str) -> bool:
    """Whether JSON text, which escapes control characters, holds nothing to be cleaned away."""
    if any(map(text.__contains__, _ESCAPED)):
        return False
    return "\x7f" not in text if text.isascii() else clean(text) is text


def _is_short(text: str, cap: int) -> bool:
    """Whether no text inside this JSON is longer than `cap`; in doubt it says False."""
    if len(text) <= cap:
        return True
    return max(map(len, text.replace('\\"', "''").split('"'))) <= cap
