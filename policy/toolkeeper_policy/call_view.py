"""What can conditions see of one call, prepared once?"""

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from toolkeeper_contract import Question
from toolkeeper_policy.condition_cost import size_of
from toolkeeper_policy.condition_function import FUNCTIONS_OF_CONDITIONS, origin_function
from toolkeeper_policy.condition_names import FIELDS, WEEKDAYS, Needs
from toolkeeper_policy.overlay import taint_of

if TYPE_CHECKING:
    import cel

MATCHES = "textMatches"
"""What the evaluating library calls our `matches`, whose name it keeps for its own."""


def field_variable(root: str, field: str) -> str:
    """The flat variable that stands for `root.field`.

    Handing over a map costs a microsecond whatever is in it, so its fields go one by one.
    """
    return f"__{root}_{field.encode().hex()}"


def presence_variable(root: str, field: str) -> str:
    """The flat variable that stands for `has(root.field)`."""
    return f"__has_{root}_{field.encode().hex()}"


class ViewPlan:
    """What some conditions need, worked out once into the variables to hand over."""

    __slots__ = ("fields", "functions", "presence", "wholes", "with_origin")

    def __init__(self, needs: Needs) -> None:
        self.wholes = sorted(needs.wholes)
        self.fields = [
            (root, field, field_variable(root, field)) for root, field in sorted(needs.paths)
        ]
        self.presence = [
            (root, field, presence_variable(root, field)) for root, field in sorted(needs.presence)
        ]
        self.with_origin = "origin" in needs.functions
        self.functions: dict[str, Callable[..., Any]] = {
            MATCHES if name == "matches" else name: FUNCTIONS_OF_CONDITIONS[name]
            for name in needs.functions
            if name != "origin"
        }


class CallView:
    """A question, and the variables of the conditions that are candidates for it.

    Only what the plan names is handed over, since handing over costs more than evaluating. Nothing
    is prepared before the first condition asks; then it is kept for the others (for each zone, as
    the time of day differs).
    """

    __slots__ = ("_plan", "_prepared", "question")

    def __init__(self, question: Question, plan: ViewPlan) -> None:
        self.question = question
        self._plan = plan
        self._prepared: dict[tzinfo, tuple[dict[str, Any], cel.Context]] = {}

    def context(self, zone: tzinfo) -> "cel.Context":
        """The variables and functions, as the library wants them."""
        return self._in(zone)[1]

    def size(self, zone: tzinfo) -> tuple[int, int]:
        """How many elements and characters conditions can meet."""
        return size_of(self._in(zone)[0])

    def _in(self, zone: tzinfo) -> "tuple[dict[str, Any], cel.Context]":
        prepared = self._prepared.get(zone)
        if prepared is None:
            import cel

            variables = self._variables(zone)
            functions = self._plan.functions
            if self._plan.with_origin:
                functions = {**functions, "origin": origin_function(self.question.provenance)}
            prepared = (variables, cel.Context(variables=variables, functions=functions))
            self._prepared[zone] = prepared
        return prepared

    def _variables(self, zone: tzinfo) -> dict[str, Any]:
        """Flat variables; what is not there has none, so that reading it fails."""
        plan = self._plan
        question = self.question
        arguments = question.arguments
        variables: dict[str, Any] = {}
        for root, field, name in plan.fields:
            if root == "args":
                if field in arguments:
                    variables[name] = arguments[field]
            else:
                value = _field(question, root, field, zone)
                if value is not None:
                    variables[name] = value
        for root, field, name in plan.presence:
            variables[name] = (
                field in arguments
                if root == "args"
                else _field(question, root, field, zone) is not None
            )
        for root in plan.wholes:
            variables[root] = _whole(question, root, zone)
        return variables


def _whole(question: Question, root: str, zone: tzinfo) -> Any:
    if root == "agent":
        return question.agent
    if root == "args":
        return dict(question.arguments)
    values = {field: _field(question, root, field, zone) for field in FIELDS[root] or ()}
    return {field: value for field, value in values.items() if value is not None}


def _field(question: Question, root: str, field: str, zone: tzinfo) -> Any:
    """The value of `root.field` (no argument); None for one that is not there."""
    if root == "call" and field != "advertised_as":
        # Without a moment there is no time of day: what asks for it fails, rather than guesses.
        if question.at is None or question.at.tzinfo is None:
            return None
        return _MOMENTS[field](question.at.astimezone(zone))
    return _FIELDS[root, field](question)


_FIELDS: Mapping[tuple[str, str], Callable[[Question], Any]] = {
    ("tool", "name"): lambda question: question.tool,
    ("tool", "source"): lambda question: question.source,
    ("tool", "side_effect"): lambda question: question.classification.side_effect.value,
    ("tool", "flags"): lambda question: sorted(
        flag.value for flag in question.classification.flags
    ),
    ("tool", "trust"): lambda question: "trusted" if question.trusted else "untrusted",
    ("principal", "user"): lambda question: question.principal.user,
    ("principal", "scopes"): lambda question: sorted(question.principal.scopes),
    ("session", "attributes"): lambda question: dict(question.attributes),
    ("session", "taint"): lambda question: list(taint_of(question)),
    ("session", "tainted"): lambda question: question.tainted,
    ("session", "private"): lambda question: question.private,
    ("call", "advertised_as"): lambda question: question.advertised_as,
}
_MOMENTS: Mapping[str, Callable[[datetime], Any]] = {
    "date": lambda local: local.date().isoformat(),
    "time": lambda local: f"{local:%H:%M}",
    "hour": lambda local: local.hour,
    "minute": lambda local: local.minute,
    "weekday": lambda local: WEEKDAYS[local.weekday()],
}
