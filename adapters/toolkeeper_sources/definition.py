"""May this tool enter the registry at all?"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import jsonschema_rs

from toolkeeper_contract import ToolDefinition, canonical_bytes, is_parameter_name, is_tool_name
from toolkeeper_pipeline.schema import (
    BACKTRACK_LIMIT,
    BadSchema,
    Dialect,
    canonical_dialect,
    compile_schema,
    expectation,
)
from toolkeeper_pipeline.schema_document import SchemaDocument
from toolkeeper_sources.limits import MAX_TEXT, SchemaLimits
from toolkeeper_sources.references import bad_reference
from toolkeeper_sources.schema_size import oversize

DEFAULT_LIMITS = SchemaLimits()


def check_definition(
    definition: ToolDefinition, *, limits: SchemaLimits = DEFAULT_LIMITS
) -> str | None:
    """Why the tool is refused, in lower case and without its own words; None when it is not.

    Takes definitions as they arrived, whatever the types of their fields. No file, no network.
    """
    return (
        _bad_text(definition)
        or _bad_schema(definition.input_schema, limits, "input schema")
        or (
            _bad_schema(definition.output_schema, limits, "output schema")
            if definition.output_schema is not None
            else None
        )
        or _bad_annotations(definition.annotations, limits)
    )


def _bad_text(definition: ToolDefinition) -> str | None:
    name: Any = definition.name
    if not isinstance(name, str):
        return "its name is not a string"
    if not is_tool_name(name):
        return "its name is not 1 to 128 characters of `A-Z a-z 0-9 _ . -`"
    texts: tuple[tuple[str, Any], ...] = (
        ("description", definition.description),
        ("title", definition.title),
    )
    for field, text in texts:
        if text is None and field == "title":
            continue
        if not isinstance(text, str):
            return f"its {field} is not a string"
        if len(text) > MAX_TEXT:
            return f"its {field} is longer than {MAX_TEXT:,} characters"
        if not _encodes(text):
            return f"its {field} has a character that utf-8 cannot carry"
    return None


def _bad_annotations(annotations: Any, limits: SchemaLimits) -> str | None:
    if annotations is None:
        return None
    if not isinstance(annotations, Mapping):
        return "its annotations are not an object"
    if oversize(dict(annotations), limits) is not None or _canonical(annotations) is None:
        return "its annotations are too big, or not json"
    return None


def _bad_schema(schema: Any, limits: SchemaLimits, which: str) -> str | None:
    if not isinstance(schema, Mapping):
        return f"its {which} is not an object"
    plain = schema if isinstance(schema, dict) else dict(schema)
    reason = oversize(plain, limits)
    if reason is None:
        data = _canonical(plain)
        if data is None:
            reason = "the schema has a character that utf-8 cannot carry"
        elif len(data) > limits.size:
            reason = f"the schema is larger than {limits.size:,} bytes"
        else:
            reason = _bad_content(plain)
    return None if reason is None else f"its {which}: {reason}"


def _bad_content(schema: dict[str, Any]) -> str | None:
    root_type = schema.get("type", "object")
    if root_type != "object" and not (isinstance(root_type, list) and "object" in root_type):
        return "the type at its root is not `object`"
    dialect = Dialect.of(schema)
    if dialect is None:
        return "its `$schema` names no known dialect (draft-04, -06, -07, 2019-09, 2020-12)"
    canonical = canonical_dialect(schema)
    return (
        _bad_keywords(canonical, dialect)
        or _bad_parts(SchemaDocument(canonical, dialect))
        or _uncompilable(canonical)
    )


def _bad_keywords(schema: dict[str, Any], dialect: Dialect) -> str | None:
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        place = "/".join(str(part) for part in error.instance_path[-3:])
        where = f"`{place}` " if all(map(is_parameter_name, place.split("/"))) else "a keyword "
        expected = expectation(error, {})
        hint = ""
        if error.instance_path[-1:] == ["type"]:
            expected = "a type of json, or a list of them"
        if error.instance_path[-1:] in (["exclusiveMinimum"], ["exclusiveMaximum"]):
            hint = "; a boolean there is draft-04"
        return f"{where}is not valid under {dialect.label}, expected {expected}{hint}"
    except ValueError:
        return f"it cannot be read as a schema of {dialect.label}"
    return None


def _bad_parts(document: SchemaDocument) -> str | None:
    reason = bad_reference(document)
    if reason is not None:
        return reason
    for node in document.nodes.values():
        if not all(map(is_parameter_name, _names(node.schema))):
            return "a parameter's name is not 1 to 128 characters of `A-Z a-z 0-9 _ . $ @ : -`"
        if not all(map(_pattern_runs, _patterns(node.schema))):
            return "a pattern is one that no bounded engine accepts"
        if "$schema" in node.schema and Dialect.of(node.schema) is not document.dialect:
            return "a part of it declares another dialect"
    return None


def _names(schema: dict[str, Any]) -> Iterator[str]:
    """Every name of a parameter that an index line, a fault or a card could show."""
    for keyword in ("properties", "dependencies", "dependentRequired", "dependentSchemas"):
        named = schema.get(keyword)
        if isinstance(named, dict):
            yield from named
            for needed in named.values():
                if isinstance(needed, list):
                    yield from (name for name in needed if isinstance(name, str))
    required = schema.get("required")
    if isinstance(required, list):
        yield from (name for name in required if isinstance(name, str))


def _patterns(schema: dict[str, Any]) -> Iterator[str]:
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield pattern
    named = schema.get("patternProperties")
    if isinstance(named, dict):
        yield from named


@lru_cache(maxsize=4096)
def _pattern_runs(pattern: str) -> bool:
    for options in (
        jsonschema_rs.RegexOptions(),
        jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
    ):
        try:
            jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options)
        except ValueError:
            continue
        return True
    return False


def _uncompilable(schema: dict[str, Any]) -> str | None:
    try:
        compile_schema(schema)
    except BadSchema:
        return "it cannot be compiled: a reference or a keyword of it is broken"
    return None


def _canonical(value: Any) -> bytes | None:
    try:
        return canonical_bytes(value)
    except (TypeError, ValueError):
        return None


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
