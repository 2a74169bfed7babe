"""B126: recovery looks for the worker's own name, which changes with each start.

Rows stay running for weeks, and block what comes after them. Right: a lease with an expiry, ended
by whoever comes by; nobody's own name is needed, and a name that is the same does not help either.
"""

import json
import signal
import sqlite3
import time
from contextlib import closing
from typing import Any

import psycopg
import pytest

LONG = 600


def killed(home: Any, call: dict[str, Any], effect: str) -> None:
    """Runs the call in a worker that is killed, by a signal that nothing catches, while it runs."""
    script = home.folder / "killed.yaml"
    script.write_text(
        f"agent: chat\nuser: ana\nturns: [{{user: go on, calls: [{json.dumps(call)}]}}]\n"
    )
    before = len(home.effects())
    process = home.start("run", str(script), "--json", HOSTNAME="worker-that-was")
    deadline = time.monotonic() + 60
    while len(home.effects()) == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert home.effects()[-1][:2] == [effect, "tea"]
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


@pytest.fixture
def busy(any_home: Any) -> Any:
    """A home whose notes are written without asking, under leases that are soon over."""
    any_home.agent["limits"] = {"lease": "100ms", "call_timeout": f"{LONG}s"}
    (any_home.folder / "policy.yaml").write_text("version: 1\ndefaults: {workspace_write: allow}\n")
    any_home.settings["policy"] = ["policy.yaml"]
    any_home.write()
    return any_home


ADD = {"id": "c1", "tool": "notes.add", "arguments": {"title": "tea", "seconds": LONG}}


@pytest.mark.parametrize("name", ["another", "worker-that-was"])
def test_the_next_worker_ends_what_a_dead_one_left(busy: Any, name: str) -> None:
    killed(busy, ADD, "add")
    (left,) = busy.here("audit", "calls")
    assert left["state"] == "running"
    # The start of a process takes longer than this lease; nothing is waited for.
    assert busy.toolkeeper("resume", "--all", "--json", expect=0, HOSTNAME=name).lines() == []
    (row,) = busy.here("audit", "calls")
    assert (row["state"], row["outcome"]) == ("settled", "failed")
    assert row["code"] == "tool.failed.unknown_outcome"
    told = [each["event"] for each in busy.here("audit", "events")]
    assert told.count("lease.reaped") == 1
    # Not run again, and not in the way of what comes.
    assert len(busy.effects()) == 1
    (line,) = busy.run({"id": "c1", "tool": "notes.add", "arguments": {"title": "tea"}}, expect=0)
    assert line["outcome"] == "completed"


def test_no_worker_is_named_in_the_store(busy: Any) -> None:
    killed(busy, ADD, "add")
    assert "tea" in _everything(busy)
    assert "worker-that-was" not in _everything(busy)


def _everything(home: Any) -> str:
    store = home.settings.get("store")
    if store is None:
        with closing(sqlite3.connect(home.folder / "ledger.db")) as connection:
            return "\n".join(connection.iterdump())
    with psycopg.connect(store) as connection:
        names = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        return str([connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names])


def test_any_verb_that_writes_ends_it_and_one_that_reads_shows_it_as_it_is(busy: Any) -> None:
    killed(busy, ADD, "add")
    for _ in range(2):
        assert busy.here("audit", "calls")[0]["state"] == "running"
    parked = busy.run({"id": "c2", "tool": "mail.send", "arguments": {"to": "bo"}}, expect=1)
    assert [line["outcome"] for line in parked] == ["suspended"]
    states = {row["call_id"]: row["state"] for row in busy.here("audit", "calls")}
    assert states == {"c1": "settled", "c2": "parked"}


def test_a_worker_that_is_alive_keeps_its_call_however_long_it_takes(busy: Any) -> None:
    busy.agent["limits"]["lease"] = "1500ms"
    busy.write()
    script = busy.folder / "alive.yaml"
    script.write_text(
        "agent: chat\nuser: ana\nturns: [{user: go on, calls: ["
        '{"id": "c1", "tool": "notes.add", "arguments": {"title": "tea", "seconds": 4}}]}]\n'
    )
    process = busy.start("run", str(script), "--json")
    while not busy.effects():
        assert process.poll() is None
        time.sleep(0.01)
    # Longer than its lease, and another worker comes by meanwhile.
    assert busy.toolkeeper("resume", "--all", "--json", expect=0).lines() == []
    out, err = process.communicate(timeout=60)
    assert '"completed"' in out, err
    assert "lease.reaped" not in [each["event"] for each in busy.here("audit", "events")]
    assert len(busy.effects()) == 1
