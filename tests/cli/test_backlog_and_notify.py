"""What waits, and who is still to be told: `audit backlog` and `notify`."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from toolkeeper.cli.keys import BACKLOG, NOTIFIED
from toolkeeper_sinks import verify_signature

SECRET = "a secret for the receivers of this test"
ENV = {"HOOK_SECRET": SECRET}


class Inbox:
    """A receiver in this process; `answers` are the statuses it gives, the last one for ever."""

    def __init__(self) -> None:
        self.answers = [200]
        self.seen: list[dict[str, Any]] = []
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                inbox.seen.append({"headers": dict(self.headers), "body": body})
                answers = inbox.answers
                self.send_response(answers.pop(0) if len(answers) > 1 else answers[0])
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    @property
    def types(self) -> list[str]:
        return [json.loads(each["body"])["type"] for each in self.seen]


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    made = Inbox()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def notified(desktop: Any, inbox: Inbox, *events: str, more: str = "") -> None:
    names = ", ".join(events or ("approval.asked", "approval.answered"))
    desktop.configure(
        add="notifications:\n"
        f'  - {{webhook: "{inbox.url}", secret: "${{HOOK_SECRET}}", events: [{names}]{more}}}\n'
    )


def park(desktop: Any) -> str:
    ended = desktop.toolkeeper(
        "call",
        "--agent",
        "chat",
        "--user",
        "ana",
        "schedule.update",
        '{"id": 7}',
        "--json",
        env=ENV,
    )
    approval_id: str = ended.line["approval_id"]
    return approval_id


def backlog(desktop: Any) -> dict[str, Any]:
    line: dict[str, Any] = desktop.toolkeeper("audit", "backlog", "--json", env=ENV).line
    return line


def test_the_backlog_has_its_keys_and_its_counts(desktop: Any) -> None:
    park(desktop)
    desktop.toolkeeper("call", "--agent", "chat", "schedule.list", "{}")
    found = backlog(desktop)
    assert tuple(found) == BACKLOG
    assert found["oldest_pending_seconds"] >= 0
    del found["oldest_pending_seconds"]
    assert found == {
        "calls": {"completed": 1},
        "pending_approvals": 1,
        "parked": 1,
        "running": 0,
        "overdue": 0,
        "retryable": 0,
        "undelivered": 0,
    }


def test_the_backlog_is_readable_and_says_what_to_do(desktop: Any) -> None:
    park(desktop)
    shown = desktop.toolkeeper("audit", "backlog").out
    assert "pending approvals" in shown
    assert "`toolkeeper approvals list`" in shown
    assert "no call has ended yet" in shown


@pytest.mark.sqlite_file
def test_the_backlog_writes_nothing(desktop: Any) -> None:
    park(desktop)
    before = (desktop.folder / "toolkeeper.db").read_bytes()
    backlog(desktop)
    assert (desktop.folder / "toolkeeper.db").read_bytes() == before


def test_a_command_tells_of_what_it_writes_before_it_ends(desktop: Any, inbox: Inbox) -> None:
    notified(desktop, inbox)
    approval_id = park(desktop)
    assert inbox.types == ["approval.asked"]
    (seen,) = inbox.seen
    stamp = float(seen["headers"]["webhook-timestamp"])
    verify_signature(seen["body"], seen["headers"], SECRET, now=stamp)
    assert json.loads(seen["body"])["data"]["approval_id"] == approval_id
    ended = desktop.toolkeeper("approvals", "approve", approval_id, "--as", "ana", env=ENV)
    assert ended.code == 0
    assert inbox.types == ["approval.asked", "approval.answered"]
    assert backlog(desktop)["undelivered"] == 0


def test_what_could_not_be_delivered_waits_for_notify(desktop: Any, inbox: Inbox) -> None:
    notified(desktop, inbox)
    inbox.answers = [503]
    park(desktop)
    assert backlog(desktop)["undelivered"] == 1
    desktop.sql("UPDATE outbox SET due_at = '2026-01-01T00:00:00.000000+00:00'")
    again = desktop.toolkeeper("notify", "--json", env=ENV)
    assert (again.code, tuple(again.line)) == (1, NOTIFIED)
    assert again.line["postponed"] == 1
    inbox.answers = [204]
    desktop.sql("UPDATE outbox SET due_at = '2026-01-01T00:00:00.000000+00:00'")
    last = desktop.toolkeeper("notify", "--json", env=ENV)
    assert (last.code, last.line["delivered"]) == (0, 1)
    assert len({each["headers"]["webhook-id"] for each in inbox.seen}) == 1
    assert backlog(desktop)["undelivered"] == 0


def test_what_waits_for_a_sink_that_is_gone_can_be_dropped(desktop: Any, inbox: Inbox) -> None:
    notified(desktop, inbox, more=", name: old")
    inbox.answers = [500]
    park(desktop)
    desktop.configure()
    dropped = desktop.toolkeeper("notify", "--drop", "old", "--json")
    assert (dropped.code, dropped.line["abandoned"]) == (0, 1)
    events = [line["event"] for line in desktop.toolkeeper("audit", "events", "--json").lines]
    assert events[-1] == "delivery.abandoned"
    assert backlog(desktop)["undelivered"] == 0


def test_the_body_holds_no_argument_and_no_output_holds_the_secret(
    desktop: Any, inbox: Inbox
) -> None:
    from toolkeeper_contract import EVENTS

    notified(desktop, inbox, *sorted(EVENTS))
    said = desktop.process(
        "call", "--agent", "chat", "--user", "ana", "mail.send",
        '{"to": "canary-of-an-argument", "body": "canary-of-another"}', env=ENV,
    )  # fmt: skip
    told = b"".join(each["body"] for each in inbox.seen).decode()
    assert "approval.asked" in told
    assert "canary" not in told
    assert SECRET not in said.out + said.err
    assert "/hook" not in said.err


def test_nobody_to_tell_is_no_fault(desktop: Any) -> None:
    park(desktop)
    ended = desktop.toolkeeper("notify")
    assert ended.code == 0
    assert "nobody is to be told" in ended.out


@pytest.mark.sqlite_file
def test_there_is_nothing_to_tell_of_without_a_store(desktop: Any) -> None:
    assert desktop.toolkeeper("notify").code == 2
    assert desktop.toolkeeper("audit", "backlog").code == 2


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("[{webhook: 'http://h/x', secret: 'short', events: [run.began]}]", "24 are needed"),
        ("[{webhook: 'ftp://h/x', secret: '%s', events: [run.began]}]", "not the address"),
        ("[{webhook: 'http://h/x', secret: '%s', events: [approval.ask]}]", "`approval.asked`"),
        ("[{webhook: 'http://h/x', secret: '%s', events: []}]", "must not be empty"),
        ("[{webhook: 'http://h/x', events: [run.began]}]", "`secret` is missing"),
        ("[{webhook: 'http://h/x', secret: '${NO_SUCH}', events: [run.began]}]", "`NO_SUCH`"),
        (
            "[{webhook: 'http://h/x', secret: '%s', events: [run.began]},"
            " {webhook: 'http://h/y', secret: '%s', events: [run.began]}]",
            "two notifications by the name `h`",
        ),
    ],
)
def test_a_notification_that_cannot_work_is_refused_with_its_line(
    desktop: Any, section: str, message: str
) -> None:
    secret = "0123456789" * 3
    desktop.configure(add=f"notifications: {section.replace('%s', secret)}\n")
    ended = desktop.toolkeeper("call", "--agent", "chat", "schedule.list", "{}")
    assert ended.code == 2
    assert message in ended.err
    assert "notifications" in ended.err
    assert secret not in ended.err
    assert not (desktop.folder / "toolkeeper.db").exists()
