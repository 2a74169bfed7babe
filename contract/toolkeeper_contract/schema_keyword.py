"""Under which keywords of a JSON Schema, of any dialect, do further schemas stand?

Whoever looks for schemas anywhere else mistakes a parameter called `items`, an enum's value or a
default for one.
"""

ONE_SCHEMA = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is a schema."""

SCHEMA_LIST = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
"""Keywords whose value may be a list of schemas."""

NAMED_SCHEMAS = frozenset(
    {
        "$defs",
        "definitions",
        "dependencies",
        "dependentSchemas",
        "patternProperties",
        "properties",
    }
)
"""Keywords whose value maps names to schemas."""
