"""Do these arguments keep to the tool's input schema, and if not, where and why?"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any, NoReturn

import jsonschema_rs

from toolkeeper_contract import is_parameter_name, nearest

MAX_FAULTS = 8
BACKTRACK_LIMIT = 100_000
"""Steps that a pattern with a look-around may take; running over is a fault, never valid."""

_MAX_OPTIONS = 12


class Dialect(Enum):
    """The dialects of JSON Schema that are understood, by canonical `$schema` URI."""

    DRAFT_04 = "http://json-schema.org/draft-04/schema#"
    DRAFT_06 = "http://json-schema.org/draft-06/schema#"
    DRAFT_07 = "http://json-schema.org/draft-07/schema#"
    DRAFT_2019_09 = "https://json-schema.org/draft/2019-09/schema"
    DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> "Dialect | None":
        """What `$schema` names, 2020-12 when there is none, None when it is foreign."""
        uri = schema.get("$schema")
        if uri is None:
            return cls.DRAFT_2020_12
        return _BY_BARE_URI.get(_bare(uri)) if isinstance(uri, str) else None

    @property
    def label(self) -> str:
        """`draft-07`, `2020-12`: as people write it."""
        return (
            self.name.lower()
            .replace("draft_", "draft-" if "DRAFT_0" in self.name else "")
            .replace("_", "-")
        )


def _bare(uri: str) -> str:
    # Both schemes and a missing `#` are common in the wild and mean the same dialect.
    return uri.removeprefix("https://").removeprefix("http://").removesuffix("#")


_BY_BARE_URI = {_bare(dialect.value): dialect for dialect in Dialect}

_VALIDATORS: Mapping[Dialect, type[jsonschema_rs.Validator]] = {
    Dialect.DRAFT_04: jsonschema_rs.Draft4Validator,
    Dialect.DRAFT_06: jsonschema_rs.Draft6Validator,
    Dialect.DRAFT_07: jsonschema_rs.Draft7Validator,
    Dialect.DRAFT_2019_09: jsonschema_rs.Draft201909Validator,
    Dialect.DRAFT_2020_12: jsonschema_rs.Draft202012Validator,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One place where arguments break the schema.

    `path` is a JSON pointer into the arguments ("" for the whole object), with `*` for a name that
    the schema does not know. `keyword` is the schema's. `expected` is a sentence of ours in lower
    case; it quotes names, numbers and plain options of the schema, never a value of the arguments.
    """

    path: str
    keyword: str
    expected: str


class BadSchema(ValueError):
    """The schema cannot be compiled; discovery refuses such a tool, with a better reason."""


class ArgumentSchema:
    """A compiled input schema: immutable, cheap to ask, safe to share.

    Formats are annotations, as the standard has it; values are never coerced. Raises BadSchema.
    """

    __slots__ = ("_names", "_recursive", "_schema", "_validator")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = canonical_dialect(schema)
        self._validator = compile_schema(self._schema)
        self._names: frozenset[str] | None = None
        self._recursive: bool | None = None

    def is_valid(self, arguments: Mapping[str, Any]) -> bool:
        """Whether `arguments` is an object that the schema accepts."""
        if not isinstance(arguments, Mapping):
            return False
        try:
            return self._validator.is_valid(_plain(arguments))
        except ValueError:
            return False

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """What is wrong, at most eight entries; empty when the arguments are valid."""
        # That arguments are an object is our own rule: a schema without `type` takes a list.
        if isinstance(arguments, dict):
            plain = arguments  # asked first: to ask for a mapping takes longer
        elif isinstance(arguments, Mapping):
            plain = dict(arguments)
        else:
            return (Fault("", "type", "an object"),)
        try:
            if self._validator.is_valid(plain):
                return ()
            found = self._explained(plain)
        except ValueError:
            found = ()
        # INVARIANT: what the engine cannot judge (too deep, a reference that fails) is a fault.
        return found or (Fault("", "schema", "arguments that the schema can be applied to"),)

    def _explained(self, arguments: dict[str, Any]) -> tuple[Fault, ...]:
        # Asking why costs more than asking whether: each alternative is explained in full, and in a
        # schema that contains itself that doubles with every level of the arguments.
        if self._recursive is None:
            self._recursive = _is_recursive(self._schema)
        validator = self._validator
        if self._recursive:
            validator = compile_schema(_surface(self._schema))
        errors = islice(validator.iter_errors(arguments), MAX_FAULTS)
        found = tuple(dict.fromkeys(self._fault(error) for error in errors))
        return found or tuple(self._located(arguments))

    def _located(self, arguments: dict[str, Any]) -> Iterator[Fault]:
        """The properties at fault, without a word on what is wrong inside them."""
        parts = jsonschema_rs.validator_map_for(self._schema, **_options(_BACKTRACKING))
        for name in self._schema.get("properties", {}):
            if name not in arguments or not is_parameter_name(name):
                continue
            part = parts.get(f"#/properties/{name}")
            if part is not None and not part.is_valid(arguments[name]):
                yield Fault(f"/{name}", "schema", "a value that the schema allows")

    def _fault(self, error: jsonschema_rs.ValidationError) -> Fault:
        return Fault(
            path=self._pointer(error.instance_path),
            keyword=error.kind.name,
            expected=expectation(error, self._schema),
        )

    def _pointer(self, path: list[str | int]) -> str:
        if self._names is None:
            self._names = frozenset(_property_names(self._schema))
        return "".join(f"/{self._segment(part)}" for part in path)

    def _segment(self, part: str | int) -> str:
        if isinstance(part, int):
            return str(part)
        return part if part in (self._names or ()) and is_parameter_name(part) else "*"


def canonical_dialect(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its `$schema` spelled canonically; raises BadSchema when it is foreign."""
    dialect = Dialect.of(schema)
    if dialect is None:
        raise BadSchema("the schema's dialect is not known")
    return {**schema, "$schema": dialect.value}


def compile_schema(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    """A validator for a schema with a canonical `$schema`; raises BadSchema.

    Patterns run in the linear engine; a schema with a pattern it cannot take (a look-ahead) runs
    in the backtracking one, under a limit. Nothing is ever fetched.
    """
    validator = _VALIDATORS[Dialect(schema["$schema"])]
    for patterns in (jsonschema_rs.RegexOptions(), _BACKTRACKING):
        with suppress(ValueError):
            return validator(schema, **_options(patterns))
    raise BadSchema("the schema cannot be compiled")


_BACKTRACKING = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)


def _options(
    patterns: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions,
) -> dict[str, Any]:
    return {
        "validate_formats": False,
        "retriever": _refuse_to_fetch,
        "pattern_options": patterns,
    }


def _refuse_to_fetch(_uri: str) -> NoReturn:
    # Left alone, the engine would send an HTTP request for a remote reference.
    raise ValueError("remote references are not followed")


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return arguments if isinstance(arguments, dict) else dict(arguments)


def _property_names(schema: Any) -> Iterator[str]:
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            properties = node.get("properties")
            if isinstance(properties, dict):
                yield from properties
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _surface(schema: dict[str, Any]) -> dict[str, Any]:
    """What the root says of the object itself, without going into its values."""
    kept = {key: value for key, value in schema.items() if key in _OF_THE_OBJECT}
    kept["properties"] = {name: {} for name in schema.get("properties", {})}
    if schema.get("additionalProperties") is False and "patternProperties" not in schema:
        kept["additionalProperties"] = False
    return kept


_OF_THE_OBJECT = frozenset(
    {"$schema", "type", "required", "minProperties", "maxProperties", "dependentRequired"}
)


def _is_recursive(schema: dict[str, Any]) -> bool:
    """Whether a reference leads back to where it stands; what is unclear counts as recursive."""
    finished: set[int] = set()
    path: set[int] = set()
    stack: list[tuple[Any, bool]] = [(schema, False)]
    while stack:
        node, left = stack.pop()
        if left:
            path.discard(id(node))
            finished.add(id(node))
            continue
        if id(node) in path:
            return True
        if id(node) in finished:
            continue
        path.add(id(node))
        stack.append((node, True))
        below = node.values() if isinstance(node, dict) else node
        stack.extend((item, False) for item in below if isinstance(item, dict | list))
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(node, dict) and isinstance(node.get(keyword), str):
                target = _pointed(schema, node[keyword])
                if not isinstance(target, dict):
                    return True
                stack.append((target, False))
    return False


def _pointed(schema: dict[str, Any], reference: str) -> Any:
    node: Any = schema
    for part in reference.removeprefix("#").split("/")[1:] if reference[:1] == "#" else [reference]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            node = node.get(key) if isinstance(node, dict) else None
    return node if reference == "#" or reference.startswith("#/") else None


# -- what the schema expected, in our words --


def expectation(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> str:
    """What `schema` asks for at the place of `error`, without a value of the instance."""
    keyword = error.kind.name
    detail = error.kind.as_dict()
    if keyword == "type":
        return " or ".join(_article(name) for name in detail["types"])
    if keyword == "required":
        return f"the property {_name(detail['property'])}, which is missing"
    if keyword in ("additionalProperties", "unevaluatedProperties"):
        return _no_unknown(detail["unexpected"], _known_names(error, schema))
    if keyword == "enum":
        return _one_of(detail["options"])
    if keyword == "const":
        return _one_of([detail["expected_value"]])
    if keyword in _LIMITS:
        return _LIMITS[keyword].format(limit=_number(next(iter(detail.values()))))
    return _SENTENCES.get(keyword, "a value that the schema allows")


_LIMITS = {
    "minimum": "a number of at least {limit}",
    "maximum": "a number of at most {limit}",
    "exclusiveMinimum": "a number greater than {limit}",
    "exclusiveMaximum": "a number less than {limit}",
    "multipleOf": "a multiple of {limit}",
    "minLength": "at least {limit} characters",
    "maxLength": "at most {limit} characters",
    "minItems": "at least {limit} items",
    "maxItems": "at most {limit} items",
    "minProperties": "at least {limit} properties",
    "maxProperties": "at most {limit} properties",
}

_SENTENCES = {
    "pattern": "text that the schema's pattern matches",
    "uniqueItems": "items that all differ",
    "contains": "an item of the kind that the schema asks for",
    "anyOf": "a value that at least one of the schema's alternatives allows",
    "oneOf": "a value that exactly one of the schema's alternatives allows",
    "not": "a value that the schema does not exclude",
    "falseSchema": "nothing: the schema allows no value here",
    "additionalItems": "no further items",
    "unevaluatedItems": "no further items",
    "propertyNames": "property names of the form that the schema asks for",
}


def _article(type_name: str) -> str:
    if type_name == "null":
        return type_name
    return f"{'an' if type_name[:1] in 'aeiou' else 'a'} {type_name}"


def _name(name: str) -> str:
    return f"`{name}`" if is_parameter_name(name) else "that the schema requires"


def _number(limit: Any) -> str:
    return str(limit) if isinstance(limit, int | float) else "the schema's limit"


def _one_of(options: list[Any]) -> str:
    # A server's option may be anything, so only plain words and numbers are repeated.
    shown = [json.dumps(option) for option in options if _is_plain(option)]
    if len(shown) != len(options) or len(shown) > _MAX_OPTIONS:
        return f"one of the {len(options)} values that the schema lists"
    return shown[0] if len(shown) == 1 else "one of " + ", ".join(shown)


def _is_plain(option: Any) -> bool:
    if isinstance(option, str):
        return is_parameter_name(option)
    return option is None or isinstance(option, bool | int | float)


def _no_unknown(unexpected: list[str], known: list[str]) -> str:
    count = len(unexpected)
    sentence = f"no unknown properties; {count} {'is' if count == 1 else 'are'} unknown"
    guesses = dict.fromkeys(
        guess for name in unexpected[:4] if (guess := nearest(name[:128], known))
    )
    if guesses:
        return f"{sentence}, did you mean {' and '.join(f'`{guess}`' for guess in guesses)}?"
    if 0 < len(known) <= _MAX_OPTIONS:
        return f"{sentence}, known are {', '.join(f'`{name}`' for name in known)}"
    return sentence


def _known_names(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> list[str]:
    node: Any = schema
    for part in error.schema_path[:-1]:
        try:
            node = node[part]
        except (KeyError, IndexError, TypeError):
            return []
    properties = node.get("properties") if isinstance(node, dict) else None
    return sorted(filter(is_parameter_name, properties)) if isinstance(properties, dict) else []
