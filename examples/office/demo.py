"""What does a governed day at the office look like, from the plan to the ledger?

Every command runs in a process of its own, as it would in a terminal; what it prints is shown as
it is. Ends with 0 only if the world and the ledger are what the story says they are.
"""

import json
import os
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from typing import Any

from office.store import FILE
from office.world import NoGit, git, make_world

OFFICE = Path(__file__).resolve().parent
SECONDS = 60
"""How long one command may take before the demo gives up on it."""


class Untrue(Exception):
    """Something is not as the story says."""


def main() -> int:
    """Tells the story; 1 when a part of it is not true."""
    try:
        _make_world()
        _plan()
        session = _run()
        add, commit = _approve(session)
        _resume(add, commit)
        delete = _evening(session)
        _hold(delete)
        _audit(session, add)
    except Untrue as untrue:
        print(f"\nthe demo failed: {untrue}", file=sys.stderr)
        return 1
    print("\nEverything the story says is true: the world and the ledger were checked on the way.")
    return 0


def _make_world() -> None:
    _title("The world")
    try:
        make_world()
    except NoGit:
        raise Untrue(
            "the program `git` is not installed, and mcp-server-git needs it "
            "(install it with your system's package manager: `apt install git`, say)"
        ) from None
    _say(
        "A calendar, notes and contacts in world/office.db, and a git repository in "
        "world/repository with minutes that nobody has committed yet. The assistant `chat` works "
        "for ana; what it may not do by itself, bea is asked about."
    )
    _check("minutes.md" not in git("ls-files"), "the minutes are not committed yet")


def _plan() -> None:
    _title("1. What the assistant sees")
    _say(
        "Thirteen functions of this office and fourteen tools of two real MCP servers compete for "
        "14 definitions. Configured tools rank first, then discovered ones, reads before writes. "
        "What does not fit is deferred to an index of one line a tool, and can still be called. "
        "What fits nowhere is skipped and put on record. A tool that policy denies, or whose "
        "scope the user lacks, is filtered: the model never reads its name."
    )
    (plan,) = _shown("plan", "--agent", "chat", "--user", "ana", "--provider", "anthropic")
    for source in plan["sources"]:
        _check(source["state"] == "ok", f"the source {source['name']} answers ({source['reason']})")
    _check("calendar.move" in plan["deferred_tool_names"], "calendar.move is deferred")
    _check("mcp.git.git_commit" in plan["deferred_tool_names"], "git_commit is deferred")
    _check(
        _skips(plan) == {"mcp.git.git_reset": "index_entries"},
        "git_reset alone is skipped, for want of index entries",
    )
    filtered = {row["name"]: row["reason"] for row in plan["filtered_tool_names"]}
    _check(
        filtered == {"contacts.export": "scope", "mcp.git.git_create_branch": "policy"},
        "contacts.export is filtered for its scope, git_create_branch by policy",
    )


def _run() -> str:
    _title("2. A session")
    _say(
        "session.yaml holds what a model would send; the calls run for real. Two reads pass. Then "
        "calendar.move, which the model knows from the index only, goes through `tool.call`: the "
        "first try has the wrong arguments and is answered with the schema, the second moves the "
        "appointment. Staging and committing the minutes are writes to somebody's repository: "
        "they are asked about and parked. Checking out another branch is under a hardline rule: "
        "nobody is asked, it is refused."
    )
    _toolkeeper("run", "session.yaml", exit_code=1)
    rows = _calls()
    _check(list(rows) == ["c1", "c2", "c3", "c4", "c5", "c6", "c7"], "each call has one row")
    _check_call(rows["c1"], "calendar.list", "completed", by="definition")
    _check_call(rows["c2"], "mcp.git.git_status", "completed", by="definition")
    _check_call(rows["c3"], "calendar.move", "refused", "tool.arguments_invalid")
    _check('"start"' in rows["c3"]["result"], "the refused call was answered with the schema")
    _check_call(rows["c4"], "calendar.move", "completed")
    _check_call(rows["c5"], "mcp.git.git_add", "suspended")
    _check_call(rows["c6"], "mcp.git.git_commit", "suspended")
    _check_call(rows["c7"], "mcp.git.git_checkout", "refused", "tool.denied.hardline")
    _check(
        _value("SELECT start FROM appointments WHERE id = 2") == "2026-12-04T10:00",
        "the dentist is on Friday at ten",
    )
    _check(git("diff", "--cached", "--name-only") == "", "nothing is staged")
    return str(rows["c1"]["session_id"])


def _approve(session: str) -> tuple[str, str]:
    _title("3. The answers, from other processes")
    _say(
        "That process has ended. What it parked is in the ledger, the arguments sealed. Approvals "
        "can be answered from anywhere, but only by whom the policy names: ana cannot approve "
        "what she asked for herself."
    )
    waiting = {row["tool"]: row["approval_id"] for row in _shown("approvals", "list")}
    _check(
        set(waiting) == {"mcp.git.git_add", "mcp.git.git_commit"},
        "exactly the two writes to the repository wait for an answer",
    )
    add, commit = waiting["mcp.git.git_add"], waiting["mcp.git.git_commit"]
    _toolkeeper("approvals", "approve", add, "--as", "ana", exit_code=1)
    _toolkeeper("approvals", "approve", add, "--as", "bea")
    _toolkeeper("approvals", "approve", commit, "--as", "bea", "--reason", "as agreed on Thursday")
    _say("Answering only decides; nothing has run yet.")
    _check(git("diff", "--cached", "--name-only") == "", "still nothing is staged")
    _check(len(git("log", "--oneline").splitlines()) == 1, "there is one commit still")
    return add, commit


def _resume(add: str, commit: str) -> None:
    _title("4. What was approved runs, in yet other processes")
    _say("Pins, policy and hardline are checked again first, and an approval is spent only once.")
    _toolkeeper("resume", add)
    _check(git("diff", "--cached", "--name-only").split() == ["minutes.md"], "minutes.md is staged")
    _toolkeeper("resume", "--all")
    _check(git("log", "-1", "--format=%s").strip() == "Minutes of the board meeting", "it is there")
    _check("minutes.md" in git("ls-files"), "the repository really has the minutes")
    _say("Resumed again, the call only tells what became of it: no second commit.")
    _toolkeeper("resume", commit)
    _check(len(git("log", "--oneline").splitlines()) == 2, "there are two commits")


def _evening(session: str) -> str:
    _title("5. The same session goes on")
    _say(
        "The assistant reads the log of the repository, and wants to delete a note. The rule that "
        "lets it write in its own office does not count here: deleting is destructive, and a rule "
        "has to name that to allow it. So it is asked about, and bea approves."
    )
    _toolkeeper("run", "evening.yaml", "--session", session, exit_code=1)
    rows = _calls()
    _check_call(rows["c8"], "mcp.git.git_log", "completed")
    _check("Minutes of the board meeting" in rows["c8"]["result"], "the log tells of the commit")
    _check_call(rows["c9"], "notes.delete", "suspended")
    delete = str(rows["c9"]["approval_id"])
    _toolkeeper("approvals", "approve", delete, "--as", "bea")
    return delete


def _hold(delete: str) -> None:
    _title("6. No approval lifts a hardline")
    _say(
        "Before the approved call runs, a legal hold is declared: on-hold.yaml adds a hardline "
        "rule. An approval answers a question and nothing else: the policy of the moment of "
        "execution decides."
    )
    _toolkeeper("resume", delete, exit_code=1, configuration="on-hold.yaml")
    _check(
        _value("SELECT count(*) FROM notes WHERE title = 'Offer to Harbour Ltd'") == 1,
        "the note is still there",
    )


def _audit(session: str, add: str) -> None:
    _title("7. The ledger tells the story")
    _say("What each turn was planned with, and what was left out and why:")
    turns = _shown("audit", "plans", "--skipped")
    _check(len(turns) == 6, "each of the six turns has its plan on record")
    _check({turn["session_id"] for turn in turns} == {session}, "all six are of this session")
    _check(
        all("mcp.git.git_reset" in _skips(turn) for turn in turns),
        "each of them says what it skipped",
    )
    _say("Every call, one row each, under the name of the real tool:")
    rows = _by_call(_shown("audit", "calls"))
    _check(len(rows) == 9, "nine calls are nine rows")
    _check_call(rows["c5"], "mcp.git.git_add", "completed")
    _check_call(rows["c6"], "mcp.git.git_commit", "completed")
    _check_call(rows["c9"], "notes.delete", "refused", "tool.denied.hardline")
    _check(rows["c9"]["decision"]["rules"] == ["legal-hold"], "c9 names the rule legal-hold")
    _say("And one of them with its whole story:")
    (row,) = _shown("audit", "show", add)
    told = [event["event"] for event in row["events"]]
    for event in ("approval.asked", "approval.answered", "call.claimed", "call.settled"):
        _check(told.count(event) == 1, f"the story tells {event} once")


# telling


def _title(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}")


def _say(text: str) -> None:
    print(f"\n{textwrap.fill(text, 88)}")


def _toolkeeper(*words: str, exit_code: int = 0, configuration: str = "toolkeeper.yaml") -> None:
    """Runs a command and shows it with what it prints."""
    shown = words if configuration == "toolkeeper.yaml" else (*words, "-c", configuration)
    _show(shown, _finished(_started(*words, configuration=configuration), shown, exit_code))


def _shown(*words: str) -> list[dict[str, Any]]:
    """Runs a command that only reads, and shows it; returns what it says to a program."""
    with _started(*words) as for_people, _started(*words, "--json") as for_programs:
        _show(words, _finished(for_people, words))
        return _objects(_finished(for_programs, (*words, "--json")))


def _calls() -> dict[str, dict[str, Any]]:
    """The rows of all calls by their call ids, as the ledger has them now; not shown."""
    words = ("audit", "calls", "--json")
    return _by_call(_objects(_finished(_started(*words), words)))


def _show(words: tuple[str, ...], output: str) -> None:
    command = " ".join(f'"{word}"' if " " in word else word for word in words)
    print(f"\n$ toolkeeper {command}")
    for line in output.rstrip().splitlines():
        print(f"  {line}".rstrip(), flush=True)


def _started(*words: str, configuration: str = "toolkeeper.yaml") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "toolkeeper", *words, "-c", configuration],
        cwd=OFFICE,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


def _finished(process: subprocess.Popen[str], words: tuple[str, ...], exit_code: int = 0) -> str:
    """What the command printed; Untrue when it hangs or ends in another way than it should."""
    command = f"`toolkeeper {' '.join(words)}`"
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        # Ended politely, so that it ends the servers that it started.
        process.terminate()
        process.communicate()
        raise Untrue(f"{command} takes more than {SECONDS} seconds") from None
    if process.returncode != exit_code:
        raise Untrue(f"{command} ended with {process.returncode}, not {exit_code}:\n{output}")
    return output


def _objects(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


# checking


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise Untrue(f"it is not so that {what}")


def _check_call(
    row: dict[str, Any], tool: str, outcome: str, code: str | None = None, *, by: str = "tool.call"
) -> None:
    found = (row["tool"], row["outcome"], row["code"], row["advertised_as"])
    wanted = (tool, outcome, code, by)
    if found != wanted:
        raise Untrue(f"the call {row['call_id']} is {found}, not {wanted}: {row['result']}")


def _by_call(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["call_id"]: row for row in rows}


def _skips(plan: dict[str, Any]) -> dict[str, str]:
    return {row["name"]: row["reason"] for row in plan["skipped_tool_names"]}


def _value(query: str) -> Any:
    with closing(sqlite3.connect(FILE)) as store:
        return store.execute(query).fetchone()[0]


if __name__ == "__main__":
    sys.exit(main())
