"""Does what a rule says `when` hold for a call?"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from toolkeeper_policy.call_view import (
    MATCHES,
    CallView,
    field_variable,
    presence_variable,
)
from toolkeeper_policy.condition_cost import Cost, TooCostly, cost_of
from toolkeeper_policy.condition_names import (
    FIELDS,
    NOTHING,
    Needs,
    needs_of,
    path_of,
    presence_of,
)
from toolkeeper_policy.condition_syntax import (
    Call,
    Index,
    Literal,
    Node,
    Select,
    Span,
    children,
    parse_condition,
)
from toolkeeper_policy.condition_token import ConditionFault
from toolkeeper_policy.rule import Condition

if TYPE_CHECKING:
    import cel

_UNDEFINED = "Undefined variable"


class ConditionFailure(Exception):
    """A condition could not be evaluated; the message says why and quotes nothing."""


@dataclass(frozen=True, slots=True)
class CelCondition:
    """A condition in CEL, compiled.

    `text` is the condition as written, `zone` the name of the zone in which it reads the time of
    day, `needs` what it looks at, `tree` its structure.
    """

    text: str
    zone: str
    tree: Node = field(compare=False, repr=False)
    needs: Needs = field(compare=False, repr=False)
    _zone: tzinfo = field(compare=False, repr=False)
    _cost: Cost = field(compare=False, repr=False)
    _program: "cel.Program" = field(compare=False, repr=False)

    def holds(self, view: CallView) -> bool:
        """Whether it holds; raises ConditionFailure when that cannot be said."""
        try:
            if self._cost.exponent:
                self._cost.check(*view.size(self._zone))
            result = self._program.execute(view.context(self._zone))
        except TooCostly:
            raise ConditionFailure("the arguments are too large for it") from None
        except KeyError:
            raise ConditionFailure("something that it reads is missing") from None
        except (TypeError, ValueError, ArithmeticError):
            raise ConditionFailure("the types or values do not fit") from None
        except Exception as error:
            # The library's words quote names only where a variable has no value.
            if str(error).startswith(_UNDEFINED):
                raise ConditionFailure("something that it reads is missing") from None
            raise ConditionFailure("one of its functions failed") from None
        except BaseException as error:
            # The library is written in Rust, and its panics are no Exception.
            if type(error).__name__ == "PanicException":
                raise ConditionFailure("the evaluation broke off") from None
            raise
        if result is not True and result is not False:
            raise ConditionFailure("its result is neither true nor false")
        return result


def compile_condition(text: str, zone: str = "UTC", tz: tzinfo = UTC) -> CelCondition:
    """The condition `text`, whose time of day is that of `zone` (`tz`).

    Raises ConditionFault for what is no condition, names what does not exist, could run for too
    long, or can never be true or false.
    """
    # Here and not above: it brings a toolkit for terminals along, and most policies have no
    # conditions (adr/0024).
    import cel

    tree = parse_condition(text)
    needs = needs_of(tree)
    cost = cost_of(tree)
    try:
        program = cel.compile(_for_the_library(text, tree))
    except Exception:
        raise ConditionFault("the condition is no valid cel") from None
    condition = CelCondition(text, zone, tree, needs, tz, cost, program)
    if needs.nothing_of_the_call:
        _check_constant(program, needs)
    elif isinstance(tree, Literal):
        raise ConditionFault("the condition is neither true nor false")
    return condition


def needs_of_condition(condition: Condition | None) -> Needs:
    """What a condition of whatever kind looks at."""
    return condition.needs if isinstance(condition, CelCondition) else NOTHING


def _check_constant(program: "cel.Program", needs: Needs) -> None:
    if needs.functions:
        return
    try:
        result = program.execute()
    except Exception:
        raise ConditionFault("the condition can never be evaluated") from None
    if not isinstance(result, bool):
        raise ConditionFault(
            "the condition is neither true nor false", "compare it with something: `... == ...`"
        )


def _for_the_library(text: str, tree: Node) -> str:
    """`text` with flat variables for fields, and our own `matches` for the library's, which
    compiles its pattern at each call."""
    for (start, end), replacement in sorted(_replacements(tree), reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def _replacements(node: Node) -> Iterator[tuple[Span, str]]:
    present = presence_of(node)
    if present is not None and isinstance(node, Call):
        yield node.span, presence_variable(*present)
        return
    path = path_of(node)
    if path is not None and path[0] in FIELDS and isinstance(node, Select | Index):
        yield node.span, field_variable(*path)
        return
    if isinstance(node, Call) and node.function == "matches":
        start = node.span[0]
        yield (start, start + len(node.function)), MATCHES
    for child in children(node):
        yield from _replacements(child)
