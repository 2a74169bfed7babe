"""Could a condition run for too long?

A running condition cannot be interrupted. So nesting and growth are bounded when it is read, and
before each run the work is estimated from the size of what it will look at.
"""

from dataclasses import dataclass
from typing import Any

from toolkeeper_policy.condition_syntax import Call, ListOf, Node, Operation, children, walk
from toolkeeper_policy.condition_token import ConditionFault

MAX_NESTING = 2
"""How many comprehensions may stand in one another."""

MAX_ADDITIONS = 32
MAX_INNER_ADDITIONS = 3
"""How many `+` a condition may have, and how many inside comprehensions, where each can double."""

MAX_WORK = 1_000_000
"""The estimated steps that a condition may take: about a quarter of a second at worst."""

_ACCUMULATING = ("map", "filter")
_SPLIT_PARTS = 1_000
_CHARACTERS_A_STEP = 500


class TooCostly(Exception):
    """This call's arguments are too large for this condition."""


@dataclass(frozen=True, slots=True)
class Cost:
    """How the work grows: steps go with elements to the power of `exponent`.

    `exponent` is 0 without comprehensions. `factor` is how far `+` can multiply what there is,
    `literals` how many elements the condition brings along itself.
    """

    exponent: int
    factor: int
    literals: int

    def check(self, elements: int, characters: int) -> None:
        """Raises TooCostly when a run over variables of that size could take too long."""
        if self._work(elements, characters) > MAX_WORK:
            raise TooCostly

    def _work(self, elements: int, characters: int) -> int:
        reach = (elements + self.literals) * self.factor
        work: int = reach**self.exponent
        return work * (1 + characters * self.factor // _CHARACTERS_A_STEP)


def cost_of(node: Node) -> Cost:
    """The cost of the condition `node`; raises ConditionFault when it is without bounds."""
    exponent, nesting = _growth(node)
    if nesting > MAX_NESTING:
        raise ConditionFault(
            f"the condition nests comprehensions {nesting} deep, and {MAX_NESTING} is the most",
            "split it into several rules, or look at fewer lists at once",
        )
    additions = sum(_adds(part) for part in walk(node))
    inner = sum(
        _adds(part)
        for call in walk(node)
        if isinstance(call, Call) and call.comprehends
        for body in call.arguments
        for part in walk(body)
    )
    if additions > MAX_ADDITIONS or inner > MAX_INNER_ADDITIONS:
        raise ConditionFault(
            "the condition adds too much together",
            f"use `+` at most {MAX_ADDITIONS} times, {MAX_INNER_ADDITIONS} of them in "
            "comprehensions",
        )
    literals = sum(len(part.items) for part in walk(node) if isinstance(part, ListOf))
    if any(isinstance(part, Call) and part.function == "split" for part in walk(node)):
        literals += _SPLIT_PARTS
    cost = Cost(exponent, (additions - inner + 1) * 2**inner, literals)
    if exponent and cost._work(1, 1) > MAX_WORK:
        raise ConditionFault(
            "the condition would take too long to evaluate", "use shorter lists in it"
        )
    return cost


def _adds(node: Node) -> int:
    return int(isinstance(node, Operation) and node.operator == "+")


def _growth(node: Node) -> tuple[int, int]:
    """The exponent and the nesting of the comprehensions in `node`."""
    if not (isinstance(node, Call) and node.comprehends):
        parts = [_growth(child) for child in children(node)]
        return max((part[0] for part in parts), default=0), max(
            (part[1] for part in parts), default=0
        )
    over = _growth(node.target) if node.target is not None else (0, 0)
    bodies = [_growth(body) for body in node.arguments]
    own = 2 if node.function in _ACCUMULATING else 1
    exponent = max([own, *(1 + body[0] for body in bodies)])
    nesting = 1 + max((body[1] for body in bodies), default=0)
    return max(exponent, over[0]), max(nesting, over[1])


def size_of(value: dict[str, Any]) -> tuple[int, int]:
    """How many elements and characters there are at any depth; stops counting when too many."""
    elements = characters = 0
    waiting: list[Any] = [value]
    while waiting and elements <= MAX_WORK:
        item = waiting.pop()
        if isinstance(item, dict):
            characters += sum(map(len, item))
            item = item.values()
        elements += len(item)
        for part in item:
            if isinstance(part, str):
                characters += len(part)
            elif isinstance(part, list | tuple | dict):
                waiting.append(part)
    return elements, characters
