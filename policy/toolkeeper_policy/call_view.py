"""What can conditions see of one call, prepared once?"""

from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Any

import cel

from toolkeeper_contract import Question
from toolkeeper_policy.condition_cost import size_of
from toolkeeper_policy.condition_function import FUNCTIONS_OF_CONDITIONS, origin_function
from toolkeeper_policy.condition_names import WEEKDAYS, Needs

MATCHES = "textMatches"
"""What the evaluating library calls our `matches`, whose name it keeps for its own."""

_UNBOUNDED = ("args", "principal", "session")


class CallView:
    """A question, and the variables of the conditions that are candidates for it.

    Only what `needs` names is handed over, since handing over costs more than evaluating. Nothing
    is prepared before the first condition asks; then it is kept for the others (for each zone, as
    the time of day differs).
    """

    __slots__ = ("_needs", "_prepared", "_size", "question")

    def __init__(self, question: Question, needs: Needs) -> None:
        self.question = question
        self._needs = needs
        self._prepared: dict[tzinfo, cel.Context] = {}
        self._size: tuple[int, int] | None = None

    def context(self, zone: tzinfo) -> cel.Context:
        """The variables and functions, as the library wants them."""
        context = self._prepared.get(zone)
        if context is None:
            context = cel.Context(variables=self._variables(zone), functions=self._functions())
            self._prepared[zone] = context
        return context

    @property
    def size(self) -> tuple[int, int]:
        """How many elements and characters conditions can meet."""
        if self._size is None:
            fields = {
                key: self._needs.fields[key] for key in _UNBOUNDED if key in self._needs.fields
            }
            self._size = size_of([self._variable(key, fields[key], UTC) for key in fields])
        return self._size

    def _variables(self, zone: tzinfo) -> dict[str, Any]:
        fields = self._needs.fields
        return {root: self._variable(root, fields[root], zone) for root in fields}

    def _variable(self, root: str, fields: frozenset[str] | None, zone: tzinfo) -> Any:
        question = self.question
        if root == "agent":
            return question.agent
        whole: Mapping[str, Any]
        if root == "args":
            whole = question.arguments
        elif root == "tool":
            whole = {
                "name": question.tool,
                "source": question.source,
                "side_effect": question.classification.side_effect.value,
                "flags": sorted(flag.value for flag in question.classification.flags),
                "trust": "trusted" if question.trusted else "untrusted",
            }
        elif root == "principal":
            principal = question.principal
            whole = {"user": principal.user, "scopes": sorted(principal.scopes)}
        elif root == "session":
            whole = {
                "attributes": dict(question.attributes),
                "tainted": question.tainted,
                "private": question.private,
            }
        else:
            whole = _call(question, zone)
        if fields is None:
            return dict(whole)
        # What is not there stays away, so that reading it fails and `has` says so.
        return {field: whole[field] for field in fields if field in whole}

    def _functions(self) -> dict[str, Any]:
        functions: dict[str, Any] = {}
        for name in self._needs.functions:
            if name == "origin":
                functions[name] = origin_function(self.question.provenance)
            elif name == "matches":
                functions[MATCHES] = FUNCTIONS_OF_CONDITIONS[name]
            else:
                functions[name] = FUNCTIONS_OF_CONDITIONS[name]
        return functions


def _call(question: Question, zone: tzinfo) -> dict[str, Any]:
    body: dict[str, Any] = {"advertised_as": question.advertised_as}
    # Without a moment there is no time of day: what asks for it fails, rather than guesses.
    if question.at is not None and question.at.tzinfo is not None:
        local = question.at.astimezone(zone)
        body["date"] = local.date().isoformat()
        body["time"] = f"{local:%H:%M}"
        body["hour"] = local.hour
        body["minute"] = local.minute
        body["weekday"] = WEEKDAYS[local.weekday()]
    return body
