"""B131: a crash in the middle of a resume leaves the row running, and nothing fires ever again.

Right: whoever comes by marks it as interrupted (a write's outcome is unknown), frees what depends
on it and says so by an event; what was approved is never repeated.
"""

import signal
import time
from typing import Any

import pytest

LONG = 600


@pytest.fixture
def approved(any_home: Any) -> Any:
    """A home with one approved call that takes long."""
    any_home.agent["limits"] = {"lease": "100ms", "call_timeout": f"{LONG}s"}
    any_home.write()
    (line,) = any_home.run(
        {"id": "c1", "tool": "notes.add", "arguments": {"title": "tea", "seconds": LONG}},
        expect=1,
    )
    any_home.here("approvals", "approve", line["approval_id"])
    any_home.line = line
    return any_home


def killed_resuming(home: Any) -> None:
    process = home.start("resume", home.line["approval_id"], "--json")
    while not home.effects():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)


def test_what_was_approved_is_told_as_unknown_and_not_repeated(approved: Any) -> None:
    killed_resuming(approved)
    for _ in range(2):
        assert approved.toolkeeper("resume", "--all", "--json", expect=0).lines() == []
    (row,) = approved.here("audit", "calls")
    assert (row["state"], row["code"]) == ("settled", "tool.failed.unknown_outcome")
    assert row["invocation_id"] == approved.line["invocation_id"]
    (approval,) = approved.here("approvals", "list", "--all")
    assert (approval["state"], approval["spent_by"]) == ("spent", row["invocation_id"])
    told = [each["event"] for each in approved.here("audit", "events")]
    assert told.index("call.claimed") < told.index("lease.reaped")
    assert len(approved.effects()) == 1


def test_asking_for_it_by_name_tells_how_it_ended(approved: Any) -> None:
    killed_resuming(approved)
    line = approved.toolkeeper("resume", approved.line["approval_id"], "--json", expect=1).object()
    assert (line["outcome"], line["code"]) == ("failed", "tool.failed.unknown_outcome")
    late = approved.toolkeeper("approvals", "approve", approved.line["approval_id"], expect=1)
    assert "already spent" in late.err
    assert len(approved.effects()) == 1


def test_what_waits_behind_it_goes_on(approved: Any) -> None:
    """Another parked call of the session, and its next turn, are not held up by the dead one."""
    (other,) = approved.run(
        {"id": "c2", "tool": "notes.add", "arguments": {"title": "cake"}},
        session=approved.line["session_id"],
        expect=1,
    )
    approved.here("approvals", "approve", other["approval_id"])
    killed_resuming(approved)
    (line,) = approved.toolkeeper("resume", "--all", "--json", expect=0).lines()
    assert (line["call_id"], line["outcome"]) == ("c2", "completed")
    assert {row["state"] for row in approved.here("audit", "calls")} == {"settled"}
    (again,) = approved.run(
        {"id": "c3", "tool": "notes.list", "arguments": {}},
        session=approved.line["session_id"],
        expect=0,
    )
    assert again["outcome"] == "completed"


def test_killed_before_it_is_claimed_the_approval_is_still_good(approved: Any) -> None:
    process = approved.start("resume", approved.line["approval_id"], "--json")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert approved.effects() == []  # it had not even imported what it needs
    (approval,) = approved.here("approvals", "list", "--all")
    assert approval["state"] == "approved"
    killed_resuming(approved)
    assert len(approved.effects()) == 1
