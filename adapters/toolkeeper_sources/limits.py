"""How much may a source ask us to read?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Bounds of one schema: `size` in bytes of canonical JSON, `depth` in levels of nesting,
    `nodes` in JSON values of any kind, names included.
    """

    size: int = 512 * 1024
    depth: int = 100
    nodes: int = 20_000


@dataclass(frozen=True, slots=True)
class ListingLimits:
    """Bounds of one listing: `size` in bytes of all pages together, `schemas` for each tool."""

    pages: int = 200
    tools: int = 10_000
    size: int = 32 * 1024 * 1024
    schemas: SchemaLimits = SchemaLimits()


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """Bounds of what one call may give back, before anybody looks at it: `size` in bytes of its
    message, or characters of its texts, `depth` in levels, `nodes` in values. The limits of the
    agent that called are narrower.
    """

    size: int = 32 * 1024 * 1024
    depth: int = 250
    nodes: int = 1_000_000


RESULT_LIMITS = ResultLimits()

MAX_TEXT = 64 * 1024
"""The longest description or title that a tool may have, in characters."""

MAX_NAME = 128
"""How much of a refused tool's name is repeated, in characters."""
