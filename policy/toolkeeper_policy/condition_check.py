"""Can the conditions of rules do what they seem to, given the schemas of the tools?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_contract import Effect, Tool, did_you_mean
from toolkeeper_policy.condition import CelCondition
from toolkeeper_policy.condition_names import path_of, paths_in, presence_of, scoped_children
from toolkeeper_policy.condition_syntax import Call, ListOf, Literal, Node, Operation, walk
from toolkeeper_policy.rule import Rule
from toolkeeper_policy.section import quoted

_TEXT_FUNCTIONS = frozenset(
    {"startsWith", "endsWith", "contains", "matches", "domain", "lowerAscii", "upperAscii", "trim",
     "split", "substring"}
)  # fmt: skip
_COMPOSED = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in")
_WORDS = {
    "string": "a text", "number": "a number", "integer": "a number", "boolean": "true or false",
    "array": "a list", "object": "a map", "null": "null",
}  # fmt: skip

Remark = tuple[str, str | None]
"""What is suspicious and what to do about it."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What the schemas of a rule's tools say of one argument.

    `types` are JSON Schema type names, None where they are not stated; `values` the only values
    that may stand there, None where any may.
    """

    types: frozenset[str] | None
    values: tuple[Any, ...] | None


def remarks(rule: Rule, tools: Sequence[Tool]) -> Iterator[Remark]:
    """What is suspicious about the condition of `rule`, whose selectors cover `tools`."""
    condition = rule.condition
    if not isinstance(condition, CelCondition):
        return
    if condition.text.strip() and condition.needs.nothing_of_the_call:
        yield _constant(condition)
    if contradiction := _contradiction(condition.tree):
        yield contradiction
    schemas = [_properties(tool) for tool in tools]
    known = [schema for schema in schemas if schema is not None]
    if not tools or len(known) < len(schemas):
        # Without tools nothing is known of arguments, nor of a schema put together from others.
        return
    guarded = _guarded(condition.tree)
    arguments: dict[str, Argument] = {}
    for (root, field), _ in paths_in(condition.tree):
        if root != "args" or field in arguments:
            continue
        having = [schema for schema in known if field in schema.properties]
        arguments[field] = _merged([schema.properties[field] for schema in having])
        if not having and not any(schema.open for schema in known):
            names = {name for schema in known for name in schema.properties}
            yield (
                f"no tool of this rule has the argument {quoted(field)}",
                did_you_mean(field, names),
            )
        elif having and rule.effect is not Effect.ALLOW and field not in guarded:
            lacking = [schema.tool for schema in known if field not in schema.required]
            if lacking:
                more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
                yield (
                    f"where {quoted(field)} is left out, the condition fails and the call is "
                    f"denied; `{lacking[0]}`{more} can be called without it",
                    f"ask for it first: `has(args.{field}) && ...`",
                )
    yield from _mistypes(condition.tree, arguments, frozenset())


@dataclass(frozen=True, slots=True)
class _Properties:
    tool: str
    properties: Mapping[str, Any]
    required: frozenset[str]
    open: bool


def _properties(tool: Tool) -> _Properties | None:
    """The arguments of a tool; None where they are not plainly written down."""
    schema = tool.definition.input_schema
    if not isinstance(schema, Mapping) or any(key in schema for key in _COMPOSED):
        return None
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        return None
    required = schema.get("required", ())
    named = [name for name in required if isinstance(name, str)] if required else []
    # Undeclared arguments may be sent almost everywhere. A tool that declares some is taken at
    # its word, unless it says that there are more.
    more = schema.get("additionalProperties", "properties" not in schema)
    is_open = bool(more) or "patternProperties" in schema
    return _Properties(tool.name, properties, frozenset(named), is_open)


def _merged(schemas: Sequence[Any]) -> Argument:
    if not schemas:
        return Argument(None, None)
    types: set[str] | None = set()
    values: list[Any] | None = []
    for schema in schemas:
        if not isinstance(schema, Mapping) or any(key in schema for key in _COMPOSED):
            return Argument(None, None)
        stated = schema.get("type")
        if types is not None and isinstance(stated, str):
            types.add(stated)
        elif types is not None and isinstance(stated, list):
            types.update(one for one in stated if isinstance(one, str))
        else:
            types = None
        enum = [schema["const"]] if "const" in schema else schema.get("enum")
        if values is not None and isinstance(enum, list):
            values.extend(enum)
        else:
            values = None
    return Argument(
        frozenset(types) if types else None, tuple(values) if values is not None else None
    )


def _mistypes(
    node: Node, arguments: Mapping[str, Argument], scope: frozenset[str]
) -> Iterator[Remark]:
    """Operations that the stated types of arguments can never satisfy."""
    if isinstance(node, Operation) and node.operator in _COMPARISONS:
        left, right = node.operands
        for side, other in ((left, right), (right, left)):
            path = path_of(side, scope)
            if path is None or path[0] != "args" or path[1] not in arguments:
                continue
            if node.operator == "in" and side is right:
                continue
            words = other.items if isinstance(other, ListOf) and node.operator == "in" else (other,)
            for word in words:
                if isinstance(word, Literal):
                    yield from _mismatch(path[1], arguments[path[1]], word.value, node.operator)
    if isinstance(node, Call):
        target = node.target if node.target is not None else next(iter(node.arguments), None)
        path = None if target is None else path_of(target, scope)
        if path is not None and path[0] == "args" and path[1] in arguments:
            types = arguments[path[1]].types
            wanted = _wanted(node)
            if types is not None and wanted is not None and types.isdisjoint(wanted):
                yield (
                    f"{quoted(node.function)} does not work on {quoted(path[1])}, which is "
                    f"{_worded(types)}",
                    "the rule would fail at every call",
                )
    for child, inner in scoped_children(node, scope):
        yield from _mistypes(child, arguments, inner)


def _wanted(call: Call) -> frozenset[str] | None:
    if call.comprehends:
        return frozenset({"array", "object"})
    return frozenset({"string"}) if call.function in _TEXT_FUNCTIONS else None


def _mismatch(name: str, argument: Argument, value: Any, operator: str) -> Iterator[Remark]:
    kind = _type_of(value)
    if kind is None:
        return
    types = argument.types
    if types is not None and value is not None and types.isdisjoint(kind):
        yield (
            f"{quoted(name)} is {_worded(types)} and never equals {quoted(str(value))}",
            f"compare it with {_worded(types)}",
        )
    elif (
        argument.values is not None
        and operator in ("==", "!=", "in")
        and value not in argument.values
    ):
        options = [str(option) for option in argument.values]
        yield f"{quoted(name)} is never {quoted(str(value))}", did_you_mean(str(value), options)


def _type_of(value: Any) -> frozenset[str] | None:
    if value is None:
        return frozenset({"null"})
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int | float):
        return frozenset({"number", "integer"})
    return frozenset({"string"}) if isinstance(value, str) else None


def _worded(types: frozenset[str]) -> str:
    return " or ".join(sorted({_WORDS.get(name, name) for name in types}))


def _guarded(tree: Node) -> frozenset[str]:
    """The arguments for whose presence the condition asks somewhere."""
    found: set[str] = set()
    for node in walk(tree):
        present = presence_of(node)
        if present is not None:
            found.add(present[1])
        elif (
            isinstance(node, Operation)
            and node.operator == "in"
            and isinstance(node.operands[0], Literal)
        ):
            found.add(str(node.operands[0].value))
    return frozenset(found)


def _constant(condition: CelCondition) -> Remark:
    return (
        "the condition looks at nothing of the call, so it is always the same",
        "use args, tool, principal, agent, session or call in it, or leave `when` out",
    )


def _contradiction(tree: Node) -> Remark | None:
    """Two equalities of one field that cannot both hold: then the rule never matches."""
    wanted: dict[tuple[str, str], Any] = {}
    for part in _conjuncts(tree):
        if not isinstance(part, Operation) or part.operator != "==":
            continue
        left, right = part.operands
        for side, other in ((left, right), (right, left)):
            path = path_of(side)
            if path is None or not isinstance(other, Literal):
                continue
            if path in wanted and wanted[path] != other.value:
                return (
                    f"{quoted('.'.join(path))} cannot equal two values at once, so the rule can "
                    "never match",
                    "write `||` between them, or `in [...]`",
                )
            wanted[path] = other.value
    return None


def _conjuncts(node: Node) -> Iterator[Node]:
    if isinstance(node, Operation) and node.operator == "&&":
        for operand in node.operands:
            yield from _conjuncts(operand)
    else:
        yield node
