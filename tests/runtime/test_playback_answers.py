"""An answer of a recorded session that cannot be given leaves its call parked, and ends nothing."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper.runtime import load_script, play
from toolkeeper.testing import keeper_of
from toolkeeper_contract import ApprovalState


@tool(name="notes.add", side_effect="workspace_write")
def add_note(title: str) -> str:
    """Add a note."""
    return f"added {title}"


@pytest.mark.parametrize(
    ("edit", "state", "result"),
    [
        ({"title": 7}, ApprovalState.PENDING, None),
        ({"nope": "x"}, ApprovalState.PENDING, None),
        ({}, ApprovalState.PENDING, None),
        ({"title": "mud"}, ApprovalState.SPENT, "added mud"),
    ],
)
def test_an_edit_that_will_not_do_leaves_the_call_parked(
    tmp_path: Path, edit: Any, state: ApprovalState, result: str | None
) -> None:
    calls = [
        {"id": "c1", "tool": "notes.add", "arguments": {"title": "tea"}},
        {"id": "c2", "tool": "notes.add", "arguments": {"title": "rye"}},
    ]
    approvals = {"c1": {"edit": edit}, "c2": "approve"}
    script = {"agent": "chat", "turns": [{"calls": calls, "approvals": approvals}]}
    file = tmp_path / "session.yaml"
    file.write_text(json.dumps(script))

    async def run() -> Any:
        keeper = keeper_of([add_note])
        async with keeper:
            outcomes = [outcome async for outcome in play(keeper, load_script(file))]
            first = outcomes[0].row
            approval = await keeper.ledger.approval_of(first.invocation_id)
            return outcomes, approval

    (first, second), approval = asyncio.run(run())
    assert approval.state is state
    assert (first.row.outcome == "suspended") is (result is None)
    assert result is None or first.row.result == result
    assert second.row.result == "added rye"
