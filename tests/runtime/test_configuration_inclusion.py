"""A configuration that is spread over several files."""

from pathlib import Path

import pytest

from toolkeeper.runtime.configuration import Catalog, Command, Configuration, load_configuration
from toolkeeper_contract import ConfigError

MAIN = "version: 1\ninclude: [parts/b.yaml]\nagents: {a: {}}\nservers: {git: {command: x}}\n"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("parts").mkdir()


def load(main: str, **parts: str) -> Configuration:
    Path("t.yaml").write_text(main)
    for name, text in parts.items():
        Path(f"parts/{name}.yaml").write_text(text)
    return load_configuration(Path("t.yaml"), {})


def fault(main: str, **parts: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(main, **parts)
    return str(caught.value)


def test_files_add_entries_to_one_section() -> None:
    configuration = load(MAIN, b="version: 1\nservers: {crm: {command: y}}\n")
    assert list(configuration.servers) == ["git", "crm"]


def test_relative_paths_start_from_the_file_that_they_stand_in(tmp_path: Path) -> None:
    part = "store: sqlite:///x.db\nservers: {saved: {catalog: s.json}, y: {command: y}}\n"
    configuration = load(MAIN, b=part)
    assert configuration.store == f"sqlite:///{tmp_path}/parts/x.db"
    assert configuration.servers["saved"].transport == Catalog(tmp_path / "parts" / "s.json")
    transport = configuration.servers["y"].transport
    assert isinstance(transport, Command)
    assert transport.cwd == tmp_path / "parts"
    assert configuration.folder == tmp_path


def test_an_entry_in_two_files_names_both() -> None:
    assert fault(MAIN, b="servers:\n  git: {command: y}\n") == (
        "parts/b.yaml:2: servers.git: the key `git` stands in `t.yaml` (line 4) "
        "and in `parts/b.yaml` (remove one of the two)"
    )


def test_a_key_in_two_files_names_both() -> None:
    assert fault(MAIN + "policy: []\n", b="\n\npolicy: []\n") == (
        "parts/b.yaml:3: policy: the key `policy` stands in `t.yaml` (line 5) "
        "and in `parts/b.yaml` (remove one of the two)"
    )


def test_a_fault_in_an_included_file_names_that_file() -> None:
    assert fault(MAIN, b="\nservers:\n  crm: {command: y, timeot: 3}\n") == (
        "parts/b.yaml:3: servers.crm.timeot: unknown key `timeot` (did you mean `timeout`?)"
    )


def test_a_circle_is_refused() -> None:
    assert fault(MAIN, b="include: [../t.yaml]\n") == (
        "parts/b.yaml:1: include[0]: `../t.yaml` includes itself, directly or through others "
        "(break the circle)"
    )


def test_a_file_is_included_once() -> None:
    main = MAIN.replace("[parts/b.yaml]", "[parts/b.yaml, parts/../parts/b.yaml]")
    assert fault(main, b="users: {}\n") == (
        "t.yaml:2: include[1]: `parts/../parts/b.yaml` is included twice (include it in one place)"
    )


def test_a_missing_part_is_told_where_it_is_included() -> None:
    assert fault(MAIN) == (
        "t.yaml:2: include[0]: there is no file `parts/b.yaml` "
        "(it is looked for beside the including file)"
    )


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ("b.yaml", "include: must be a list of files (put it in square brackets, `[...]`)"),
        ("[3]", "include[0]: must be the name of a file"),
        ("['']", "include[0]: must be the name of a file"),
    ],
)
def test_what_is_included_is_a_list_of_files(include: str, message: str) -> None:
    main = MAIN.replace("[parts/b.yaml]", include)
    assert fault(main) == f"t.yaml:2: {message}"


def test_an_empty_part_is_told() -> None:
    assert fault(MAIN, b="# later\n").startswith("parts/b.yaml: the file is empty")


def test_a_part_of_another_version_is_refused() -> None:
    assert fault(MAIN, b="version: 2\n").startswith("parts/b.yaml:1: version: the key `version`")
