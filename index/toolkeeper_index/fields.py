"""Which words of a tool does a search look at, and what does each place weigh?"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Tool
from toolkeeper_index.parameter import property_schemas
from toolkeeper_index.words import words

# No more than this of one text is indexed: descriptions of megabytes exist.
_WINDOW = 8_192
_MAX_ENUM = 32


@dataclass(frozen=True, slots=True)
class Field:
    """A place where words stand.

    `weight` multiplies its frequencies; `length` (0 to 1) says how far a long text is discounted.
    Measured by `bench/retrieval.py`; the ranking hardly moves when either is halved or doubled.
    """

    weight: float
    length: float


FIELDS = (
    Field(4.0, 0.3),  # the name
    Field(1.0, 0.0),  # the source's id
    Field(1.0, 0.6),  # title and description
    Field(1.0, 0.6),  # parameter names
    Field(0.5, 0.6),  # parameter descriptions and the words of their enumerations
)


def field_terms(tool: Tool) -> tuple[Counter[str], ...]:
    """The terms of `tool` with their frequencies, one counter for each of `FIELDS`."""
    definition = tool.definition
    schemas = property_schemas(definition.input_schema)
    texts = (
        tool.identity.raw_name,
        tool.identity.source if tool.foreign else "",
        f"{definition.title or ''}\n{definition.description[:_WINDOW]}",
        "\n".join(schemas)[:_WINDOW],
        "\n".join(_described(schemas.values()))[:_WINDOW],
    )
    return tuple(Counter(words(text)) for text in texts)


def _described(schemas: Iterable[Any]) -> Iterable[str]:
    for schema in schemas:
        if not isinstance(schema, Mapping):
            continue
        description = schema.get("description")
        if isinstance(description, str):
            yield description[:_WINDOW]
        values = schema.get("enum")
        if isinstance(values, list | tuple):
            yield from (value[:64] for value in values[:_MAX_ENUM] if isinstance(value, str))
