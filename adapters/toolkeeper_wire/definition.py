"""Which name, description and schema of a tool may go on the wire?"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool
from toolkeeper_index import cleaned_definition_text, cleaned_schema
from toolkeeper_wire.projection import ANY_NAME, object_root

_UNCAPPED = 1_000_000


@dataclass(frozen=True, slots=True)
class WireDefinition:
    """A tool under its wire name; texts are cleaned, foreign ones are capped too."""

    name: str
    description: str
    schema: dict[str, Any]


def wire_definition(tool: Tool, name: str, names: re.Pattern[str] = ANY_NAME) -> WireDefinition:
    """`tool` as `name`, with a schema that providers accept; `names` fit at the schema's root."""
    return WireDefinition(
        name, wire_description(tool), object_root(clean_input_schema(tool), names)
    )


def wire_description(tool: Tool) -> str:
    """The description without hidden characters."""
    return cleaned_definition_text(tool.definition.description, **_cap(tool))


def clean_input_schema(tool: Tool) -> Mapping[str, Any]:
    """The input schema with its texts cleaned; what it accepts stays the same."""
    schema = cleaned_schema(tool.definition.input_schema, **_cap(tool))
    return schema if isinstance(schema, Mapping) else {}


def _cap(tool: Tool) -> dict[str, int]:
    # A long description of ours is its author's choice, and priced as such.
    return {} if tool.foreign else {"cap": _UNCAPPED}
