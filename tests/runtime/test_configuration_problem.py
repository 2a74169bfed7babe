"""What a stranger reads about a fault in a configuration file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from toolkeeper.runtime.configuration import ConfigurationErrors, load_configuration
from toolkeeper_contract import Code, ConfigError

Complaints = Callable[[str], list[str]]

HEAD = "version: 1\nagents: {a: {}}\n"


@pytest.fixture
def complaints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Complaints:
    monkeypatch.chdir(tmp_path)
    Path("policy.yaml").write_text("version: 1\n")

    def complaints(text: str) -> list[str]:
        Path("t.yaml").write_text(text)
        with pytest.raises(ConfigError) as caught:
            load_configuration(Path("t.yaml"), {"SET": "x", "BREAK": "a\nb"})
        return str(caught.value).split("\n")

    return complaints


CASES = {
    "": "t.yaml: the file is empty (start with `version: 1` and an agent under `agents`)",
    "# nothing\n": "t.yaml: the file is empty "
    "(start with `version: 1` and an agent under `agents`)",
    "[]": "t.yaml:1: the file must be a mapping of keys to values "
    "(start with `version: 1` and an agent under `agents`)",
    "agents: {a: {}}": "t.yaml:1: the key `version` is missing (write `version: 1`)",
    "version: 2\nagents: {a: {}}": "t.yaml:1: version: version 2 is not known (write `version: 1`)",
    "version: '1'\nagents: {a: {}}": "t.yaml:1: version: must be the number 1, not text "
    "(write `version: 1`)",
    "version: true\nagents: {a: {}}": "t.yaml:1: version: must be the number 1, not `true` "
    "(write `version: 1`)",
    "version: 1": "t.yaml:1: the key `agents` is missing "
    "(write one agent at least: `agents: {chat: {}}`, say)",
    "version: 1\nagents: {}": "t.yaml:2: agents: must not be empty "
    "(write one agent at least: `agents: {chat: {}}`, say)",
    "version: 1\nagents: [a]": "t.yaml:2: agents: must be a mapping, not a list",
    "version: 1\nagents:\n  a:\n": "t.yaml:3: agents.a: has no value "
    "(write `{}` for an agent with the defaults)",
    "version: 1\nagents: {a: {tools: }}": "t.yaml:2: agents.a.tools: has no value "
    "(give it one, or remove the key)",
    "version: 1\nagents: {'a ': {}}": "t.yaml:2: agents.a : "
    "the name `a ` begins or ends with a space",
    'version: 1\nagents: {"a\\e[31m": {}}': "t.yaml:2: agents.a\x1b[31m: "
    "the name `a\\x1b[31m` holds characters that cannot be shown",
    HEAD + "server: {}": "t.yaml:3: server: unknown key `server` (did you mean `servers`?)",
    HEAD + "mcpServers: {}": "t.yaml:3: mcpServers: unknown key `mcpServers` "
    "(here they stand under `servers`)",
    HEAD + "taint: ask": "t.yaml:3: taint: unknown key `taint` (`taint` stands in a policy file)",
    HEAD + "zzz: 1": "t.yaml:3: zzz: unknown key `zzz`",
    HEAD + "store: toolkeeper.db": "t.yaml:3: store: this is not the address of a store "
    "(write `sqlite:///toolkeeper.db`, say)",
    HEAD + "store: sqlite://toolkeeper.db": "t.yaml:3: store: "
    "the address of an sqlite store has three slashes "
    "(write `sqlite:///toolkeeper.db` for a file beside this one)",
    HEAD + "store: 'sqlite:///:memory:'": "t.yaml:3: store: "
    "the store must be a file, so that other processes find it "
    "(write `sqlite:///toolkeeper.db`, say)",
    HEAD + "store: postgres://u:hunter2@h/x": "t.yaml:3: store: "
    "this kind of store is not known (did you mean `postgresql`?)",
    HEAD + "policy: policy.yaml": "t.yaml:3: policy: must be a list, not text "
    "(put it in square brackets, `[...]`)",
    HEAD + "policy: [polcy.yaml]": "t.yaml:3: policy[0]: there is no policy file `polcy.yaml` "
    "(did you mean `policy.yaml`?)",
    HEAD + "policy: [lethal-trifekta]": "t.yaml:3: policy[0]: "
    "there is no policy pack `lethal-trifekta` (did you mean `lethal-trifecta`?)",
    HEAD + "policy: [reads-free, reads-free]": "t.yaml:3: policy[1]: "
    "`reads-free` stands here twice (remove one of the two)",
    HEAD + "functions: [myapp.tools]": "t.yaml:3: functions[0]: "
    "`myapp.tools` is no reference to functions "
    "(write `module:name`, `myapp.tools:TOOLS`, say)",
    HEAD + "functions: ['a:b', 'a:b']": "t.yaml:3: functions[1]: "
    "`a:b` stands here twice (remove one of the two)",
    HEAD + "users: {ana: [notes]}": "t.yaml:3: users.ana: must be a mapping, not a list",
    HEAD + "users: {ana: {scope: [notes]}}": "t.yaml:3: users.ana.scope: "
    "unknown key `scope` (did you mean `scopes`?)",
    HEAD + "approver_secrets: {ops: hunter2}": "t.yaml:3: approver_secrets.ops: "
    "this is not the hash of a secret (make one with `toolkeeper approvals hash`)",
    HEAD + "redaction: {keys: ['--']}": "t.yaml:3: redaction.keys[0]: `--` holds no word "
    "(write the words of a key, `customer number`, say)",
    HEAD + "redaction: {patterns: ['(a']}": "t.yaml:3: redaction.patterns[0]: "
    "the pattern is not a valid regular expression "
    "(check its brackets, braces and backslashes; patterns are RE2's)",
    HEAD + "redaction: {patterns: ['(?<=a)b']}": "t.yaml:3: redaction.patterns[0]: "
    "the pattern is not a valid regular expression "
    "(patterns are RE2's, without look-around and back-references)",
    HEAD + "redaction: {patterns: ['x*']}": "t.yaml:3: redaction.patterns[0]: "
    "the pattern matches the empty text (demand at least one character)",
    HEAD + "toolsets: {t: [mcp.nope.x]}": "t.yaml:3: toolsets.t[0]: "
    "there is no server `nope`, so `mcp.nope.x` names no tool",
    HEAD + "limits: {schema_bytes: 0}": "t.yaml:3: limits.schema_bytes: must be 1 or more, not 0",
}
SERVERS = {
    "{}": "servers.s: a server has exactly one of `command`, `url` and `catalog`, "
    "and this has none of them (say how it is reached)",
    "{command: x, url: 'https://h'}": "servers.s: a server has exactly one of `command`, `url` "
    "and `catalog`, and this has `command` and `url` (a server has one way to be reached)",
    "{command: [x, y]}": "servers.s.command: must be text, not a list",
    "{command: x, headers: {}}": "servers.s.headers: "
    "`headers` belongs to a server with `url`, and this has `command` (remove it)",
    "{url: 'https://h', env: {}}": "servers.s.env: "
    "`env` belongs to a server with `command`, and this has `url` (remove it)",
    "{command: x, args: [8080]}": "servers.s.args[0]: must be text, not a number "
    "(put it in quotes)",
    "{command: x, env: {DEBUG: true}}": "servers.s.env.DEBUG: must be text, not `true` "
    "(put it in quotes)",
    "{command: x, env: {T: '${NOPE}'}}": "servers.s.env.T: "
    "the environment variable `NOPE` is not set "
    "(set `NOPE`, or write `$${NOPE}` to mean the text itself)",
    "{command: x, args: ['${NOPE:-hunter2}']}": "servers.s.args[0]: "
    "a `${` here does not begin a variable "
    "(write `${NAME}` with letters, digits and `_`, or `$${` for a plain `${`)",
    "{url: 'https://h', headers: {A: '${BREAK}'}}": "servers.s.headers.A: "
    "this header cannot be sent (its name has letters, digits and `-`, its value plain "
    "characters without line breaks; look at the variables in it)",
    "{url: 'file:///etc/passwd'}": "servers.s.url: this is not the address of a server "
    "(write `https://host/path`; `http://` works too)",
    "{url: crm.example}": "servers.s.url: this is not the address of a server "
    "(write `https://host/path`; `http://` works too)",
    "{url: 'http://h:99999/'}": "servers.s.url: this is not the address of a server "
    "(write `https://host/path`; `http://` works too)",
    "{command: x, trust: trust}": "servers.s.trust: `trust` is not known here "
    "(did you mean `trusted`?)",
    "{command: x, trust: yes}": "servers.s.trust: must be one word, not `true` "
    "(use `trusted` or `untrusted`)",
    "{command: x, acceptance: auto}": "servers.s.acceptance: `auto` is not known here "
    "(use `first_listing` or `manual`)",
    "{command: x, timeout: soon}": "servers.s.timeout: `soon` is not a duration "
    "(write seconds, or `500ms`, `30s`, `5m`, `24h`)",
    "{command: x, timeout: 0}": "servers.s.timeout: must be longer than nothing",
    "{command: x, timeout: .inf}": "servers.s.timeout: a number is not a duration "
    "(write seconds, or `500ms`, `30s`, `5m`, `24h`)",
    "{command: x, timeout: 9999d}": "servers.s.timeout: is longer than ten years",
    "{command: x, type: stdio}": "servers.s.type: unknown key `type` "
    "(remove it; `command` is spoken to over stdio, `url` over http)",
}
AGENTS = {
    "tools: [tool.call]": "tools[0]: `tool.call` is a control tool and cannot stand here "
    "(the control tools that an agent has stand under its `control_tools`)",
    "tools: [tool.mine]": "tools[0]: `tool.mine` is a reserved name "
    "(no tool can bear it; names that begin with `tool.` are the framework's own)",
    "deferred_tools: [Tool_Search]": "deferred_tools[0]: `Tool_Search` is a reserved name "
    "(no tool can bear it; names that begin with `tool.` are the framework's own)",
    "always_defined: ['a.*']": "always_defined[0]: `a.*` is a pattern, but only names can stand "
    "here (name each tool; `servers` of an agent brings in all tools of a server)",
    "deferred_tools: ['a?']": "deferred_tools[0]: "
    "`a?` holds a character that no tool's name can have "
    "(names have letters, digits, `_`, `.` and `-`; `*` stands for any characters)",
    "tools: [mcp.git]": "tools[0]: `mcp.git` names no tool "
    "(a discovered tool is called `mcp.<server>.<tool>`)",
    "tools: [mcp.gti.status]": "tools[0]: "
    "there is no server `gti`, so `mcp.gti.status` names no tool (did you mean `git`?)",
    "deferred_tools: ['mcp.gti.*']": "deferred_tools[0]: "
    "there is no server `gti`, so `mcp.gti.*` names no tool (did you mean `git`?)",
    "tools: [7]": "tools[0]: must be text, not a number (put it in quotes)",
    "tools: ['']": "tools[0]: must not be empty",
    "tools: a.b": "tools: must be a list, not text (put it in square brackets, `[...]`)",
    "servers: [gti]": "servers[0]: there is no server `gti` (did you mean `git`?)",
    "toolsets: [reserch]": "toolsets[0]: there is no toolset `reserch` (did you mean `research`?)",
    "overlays: [web]": "overlays[0]: there is no overlay `web` (configure it under `overlays`)",
    "control_tools: [tool.serach]": "control_tools[0]: there is no control tool `tool.serach` "
    "(did you mean `tool.search`?)",
    "disclosure: serch": "disclosure: `serch` is not known here (did you mean `search`?)",
    "listing: all": "listing: `all` is not known here (use `index` or `names` or `none`)",
    "disclosure: search, control_tools: [tool.call]": "disclosure: `search` needs `tool.search`, "
    "which is not among the `control_tools` (`t.yaml`, line 5) (add it there)",
    "listing: none, control_tools: []": "listing: `none` needs `tool.search`, "
    "which is not among the `control_tools` (`t.yaml`, line 5) (add it there)",
    "replan: sometimes": "replan: `sometimes` is not known here (use `on_change` or `never`)",
    "search: {limit: 30}": "search.limit: `limit` is 30, more than `max_limit`, which is 20 "
    "(lower `limit` or raise `max_limit`)",
    "search: {name: Tool_Call}": "search.name: `Tool_Call` is reserved and cannot be the name of "
    "the search tool (choose a name of its own, `find_tools`, say)",
    "search: {name: mcp__git__find}": "search.name: `mcp__git__find` is reserved and cannot be the "
    "name of the search tool (choose a name of its own, `find_tools`, say)",
    "search: {name: find tools}": "search.name: `find tools` cannot be the name of the search tool "
    "(names have 1 to 128 letters, digits, `_`, `.` and `-`)",
    "search: {name: find.it}, tools: [a, find_it]": "tools[1]: `find_it` cannot stand here: "
    "`find.it` is what `chat` calls its search (`t.yaml`, line 5) "
    "(choose another name for one of the two)",
    "search: {name: find}, deferred_tools: ['*', Find]": "deferred_tools[1]: `Find` cannot stand "
    "here: `find` is what `chat` calls its search (`t.yaml`, line 5) "
    "(choose another name for one of the two)",
    "search: {name: find}, pin: [{when: {a: 1}, tools: [find]}]": "pin[0].tools[0]: `find` cannot "
    "stand here: `find` is what `chat` calls its search (`t.yaml`, line 5) "
    "(choose another name for one of the two)",
    "caps: {definitions: 0}": "caps.definitions: must be 1 or more, not 0",
    "caps: {index_entries: -1}": "caps.index_entries: must be 0 or more, not -1",
    "caps: {definition: 3}": "caps.definition: unknown key `definition` "
    "(did you mean `definitions`?)",
    "limits: {parallel_calls: 1.5}": "limits.parallel_calls: "
    "must be a whole number, not a fraction",
    "limits: {result_bytes: 5k}": "limits.result_bytes: must be a whole number, not text "
    "(write it without quotes and units)",
    "limits: {lease: -1}": "limits.lease: must be longer than nothing",
    "approvers: []": "approvers: must not be empty (leave the key out instead)",
    "pin: [{when: {}, tools: [x]}]": "pin[0].when: must not be empty "
    '(write session attributes and their values; `"*"` stands for any value)',
    "pin: [{tools: [x]}]": "pin[0]: the key `when` is missing "
    '(write session attributes and their values; `"*"` stands for any value)',
    "pin: [{when: {a: [1]}, tools: [x]}]": "pin[0].when.a: "
    "must be text, a number or `true` or `false`, not a list",
    "pin: [{when: {a: .nan}, tools: [x]}]": "pin[0].when.a: must be a finite number",
}
RULES = {
    "{tools: [x]}": ": this rule says nothing about its tools (add `side_effect`, say)",
    "{side_effect: none}": ": a classification rule names no tools "
    "(say which it is for with `tools` or `sources`)",
    "{tools: [x], side_effect: reads}": ".side_effect: `reads` is not known here "
    "(use `none` or `workspace_read` or `network_read` or `workspace_write` or `network_write` or "
    "`message_send` or `code_execution` or `financial`)",
    "{tools: [x], side_effect: network_raed}": ".side_effect: `network_raed` is not known here "
    "(did you mean `network_read`?)",
    "{sources: [crm], private: true}": ".sources[0]: there is no source `crm` (known: `functions`)",
    "{tools: [x], private: 'yes'}": ".private: must be `true` or `false`, not text "
    "(write it without quotes)",
    "{tools: [tool.call], private: true}": ".tools[0]: "
    "`tool.call` is a control tool and cannot stand here "
    "(the control tools that an agent has stand under its `control_tools`)",
}


@pytest.mark.parametrize("text", CASES)
def test_each_fault_has_its_message(complaints: Complaints, text: str) -> None:
    assert complaints(text)[0] == CASES[text]


@pytest.mark.parametrize("server", SERVERS)
def test_each_fault_of_a_server_has_its_message(complaints: Complaints, server: str) -> None:
    assert complaints(f"{HEAD}servers:\n  s: {server}\n") == [f"t.yaml:4: {SERVERS[server]}"]


@pytest.mark.parametrize("agent", AGENTS)
def test_each_fault_of_an_agent_has_its_message(complaints: Complaints, agent: str) -> None:
    text = (
        "version: 1\nservers: {git: {command: x}}\ntoolsets: {research: []}\n"
        f"agents:\n  chat: {{{agent}}}\n"
    )
    assert complaints(text) == [f"t.yaml:5: agents.chat.{AGENTS[agent]}"]


@pytest.mark.parametrize("rule", RULES)
def test_each_fault_of_a_rule_has_its_message(complaints: Complaints, rule: str) -> None:
    assert complaints(f"{HEAD}classification:\n- {rule}\n") == [
        f"t.yaml:4: classification[0]{RULES[rule]}"
    ]


@pytest.mark.parametrize("name", ["a b", "a.b", "a" * 65, "ä"])
def test_a_server_id_is_plain(complaints: Complaints, name: str) -> None:
    assert complaints(f"{HEAD}servers:\n  '{name}': {{command: x}}\n") == [
        f"t.yaml:4: servers.{name}: this cannot be the id of a server "
        "(ids have 1 to 64 letters, digits, `_` or `-`; no dots and no spaces)"
    ]


def test_a_server_is_not_called_functions(complaints: Complaints) -> None:
    assert complaints(f"{HEAD}servers:\n  functions: {{command: x}}\n") == [
        "t.yaml:4: servers.functions: `functions` cannot be the id of a server "
        "(selectors mean the functions of this program by it; choose another id)"
    ]


def test_a_name_in_both_lists_is_told_with_both_lines(complaints: Complaints) -> None:
    text = (
        "version: 1\nagents:\n  a:\n    always_defined:\n    - x\n    deferred_tools:\n"
        "    - y\n    - x\n"
    )
    assert complaints(text) == [
        "t.yaml:8: agents.a.deferred_tools[1]: `x` stands in `always_defined` (line 5) too "
        "(remove it from one of the two lists)"
    ]


def test_a_pattern_may_cover_what_is_always_defined(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("version: 1\nagents: {a: {always_defined: [x], deferred_tools: ['*']}}\n")
    assert load_configuration(path, {}).agents["a"].always_defined == ("x",)


def test_all_faults_are_told_in_the_order_of_the_file(complaints: Complaints) -> None:
    text = "version: 2\nstroe: x\nagents:\n  a: {tool: []}\n"
    assert [line.split(":")[1] for line in complaints(text)] == ["1", "2", "4"]


def test_the_exception_holds_every_error_and_is_the_first(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("version: 1\nagents: {a: {tools: [tool.call], replan: x}}\n")
    with pytest.raises(ConfigurationErrors) as caught:
        load_configuration(path, {})
    first, second = caught.value.errors
    assert caught.value.code is first.code is Code.TOOL_NAME_RESERVED
    assert caught.value.key == first.key == "agents.a.tools[0]"
    assert (caught.value.line, caught.value.message) == (2, first.message)
    assert second.code is Code.CONFIG_INVALID


def test_no_message_quotes_a_secret(complaints: Complaints) -> None:
    text = (
        f"{HEAD}store: hunter2\napprover_secrets: {{ops: hunter2}}\n"
        "servers:\n"
        "  a: {url: 'hunter2'}\n"
        '  b: {url: "https://h", headers: {A: "hunter2\\n"}}\n'
        "  c: {command: x, env: {T: 'hunter2${'}}\n"
    )
    lines = complaints(text)
    assert len(lines) == 5
    assert "hunter2" not in "\n".join(lines)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nope/x.yaml", "there is no such file (write one, or name another with `-c FILE`)"),
        ("toolkeper.yaml", "there is no such file (did you mean `toolkeeper.yaml`?)"),
        (".", "this is a directory, not a file (name the file in it)"),
        ("latin.yaml", "the file is not utf-8 text (save it as utf-8)"),
        (
            "broken.yaml",
            "this is not valid yaml: expected <block end>, but found '-' "
            "(check the indentation, quotes and colons around this line)",
        ),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("toolkeeper.yaml").write_text(HEAD)
    Path("latin.yaml").write_bytes(b"version: 1\n# caf\xe9\n")
    Path("broken.yaml").write_text("version: 1\n- x\n")
    with pytest.raises(ConfigError) as caught:
        load_configuration(Path(path), {})
    place = f"{path}:2" if path in ("latin.yaml", "broken.yaml") else path
    assert str(caught.value) == f"{place}: {message}"
