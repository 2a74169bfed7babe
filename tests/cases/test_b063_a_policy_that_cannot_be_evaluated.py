"""B63: an error or a timeout of the policy's evaluator counted as permission.

Right: whatever an evaluator does but decide (it raises, runs out of time, answers nothing or
"maybe") denies with `tool.denied.rule_error`, before an approval as after one; an allow rule that
fails does not match; both are recorded.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from toolkeeper import Toolkeeper, tool
from toolkeeper.runtime import resume_one
from toolkeeper_contract import ApprovalState, Code, Decision, Effect, Ending, Question
from toolkeeper_policy import Policy

WAYS: list[tuple[str, Any]] = [
    ("notes.list", {}),
    ("tool.call", {"name": "notes.read", "arguments": {"title": "tea"}}),
    ("mail.send", {"to": "bo"}),
]


def raises(error: BaseException) -> Callable[[Any], Any]:
    def answer(question: Any) -> Any:
        raise error

    return answer


NO_DECISIONS: dict[str, Callable[[Any], Any]] = {
    "raises": raises(RuntimeError("a secret of the library")),
    "runs out of time": raises(TimeoutError()),
    "recurses": raises(RecursionError()),
    "asserts": raises(AssertionError()),
    "says nothing": lambda question: None,
    "says maybe": lambda question: "maybe",
    "says allow": lambda question: "allow",
    "says true": lambda question: True,
    "says an effect": lambda question: Effect.ALLOW,
    "says a mapping": lambda question: {"effect": "allow"},
    "says a decision of no effect": lambda question: Decision("allow", (), (), "r"),  # type: ignore[arg-type]
}


class Broken(Policy):
    """A policy whose evaluator does what it likes."""

    __slots__ = ("answer",)

    def decide(self, question: Question) -> Any:
        return ANSWER[-1](question)


ANSWER: list[Callable[[Any], Any]] = []


@pytest.mark.parametrize("kind", NO_DECISIONS)
@pytest.mark.parametrize(("name", "arguments"), WAYS)
def test_no_answer_of_an_evaluator_but_a_decision_lets_a_call_pass(
    shop: Any, kind: str, name: str, arguments: Any
) -> None:
    ANSWER.append(NO_DECISIONS[kind])

    async def act() -> Any:
        keeper: Toolkeeper = shop.keeper()
        keeper.policy = Broken()
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            return (await turn.call(turn.read("c1", name, arguments))).row

    row = asyncio.run(act())
    assert (row.outcome, row.code) == (Ending.REFUSED, Code.DENIED_RULE_ERROR)
    assert row.decision.effect is Effect.DENY
    assert row.decision.errors
    assert "secret" not in (row.result or "") + str(row.decision.as_json())
    assert shop.effects == []


@pytest.mark.parametrize("kind", NO_DECISIONS)
def test_an_approval_is_no_way_round_an_evaluator_that_broke_meanwhile(
    shop: Any, kind: str
) -> None:
    ANSWER.append(NO_DECISIONS[kind])

    async def act() -> Any:
        keeper: Toolkeeper = shop.keeper()
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            parked = (await turn.call(turn.read("c1", "mail.send", {"to": "bo"}))).row
            assert parked.outcome is Ending.SUSPENDED
            assert parked.approval_id is not None
            await keeper.desk().answer(parked.approval_id, ApprovalState.APPROVED)
            keeper.policy = Broken()
            taken = await resume_one(keeper, parked.invocation_id)
            return taken.outcomes[0].row

    row = asyncio.run(act())
    assert (row.outcome, row.code) == (Ending.REFUSED, Code.DENIED_RULE_ERROR)
    assert shop.effects == []


CONDITIONS = [
    "args.gone == 1",  # a missing argument
    "args.title > 1",  # a type error
    "args.title + 1 == 2",
    "args.title.size() / 0 == 1",
    "int(args.title) == 1",
    "args.title[0] == 't'",
    "principal.scopes[7] == 'x'",
    "session.attributes.region == 'eu'",
    "domain(args.gone) == 'example.com'",
    "args.title",  # no boolean
    "args.title.size()",
    "args.gone ? true : false",
]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("effect", ["ask", "deny"])
def test_a_rule_that_asks_or_denies_and_fails_denies_and_names_itself(
    shop: Any, condition: str, effect: str
) -> None:
    row = shop.one("notes.read", {"title": "tea"}, policy=one_rule(condition, effect))
    assert (row.outcome, row.code) == (Ending.REFUSED, Code.DENIED_RULE_ERROR)
    assert (row.decision.rules, row.decision.errors) == (("r",), ("r",))
    assert shop.effects == []


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_allow_rule_that_fails_does_not_match_and_is_on_record(
    shop: Any, condition: str
) -> None:
    policy = one_rule(condition, "allow", defaults="workspace_read: ask")
    row = shop.one("notes.read", {"title": "tea"}, policy=policy)
    assert (row.outcome, row.decision.rules, row.decision.errors) == ("suspended", (), ("r",))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_hardline_rule_that_fails_denies_whatever_the_others_say(
    shop: Any, condition: str
) -> None:
    policy = one_rule(condition, "deny", part="hardline")
    row = shop.one("notes.read", {"title": "tea"}, policy=policy)
    assert (row.outcome, row.code) == (Ending.REFUSED, Code.DENIED_RULE_ERROR)


def test_a_condition_that_takes_too_long_denies_as_well(shop: Any) -> None:
    @tool(name="many", side_effect="none")
    def many(items: list[int]) -> str:
        """Take many."""
        return "taken"

    nested = "args.items.all(a, args.items.all(b, a != b || a == b))"
    arguments = {"items": list(range(20_000))}
    for effect in ("ask", "deny"):
        rule = f"rules:\n  - {{id: r, tools: [many], when: '{nested}', effect: {effect}}}"
        row = shop.one("many", arguments, more=(many,), policy=f"version: 1\n{rule}\n")
        assert (row.outcome, row.code) == (Ending.REFUSED, Code.DENIED_RULE_ERROR)
    allow = (
        "version: 1\ndefaults: {none: ask}\n"
        f"rules:\n  - {{id: r, tools: [many], when: '{nested}', effect: allow}}\n"
    )
    row = shop.one("many", arguments, more=(many,), policy=allow)
    assert (row.outcome, row.decision.errors) == ("suspended", ("r",))


def one_rule(
    condition: str, effect: str, *, part: str = "rules", defaults: str = "none: allow"
) -> str:
    written = condition.replace('"', '\\"')
    return (
        f"version: 1\ndefaults: {{{defaults}}}\n{part}:\n"
        f'  - {{id: r, tools: [notes.read], when: "{written}", effect: {effect}}}\n'
    )
