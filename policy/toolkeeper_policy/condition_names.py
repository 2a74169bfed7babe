"""Does everything that a condition names exist, and what of a call does it look at?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolkeeper_contract import Flag, Origin, SideEffect, did_you_mean
from toolkeeper_policy.condition_function import (
    FUNCTIONS_OF_CONDITIONS,
    FunctionFault,
    compiled,
)
from toolkeeper_policy.condition_syntax import (
    COMPREHENSIONS,
    Call,
    Index,
    ListOf,
    Literal,
    Name,
    Node,
    Operation,
    Select,
    children,
)
from toolkeeper_policy.condition_token import ConditionFault
from toolkeeper_policy.section import quoted

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

FIELDS: Mapping[str, tuple[str, ...] | None] = {
    "args": None,
    "tool": ("name", "source", "side_effect", "flags", "trust"),
    "principal": ("user", "scopes"),
    "agent": (),
    "session": ("attributes", "taint", "tainted", "private"),
    "call": ("advertised_as", "date", "time", "hour", "minute", "weekday"),
}
"""The variables of conditions and their fields; None where any field may be there."""

_OPTIONS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("tool", "side_effect"): tuple(side_effect.value for side_effect in SideEffect),
    ("tool", "flags"): tuple(flag.value for flag in Flag),
    ("tool", "trust"): ("trusted", "untrusted"),
    ("session", "taint"): ("tainted", "private"),
    ("call", "advertised_as"): ("definition", "tool.call", "search", "direct"),
    ("call", "weekday"): WEEKDAYS,
}
_TYPES = frozenset({"int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type"})
_STANDARD: Mapping[str, tuple[int, ...]] = {
    # How many arguments each takes; for a method, its target is the first.
    "size": (1,),
    "contains": (2,),
    "startsWith": (2,),
    "endsWith": (2,),
    "has": (1,),
    "int": (1,),
    "uint": (1,),
    "double": (1,),
    "string": (1,),
    "bytes": (1,),
    "type": (1,),
    "dyn": (1,),
    "timestamp": (1,),
    "duration": (1,),
    **{
        f"get{part}": (1,)
        for part in (
            "FullYear", "Month", "Date", "DayOfMonth", "DayOfWeek", "DayOfYear",
            "Hours", "Minutes", "Seconds", "Milliseconds",
        )
    },
}  # fmt: skip
_OWN: Mapping[str, tuple[int, ...]] = {
    "origin": (1,), "domain": (1,), "matches": (2,), "lowerAscii": (1,), "upperAscii": (1,),
    "trim": (1,), "split": (2,), "substring": (2, 3),
}  # fmt: skip
_ARITIES = {**_STANDARD, **_OWN}
_METHODS_ONLY = frozenset({"contains", "startsWith", "endsWith"})
_FUNCTIONS_ONLY = frozenset({"has", "type", "dyn", "int", "uint", "double", "string", "bytes"})


@dataclass(frozen=True, slots=True)
class Needs:
    """What a condition looks at.

    `paths` are the variables and fields that it reads, `presence` those for which `has` asks,
    `wholes` the variables that it reads as a whole, `functions` the ones of ours that it calls.
    """

    paths: frozenset[tuple[str, str]] = frozenset()
    presence: frozenset[tuple[str, str]] = frozenset()
    wholes: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()

    @property
    def nothing_of_the_call(self) -> bool:
        return not (self.paths or self.presence or self.wholes)

    def union(self, other: "Needs") -> "Needs":
        """What both together look at."""
        return Needs(
            self.paths | other.paths,
            self.presence | other.presence,
            self.wholes | other.wholes,
            self.functions | other.functions,
        )


NOTHING = Needs()


def needs_of(node: Node) -> Needs:
    """What `node` looks at; raises ConditionFault for a name that does not exist."""
    reader = _Reader()
    reader.read(node, frozenset())
    return Needs(
        frozenset(reader.paths),
        frozenset(reader.presence),
        frozenset(reader.wholes),
        frozenset(reader.functions),
    )


def presence_of(node: Node) -> tuple[str, str] | None:
    """`("args", "to")` for `has(args.to)`; None for anything else."""
    if isinstance(node, Call) and node.function == "has" and node.target is None:
        path = path_of(node.arguments[0]) if len(node.arguments) == 1 else None
        return path if path is not None and path[0] in FIELDS else None
    return None


def paths_in(
    node: Node, scope: frozenset[str] = frozenset()
) -> Iterator[tuple[tuple[str, str], Node]]:
    """Every `variable.field` in `node` with its place, comprehensions' own variables left out."""
    path = path_of(node, scope)
    if path is not None:
        yield path, node
    for child, inner in scoped_children(node, scope):
        yield from paths_in(child, inner)


def path_of(node: Node, scope: frozenset[str] = frozenset()) -> tuple[str, str] | None:
    """`("args", "to")` for `args.to` or `args["to"]`; None for anything else."""
    if isinstance(node, Select) and isinstance(node.operand, Name):
        root, field = node.operand.name, node.field
    elif (
        isinstance(node, Index)
        and isinstance(node.operand, Name)
        and isinstance(node.key, Literal)
        and isinstance(node.key.value, str)
    ):
        root, field = node.operand.name, node.key.value
    else:
        return None
    return None if root in scope else (root, field)


def scoped_children(node: Node, scope: frozenset[str]) -> Iterator[tuple[Node, frozenset[str]]]:
    """The direct parts of `node`, each with the comprehension variables that hold in it."""
    if isinstance(node, Call) and node.variable is not None and node.target is not None:
        yield node.target, scope
        for body in node.arguments[1:]:
            yield body, scope | {node.variable}
        return
    for child in children(node):
        yield child, scope


class _Reader:
    def __init__(self) -> None:
        self.paths: set[tuple[str, str]] = set()
        self.presence: set[tuple[str, str]] = set()
        self.wholes: set[str] = set()
        self.functions: set[str] = set()

    def read(self, node: Node, scope: frozenset[str]) -> None:
        path = path_of(node, scope)
        if path is not None and path[0] in FIELDS:
            _check_field(*path)
            self.paths.add(path)
            return
        if isinstance(node, Name):
            self._name(node.name, scope)
        elif isinstance(node, Call):
            self._call(node)
        elif isinstance(node, Operation):
            _check_options(node, scope)
        present = presence_of(node)
        if present is not None:
            _check_field(*present)
            self.presence.add(present)
            return
        for child, inner in scoped_children(node, scope):
            self.read(child, inner)

    def _name(self, name: str, scope: frozenset[str]) -> None:
        if name in scope:
            return
        if name in FIELDS:
            self.wholes.add(name)
        elif name not in _TYPES:
            raise ConditionFault(f"there is no variable {quoted(name)}", did_you_mean(name, FIELDS))

    def _call(self, call: Call) -> None:
        name = call.function
        if name in COMPREHENSIONS:
            _check_comprehension(call)
            return
        arity = _ARITIES.get(name)
        if arity is None:
            raise ConditionFault(
                f"there is no function {quoted(name)}",
                did_you_mean(name, (*_ARITIES, *COMPREHENSIONS)),
            )
        given = len(call.arguments) + (call.target is not None)
        if name in _METHODS_ONLY and call.target is None:
            raise ConditionFault(f"`{name}` is called on a text", f"write `TEXT.{name}(...)`")
        if name in _FUNCTIONS_ONLY and call.target is not None:
            raise ConditionFault(f"`{name}` is a function", f"write `{name}(...)`")
        if given not in arity:
            wanted = " or ".join(str(count - (call.target is not None)) for count in arity)
            raise ConditionFault(f"`{name}` takes {wanted} arguments, not {len(call.arguments)}")
        if name == "has" and not isinstance(call.arguments[0], Select):
            raise ConditionFault(
                "`has` asks for a field", 'write `has(args.name)`, or `"name" in args`'
            )
        if name in FUNCTIONS_OF_CONDITIONS or name == "origin":
            self.functions.add(name)
        if name == "matches":
            _check_pattern(call.arguments[-1])


def _check_field(root: str, field: str) -> None:
    known = FIELDS[root]
    if known is not None and field not in known:
        if not known:
            raise ConditionFault(f"`{root}` is a text and has no {quoted(field)}")
        raise ConditionFault(f"there is no {quoted(f'{root}.{field}')}", did_you_mean(field, known))


def _check_comprehension(call: Call) -> None:
    name = call.function
    if call.target is None:
        raise ConditionFault(f"`{name}` is called on a list", f"write `LIST.{name}(x, ...)`")
    if call.variable is None or len(call.arguments) not in ((2, 3) if name == "map" else (2,)):
        raise ConditionFault(
            f"`{name}` takes a variable and a condition", f"write `LIST.{name}(x, ...)`"
        )
    if call.variable in FIELDS or call.variable.startswith("__"):
        # The variable would hide what the call's own data are called.
        raise ConditionFault(
            f"`{call.variable}` is taken already", f"use another variable in `{name}`"
        )


def _check_pattern(pattern: Node) -> None:
    if isinstance(pattern, Literal):
        if not isinstance(pattern.value, str):
            raise ConditionFault("`matches` takes a pattern in quotes")
        try:
            compiled(pattern.value)
        except FunctionFault as fault:
            raise ConditionFault(
                f"{fault}: {quoted(pattern.value)}",
                "patterns have the syntax of re2: no look-around, no back-references",
            ) from None


def _check_options(node: Operation, scope: frozenset[str]) -> None:
    """Refuses a comparison with a word that can never be there."""
    if node.operator not in ("==", "!=", "in"):
        return
    left, right = node.operands
    for side, other in ((left, right), (right, left)):
        options = _options(side, scope)
        if options is None:
            continue
        words = other.items if isinstance(other, ListOf) else (other,)
        for word in words:
            if isinstance(word, Literal) and word.value not in options:
                raise ConditionFault(
                    f"{quoted(str(word.value))} can never be there",
                    did_you_mean(str(word.value), options),
                )


def _options(node: Node, scope: frozenset[str]) -> tuple[str, ...] | None:
    if isinstance(node, Call) and node.function == "origin":
        return tuple(origin.value for origin in Origin)
    path = path_of(node, scope)
    return None if path is None else _OPTIONS.get(path)
