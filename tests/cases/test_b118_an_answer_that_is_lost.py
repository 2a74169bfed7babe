"""B118: a timeout after dispatch counts as "not done", and the call is made again.

Right: three endings. What never left did not start; what answered failed or worked; a write whose
answer is lost is unknown, goes to a human, and is never repeated by itself. Reads may be.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.in_this_process

SERVER = Path(__file__).parent / "servers" / "losing_server.py"
ALLOW = "version: 1\ndefaults: {message_send: allow, network_write: allow}\n"
READS = {"tools": ["mcp.post.read"], "side_effect": "network_read"}
WRITES = {"tools": ["mcp.post.send"], "side_effect": "message_send"}


def post(home: Any, way: str, **limits: Any) -> None:
    """A real server that writes down what reaches it, and answers only in `way`."""
    home.servers["post"] = {
        "command": sys.executable,
        "args": [str(SERVER), way, str(home.folder / "reached")],
        "trust": "trusted",
    }
    home.agent.update(
        servers=["post"], limits={"call_timeout": "3s", "attempt_timeout": "700ms", **limits}
    )
    home.settings.update(classification=[READS, WRITES], policy=["policy.yaml"])
    (home.folder / "policy.yaml").write_text(ALLOW)
    home.write()


def reached(home: Any) -> list[str]:
    file = home.folder / "reached"
    return file.read_text().split() if file.exists() else []


def one(home: Any, tool: str) -> dict[str, Any]:
    words = ("call", "--agent", "chat", f"mcp.post.{tool}", "{}", "--json")
    line: dict[str, Any] = home.toolkeeper(*words).object()
    return line


def row(home: Any, line: dict[str, Any]) -> dict[str, Any]:
    rows = home.here("audit", "calls")
    found: dict[str, Any] = next(
        each for each in rows if each["invocation_id"] == line["invocation_id"]
    )
    return found


@pytest.mark.parametrize("way", ["never", "dies", "garbage", "shapeless"])
def test_a_write_whose_answer_is_lost_is_unknown_and_made_once(home: Any, way: str) -> None:
    post(home, way)
    line = one(home, "send")
    assert (line["outcome"], line["code"]) == ("failed", "tool.failed.unknown_outcome")
    assert "do not repeat it" in line["result"]
    assert row(home, line)["attempts"] == 1
    # Nothing that cleans up later makes it again.
    home.toolkeeper("resume", "--all", "--json", expect=0)
    assert reached(home) == ["send"]


@pytest.mark.parametrize("way", ["dies", "garbage", "shapeless"])
def test_a_read_whose_answer_is_lost_is_asked_again(home: Any, way: str) -> None:
    post(home, f"{way}-once")
    line = one(home, "read")
    assert (line["outcome"], line["result"] and "read it" in line["result"]) == ("completed", True)
    assert row(home, line)["attempts"] == 2
    events = home.here("audit", "events")
    (retried,) = [event for event in events if event["event"] == "call.retried"]
    assert (retried["attempt"], retried["code"]) == (2, "tool.failed")
    assert reached(home) == ["read", "read"]


def test_a_read_that_is_never_answered_times_out_after_its_attempts(home: Any) -> None:
    post(home, "never", retries=1)
    line = one(home, "read")
    assert line["code"] == "tool.failed.timeout"
    assert row(home, line)["attempts"] == 2


def test_a_server_that_cannot_be_reached_started_nothing(home: Any) -> None:
    post(home, "works")
    first = one(home, "send")
    assert first["outcome"] == "completed"
    session = first["session_id"]
    home.servers["post"]["command"] = "/no/such/program"
    home.write()
    call = {"id": "c2", "tool": "mcp.post.send", "arguments": {}}
    (line,) = home.run(call, session=session)
    assert line["outcome"] in ("failed", "refused")
    assert line["code"] in ("tool.unavailable", "tool.not_found.not_offered")
    assert reached(home) == ["send"]


def test_the_unknown_write_is_shown_to_whoever_looks(home: Any) -> None:
    post(home, "never")
    line = one(home, "send")
    shown = home.toolkeeper("audit", "show", line["invocation_id"], "--json", expect=0).object()
    assert shown["code"] == "tool.failed.unknown_outcome"
    assert [event["event"] for event in shown["events"]][-1] == "call.settled"
    assert json.dumps(shown["events"]).count("call.claimed") == 1
