"""Which policy the named documents and packs make."""

from pathlib import Path

import pytest

from toolkeeper.runtime.configuration import load_configuration
from toolkeeper.runtime.policy_document import configured_policy, is_pack_name, named_policy
from toolkeeper_contract import Code, ConfigError, SideEffect
from toolkeeper_policy import load_policy, pack_names, pack_text

RULE = "version: 1\nrules:\n  - {id: mine, tools: [a.b], effect: deny}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text(RULE)
    return tmp_path


@pytest.mark.parametrize("name", pack_names())
def test_a_shipped_pack_is_named_by_its_bare_name_in_a_configuration(here: Path, name: str) -> None:
    (here / "t.yaml").write_text(
        f"version: 1\npolicy: [{name}, policy.yaml]\nagents: {{a: {{}}}}\n"
    )
    policy = configured_policy(load_configuration(here / "t.yaml", {}))
    assert policy == load_policy([(name, pack_text(name)), ("policy.yaml", RULE)])
    assert policy == named_policy(["policy.yaml", name])


def test_a_file_beats_a_pack_of_its_name_on_a_command_line_only(here: Path) -> None:
    assert named_policy(["reads-free"]).rules == ()
    (here / "reads-free").write_text(RULE)
    assert [rule.id for rule in named_policy(["reads-free"]).rules] == ["mine"]


def test_a_document_finds_what_it_builds_on_beside_itself(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "more").mkdir()
    (here / "more" / "base.yaml").write_text("version: 1\ndefaults: {none: deny}\n")
    (here / "more" / "own.yaml").write_text("version: 1\npacks: [base.yaml, reads-free]\n")
    policy = named_policy(["more/own.yaml", "policy.yaml"])
    assert policy.defaults[SideEffect.NONE] == "deny"
    assert [rule.id for rule in policy.rules] == ["mine"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("reads-fre", "did you mean `reads-free`?"),
        ("polcy.yaml", "did you mean `policy.yaml`?"),
        ("no/such.yaml", "there is no such file"),
        (".", "is a directory"),
    ],
)
def test_what_is_neither_is_an_error_with_the_nearest_name(
    here: Path, name: str, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        named_policy([name if name != "." else "./"])
    assert caught.value.code is Code.POLICY_INVALID
    assert said in str(caught.value)


def test_packs_have_bare_names_and_files_have_endings_or_folders() -> None:
    assert all(map(is_pack_name, pack_names()))
    assert not any(map(is_pack_name, ["a.yaml", "a.yml", "a.json", "./a", "a/b"]))
