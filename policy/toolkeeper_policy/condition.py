"""Does what a rule says `when` hold for a call?"""

from dataclasses import dataclass, field
from datetime import UTC, tzinfo

import cel

from toolkeeper_policy.call_view import MATCHES, CallView
from toolkeeper_policy.condition_cost import Cost, TooCostly, cost_of
from toolkeeper_policy.condition_names import NOTHING, Needs, needs_of
from toolkeeper_policy.condition_syntax import Call, Literal, Node, parse_condition, walk
from toolkeeper_policy.condition_token import ConditionFault
from toolkeeper_policy.rule import Condition


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
    _program: cel.Program = field(compare=False, repr=False)

    def holds(self, view: CallView) -> bool:
        """Whether it holds; raises ConditionFailure when that cannot be said."""
        try:
            if self._cost.exponent:
                self._cost.check(*view.size)
            result = self._program.execute(view.context(self._zone))
        except TooCostly:
            raise ConditionFailure("the arguments are too large for it") from None
        except KeyError:
            raise ConditionFailure("something that it reads is missing") from None
        except (TypeError, ValueError, ArithmeticError):
            raise ConditionFailure("the types or values do not fit") from None
        except Exception:
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
    tree = parse_condition(text)
    needs = needs_of(tree)
    cost = cost_of(tree)
    try:
        program = cel.compile(_for_the_library(text, tree))
    except Exception:
        raise ConditionFault("the condition is no valid cel") from None
    condition = CelCondition(text, zone, tree, needs, tz, cost, program)
    if not needs.fields:
        _check_constant(program, needs)
    elif isinstance(tree, Literal):
        raise ConditionFault("the condition is neither true nor false")
    return condition


def needs_of_condition(condition: Condition | None) -> Needs:
    """What a condition of whatever kind looks at."""
    return condition.needs if isinstance(condition, CelCondition) else NOTHING


def _check_constant(program: cel.Program, needs: Needs) -> None:
    if needs.functions:
        return
    try:
        result = program.execute(cel.Context())
    except Exception:
        raise ConditionFault("the condition can never be evaluated") from None
    if not isinstance(result, bool):
        raise ConditionFault(
            "the condition is neither true nor false", "compare it with something: `... == ...`"
        )


def _for_the_library(text: str, tree: Node) -> str:
    """`text` with our own `matches` in place of the library's, which compiles at each call."""
    calls = [part for part in walk(tree) if isinstance(part, Call) and part.function == "matches"]
    for start in sorted((call.start for call in calls), reverse=True):
        text = text[:start] + MATCHES + text[start + len("matches") :]
    return text
