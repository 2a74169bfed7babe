"""Secrets that a schema or the operator names are masked wherever a call is kept, and still run."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field, SecretStr

from toolkeeper import ConfigError, Suspended, Toolkeeper, tool
from toolkeeper.runtime import resume_one
from toolkeeper.runtime.configuration import Limits, load_configuration
from toolkeeper.runtime.redaction import MASK, Redactor, ToolSecrets
from toolkeeper.runtime.secret_key import HARMLESS_WORDS, SECRET_WORDS
from toolkeeper.testing import keeper_of
from toolkeeper_contract import ApprovalState, Invocation

CANARY = "canary-4711-plain-word"
SEEN: list[Any] = []


@tool(name="door.open", side_effect="workspace_write")
def open_door(
    code: Annotated[str, Field(json_schema_extra={"writeOnly": True})],
    who: str,
    extra: SecretStr | None = None,
) -> str:
    """Open the door."""
    SEEN.append(code)
    return f"{who} opened it with {code}"


@tool(name="door.list", side_effect="workspace_read")
def list_doors(code: Annotated[str, Field(json_schema_extra={"format": "password"})]) -> Any:
    """List the doors."""
    SEEN.append(code)
    return {"doors": [{"name": "front", "key": CANARY}], "said": code, "plain": "stays"}


def test_a_parked_call_runs_with_what_was_masked_everywhere_else() -> None:
    SEEN.clear()

    async def run() -> Any:
        keeper = keeper_of([open_door, list_doors])
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            call = turn.read("c1", "door.open", {"code": CANARY, "who": "ana", "extra": CANARY})
            parked = await turn.call(call)
            assert isinstance(parked, Suspended)
            (approval,) = await keeper.ledger.approvals(pending_only=True)
            await keeper.desk().answer(approval.approval_id, ApprovalState.APPROVED, by="ana")
            taken = await resume_one(keeper, approval.approval_id)
            rows = await keeper.ledger.invocations()
            events = await keeper.ledger.events(session.session_id)
            return approval, taken.outcomes[0], rows, events

    approval, outcome, rows, events = asyncio.run(run())
    assert SEEN == [CANARY]
    assert approval.arguments == {"code": MASK, "who": "ana", "extra": MASK}
    assert rows[0].masked == ("/code", "/extra")
    # What went in as a secret does not come out as an echo.
    assert outcome.row.result == f"ana opened it with {MASK}"
    assert CANARY not in repr((approval, outcome, rows, events))


def test_an_approvers_edit_is_masked_by_the_schema_too() -> None:
    SEEN.clear()

    async def run() -> Any:
        keeper = keeper_of([open_door])
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            await turn.call(turn.read("c1", "door.open", {"code": "first-code", "who": "ana"}))
            (asked,) = await keeper.ledger.approvals(pending_only=True)
            edited = await keeper.desk().edit(
                asked.approval_id, {"code": CANARY, "who": "ben"}, by="ana"
            )
            taken = await resume_one(keeper, edited.approval_id)
            return edited, taken.outcomes[0], await keeper.ledger.events(session.session_id)

    edited, outcome, events = asyncio.run(run())
    assert SEEN == [CANARY]
    assert edited.arguments == {"code": MASK, "who": "ben"}
    assert outcome.row.result == f"ben opened it with {MASK}"
    assert CANARY not in repr((edited, outcome, events))


def row_of(name: str, arguments: Any, *tools: ToolSecrets) -> Invocation:
    async def run() -> Any:
        keeper = keeper_of([open_door, list_doors])
        keeper.redactor = Redactor(tools=tools)
        async with keeper, keeper.session(agent="chat", user="ana") as session:
            turn = await session.begin_turn()
            return (await turn.call(turn.read("c1", name, arguments))).row

    return asyncio.run(run())


def test_the_operator_names_places_in_results() -> None:
    said = ToolSecrets("door.*", results=("/doors/*/key",))
    row = row_of("door.list", {"code": "nothing-much"}, said)
    result = json.loads(row.result or "")
    assert result == {"doors": [{"name": "front", "key": MASK}], "said": MASK, "plain": "stays"}


def test_the_operator_names_places_in_arguments() -> None:
    said = ToolSecrets("door.list", arguments=("/code",))
    row = row_of("door.list", {"code": "x"}, said)
    assert row.arguments == {"code": MASK}
    assert row.masked == ("/code",)


def test_arguments_that_do_not_fit_the_schema_are_masked_by_it_all_the_same() -> None:
    row = row_of("door.list", {"code": [CANARY], "more": 1})
    assert row.arguments == {"code": MASK, "more": 1}
    assert CANARY not in repr(row)


def test_many_places_cost_no_more_than_one() -> None:
    value = {"rows": [{"id": n, "pin": n} for n in range(5_000)]}
    pointers = [f"/rows/{n}/pin" for n in range(5_000)]
    redacted, masked = Redactor().redact(value, pointers)
    assert len(masked) == 5_000
    assert redacted["rows"][4_999] == {"id": 4_999, "pin": MASK}


def configuration_of(tmp_path: Path, redaction: str) -> Any:
    file = tmp_path / "toolkeeper.yaml"
    file.write_text(f"version: 1\nagents: {{chat: {{}}}}\nredaction: {redaction}\n")
    return load_configuration(file, {})


def test_the_section_of_tools_arrives(tmp_path: Path) -> None:
    read = configuration_of(
        tmp_path, "{tools: {'notes.*': {arguments: [/auth/token], results: ['/items/*/a~1b']}}}"
    )
    assert read.redaction.tools == (ToolSecrets("notes.*", ("/auth/token",), ("/items/*/a~1b",)),)
    redactor = Toolkeeper(read).redactor
    assert redactor.argument_pointers("notes.add") == ("/auth/token",)
    assert redactor.result_pointers("notes.add") == ("/items/*/a~1b",)
    assert redactor.argument_pointers("mail.send") == ()


@pytest.mark.parametrize(
    ("redaction", "says"),
    [
        ("{tools: {notes.add: {arguments: [token]}}}", "`token` is no JSON pointer"),
        ("{tools: {notes.add: {results: ['/a~2']}}}", "is no JSON pointer"),
        ("{tools: {notes.add: {argument: [/token]}}}", "argument"),
        ("{tools: {notes.add: {}}}", "says nothing about"),
        ("{tools: {'mcp.nowhere.x': {arguments: [/a]}}}", "there is no server `nowhere`"),
        ("{tools: {'notes add': {arguments: [/a]}}}", "no tool's name can have"),
        ("{tools: {notes.add: {arguments: [7]}}}", "text"),
    ],
)
def test_a_section_that_says_nothing_is_an_error(tmp_path: Path, redaction: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        configuration_of(tmp_path, redaction)
    assert says in str(raised.value)
    assert "toolkeeper.yaml" in str(raised.value)


def test_the_reference_lists_the_words_and_the_limits_as_they_are() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "results-and-secrets.md"
    told = page.read_text("utf-8")
    missing = [word for word in (*SECRET_WORDS, *HARMLESS_WORDS) if f"`{word}`" not in told]
    assert missing == []
    limits = Limits()
    for name in ("result_bytes", "result_kept_bytes", "result_blocks"):
        assert f"| `{name}` | {getattr(limits, name):,} |" in told
    both = f"{limits.result_depth:,}, {limits.result_nodes:,}"
    assert f"| `result_depth`, `result_nodes` | {both} |" in told
