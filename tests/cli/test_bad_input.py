"""Whatever a person writes wrong: one clear message with file, line and key, and nothing made."""

from collections.abc import Callable
from typing import Any

import pytest

Desktop = Any
Ended = Any
Written = Callable[[str], str]

PLAN = ("plan", "--agent", "chat", "--json")
RUN = ("run", "session.yaml", "--json")


def plus(text: str) -> Written:
    """What stands there, and `text` below it."""
    return lambda whole: whole + text


def swap(old: str, new: str) -> Written:
    """What stands there, with `new` in the place of `old`."""
    return lambda whole: whole.replace(old, new)


def only(text: str) -> Written:
    """`text` and nothing else."""
    return lambda whole: text


SESSION = "agent: chat\nturns:\n  - user: hello\n"
NEWER = "UPDATE toolkeeper_schema SET version = 99"


def refused(ended: Ended, *parts: str) -> None:
    """One message on standard error that holds `parts`, exit code 2, and no output."""
    assert ended.code == 2, ended.err
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    for part in parts:
        assert part in ended.err


def both_ways(desktop: Desktop, *parts: str) -> None:
    """Planning and running both refuse, and leave no store behind."""
    desktop.write("session.yaml", SESSION)
    before = desktop.files()
    for words in (PLAN, RUN, ("call", "--agent", "chat", "schedule.list", "{}")):
        refused(desktop.toolkeeper(*words), *parts)
    assert desktop.files() == before


CONFIGURATIONS = {
    "an unknown key": (plus("polcy: []\n"), ":8:", "`polcy`", "did you mean `policy`?"),
    "an unknown key of an agent": (
        plus("    defered_tools: []\n"),
        ":8:",
        "agents.chat.defered_tools",
        "did you mean `deferred_tools`?",
    ),
    "text where a number belongs": (
        plus("    caps: {definitions: many}\n"),
        ":8:",
        "agents.chat.caps.definitions",
        "must be a whole number",
    ),
    "text where a list belongs": (plus("    servers: git\n"), ":8:", "must be a list"),
    "an unknown tool in deferred_tools": (
        swap("[mail.send]", "[mail.sent]"),
        ":7:",
        "agents.chat.deferred_tools[0]",
        "unknown tool `mail.sent`",
        "did you mean `mail.send`?",
    ),
    "an unknown tool in always_defined": (
        plus("    always_defined: [schedule.list, schedule.lits]\n"),
        ":8:",
        "agents.chat.always_defined[1]",
        "did you mean `schedule.list`?",
    ),
    "an unknown tool in tools": (
        swap("broken,", "brokn,"),
        ":6:",
        "agents.chat.tools[5]",
        "did you mean `broken`?",
    ),
    "a literal name in both lists": (
        plus("    always_defined: [mail.send]\n"),
        ":7:",
        "agents.chat.deferred_tools[0]",
        "stands in `always_defined` (line 8) too",
    ),
    "a control tool that is deferred": (
        swap("[mail.send]", "[tool.call]"),
        ":7:",
        "`tool.call` is a control tool",
    ),
    "more always_defined than fit": (
        plus("    always_defined: [schedule.list, broken]\n    caps: {definitions: 1}\n"),
        ":8:",
        "agents.chat.always_defined",
        "the cap is 1",
    ),
    "a broken yaml": (plus("  x: [\n"), "toolkeeper.yaml:9:", "not valid yaml"),
    "a key that stands twice": (plus("version: 1\n"), ":8:", "`version` stands here twice"),
    "a file without agents": (only("version: 1\n"), "toolkeeper.yaml:1:", "`agents` is missing"),
    "a function that is not there": (
        swap("tools:TOOLS", "tools:TOOL"),
        ":2:",
        "functions[0]",
        "did you mean `TOOLS`?",
    ),
    "a module that is not there": (
        swap("tools:TOOLS", "toolz:TOOLS"),
        ":2:",
        "functions[0]",
        "there is no module `toolz`",
    ),
    "a missing policy file": (plus("policy: [nope.yaml]\n"), ":8:", "policy[0]", "`nope.yaml`"),
    "a server of two kinds": (
        plus("servers: {a: {command: x, url: http://x}}\n"),
        ":8:",
        "servers.a",
    ),
    "a plain approver's secret": (
        plus("approver_secrets: {ops: open sesame}\n"),
        ":8:",
        "approver_secrets.ops",
        "toolkeeper approvals hash",
    ),
}


@pytest.mark.parametrize("case", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_a_wrong_configuration_is_refused(desktop: Desktop, case: tuple[Any, ...]) -> None:
    written, *parts = case
    desktop.write("toolkeeper.yaml", written(desktop.CONFIG))
    both_ways(desktop, "toolkeeper.yaml:", *parts)


FUNCTIONS = {
    "two tools with one name": (
        swap('name="mail.send"', 'name="schedule.list"'),
        "toolkeeper.yaml:2: functions",
        "two tools are called `schedule.list`",
    ),
    "a reserved name": (
        swap('name="mail.send"', 'name="tool.call"'),
        "toolkeeper.yaml:2: functions[0]",
        "of tools.py",
        "the tool name `tool.call` is reserved",
    ),
    "a discovered tool's name": (
        swap('name="mail.send"', 'name="mcp.git.commit"'),
        "of tools.py",
        "the tool name `mcp.git.commit` is reserved",
    ),
    "a name that no tool can have": (
        swap('name="mail.send"', 'name="mail send"'),
        "of tools.py",
        "`mail send` cannot be a tool's name",
    ),
    "an unknown side effect": (
        swap('side_effect="message_send"', 'side_effect="message_sent"'),
        "of tools.py",
        "message_sent",
    ),
    "a module that raises": (only("1 / 0\n"), "ZeroDivisionError at line 1 of tools.py"),
    "a module that is no python": (only("def (\n"), "SyntaxError at line 1 of tools.py"),
}


@pytest.mark.parametrize("case", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_wrong_functions_module_is_refused(desktop: Desktop, case: tuple[Any, ...]) -> None:
    written, *parts = case
    desktop.write("tools.py", written(desktop.TOOLS))
    both_ways(desktop, *parts)


POLICIES = {
    "an unknown effect": ("rules:\n  - {id: a, tools: [x], effect: maybe}\n", ":3:", "`maybe`"),
    "an unknown default": ("defaults: {financial: perhaps}\n", ":2:", "`perhaps`"),
    "an unknown class": ("defaults: {financal: ask}\n", ":2:", "did you mean `financial`?"),
    "an unknown key": ("rules:\n  - {id: a, tols: [x], effect: deny}\n", ":3:", "`tols`"),
    "an unknown source": ("rules:\n  - {id: a, sources: [x], effect: deny}\n", ":3:", "`x`"),
    "a control tool": (
        "rules:\n  - {id: a, tools: [tool.call], effect: deny}\n",
        ":3:",
        "`tool.call` is a control tool",
    ),
    "a broken yaml": ("rules: [\n", "not valid yaml"),
}


@pytest.mark.parametrize("case", POLICIES.values(), ids=POLICIES)
def test_a_wrong_policy_is_refused(desktop: Desktop, case: tuple[str, ...]) -> None:
    text, *parts = case
    desktop.write("toolkeeper.yaml", desktop.CONFIG + "policy: [rules.yaml]\n")
    desktop.write("rules.yaml", "version: 1\n" + text)
    both_ways(desktop, "rules.yaml:", *parts)


SCRIPTS = {
    "an unknown key": ("agent: chat\nbogus: 1\nturns: [{user: x}]\n", ":2:", "`bogus`"),
    "an unknown key of a turn": ("agent: chat\nturns:\n  - {usr: x}\n", ":3:", "`usr`"),
    "an unknown key of a call": (
        "agent: chat\nturns:\n  - calls: [{tool: x, args: {}}]\n",
        ":3:",
        "turns[0].calls[0].args",
    ),
    "no turns": ("agent: chat\n", "`turns`"),
    "no agent": ("turns: [{user: x}]\n", "agent", "the script names no agent"),
    "an unknown agent": ("agent: chatt\nturns: [{user: x}]\n", "did you mean `chat`?"),
    "an unknown provider": ("agent: chat\nprovider: x\nturns: [{user: x}]\n", ":2:", "provider"),
    "an intent of a wrong form": (
        "agent: chat\nintent: few\nturns: [{user: x}]\n",
        ":2:",
        "intent",
    ),
    "an intent's unknown key": (
        "agent: chat\nintent: {disable: []}\nturns: [{user: x}]\n",
        ":2:",
        "intent.disable",
    ),
    "a flag that is none": (
        "agent: chat\nturns:\n  - override: {enabled: 3}\n",
        ":3:",
        "turns[0].override.enabled",
    ),
    "an answer to no call": (
        "agent: chat\nturns:\n  - approvals: {c1: approve}\n",
        ":3:",
        "turns[0].approvals.c1",
    ),
    "an answer that is none": (
        "agent: chat\nturns:\n  - {calls: [{id: c1, tool: x}], approvals: {c1: yes}}\n",
        ":3:",
        "this is no answer",
    ),
    "a broken yaml": ("agent: [\n", "not valid yaml"),
    "an empty file": ("", "the file is empty"),
}


@pytest.mark.parametrize("case", SCRIPTS.values(), ids=SCRIPTS)
def test_a_wrong_recorded_session_is_refused(desktop: Desktop, case: tuple[str, ...]) -> None:
    text, *parts = case
    desktop.write("session.yaml", text)
    before = desktop.files()
    refused(desktop.toolkeeper(*RUN), *parts)
    assert desktop.files() == before


STORES = {
    "a text file": b"this was never a database, and it is long enough to look at",
    "a broken database": b"SQLite format 3\0" + b"nonsense" * 200,
}
WRITING = [
    ("resume", "--all"),
    ("call", "--agent", "chat", "schedule.list", "{}"),
    ("approvals", "deny", "apr_1"),
]
READING = [
    ("audit", "plans"),
    ("audit", "calls"),
    ("audit", "events"),
    ("audit", "show", "inv_1"),
    ("approvals", "list"),
    ("approvals", "show", "apr_1"),
    ("plan", "--session", "ses_1"),
]


@pytest.mark.parametrize("content", STORES.values(), ids=STORES)
@pytest.mark.parametrize("words", [*READING, *WRITING], ids=" ".join)
@pytest.mark.sqlite_file
def test_an_unreadable_store_is_refused_and_left_alone(
    desktop: Desktop, content: bytes, words: tuple[str, ...]
) -> None:
    store = desktop.folder / "toolkeeper.db"
    store.write_bytes(content)
    before = desktop.files()
    refused(desktop.toolkeeper(*words), "toolkeeper.db")
    assert store.read_bytes() == content
    assert desktop.files() == before


@pytest.mark.parametrize("words", [*READING, *WRITING], ids=" ".join)
@pytest.mark.sqlite_file
def test_a_store_of_a_newer_version_is_refused_and_left_alone(
    desktop: Desktop, words: tuple[str, ...]
) -> None:
    desktop.toolkeeper("call", "--agent", "chat", "schedule.list", "{}")
    desktop.sql(NEWER)
    store = desktop.folder / "toolkeeper.db"
    before = store.read_bytes()
    refused(desktop.toolkeeper(*words), "toolkeeper.db", "version 99", "upgrade toolkeeper")
    assert store.read_bytes() == before


@pytest.mark.parametrize("words", [*READING, ("approvals", "deny", "apr_1")], ids=" ".join)
@pytest.mark.sqlite_file
def test_a_missing_store_is_told_and_not_made(desktop: Desktop, words: tuple[str, ...]) -> None:
    before = desktop.files()
    refused(desktop.toolkeeper(*words), "toolkeeper.db", "is not there")
    assert desktop.files() == before


@pytest.mark.parametrize(
    "url", ["toolkeeper.db", "sqlite://", "mysql://u:hunter2@h/x", "sqlite:///x.db?a=b"]
)
def test_a_store_url_that_names_no_file_is_refused(desktop: Desktop, url: str) -> None:
    ended = desktop.toolkeeper("audit", "calls", "--store", url)
    refused(ended)
    assert "hunter2" not in ended.err


OPTIONS = {
    "an unknown verb": (("plna",), "unknown command `plna`", "did you mean `plan`?"),
    "an unknown option": (("plan", "--agnet", "chat"), "`--agnet`", "did you mean `--agent`?"),
    "an option without its value": (("plan", "--agent"), "`--agent` needs a value"),
    "a missing argument": (("run",), "the argument `SCRIPT` is missing", "run --help"),
    "a missing option": (("call", "schedule.list"), "`--agent` is missing", "call --help"),
    "a word too many": (("schema", "git"), "`git` is one word too many"),
    "an unknown word of a verb": (("tools", "git"), "unknown command `git` (known: `accept`)"),
    "no agent": (("plan",), "name an agent"),
    "an unknown agent": (("plan", "--agent", "chatt"), "did you mean `chat`?"),
    "an empty user": (("plan", "--agent", "chat", "--user", ""), "empty"),
    "an unknown provider": (("plan", "--agent", "chat", "--provider", "x"), "`x`", "`openai`"),
    "broken json": (("plan", "--agent", "chat", "--intent", "{"), "`--intent`", "json"),
    "a key twice": (("plan", "--agent", "chat", "--intent", '{"a":1,"a":2}'), "twice"),
    "an unknown key": (("plan", "--agent", "chat", "--intent", '{"of":1}'), "intent.of"),
    "a flag that is none": (
        ("plan", "--agent", "chat", "--intent", '{"enabled":"no"}'),
        "intent.enabled",
    ),
    "an intent of a wrong form": (("plan", "--agent", "chat", "--intent", '"all"'), "intent"),
    "attributes that are no object": (
        ("plan", "--agent", "chat", "--attributes", "[]"),
        "`--attributes`",
    ),
    "a missing script": (("run", "nope.yaml"), "nope.yaml", "no such file"),
    "a missing configuration": (("plan", "-c", "nope.yaml", "--agent", "x"), "nope.yaml"),
    "nothing to resume": (("resume",), "`--all`"),
    "both ways to resume": (("resume", "inv_1", "--all"), "`--all`"),
    "an edit that is no json": (("approvals", "approve", "a", "--edit", "{"), "`--edit`"),
    "no scope": (("approvals", "approve", "a", "--scope", "forever"), "`forever`", "`always`"),
}


@pytest.mark.parametrize("case", OPTIONS.values(), ids=OPTIONS)
def test_a_wrong_command_line_is_refused(
    desktop: Desktop, case: tuple[tuple[str, ...], str]
) -> None:
    words, *parts = case
    before = desktop.files()
    refused(desktop.toolkeeper(*words), *parts)
    assert desktop.files() == before
