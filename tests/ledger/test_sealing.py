"""Frozen arguments cannot be read at rest, moved to another row, or opened with another key."""

import base64
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import Code, ConfigError, RunError
from toolkeeper_ledger import KeyFile, SealingKey, open_sealer

FORK = multiprocessing.get_context("fork")
SECRET = b'{"card":"4111 1111 1111 1111"}'
VARIABLE = "TOOLKEEPER_SEAL_KEY"


def unreadable(answer: Any) -> str:
    with pytest.raises(RunError) as failure:
        answer()
    assert failure.value.code is Code.LEDGER_UNAVAILABLE
    assert failure.value.hint
    return failure.value.message


@pytest.mark.parametrize("data", [b"", b"x", SECRET, os.urandom(100_000)])
def test_what_is_sealed_opens_again(data: bytes) -> None:
    key = SealingKey.generate()
    sealed = key.seal(data, "inv_1")
    assert key.open(sealed, "inv_1") == data
    assert key.seal(data, "inv_1") != sealed
    if data == SECRET:
        assert b"4111" not in sealed


def test_a_sealed_value_belongs_to_its_row() -> None:
    key = SealingKey.generate()
    sealed = key.seal(SECRET, "inv_1")
    assert "another call" in unreadable(lambda: key.open(sealed, "inv_2"))


def test_another_key_is_named_as_the_reason() -> None:
    sealed = SealingKey.generate().seal(SECRET, "inv_1")
    assert "another key" in unreadable(lambda: SealingKey.generate().open(sealed, "inv_1"))


def test_every_changed_byte_is_found() -> None:
    key = SealingKey.generate()
    sealed = key.seal(SECRET, "inv_1")
    for place in range(len(sealed)):
        changed = bytearray(sealed)
        changed[place] ^= 1
        unreadable(lambda changed=bytes(changed): key.open(changed, "inv_1"))  # type: ignore[misc]
    for length in range(len(sealed)):
        unreadable(lambda cut=sealed[:length]: key.open(cut, "inv_1"))  # type: ignore[misc]


def test_a_key_does_not_show_itself() -> None:
    raw = bytes(range(32))
    shown = repr(SealingKey(raw))
    assert "SealingKey()" in shown
    with pytest.raises(ValueError, match="32 bytes"):
        SealingKey(b"short")


def test_the_key_file_is_made_when_something_is_first_sealed(tmp_path: Path) -> None:
    sealer = open_sealer(f"sqlite:///{tmp_path}/ledger.db", environ={})
    path = tmp_path / "ledger.db.key"
    assert not path.exists()
    sealed = sealer.seal(SECRET, "inv_1")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db.key"]
    again = open_sealer(f"sqlite:///{tmp_path}/ledger.db", environ={})
    assert again.open(sealed, "inv_1") == SECRET


def test_a_missing_key_is_said_and_not_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "k"
    sealed = KeyFile(path).seal(SECRET, "inv_1")
    path.unlink()
    assert "missing" in unreadable(lambda: KeyFile(path).open(sealed, "inv_1"))
    assert not path.exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o610])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "k"
    sealed = KeyFile(path).seal(SECRET, "inv_1")
    path.chmod(mode)
    for use in (
        lambda: KeyFile(path).seal(SECRET, "inv_1"),
        lambda: KeyFile(path).open(sealed, "inv_1"),
    ):
        with pytest.raises(ConfigError) as failure:
            use()
        assert failure.value.hint == f"chmod 600 {path}"


@pytest.mark.parametrize("content", [b"", b"hunter2", b"\xff" * 40, b"QUJD", b"A" * 5000])
def test_a_file_that_holds_no_key_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "k"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ConfigError) as failure:
        KeyFile(path).seal(SECRET, "inv_1")
    assert "hunter2" not in str(failure.value)
    assert path.read_bytes() == content


def test_a_key_file_that_is_a_folder_or_out_of_reach_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k").mkdir(mode=0o700)
    for path in (tmp_path / "k", tmp_path / "no" / "k"):
        with pytest.raises(ConfigError):
            KeyFile(path).seal(SECRET, "inv_1")


def test_the_variable_comes_before_the_file(tmp_path: Path) -> None:
    raw = os.urandom(32)
    url = f"sqlite:///{tmp_path}/ledger.db"
    for text in (
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        base64.b64encode(raw).decode() + "\n",
    ):
        sealer = open_sealer(url, environ={VARIABLE: text})
        assert sealer.open(SealingKey(raw).seal(SECRET, "inv_1"), "inv_1") == SECRET
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "hunter2", "QUJD", "é" * 32, "A" * 64])
def test_a_variable_that_holds_no_key_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as failure:
        open_sealer("sqlite:///ledger.db", environ={VARIABLE: text})
    assert VARIABLE in failure.value.message
    assert "hunter2" not in str(failure.value)


def test_processes_that_race_for_the_first_key_use_the_same(tmp_path: Path) -> None:
    path = tmp_path / "k"
    gate = FORK.Event()
    answers = FORK.Queue()

    def seal() -> None:
        gate.wait()
        try:
            answers.put(KeyFile(path).seal(SECRET, "inv_1"))
        except Exception as error:
            answers.put(repr(error))

    workers = [FORK.Process(target=seal) for _ in range(6)]
    for worker in workers:
        worker.start()
    gate.set()
    sealed = [answers.get(timeout=30) for _ in workers]
    for worker in workers:
        worker.join()
    assert [KeyFile(path).open(value, "inv_1") for value in sealed] == [SECRET] * 6
    assert [file.name for file in tmp_path.iterdir()] == ["k"]


SERVER = "postgresql://ana:hunter2@db.example/toolkeeper"


def test_a_store_on_a_server_has_no_key_of_its_own_making() -> None:
    with pytest.raises(ConfigError) as failure:
        open_sealer(SERVER, environ={})
    assert VARIABLE in str(failure.value)
    assert "hunter2" not in str(failure.value)


def test_who_only_answers_needs_no_key_before_one_is_used() -> None:
    sealer = open_sealer(SERVER, environ={}, answering=True)
    for use in (sealer.seal, sealer.open):
        with pytest.raises(ConfigError, match="sealing key"):
            use(SECRET, "inv_1")


@pytest.mark.parametrize("url", [SERVER, "sqlite:///ledger.db"])
def test_workers_share_a_key_file_that_is_named(url: str, tmp_path: Path) -> None:
    named = {"TOOLKEEPER_SEAL_KEY_FILE": str(tmp_path / "shared.key")}
    sealed = open_sealer(url, environ=named).seal(SECRET, "inv_1")
    assert (tmp_path / "shared.key").stat().st_mode & 0o777 == 0o600
    assert open_sealer(url, environ=named).open(sealed, "inv_1") == SECRET


def test_a_worker_with_another_key_is_told_which_one_to_use() -> None:
    mine, other = (
        open_sealer(SERVER, environ={VARIABLE: base64.b64encode(os.urandom(32)).decode()})
        for _ in range(2)
    )
    with pytest.raises(RunError) as failure:
        other.open(mine.seal(SECRET, "inv_1"), "inv_1")
    assert "another key" in failure.value.message
    assert VARIABLE in str(failure.value.hint)
