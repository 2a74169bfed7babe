"""B143: no value of a call stands in a log, at any level, of ours or of a library we drive.

Rows, cards, events, exports and printed lines hold secrets masked and the digest of the arguments;
logs hold names, places and sizes.
"""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from toolkeeper.cli.main import app

WORKER = Path(__file__).parent / "canary_worker.py"

ARGUMENT = "canary-argument-7f3a9c21"
"""No secret: it may stand in a row, and never in a log."""

TOKEN = "canary-token-5be0d4411f"
HEADER = "canary-header-90ccab17d2"
ENVIRONMENT = "canary-environment-1c77fe"
MESSAGE = "canary-message-8817aaf0c4"
RESULT = "canary-result-33d019bbe7"
RAISED = "canary-raised-c0ffee1234"
STDERR = "canary-stderr-beef990011"
APPROVER = "canary-approver-44f0a1bd"
NAME = "canary-name-0aa1bb2cc3dd"
KEY = "canary-key-6e6e6e0d0d"
STORE = "canary-store-51d1a2b3c4"
SEAL = "Y2FuYXJ5LXNlYWwtY2FuYXJ5LXNlYWwtY2FuYXJ5ISE="
SECRETS = {
    "token": TOKEN,
    "header": HEADER,
    "environment": ENVIRONMENT,
    "message": MESSAGE,
    "approver": APPROVER,
}
"""What is secret by its key, by a schema or by the configuration: masked wherever it is kept."""

TOOLS = f'''
from typing import Annotated, Any
from pydantic import Field
from toolkeeper import Code, ToolError, tool

@tool(name="cred.create", side_effect="workspace_read")
def create(headers: dict[str, Any], note: str = "") -> dict[str, Any]:
    """Create a credential."""
    return {{"headers": headers, "note": note, "text": "{RESULT}", "password": "{TOKEN}"}}

@tool(name="cred.await", side_effect="workspace_read")
async def later(
    note: str, code: Annotated[str, Field(json_schema_extra={{"writeOnly": True}})]
) -> str:
    """Answer with what came in."""
    return f"{RESULT} {{note}} {{code}}"

@tool(name="cred.save", side_effect="workspace_write")
def save(note: str, api_key: str) -> str:
    """Save."""
    return f"saved {{note}} with {{api_key}}"

@tool(name="cred.raise", side_effect="workspace_read")
def fail(note: str) -> str:
    """Raise."""
    raise ValueError("{RAISED} " + note)

@tool(name="cred.exit", side_effect="workspace_read")
async def leave(note: str) -> str:
    """Raise what ends programs."""
    raise SystemExit("{RAISED} " + note)

@tool(name="cred.say", side_effect="workspace_read")
def say(note: str) -> str:
    """Fail with words for the model."""
    raise ToolError(Code.FAILED, "password={TOKEN}")

TOOLS = [create, later, save, fail, leave, say]
'''

SERVER = f'''
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    print("{STDERR} " + line, file=sys.stderr, flush=True)
    if "id" not in message:
        continue
    reply = {{"jsonrpc": "2.0", "id": message["id"]}}
    method, params = message["method"], message.get("params", {{}})
    if method == "initialize":
        reply["result"] = {{"protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}},
                           "serverInfo": {{"name": "s", "version": "0"}}}}
    elif method == "tools/list":
        reply["result"] = {{"tools": [{{"name": name, "inputSchema": {{"type": "object"}}}}
                                     for name in ("echo", "junk", "error", "malformed")]}}
    elif method == "tools/call" and params["name"] == "echo":
        words = json.dumps(params["arguments"]) + " {RESULT} " + os.environ["S_TOKEN"]
        reply["result"] = {{"content": [{{"type": "text", "text": words}}]}}
    elif method == "tools/call" and params["name"] == "junk":
        print("no message but {RESULT} " + line, flush=True)
        for kind, more in (("x", params), ("message", {{"level": "error", "data": params}})):
            print(json.dumps({{"jsonrpc": "2.0", "method": f"notifications/{{kind}}",
                              "params": more}}), flush=True)
        reply["result"] = {{"content": [{{"type": "text", "text": "ok"}}]}}
    elif method == "tools/call" and params["name"] == "malformed":
        reply["result"] = {{"content": [{{"type": "{RESULT}", "text": params}}]}}
    elif method == "tools/call":
        reply["error"] = {{"code": -32000, "message": "{RESULT}", "data": params}}
    else:
        reply["error"] = {{"code": -32601, "message": "no such method"}}
    print(json.dumps(reply), flush=True)
'''

CALLS: list[Any] = [
    ["cred.create", {"headers": {"Authorization": f"Bearer {TOKEN}"}, "note": ARGUMENT}],
    ["cred.await", {"note": ARGUMENT, "code": TOKEN}],
    ["cred.save", {"note": ARGUMENT, "api_key": TOKEN}],
    ["cred.raise", {"note": ARGUMENT}],
    ["cred.exit", {"note": ARGUMENT}],
    ["cred.say", {"note": ARGUMENT}],
    ["cred.raise", {"note": [ARGUMENT], "password": TOKEN}],
    ["cred.raise", f'{{"note": "{ARGUMENT}'],
    ["no.such.tool", {"password": TOKEN, "note": ARGUMENT}],
    ["tool.call", {"name": "cred.await", "arguments": {"note": ARGUMENT, "code": TOKEN}}],
    ["mcp.s.echo", {"note": ARGUMENT, "token": TOKEN}],
    ["mcp.s.junk", {"note": ARGUMENT, "token": TOKEN}],
    ["mcp.s.error", {"note": ARGUMENT, "token": TOKEN}],
    ["mcp.s.malformed", {"note": ARGUMENT, "token": TOKEN}],
    ["tool.result", {"handle": ARGUMENT}],
]
NOT_LOGGED = [ARGUMENT, RESULT, RAISED, STDERR, NAME, KEY, STORE, *SECRETS.values()]


@pytest.fixture
def home_with_canaries(home: Any) -> Any:
    home.settings = {
        "functions": ["canary_tools:TOOLS"],
        "policy": ["policy.yaml"],
        "redaction": {"patterns": [MESSAGE]},
    }
    home.servers["s"] = {
        "command": sys.executable,
        "args": ["canary_server.py"],
        "env": {"S_TOKEN": "${S_TOKEN}"},
    }
    # Nobody answers there: what the library says of it is part of the log too.
    home.servers["gone"] = {
        "url": "http://127.0.0.1:9/mcp",
        "headers": {"Authorization": "Bearer ${S_HEADER}"},
        "timeout": 2,
    }
    home.agent = {
        "tools": ["cred.create", "cred.await", "cred.save", "cred.raise", "cred.exit", "cred.say"],
        "servers": ["s", "gone"],
        "deferred_tools": ["cred.await"],
        "approvers": ["ana"],
        "limits": {"result_bytes": 40},
    }
    home.write()
    (home.folder / "canary_tools.py").write_text(TOOLS)
    (home.folder / "canary_server.py").write_text(SERVER)
    (home.folder / "policy.yaml").write_text(
        "version: 1\ntaint: off\nrules:\n"
        "  - {id: served, tools: ['mcp.*'], flags: [destructive], effect: allow}\n"
    )
    return home


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "S_TOKEN": ENVIRONMENT,
        "S_HEADER": HEADER,
        "TOOLKEEPER_APPROVER_SECRET": APPROVER,
        "PYTHONASYNCIODEBUG": "1",
    }


def run_worker(folder: Path, **more: str) -> tuple[str, str]:
    ran = subprocess.run(
        [
            sys.executable, str(WORKER), str(folder / "toolkeeper.yaml"),
            json.dumps({**SECRETS, "name": NAME, "key": KEY}), json.dumps(CALLS),
        ],
        cwd=folder, env={**environment(), **more}, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3_000:]
    return ran.stdout, ran.stderr


def test_nothing_of_a_call_stands_in_any_log(home_with_canaries: Any) -> None:
    folder = home_with_canaries.folder
    out, log = run_worker(folder)
    # Standard output is the program's own: one line, which no log line breaks.
    (line,) = out.splitlines()
    assert [ended[1] for ended in json.loads(line)][:6] == [
        "completed", "completed", "completed", "failed", "failed", "failed",
    ]  # fmt: skip
    # The log is really at work: the loop, the database and the protocol all say something.
    assert "asyncio" in log
    assert "sqlalchemy.engine" in log
    leaks = {
        canary: [each[:300] for each in log.splitlines() if canary in each][:3]
        for canary in NOT_LOGGED
        if canary in log
    }
    assert leaks == {}


def test_nothing_of_a_call_stands_in_any_log_of_a_server_store(
    home_with_canaries: Any, postgres_store: str
) -> None:
    place = urlsplit(postgres_store)
    # A server that trusts this machine asks for no password; one that is given is a secret.
    address = f"{place.username}:{STORE}@{place.hostname}:{place.port}"
    home_with_canaries.settings["store"] = place._replace(netloc=address).geturl()
    home_with_canaries.write()
    out, log = run_worker(home_with_canaries.folder, TOOLKEEPER_SEAL_KEY=SEAL)
    assert len(out.splitlines()) == 1
    assert "sqlalchemy.engine" in log
    assert [canary for canary in (*NOT_LOGGED, SEAL) if canary in log] == []


def stored(home: Any) -> str:
    """Every value in the database, and every byte of the files of one that is in a file."""
    files = [each.read_bytes().decode("latin-1") for each in home.folder.glob("ledger.db*")]
    listed = (
        "SELECT name FROM sqlite_master WHERE type = 'table'"
        if files
        else "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    )
    rows = [
        repr(row) for (name,) in home.sql(listed) for row in home.sql(f'SELECT * FROM "{name}"')
    ]
    return "\n".join([*rows, *files])


def test_no_secret_is_kept_exported_or_printed(
    home_with_canaries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home_with_canaries.folder
    run_worker(folder)
    everything = stored(home_with_canaries)
    assert [name for name, secret in SECRETS.items() if secret in everything] == []
    assert KEY not in everything
    # An argument that is no secret is kept, so that an operator can read what was done.
    assert ARGUMENT in everything
    monkeypatch.setenv("S_TOKEN", ENVIRONMENT)
    monkeypatch.setenv("S_HEADER", HEADER)
    for verb in ("calls", "events", "plans"):
        told = json.dumps(home_with_canaries.here("audit", verb))
        assert len(told) > 100
        assert [name for name, secret in SECRETS.items() if secret in told] == []
    for what in ("events", "calls", "approvals"):
        for format in ("jsonl", "csv"):
            file = folder / f"{what}.{format}"
            args = ("audit", "export", "--what", what, "--format", format, "-o", str(file))
            app([*args, "-c", str(folder / "toolkeeper.yaml")], standalone_mode=False)
            told = file.read_text()
            assert len(told) > 100
            assert [name for name, secret in SECRETS.items() if secret in told] == []


def test_lines_and_messages_of_the_command_hold_no_secret(home_with_canaries: Any) -> None:
    calls = [
        {"id": f"c{number}", "tool": name, "arguments": arguments}
        for number, (name, arguments) in enumerate(CALLS)
    ]
    script = {"agent": "chat", "user": "ana", "turns": [{"user": MESSAGE, "calls": calls}]}
    (home_with_canaries.folder / "session.yaml").write_text(json.dumps(script))
    for more in ((), ("--json",)):
        printed = home_with_canaries.toolkeeper(
            "run", "session.yaml", *more, S_TOKEN=ENVIRONMENT, S_HEADER=HEADER
        )
        told = printed.out + printed.err
        assert [name for name, secret in SECRETS.items() if secret in told] == []
        assert not [each for each in (RAISED, STDERR) if each in told]
        if more:
            assert len(printed.lines()) == len(calls)


def test_a_store_whose_address_holds_a_password_does_not_tell_it(home: Any) -> None:
    home.settings["store"] = f"postgresql://ana:{TOKEN}@127.0.0.1:9/none"
    home.write()
    for verb in (
        ("audit", "calls"),
        ("approvals", "list"),
        ("call", "--agent", "chat", "notes.list", "{}"),
    ):
        printed = home.toolkeeper(*verb, TOOLKEEPER_TRACEBACK="")
        assert printed.code != 0
        assert TOKEN not in printed.out + printed.err


def test_a_record_of_a_driven_library_keeps_its_template_and_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    from toolkeeper_pipeline.library_log import withhold

    logger = logging.getLogger("driven.inner")
    withhold("driven")
    with caplog.at_level(logging.DEBUG):
        logger.debug("sending %s to %s", {"password": TOKEN}, "x")
        logger.info(f"sent {TOKEN}")
        try:
            raise KeyError(TOKEN)
        except KeyError:
            logger.exception("it broke")
        logging.getLogger("drivenelse").info("as it %s", "was")
    told = [record.getMessage() for record in caplog.records]
    assert TOKEN not in caplog.text
    assert told[0].startswith("sending %s to %s [test_b143")
    assert told[1].startswith("message withheld [test_b143")
    assert told[2].endswith(", KeyError]")
    assert told[3] == "as it was"
