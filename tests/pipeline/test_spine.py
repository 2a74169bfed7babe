"""Every way through the funnel ends on a row (adr/0004)."""

import asyncio
from typing import Any

import pytest

from toolkeeper_contract import (
    AdvertisedAs,
    Code,
    Completed,
    Ending,
    Failed,
    Refused,
    RunError,
    State,
    Suspended,
)
from toolkeeper_pipeline.claim import Claimed

ALLOW_WRITES = "version: 1\ndefaults: {workspace_write: allow, network_write: allow}\n"


def test_a_read_passes(office: Any) -> None:
    (outcome,) = office.play(("notes.list", {}))
    assert isinstance(outcome, Completed)
    row = outcome.row
    assert (row.result, row.is_error, row.code) == ("[]", False, None)
    assert row.advertised_as is AdvertisedAs.DEFINITION
    assert row.decision is not None
    assert row.decision.effect == "allow"
    assert row.state is State.SETTLED


def test_a_deferred_tool_can_be_called_by_its_own_name(office: Any) -> None:
    row = office.one("notes.find", {"text": "tea"})
    assert (row.outcome, row.advertised_as) == (Ending.COMPLETED, AdvertisedAs.DIRECT)


def test_a_write_is_parked_and_does_not_run(office: Any) -> None:
    (outcome,) = office.play(("notes.add", {"title": "tea"}))
    assert isinstance(outcome, Suspended)
    assert outcome.row.approval_id
    assert outcome.row.state is State.PARKED
    assert office.effects == []


def test_what_policy_denies_does_not_run(office: Any) -> None:
    (outcome,) = office.play(("bank.pay", {"amount": 5, "to": "bo"}))
    assert isinstance(outcome, Refused)
    assert outcome.row.code is Code.DENIED_POLICY
    assert outcome.row.decision is not None
    assert office.effects == []


def test_a_hardline_holds_whatever_a_rule_allows(office: Any) -> None:
    policy = (
        "version: 1\n"
        "rules:\n  - {id: pay, tools: [bank.pay], side_effects: [financial], effect: allow}\n"
        "hardline:\n  - {id: never, side_effects: [financial], effect: deny}\n"
    )
    row = office.one("bank.pay", {"amount": 5, "to": "bo"}, policy=policy)
    assert row.code is Code.DENIED_HARDLINE
    assert row.decision.rules == ("never",)


def test_a_missing_scope_hides_the_tool_from_the_plan(office: Any) -> None:
    row = office.one("mail.read", {}, user="bo")
    assert row.code is Code.NOT_OFFERED


def test_arguments_that_break_the_schema_get_a_reason(office: Any) -> None:
    row = office.one("notes.list", {"limit": "ten"})
    assert row.code is Code.ARGUMENTS_INVALID
    assert "/limit" in row.result
    # The model was shown this definition: the schema need not be repeated.
    assert "input schema:" not in row.result


def test_the_schema_comes_back_where_the_model_never_saw_it(office: Any) -> None:
    for name, arguments in [
        ("notes.find", {"txt": "tea"}),
        ("tool.call", {"name": "notes.find", "arguments": {"txt": "tea"}}),
    ]:
        row = office.one(name, arguments)
        assert row.code is Code.ARGUMENTS_INVALID
        assert '"text":{"type":"string"}' in row.result


@pytest.mark.parametrize("value", ["false", 0, 1, "true", None])
def test_nothing_is_coerced(office: Any, value: Any) -> None:
    assert office.one("notes.list", {"limit": [value]}).code is Code.ARGUMENTS_INVALID
    assert office.one("notes.find", {"text": value and not isinstance(value, str)}).code is (
        Code.ARGUMENTS_INVALID
    )


def test_an_empty_text_stands_for_no_arguments_where_none_are_required(office: Any) -> None:
    assert office.one("notes.list", "").outcome is Ending.COMPLETED
    assert office.one("notes.find", "").code is Code.ARGUMENTS_INVALID


def test_a_tool_that_raises_fails_without_its_message(office: Any) -> None:
    (outcome,) = office.play(("broken.raise", {}))
    assert isinstance(outcome, Failed)
    assert outcome.row.code is Code.FAILED
    assert "hunter2" not in str(outcome.row)


def test_a_tool_can_say_to_the_model_why_it_failed(office: Any) -> None:
    row = office.one("broken.say", {})
    assert (row.code, row.result) == (Code.FAILED, "there is no such note")


def test_a_read_that_takes_too_long_times_out(office: Any) -> None:
    row = office.one("slow.read", {"seconds": 30}, limits=_limits(call_timeout=0.05))
    assert row.code is Code.FAILED_TIMEOUT


def test_a_write_that_takes_too_long_has_an_unknown_outcome(office: Any) -> None:
    row = office.one(
        "slow.write", {"seconds": 30}, policy=ALLOW_WRITES, limits=_limits(call_timeout=0.05)
    )
    assert row.code is Code.FAILED_UNKNOWN_OUTCOME
    assert office.effects == ["slow"]


def test_untrusted_results_read_as_somebody_elses_words(office: Any) -> None:
    row = office.one("mail.read", {})
    first, *payload, last = row.result.split("\n")
    assert first.startswith("<EXTERNAL_UNTRUSTED id=")
    assert last.startswith("</EXTERNAL_UNTRUSTED id=")
    assert "<" not in "\n".join(payload)


def test_a_long_result_is_cut_and_kept_aside(office: Any) -> None:
    office.effects.extend("x" * 50 for _ in range(100))
    first, second, other = office.play(
        ("notes.list", {"limit": 100}),
        ("tool.result", {"handle": "res_0001", "offset": 100, "limit": 40}),
        ("tool.result", {"handle": "res_0002"}),
        limits=_limits(result_bytes=200),
    )
    assert first.row.truncated
    assert first.row.bytes <= 200
    assert first.row.handle == "res_0001"
    assert "x" * 30 in second.row.result
    assert other.row.is_error


def test_calls_of_one_step_all_end_and_keep_their_order(office: Any) -> None:
    async def play() -> list[Any]:
        keeper = office.keeper()
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            return await turn.call_all(
                [
                    turn.read("a", "slow.read", {"seconds": 0.05}),
                    turn.read("b", "notes.list", {}),
                    turn.read("c", "notes.add", {"title": "x"}),
                    turn.read("c", "nope", {}),
                ]
            )

    outcomes = asyncio.run(play())
    assert [outcome.row.call_id for outcome in outcomes] == ["a", "b", "c", "c"]
    assert len({outcome.row.invocation_id for outcome in outcomes}) == 4
    assert [outcome.row.position for outcome in outcomes] == [0, 1, 2, 3]


def test_a_cancelled_turn_settles_what_it_had_dispatched(office: Any) -> None:
    async def play() -> list[Any]:
        keeper = office.keeper(policy=ALLOW_WRITES)
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            task = asyncio.create_task(turn.call(turn.read("c1", "slow.write", {"seconds": 30})))
            while not office.effects:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return list(await keeper.ledger.invocations())

    (row,) = asyncio.run(play())
    assert (row.state, row.code) == (State.SETTLED, Code.FAILED_UNKNOWN_OUTCOME)


def test_nothing_runs_when_the_row_cannot_be_written(office: Any) -> None:
    async def play() -> None:
        keeper = office.keeper(policy=ALLOW_WRITES)
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()

            async def refuse(*_: Any, **__: Any) -> None:
                raise RunError(Code.LEDGER_UNAVAILABLE, "the ledger cannot be written")

            keeper.ledger.claim = refuse  # type: ignore[method-assign,assignment]
            with pytest.raises(RunError):
                await turn.call(turn.read("c1", "notes.add", {"title": "tea"}))

    asyncio.run(play())
    assert office.effects == []


def test_a_claimed_call_cannot_be_made_by_hand() -> None:
    with pytest.raises(TypeError):
        Claimed(None, None, None, b"{}", None, object())  # type: ignore[arg-type]


def _limits(**changed: Any) -> Any:
    from toolkeeper.runtime.configuration import Limits

    return Limits(**changed)


@pytest.mark.parametrize("answer", [None, "allow", "maybe", RuntimeError("secret")])
def test_a_policy_that_does_not_decide_denies(office: Any, answer: Any) -> None:
    class Broken:
        revision = "r1"

        def decide(self, question: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        def hides(self, question: Any) -> bool:
            return False

    async def play() -> Any:
        keeper = office.keeper()
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            keeper.policy = Broken()  # type: ignore[assignment]
            return await turn.call(turn.read("c1", "notes.list", {}))

    row = asyncio.run(play()).row
    assert row.code is Code.DENIED_RULE_ERROR
    assert row.decision.errors == ("policy",)
