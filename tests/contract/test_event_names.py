"""The list of events is that of the events that there are."""

import ast
from pathlib import Path

from toolkeeper_contract import EVENTS

ROOT = Path(__file__).parents[2]
PLACES = ("contract", "policy", "index", "planner", "pipeline", "adapters", "apps")


def _constants(tree: ast.Module) -> dict[str, str]:
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _made(tree: ast.Module, constants: dict[str, str]) -> set[str]:
    """The names of events that a module makes: `Event("noun.past", ...)`, or by a constant."""
    names = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        place = {"Event": 0, "_of": 1, "_event": 0}.get(node.func.id)
        if place is None or len(node.args) <= place:
            continue
        for part in ast.walk(node.args[place]):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                names.add(part.value)
            elif isinstance(part, ast.Name) and part.id in constants:
                names.add(constants[part.id])
    return names


def test_every_event_that_is_made_is_on_the_list_of_events() -> None:
    trees = [
        ast.parse(module.read_text("utf-8"))
        for place in PLACES
        for module in (ROOT / place).rglob("*.py")
    ]
    constants: dict[str, str] = {}
    for tree in trees:
        constants |= _constants(tree)
    made = set[str]().union(*(_made(tree, constants) for tree in trees))
    assert {"approval.asked", "tools.found", "tool.repinned"} <= made
    assert {name for name in made if "." in name} - EVENTS == set()
