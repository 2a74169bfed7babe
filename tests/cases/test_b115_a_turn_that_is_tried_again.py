"""B115: a model fails late, the whole turn is done again, and tools that had succeeded run twice.

Right: a turn that is tried again starts from the stored outcomes; what was finished is given back,
also to another process, and a caller's own key holds over turns, sessions and processes.
"""

import json
from typing import Any

import pytest

from toolkeeper_contract import Ending

ALLOW = "version: 1\ndefaults: {workspace_write: allow, message_send: allow}\n"
CHARGE = ("notes.add", {"title": "charge 5"})


class ModelFailed(Exception):
    """The provider answered 500."""


async def until_the_model_fails(turn: Any) -> Any:
    """A harness's turn: a step of calls, another one, and then the model is gone."""
    outcomes = await turn.call_all(
        [turn.read("c1", *CHARGE), turn.read("c2", "mail.send", {"to": "bo"})]
    )
    outcomes += await turn.call_all([turn.read("c1", "notes.list", {})])
    raise ModelFailed(outcomes)


@pytest.mark.parametrize("times", [1, 3])
def test_a_turn_that_is_tried_again_repeats_nothing(shop: Any, times: int) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        ids = []
        for _ in range(times + 1):
            with pytest.raises(ModelFailed) as failed:
                await until_the_model_fails(turn)
            ids.append([each.row.invocation_id for each in failed.value.args[0]])
            # As another process would.
            session = await keeper.resumed_session(turn._run.session_id)
            turn = await session.reopen_turn(again=True)
        # The model comes back, and the turn goes on where it had stopped.
        await turn.call_all([turn.read("c1", *CHARGE), turn.read("c2", "mail.send", {"to": "bo"})])
        await turn.call_all([turn.read("c1", "notes.list", {})])
        last = await turn.call(turn.read("c9", "notes.add", {"title": "thank you"}))
        return ids, last, await keeper.ledger.invocations()

    ids, last, rows = shop.turn(act, policy=ALLOW, deferred_tools=())
    assert all(each == ids[0] for each in ids)
    assert last.row.outcome is Ending.COMPLETED
    assert [row.call_id for row in rows] == ["c1", "c2", "c1", "c9"]
    assert shop.effects == [
        ("add", "charge 5"),
        ("send", "bo"),
        ("list", 10),
        ("add", "thank you"),
    ]


def test_results_of_the_repeated_calls_fit_the_replayed_reply(shop: Any) -> None:
    reply = {
        "content": [
            {"type": "tool_use", "id": "t1", "name": "notes_add", "input": {"title": "charge 5"}}
        ]
    }

    async def act(turn: Any, keeper: Any) -> Any:
        session, told = turn._session, []
        for _ in range(2):
            told.append(turn.results(await turn.call_all(turn.calls(reply))))
            turn = await session.reopen_turn(again=True)
        return told

    first, second = shop.turn(act, provider="anthropic", policy=ALLOW, deferred_tools=())
    assert second == first
    assert shop.effects == [("add", "charge 5")]


def test_a_parked_call_is_asked_about_once_however_often_the_turn_is_tried(shop: Any) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        session, rows = turn._session, []
        for _ in range(3):
            rows.append((await turn.call(turn.read("c1", *CHARGE))).row)
            turn = await session.reopen_turn(again=True)
        return rows, await keeper.ledger.approvals(pending_only=True)

    rows, approvals = shop.turn(act, deferred_tools=())
    assert len({row.invocation_id for row in rows}) == 1
    assert len(approvals) == 1
    assert shop.effects == []


def test_a_new_turn_is_no_retry(shop: Any) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        await turn.call(turn.read("c1", *CHARGE))
        turn = await turn._session.begin_turn("once more, please")
        await turn.call(turn.read("c1", *CHARGE))

    shop.turn(act, policy=ALLOW, deferred_tools=())
    assert shop.effects == [("add", "charge 5")] * 2


def test_a_callers_key_holds_over_the_command_and_recorded_sessions(home: Any) -> None:
    home.settings["policy"] = ["policy.yaml"]
    (home.folder / "policy.yaml").write_text(ALLOW)
    home.write()
    words = ("call", "--agent", "chat", "--user", "ana", "notes.add", '{"title": "charge 5"}')
    key = ("--idempotency-key", "order 17", "--json")
    first = home.toolkeeper(*words, *key, expect=0).object()
    second = home.toolkeeper(*words, *key, expect=0).object()
    assert second == {**first, "repeated": True}
    call = {"id": "pay", "tool": "notes.add", "arguments": {"title": "charge 5"}}
    keyed = {**call, "idempotency_key": "order 17"}
    (third,) = home.run(keyed, expect=0)
    assert third == {**second, "call_id": "pay"}
    # Without the key, or as another user, it is another call.
    other = home.toolkeeper(*words[:4], "bo", *words[5:], *key, expect=0).object()
    home.run(call, expect=0)
    assert other["invocation_id"] != first["invocation_id"]
    assert [effect[:2] for effect in home.effects()] == [["add", "charge 5"]] * 3


def test_a_key_for_something_else_and_a_key_that_is_none_are_told(home: Any) -> None:
    home.settings["policy"] = ["policy.yaml"]
    (home.folder / "policy.yaml").write_text(ALLOW)
    home.write()
    words = ("call", "--agent", "chat", "notes.add")
    home.toolkeeper(*words, '{"title": "a"}', "--idempotency-key", "k", expect=0)
    told = home.toolkeeper(*words, '{"title": "b"}', "--idempotency-key", "k", expect=1)
    assert "idempotency key belongs to another call" in told.err
    none = home.toolkeeper(*words, '{"title": "b"}', "--idempotency-key", "", expect=2)
    assert "idempotency" in none.err
    assert [effect[1] for effect in home.effects()] == ["a"]


def test_two_processes_that_make_one_keyed_call_make_it_once(home: Any) -> None:
    home.settings["policy"] = ["policy.yaml"]
    (home.folder / "policy.yaml").write_text(ALLOW)
    home.write()
    arguments = '{"title": "once", "seconds": 0.3}'
    words = ("call", "--agent", "chat", "notes.add", arguments, "--idempotency-key", "k", "--json")
    workers = [home.start(*words) for _ in range(3)]
    said = [worker.communicate(timeout=60) for worker in workers]
    lines = [json.loads(out) for out, _ in said]
    assert sorted(line.pop("repeated") for line in lines) == [False, True, True]
    assert lines[0] == lines[1] == lines[2]
    assert lines[0]["outcome"] == "completed"
    assert len(home.effects()) == 1
