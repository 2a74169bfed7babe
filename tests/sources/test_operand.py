"""The digest of what an argument names tells every change of it, and never waits or raises."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import ConfigError
from toolkeeper_sources import operand, operand_digests, tool


def digests(folder: Path, arguments: Any, *pointers: str) -> dict[str, str]:
    return asyncio.run(operand_digests(pointers, arguments, folder))


def test_a_file_is_read_whole_and_its_name_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    (tmp_path / "b").write_bytes(b"x" * 3_000_000)
    (tmp_path / "c").write_bytes(b"x" * 2_999_999 + b"y")
    found = [digests(tmp_path, {"path": name}, "/path")["/path"] for name in "abc"]
    assert found[0] == found[1] != found[2]
    assert found[0].startswith("sha256:")


def test_links_are_followed_and_paths_start_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    (tmp_path / "link").symlink_to("a")
    by_name = digests(tmp_path, {"path": "a"}, "/path")
    assert digests(tmp_path, {"path": "link"}, "/path") == by_name
    assert digests(Path("/"), {"path": str(tmp_path / "a")}, "/path") == by_name
    assert digests(tmp_path / "elsewhere", {"path": "a"}, "/path") == {"/path": "missing"}


def test_whatever_a_path_can_name_has_a_digest(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("")
    said = {
        "nothing": "missing",
        "pipe": "no file",
        "loop": "unreadable",
        "file/below": "unreadable",
        "nul\0": "unreadable",
        "x" * 5_000: "unreadable",
    }
    for path, digest in said.items():
        assert digests(tmp_path, {"path": path}, "/path") == {"/path": digest}, path
    assert digests(tmp_path, {"path": 7}, "/path") == {"/path": "no path"}
    assert digests(tmp_path, {}, "/path") == {"/path": "absent"}
    assert digests(tmp_path, {"path": []}, "/path") == {"/path": "absent"}


def test_a_folder_changes_with_what_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    seen = []
    for name in ("a", "b"):
        seen.append(digests(tmp_path, {"path": "folder"}, "/path")["/path"])
        (folder / name).write_text(name)
    (folder / "a").write_text("other")
    seen.append(digests(tmp_path, {"path": "folder"}, "/path")["/path"])
    assert len(set(seen)) == 3
    assert all(each.startswith("folder:") for each in seen)


def test_of_a_big_file_its_edges_its_size_and_its_time_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operand, "WHOLE", 1_000)
    monkeypatch.setattr(operand, "EDGE", 100)
    file = tmp_path / "big"

    def written(data: bytes) -> str:
        file.write_bytes(data)
        os.utime(file, ns=(1, 1))
        return digests(tmp_path, {"path": "big"}, "/path")["/path"]

    first = written(b"a" * 5_000)
    assert first.startswith("part:")
    assert written(b"a" * 5_000) == first
    others = [b"a" * 5_001, b"b" + b"a" * 4_999, b"a" * 4_999 + b"b"]
    assert first not in [written(data) for data in others]
    written(b"a" * 5_000)
    os.utime(file, ns=(2, 2))
    assert digests(tmp_path, {"path": "big"}, "/path")["/path"] != first


@pytest.mark.parametrize("pointer", ["/files", "/files/*", "/jobs/*/file", "/jobs/0/file"])
def test_several_files_at_one_pointer_have_one_digest(tmp_path: Path, pointer: str) -> None:
    for name in "ab":
        (tmp_path / name).write_text(name)
    arguments = {"files": ["a", "b"], "jobs": [{"file": "a"}, {"file": "b"}, {}, 7]}
    before = digests(tmp_path, arguments, pointer)
    (tmp_path / "a").write_text("other")
    assert digests(tmp_path, arguments, pointer) != before


def test_keys_are_escaped_as_in_any_json_pointer(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    found = digests(tmp_path, {"x/y": "a", "m~n": "a"}, "/x~1y", "/m~0n")
    assert len(set(found.values())) == 1
    assert found["/m~0n"].startswith("sha256:")


def run_script(path: str) -> str:
    return path


@pytest.mark.parametrize("operands", [["path"], ["/"], [7], "path"])
def test_a_tool_that_declares_no_pointer_is_refused(operands: Any) -> None:
    with pytest.raises(ConfigError, match="no json pointer"):
        tool(run_script, operands=operands)


def test_one_pointer_may_stand_alone() -> None:
    assert tool(run_script, operands="/path").declaration.operands == ("/path",)
