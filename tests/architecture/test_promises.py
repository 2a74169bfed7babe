"""Each promise names a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "ideas" / "what-is-promised.md"


def test_each_promise_stands_beside_a_test_that_exists() -> None:
    rows = [
        line
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith("| ") and not line.startswith(("| promise", "| ---"))
    ]
    assert len(rows) > 30
    for row in rows:
        named = re.findall(r"`(tests/[^`]+)`", row)
        assert named, row
        for place in named:
            file, _, name = place.partition("::")
            assert (ROOT / file).is_file(), place
            if name:
                assert f"def {name}(" in (ROOT / file).read_text("utf-8"), place
