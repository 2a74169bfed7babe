"""B109: a server uses one call id again, and results are dropped or go to the wrong call.

Right: every call has an invocation id of its own; results are paired by their order among the calls
that wait; clashing ids get a suffix that is the same every time.
"""

import json
from typing import Any

import pytest

from toolkeeper_wire import CallIds, RecordedCall, Step, format_for
from toolkeeper_wire.transcript import read_transcript

PROVIDERS = ["openai", "openai-responses", "anthropic", "gemini", "generic"]


@pytest.mark.parametrize("id", ["c1", "", "ü" * 100, "\ud800", "a\nb", "x" * 5_000])
def test_two_calls_under_one_id_in_one_step_are_two_calls(shop: Any, id: str) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        calls = [
            turn.read(id, "notes.read", {"title": "one"}),
            turn.read(id, "notes.read", {"title": "two"}),
        ]
        outcomes = await turn.call_all(calls)
        return outcomes, turn.results(outcomes), list(await keeper.ledger.invocations())

    outcomes, results, rows = shop.turn(act, deferred_tools=())
    assert [each.row.result for each in outcomes] == ["the note one", "the note two"]
    assert len({each.row.invocation_id for each in outcomes}) == 2
    assert len({each.row.idempotency_key for each in outcomes}) == 2
    assert {row.call_id for row in rows} == {outcomes[0].row.call_id}
    assert "the note one" in json.dumps(results[0])
    assert "the note two" in json.dumps(results[1])
    assert shop.effects == [("read", "one"), ("read", "two")]


def test_the_same_id_three_turns_later_is_another_call(shop: Any) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        session = turn._session
        keys = []
        for number in range(4):
            outcome = await turn.call(turn.read("c1", "notes.read", {"title": str(number)}))
            keys.append((outcome.row.idempotency_key, outcome.row.result))
            turn = await session.begin_turn("go on")
        return keys

    keys = shop.turn(act, deferred_tools=())
    assert len(set(keys)) == 4
    assert shop.effects == [("read", str(number)) for number in range(4)]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_recorded_conversation_pairs_every_result_with_its_call(provider: str) -> None:
    form = format_for(provider)
    steps = [
        Step(
            (
                RecordedCall("c1", "notes.read", {"title": "a"}, "first"),
                RecordedCall("c1", "notes.read", {"title": "b"}, "second"),
            )
        ),
        Step((RecordedCall("", "notes.read", {"title": "c"}, "third"),)),
        Step((RecordedCall("c1", "notes.read", {"title": "d"}, None),)),
        Step((RecordedCall("c1", "notes.read", {"title": "e"}, "fifth"),)),
    ]
    messages = form.history(steps, form.codec(()))
    assert messages == form.history(steps, form.codec(()))
    seen = read_transcript(messages, provider)
    assert len(seen.calls) == 5
    assert all(call.answered for call in seen.calls)
    assert [result.call for result in seen.results] == list(range(5))
    if provider != "gemini":
        assert len({call.call_id for call in seen.calls}) == 5
    # Growing the conversation changes nothing of what was there.
    assert messages[: len(form.history(steps[:2], form.codec(())))] == form.history(
        steps[:2], form.codec(())
    )


def test_suffixes_are_no_random_numbers() -> None:
    def written() -> list[str]:
        ids = CallIds(64)
        return [ids.next(each) for each in ("c1", "c1", "", "c1", "x" * 100, "x" * 100)]

    assert written() == written()
    assert len(set(written())) == 6


def test_searches_under_one_id_load_what_each_of_them_found(shop: Any) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        session, messages = turn._session, [{"role": "user", "content": "find"}]
        loaded = []
        for query in ("read a note", "send a mail"):
            call = {"name": "tool_search", "arguments": json.dumps({"query": query, "limit": 1})}
            message = {
                "role": "assistant",
                "tool_calls": [{"id": "c1", "type": "function", "function": call}],
            }
            reply = {"choices": [{"message": message}]}
            messages.append(message)
            messages += turn.results(await turn.call_all(turn.calls(reply)))
            later = await session.preview(_wish(messages))
            loaded.append(later.plan.loaded)
        return loaded

    first, second = shop.turn(
        act,
        provider="openai",
        disclosure="search",
        always_defined=("notes.list",),
        deferred_tools=("*",),
    )
    assert first == ("notes.read",)
    assert second == ("notes.read", "mail.send")


def _wish(messages: list[Any]) -> Any:
    from toolkeeper.runtime.wish import Wish

    return Wish(transcript=messages)
