"""A configuration that is another one with something changed."""

from pathlib import Path

import pytest

from toolkeeper.runtime.configuration import Configuration, load_configuration
from toolkeeper_contract import ConfigError

OFFICE = """\
version: 1
include: [deep.yaml]
agents:
  chat:
    tools: [a, b, c]
    control_tools: [tool.call]
    caps: {definitions: 3, index_entries: 5}
"""
DEEP = "servers: {git: {command: x, args: [--deep]}}\nstore: sqlite:///deep.db\n"
HEAD = "version: 1\ninclude: [parts/office.yaml]\n"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("parts").mkdir()
    Path("parts/office.yaml").write_text(OFFICE)
    Path("parts/deep.yaml").write_text(DEEP)


def load(text: str, head: str = HEAD) -> Configuration:
    Path("t.yaml").write_text(head + text)
    return load_configuration(Path("t.yaml"), {})


def fault(text: str, head: str = HEAD) -> str:
    with pytest.raises(ConfigError) as caught:
        load(text, head)
    return str(caught.value)


def test_one_line_changes_one_key_and_leaves_the_rest() -> None:
    agent = load("override: {agents: {chat: {caps: {definitions: 9}}}}\n").agents["chat"]
    assert (agent.caps.definitions, agent.caps.index_entries) == (9, 5)
    assert agent.tools == ("a", "b", "c")
    assert load("").agents["chat"].caps.definitions == 3


def test_a_key_that_was_left_to_its_default_can_be_overridden() -> None:
    agent = load("override: {agents: {chat: {disclosure: native}}}\n").agents["chat"]
    assert agent.disclosure == "native"


def test_a_list_takes_the_place_of_the_whole_list() -> None:
    agent = load("override: {agents: {chat: {tools: [z]}}}\n").agents["chat"]
    assert agent.tools == ("z",)


def test_parts_of_parts_can_be_overridden_and_paths_start_from_where_they_are_written(
    tmp_path: Path,
) -> None:
    configuration = load("override: {store: 'sqlite:///x.db', servers: {git: {cwd: here}}}\n")
    assert configuration.store == f"sqlite:///{tmp_path}/x.db"
    assert load("").store == f"sqlite:///{tmp_path}/parts/deep.db"
    assert configuration.servers["git"].transport.args == ("--deep",)  # type: ignore[union-attr]


def test_the_main_file_may_add_entries_and_override_others() -> None:
    text = "agents: {other: {tools: [q]}}\noverride: {agents: {chat: {tools: [z]}}}\n"
    configuration = load(text)
    assert {name: agent.tools for name, agent in configuration.agents.items()} == {
        "other": ("q",),
        "chat": ("z",),
    }


FAULTS = {
    "override: {agents: {chta: {tools: []}}}": "t.yaml:3: agents.chta: "
    "no included file has `chta` under `agents` (did you mean `chat`?)",
    "override: {users: {ana: {}}}": "t.yaml:3: users.ana: no included file has `ana` under "
    "`users` (an entry of its own stands outside `override`)",
    "override:\n  agents:\n    chat:\n      listing: all": "t.yaml:6: agents.chat.listing: "
    "`all` is not known here (use `index` or `names` or `none`)",
    "override: {agents: {chat: {tools: [a, 7]}}}": "t.yaml:3: agents.chat.tools[1]: "
    "must be text, not a number (put it in quotes)",
    "override: {agents: {chat: {caps: }}}": "t.yaml:3: agents.chat.caps: has no value "
    "(give it one, or remove the key)",
    "override: {agnets: {}}": "t.yaml:3: agnets: unknown key `agnets` (did you mean `agents`?)",
    "override: {version: 1}": "t.yaml:3: version: `version` cannot be overridden (remove it)",
    "override: {include: []}": "t.yaml:3: include: `include` cannot be overridden (remove it)",
    "override: []": "t.yaml:3: override: must be a mapping (write `{agents: {chat: {...}}}`, say)",
    "override:": "t.yaml:3: override: must be a mapping (write `{agents: {chat: {...}}}`, say)",
    "policy: []\noverride: {policy: [p.yaml]}": "t.yaml:4: policy: "
    "`policy` stands in this file itself too (make the change there)",
    "agents: {b: {}}\noverride: {agents: {b: {listing: names}}}": "t.yaml:4: agents.b: "
    "`b` stands in this file itself too (make the change there)",
    "override: {agents: {chat: 7}}": "t.yaml:3: agents.chat: must be a mapping, not a number",
    "override: {agents: {chat: {tools: {a: 1}}}}": "t.yaml:3: agents.chat.tools: "
    "must be a list, not a mapping",
    "override: {agents: 7}": "t.yaml:3: agents: must be a mapping, not a number",
}


@pytest.mark.parametrize("text", FAULTS)
def test_each_fault_has_its_message(text: str) -> None:
    assert fault(text) == FAULTS[text]


def test_a_fault_that_the_change_makes_in_a_part_is_told_with_both_places() -> None:
    assert fault("override: {agents: {chat: {disclosure: search}}}\n") == (
        "t.yaml:3: agents.chat.disclosure: `search` needs `tool.search`, which is not among the "
        "`control_tools` (`parts/office.yaml`, line 6) (add it there)"
    )


def test_only_the_main_file_overrides() -> None:
    Path("parts/office.yaml").write_text(OFFICE + "override: {store: 'sqlite:///x.db'}\n")
    assert fault("") == (
        "parts/office.yaml:8: override: only the main file can override what other files say "
        "(make the change where the key stands, or start from this file with `-c FILE`)"
    )


def test_a_file_without_parts_overrides_nothing() -> None:
    assert fault("override: {agents: {a: {}}}\n", "version: 1\nagents: {a: {}}\n") == (
        "t.yaml:3: override: this file includes no other that it could override (add `include`)"
    )
