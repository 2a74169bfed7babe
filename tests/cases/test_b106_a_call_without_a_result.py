"""B106: after a crash a call stays in the history without a result, and each later turn is refused.

Right: the conversation gets the result `interrupted, outcome unknown` under that call's id; the
call is never dropped, and never run again by itself.
"""

import json
import time
from typing import Any

import pytest

from toolkeeper_wire.transcript import INTERRUPTED, read_transcript, with_interrupted

CALL = {"id": "c1", "name": "notes_add", "input": {"title": "tea"}}
CUT: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"role": "user", "content": "write it down"},
        {"role": "assistant", "content": [{"type": "tool_use", **CALL}]},
    ],
    "openai": [
        {"role": "user", "content": "write it down"},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "notes_add", "arguments": '{"title":"tea"}'},
                }
            ],
        },
    ],
    "openai-responses": [
        {"role": "user", "content": "write it down"},
        {"type": "function_call", "call_id": "c1", "name": "notes_add", "arguments": "{}"},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "write it down"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "notes_add", "args": {}}}]},
    ],
}


@pytest.mark.parametrize("provider", list(CUT))
@pytest.mark.parametrize("went_on", [False, True])
def test_the_conversation_gets_the_result_where_it_belongs(provider: str, went_on: bool) -> None:
    messages = [*CUT[provider]]
    if went_on:
        last = "parts" if provider == "gemini" else "content"
        said: Any = [{"text": "are you there?"}] if last == "parts" else "are you there?"
        messages.append({"role": "user", last: said})
    mended = with_interrupted(messages, provider)
    assert [each for each in mended if each in messages] == messages
    assert INTERRUPTED in json.dumps(mended[2])
    seen = read_transcript(mended, provider)
    assert [call.answered for call in seen.calls] == [True]
    assert with_interrupted(mended, provider) == mended


@pytest.mark.slow
def test_a_killed_worker_leaves_a_write_that_nobody_repeats(home: Any) -> None:
    home.settings["policy"] = ["policy.yaml"]
    home.agent["limits"] = {"lease": "200ms"}
    (home.folder / "policy.yaml").write_text("version: 1\ndefaults: {workspace_write: allow}\n")
    home.write()
    script = {
        "agent": "chat",
        "user": "ana",
        "turns": [
            {
                "user": "go",
                "calls": [
                    {
                        "id": "c1",
                        "tool": "notes.add",
                        "arguments": {"title": "tea", "seconds": 30},
                    }
                ],
            }
        ],
    }
    (home.folder / "session.yaml").write_text(json.dumps(script))
    worker = home.start("run", "session.yaml", "--json")
    deadline = time.monotonic() + 30
    while not home.effects() and time.monotonic() < deadline:
        time.sleep(0.02)
    worker.kill()
    worker.communicate()
    assert len(home.effects()) == 1
    # Until the lease of the dead worker is over the call counts as running.
    row: dict[str, Any] = {}
    while row.get("state") != "settled" and time.monotonic() < deadline:
        home.toolkeeper("resume", "--all", "--json")
        (row,) = home.here("audit", "calls")
    assert (row["call_id"], row["outcome"]) == ("c1", "failed")
    assert row["code"] == "tool.failed.unknown_outcome"
    assert "not known" in row["result"]
    # The session goes on, and the call was made once.
    lines = home.run(
        {"id": "c2", "tool": "notes.list", "arguments": {}}, session=row["session_id"], expect=0
    )
    assert lines[0]["outcome"] == "completed"
    assert [effect[0] for effect in home.effects()] == ["add", "list"]
