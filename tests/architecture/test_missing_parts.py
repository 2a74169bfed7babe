"""What a test says that misses a part, and where none may be missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = {
    "test_parts.py": (
        "import pytest\n"
        "def test_a_server():\n    pytest.skip('no PostgreSQL server: install one')\n"
        "def test_an_sdk():\n    pytest.importorskip('no_such_sdk')\n"
        "def test_some_data():\n    pytest.skip('the data of a study are not here')\n"
        "@pytest.mark.xfail\ndef test_what_is_known_to_fail():\n    raise AssertionError\n"
    ),
    "test_driver.py": "import pytest\npytest.importorskip('no_such_driver')\n",
}


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("", ["4 skipped", "1 xfailed"]),
        ("1", ["2 failed", "1 skipped", "1 xfailed", "1 error"]),
    ],
)
def test_where_all_parts_are_needed_a_missing_one_is_a_failure(
    tmp_path: Path, wanted: str, told: list[str]
) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    for name, text in TESTS.items():
        (tmp_path / name).write_text(text)
    words = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        env={**os.environ, "TOOLKEEPER_TESTS_NEED_ALL_PARTS": wanted, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert all(part in done.stdout.splitlines()[-1] for part in told), done.stdout
    assert ("no_such_driver" in done.stdout) is bool(wanted)


def test_the_check_of_a_checkout_needs_all_parts() -> None:
    assert "export TOOLKEEPER_TESTS_NEED_ALL_PARTS=1" in (ROOT / ".ci" / "run").read_text()
