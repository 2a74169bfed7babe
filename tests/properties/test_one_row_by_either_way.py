"""Calling X by `tool.call` and calling X directly give the same row but for `advertised_as`.

Also when the call is parked and taken up again by another keeper (adr/0002).
"""

import asyncio
import json
from dataclasses import fields
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper import tool
from toolkeeper.runtime.keeper import Toolkeeper
from toolkeeper.runtime.resumption import resume_one
from toolkeeper.testing import keeper_of
from toolkeeper_contract import AdvertisedAs, ApprovalState, Invocation, Suspended

DIFFERS = {"advertised_as"}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
arguments = st.one_of(
    st.dictionaries(
        st.sampled_from(["text", "count", "password", "more"]), json_values, max_size=4
    ),
    st.fixed_dictionaries({"text": st.text(max_size=20)}, optional={"count": st.integers(-9, 9)}),
    json_values,
)
names = st.sampled_from(
    ["notes.read", "notes.write", "notes.pay", "notes.raise", "notes.gone", "tool.search", "x y"]
)
answers = st.sampled_from([ApprovalState.APPROVED, ApprovalState.DENIED, None])


@tool(name="notes.read", side_effect="workspace_read")
def read(text: str, count: int = 1) -> str:
    """Read."""
    return text * abs(count)


@tool(name="notes.write", side_effect="workspace_write")
def write(text: str, count: int = 1) -> str:
    """Write."""
    return f"wrote {len(text) * count}"


@tool(name="notes.pay", side_effect="financial")
def pay(text: str) -> str:
    """Pay."""
    return text


@tool(name="notes.raise", side_effect="network_read")
def fail(text: str) -> str:
    """Fail."""
    raise RuntimeError(text)


def keeper() -> Toolkeeper:
    made = keeper_of([read, write, pay, fail], deferred_tools=("*",), control_tools=("tool.call",))
    return made


async def one(name: str, sent: Any, *, wrapped: bool, answer: ApprovalState | None) -> Invocation:
    first = keeper()
    async with first, first.session(agent="chat", user="ana") as session:
        turn = await session.begin_turn()
        call = (
            turn.read("c1", "tool.call", {"name": name, "arguments": sent})
            if wrapped
            else turn.read("c1", name, sent)
        )
        outcome = await turn.call(call)
        if not isinstance(outcome, Suspended) or answer is None:
            return outcome.row
        assert outcome.row.approval_id is not None
        await first.desk().answer(outcome.row.approval_id, answer, by="ana")
        second = Toolkeeper(
            first.configuration,
            policy=first.policy,
            ledger=first.ledger,
            sealer=first.rim.sealer,
            clock=first.clock,
            ids=first.ids,
        )
        for made in (read, write, pay, fail):
            second.add(made)
        async with second:
            taken = await resume_one(second, outcome.row.invocation_id)
        return taken.outcomes[0].row


@settings(max_examples=150, deadline=None)
@given(name=names, sent=arguments, answer=answers)
def test_both_ways_give_the_same_row(name: str, sent: Any, answer: ApprovalState | None) -> None:
    direct = asyncio.run(one(name, sent, wrapped=False, answer=answer))
    wrapped = asyncio.run(one(name, sent, wrapped=True, answer=answer))
    if name == "x y":
        # No tool can bear this name: each row keeps a digest of its own raw input.
        assert direct.tool == wrapped.tool
        assert direct.code == wrapped.code
        return
    assert wrapped.advertised_as is AdvertisedAs.TOOL_CALL
    assert direct.advertised_as is AdvertisedAs.DIRECT
    for field in fields(Invocation):
        # A wrapper holds text as a value, which is one layer of encoding more than a direct call's.
        if field.name not in DIFFERS | ({"arguments_decoded"} if isinstance(sent, str) else set()):
            assert getattr(direct, field.name) == getattr(wrapped, field.name), field.name


@settings(max_examples=50, deadline=None)
@given(sent=st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_raw_text_and_parsed_arguments_give_the_same_row(sent: Any) -> None:
    text = json.dumps(sent)
    parsed = asyncio.run(one("notes.read", sent, wrapped=False, answer=None))
    raw = asyncio.run(one("notes.read", text, wrapped=False, answer=None))
    assert parsed == raw
