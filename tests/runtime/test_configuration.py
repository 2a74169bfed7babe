"""What a good configuration file comes to."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from toolkeeper.runtime.configuration import (
    Acceptance,
    Agent,
    Catalog,
    Command,
    Configuration,
    Limits,
    Pin,
    Remote,
    Search,
    Trust,
    agent_revision,
    load_configuration,
)
from toolkeeper_contract import ConfigError, Principal, SideEffect

Load = Callable[..., Configuration]

WHOLE = """\
version: 1
store: sqlite:///data/toolkeeper.db
policy: [policy.yaml]
servers:
  git: {command: mcp-server-git, args: [--repository, .], trust: trusted, annotations: trusted}
  crm:
    url: https://crm.example/mcp
    trust: untrusted
    headers: {Authorization: "Bearer ${CRM_TOKEN}"}
    acceptance: manual
    timeout: 500ms
  saved: {catalog: saved-tools.json, server: git}
functions: ["myapp.tools:TOOLS"]
classification:
  - {tools: ["mcp.crm.find_*"], side_effect: network_read, private: true, result: untrusted}
toolsets: {research: [web.search, files.read]}
overlays: {web_search: [web.search]}
users: {ana: {scopes: [notes, mail]}, "*": {scopes: []}}
agents:
  chat:
    tools: [schedule.create, schedule.list, schedule.update, files.read, mcp.git.git_status]
    servers: [git]
    toolsets: [research]
    overlays: [web_search]
    deferred_tools: [schedule.update, "mcp.git.*"]
    always_defined: [schedule.create]
    pin: [{when: {website: "*"}, tools: ["browser.*"]}]
    control_tools: [tool.result, tool.call]
    disclosure: index
    listing: index
    search: {limit: 3, max_limit: 9, name: tool.search}
    caps: {definitions: 20, definition_tokens: 8000, index_entries: 0, index_tokens: 1000}
    replan: never
    limits: {call_timeout: 90, result_bytes: 10, parallel_calls: 2, approval_expiry: 7d, lease: 5m,
             result_kept_bytes: 20, result_blocks: 3, result_depth: 4, result_nodes: 5}
    approvers: [ana]
redaction: {keys: [customer number], patterns: ["ORD-[0-9]{6}"]}
limits: {schema_depth: 50}
"""


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(text: str, environment: Mapping[str, str] = {}) -> Configuration:
        (tmp_path / "policy.yaml").write_text("version: 1\n")
        (tmp_path / "toolkeeper.yaml").write_text(text)
        return load_configuration(tmp_path / "toolkeeper.yaml", environment)

    return load


def test_every_key_of_the_file_arrives(load: Load, tmp_path: Path) -> None:
    configuration = load(WHOLE, {"CRM_TOKEN": "t0k"})
    assert configuration.store == f"sqlite:///{tmp_path}/data/toolkeeper.db"
    assert configuration.policies == (tmp_path / "policy.yaml",)
    assert configuration.folder == tmp_path
    assert configuration.functions == ("myapp.tools:TOOLS",)
    git, crm, saved = configuration.servers.values()
    assert git.transport == Command("mcp-server-git", ("--repository", "."), {}, tmp_path)
    assert (git.trust, git.annotations) == (Trust.TRUSTED, Trust.TRUSTED)
    assert crm.transport == Remote("https://crm.example/mcp", {"Authorization": "Bearer t0k"})
    assert (crm.acceptance, crm.timeout) == (Acceptance.MANUAL, 0.5)
    assert saved.transport == Catalog(tmp_path / "saved-tools.json", "git")
    (rule,) = configuration.classification
    assert (rule.side_effect, rule.private) == (SideEffect.NETWORK_READ, True)
    assert configuration.toolsets == {"research": ("web.search", "files.read")}
    assert configuration.redaction.keys == ("customer number",)
    assert configuration.schema_limits.schema_depth == 50
    assert configuration.schema_limits.schema_nodes == 20_000
    chat = configuration.agents["chat"]
    assert chat.toolsets == {"research": ("web.search", "files.read")}
    assert chat.overlays == {"web_search": ("web.search",)}
    assert chat.pin == (Pin({"website": "*"}, ("browser.*",)),)
    assert chat.control_tools == ("tool.call", "tool.result")
    assert chat.search == Search(3, 9)
    assert chat.caps.index_entries == 0
    assert chat.replan == "never"
    assert chat.limits == Limits(
        call_timeout=90.0,
        result_bytes=10,
        parallel_calls=2,
        approval_expiry=604_800.0,
        lease=300.0,
        result_kept_bytes=20,
        result_blocks=3,
        result_depth=4,
        result_nodes=5,
    )
    assert chat.approvers == ("ana",)


def test_the_smallest_file_has_the_defaults(load: Load, tmp_path: Path) -> None:
    configuration = load("version: 1\nagents: {chat: {}}\n")
    assert configuration.agents == {"chat": Agent("chat")}
    assert configuration.store == f"sqlite:///{tmp_path}/toolkeeper.db"
    assert configuration.policies == ()


def test_servers_are_untrusted_unless_the_file_says_otherwise(load: Load) -> None:
    configuration = load("version: 1\nagents: {a: {}}\nservers: {s: {command: x}}\n")
    server = configuration.servers["s"]
    assert server.trust is Trust.UNTRUSTED
    assert server.annotations is Trust.UNTRUSTED
    assert server.acceptance is Acceptance.FIRST_LISTING


def test_a_user_has_their_own_scopes_or_those_of_everybody(load: Load) -> None:
    users = 'users: {ana: {scopes: [notes]}, "*": {scopes: [guest]}}\n'
    configuration = load("version: 1\nagents: {a: {}}\n" + users)
    assert configuration.principal("ana") == Principal("ana", frozenset({"notes"}))
    assert configuration.principal("bob") == Principal("bob", frozenset({"guest"}))
    assert load("version: 1\nagents: {a: {}}\n").principal("bob") == Principal("bob")


def test_secrets_do_not_stand_in_the_repr(load: Load) -> None:
    text = (
        "version: 1\nstore: postgresql://ana:hunter2@db/x\nagents: {a: {}}\n"
        "servers: {s: {url: 'https://h/?k=${T}', headers: {A: '${T}'}},"
        " t: {command: x, args: ['${T}'], env: {T: '${T}'}}}\n"
    )
    shown = repr(load(text, {"T": "t0psecret"}))
    assert "t0psecret" not in shown
    assert "hunter2" not in shown


def test_the_credentials_of_servers_are_known(load: Load) -> None:
    text = (
        "version: 1\nagents: {a: {}}\nservers:\n"
        "  s: {url: 'https://h/${PLACE}?k=${API_TOKEN}', headers: {Authorization: 'Bearer abcd'}}\n"
        "  t: {command: x, args: ['${HOME}'], env: {DB_PASSWORD: 'a b', MODE: fast}}\n"
    )
    environment = {"PLACE": "zurich", "API_TOKEN": "t0ken", "HOME": "/home/ana"}
    assert load(text, environment).secrets == {"t0ken", "abcd", "a b"}


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("30", 30.0),
        ("0.5", 0.5),
        ('"30"', 30.0),
        ("500ms", 0.5),
        ("30s", 30.0),
        ("5m", 300.0),
        ("1.5h", 5400.0),
        ("24h", 86_400.0),
        ("7d", 604_800.0),
        ('"5 m"', 300.0),
    ],
)
def test_durations_are_seconds_or_have_a_unit(load: Load, written: str, seconds: float) -> None:
    text = f"version: 1\nagents: {{a: {{limits: {{lease: {written}}}}}}}\n"
    assert load(text).agents["a"].limits.lease == seconds


def test_variables_are_replaced_once_and_can_be_escaped(load: Load) -> None:
    text = (
        "version: 1\nagents: {a: {}}\n"
        "servers: {s: {command: x, env: {K: '${A}'},"
        " args: ['${A}-${B}', '$${A}', '$A', '${EMPTY}']}}"
    )
    configuration = load(text, {"A": "${B}", "B": "b", "EMPTY": ""})
    transport = configuration.servers["s"].transport
    assert isinstance(transport, Command)
    assert transport.args == ("${B}-b", "${A}", "$A", "")
    assert transport.env == {"K": "${B}"}


def test_a_server_starts_in_the_folder_of_its_file(load: Load, tmp_path: Path) -> None:
    text = "version: 1\nagents: {a: {}}\nservers: {s: {command: x}, t: {command: x, cwd: sub}}\n"
    servers = load(text).servers
    folders = [
        server.transport.cwd for server in servers.values() if isinstance(server.transport, Command)
    ]
    assert folders == [tmp_path, tmp_path / "sub"]


@pytest.mark.parametrize(
    "url", ["sqlite:////var/lib/t.db", "postgresql://h/x", "postgresql+psycopg://u:p@h/x"]
)
def test_an_absolute_store_stays_as_it_is(load: Load, url: str) -> None:
    assert load(f"version: 1\nstore: {url}\nagents: {{a: {{}}}}\n").store == url


def test_the_revision_changes_with_what_a_plan_depends_on_and_nothing_else() -> None:
    agent = Agent("chat", tools=("a", "b"), toolsets={"t": ("a",)})
    revision = agent_revision(agent)
    assert agent_revision(replace(agent, limits=Limits(call_timeout=1.0))) == revision
    assert agent_revision(replace(agent, approvers=("ana",))) == revision
    for changed in (
        replace(agent, tools=("b", "a")),
        replace(agent, toolsets={"t": ("b",)}),
        replace(agent, control_tools=("tool.call",)),
        replace(agent, deferred_tools=("a",)),
        replace(agent, pin=(Pin({"x": 1}, ("a",)),)),
        replace(agent, servers=("git",)),
    ):
        assert agent_revision(changed) != revision


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "toolkeeper.yaml"
    path.write_bytes(b"\xef\xbb\xbfversion: 1\nagents: {a: {}}\n")
    assert list(load_configuration(path, {}).agents) == ["a"]


def test_a_store_that_the_file_does_not_name_is_named_by_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "toolkeeper.yaml"
    file.write_text("version: 1\nagents: {chat: {}}\n")
    named = {"TOOLKEEPER_STORE": "postgresql://u:p@h/x"}
    assert load_configuration(file, named).store == "postgresql://u:p@h/x"
    relative = {"TOOLKEEPER_STORE": "sqlite:///data/x.db"}
    assert load_configuration(file, relative).store == f"sqlite:///{tmp_path}/data/x.db"
    file.write_text("version: 1\nstore: sqlite:///own.db\nagents: {chat: {}}\n")
    assert load_configuration(file, named).store == f"sqlite:///{tmp_path}/own.db"


def test_a_store_of_the_environment_that_is_none_is_refused_without_its_password(
    tmp_path: Path,
) -> None:
    file = tmp_path / "toolkeeper.yaml"
    file.write_text("version: 1\nagents: {chat: {}}\n")
    with pytest.raises(ConfigError) as failure:
        load_configuration(file, {"TOOLKEEPER_STORE": "mysql://u:hunter2@h/x"})
    assert "TOOLKEEPER_STORE" in str(failure.value)
    assert "hunter2" not in str(failure.value)
