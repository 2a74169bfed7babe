"""Makes `version_1.sql`: a store as toolkeeper 0.1.0 wrote it, with something in every table.

It was run once, with the code of commit 4325e1f on the path (`PYTHONPATH` over its source roots),
and is kept to say what is in the store. The sealing key is beside it and opens nothing else.

python tests/ledger/stores/make_version_1.py
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WHO = ("--agent", "helper", "--user", "ana")


def made(folder: Path, *words: str) -> list[dict[str, Any]]:
    """What a verb prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "toolkeeper", *words, "--json"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def call(folder: Path, tool: str, **arguments: Any) -> dict[str, Any]:
    return made(folder, "call", *WHO, tool, json.dumps(arguments))[0]


def answer(folder: Path, word: str, approval: str, *more: str) -> None:
    made(folder, "approvals", word, approval, "--as", "bea", *more)


def play(folder: Path) -> None:
    """A session of two turns and several of one, with approvals in every state."""
    script = folder / "session.json"
    script.write_text(
        json.dumps(
            {
                "agent": "helper",
                "user": "ana",
                "turns": [
                    {
                        "user": "What is on my list?",
                        "calls": [
                            {"id": "c1", "tool": "list.show", "arguments": {}},
                            {"id": "c2", "tool": "list.show", "arguments": {"lines": 60}},
                            {"id": "c3", "tool": "list.add", "arguments": {"item": 3}},
                            {"id": "c4", "tool": "list.gone", "arguments": {}},
                            {
                                "id": "c5",
                                "tool": "tool.call",
                                "arguments": {"name": "list.show", "arguments": {"lines": 2}},
                            },
                        ],
                    },
                    {
                        "user": "Put bread, milk, eggs, rice and tea on it.",
                        "calls": [
                            {
                                "id": f"d{number}",
                                "tool": "list.add",
                                "arguments": {"item": item, "api_token": f"tok-{item}-12345"},
                            }
                            for number, item in enumerate(("bread", "milk", "eggs", "rice", "tea"))
                        ],
                    },
                ],
            }
        ),
        "utf-8",
    )
    lines = made(folder, "run", "session.json")
    bread, milk, eggs, rice, _tea = [line["approval_id"] for line in lines[-5:]]
    answer(folder, "approve", bread)
    made(folder, "resume", bread)  # spent, and the call settled
    answer(folder, "deny", milk, "--reason", "we have milk")
    made(folder, "resume", milk)  # denied, and the call refused
    answer(folder, "approve", eggs)  # approved, and the call still parked
    answer(folder, "approve", rice)  # spent by an equal call, the first one superseded
    call(folder, "list.show")
    configuration = (folder / "toolkeeper.yaml").read_text("utf-8")
    session = lines[0]["session_id"]
    script.write_text(
        json.dumps(
            {
                "agent": "helper",
                "user": "ana",
                "turns": [
                    {
                        "user": "Rice, please.",
                        "calls": [
                            {
                                "id": "e1",
                                "tool": "list.add",
                                "arguments": {"item": "rice", "api_token": "tok-rice-12345"},
                            }
                        ],
                    }
                ],
            }
        ),
        "utf-8",
    )
    made(folder, "run", "session.json", "--session", session)
    # One that expires, in a session of its own.
    short = configuration.replace("3650d", "1ms")
    (folder / "toolkeeper.yaml").write_text(short, "utf-8")
    salt = call(folder, "list.add", item="salt")
    made(folder, "resume", salt["approval_id"])
    (folder / "toolkeeper.yaml").write_text(configuration, "utf-8")
    # One whose worker died.
    (folder / "making").touch()
    waiting = subprocess.Popen(
        [sys.executable, "-m", "toolkeeper", "call", *WHO, "list.wait", '{"seconds": 60}'],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    while not (folder / "started").exists():
        time.sleep(0.05)
    waiting.send_signal(signal.SIGKILL)
    waiting.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(HERE / "version_1", folder, dirs_exist_ok=True)
        play(folder)
        connection = sqlite3.connect(folder / "toolkeeper.db")
        lines = "\n".join(connection.iterdump())
        connection.close()
        (HERE / "version_1.sql").write_text(lines + "\n", "utf-8")
        key = (folder / "toolkeeper.db.key").read_text("ascii")
        (HERE / "version_1" / "toolkeeper.db.key").write_text(key, "ascii")
        os.chmod(HERE / "version_1" / "toolkeeper.db.key", 0o600)


if __name__ == "__main__":
    main()
