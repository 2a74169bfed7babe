"""The decision records keep their numbers, links and paths true."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORDS = sorted((ROOT / "adr").glob("[0-9][0-9][0-9][0-9]-*.md"))
SECTIONS = ["Context", "Decisions", "Consequences", "Alternatives considered", "Checked by"]
CITING = [
    path
    for root in ["contract", "policy", "index", "planner", "pipeline", "adapters", "apps", "tests"]
    for path in (ROOT / root).rglob("*.py")
]


def _id(path: Path) -> str:
    return path.name


def test_records_are_numbered_without_gaps() -> None:
    numbers = [int(path.name[:4]) for path in RECORDS]
    assert numbers == list(range(1, len(RECORDS) + 1))


@pytest.mark.parametrize("record", RECORDS, ids=_id)
def test_a_record_has_every_section(record: Path) -> None:
    text = record.read_text("utf-8")
    assert text.startswith(f"# {record.name[:4]}. ")
    assert re.search(r"^- Status: (accepted|superseded by adr/\d{4})$", text, re.M)
    assert re.search(r"^- Date: \d{4}-\d{2}-\d{2}$", text, re.M)
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == SECTIONS
    assert re.search(r"^1\. ", text.split("## Decisions")[1], re.M)


@pytest.mark.parametrize("record", RECORDS, ids=_id)
def test_the_tests_that_a_record_names_exist(record: Path) -> None:
    checked = record.read_text("utf-8").split("## Checked by")[1]
    paths = re.findall(r"`(tests/[^`]+)`", checked)
    assert paths
    for path in paths:
        file, _, name = path.partition("::")
        assert (ROOT / file).exists(), path
        if name:
            assert f"def {name}(" in (ROOT / file).read_text("utf-8"), path


@pytest.mark.parametrize("record", RECORDS, ids=_id)
def test_amendments_are_told_on_both_sides(record: Path) -> None:
    text = record.read_text("utf-8")
    number = record.name[:4]
    by_number = {path.name[:4]: path.read_text("utf-8") for path in RECORDS}
    for word, back in [("Amends", "Amended by"), ("Amended by", "Amends")]:
        line = re.search(rf"^- {word}: (.+)$", text, re.M)
        for other in re.findall(r"adr/(\d{4})", line.group(1)) if line else []:
            assert other in by_number
            answer = re.search(rf"^- {back}: (.+)$", by_number[other], re.M)
            assert answer is not None
            assert f"adr/{number}" in answer.group(1)


def test_every_cited_record_exists() -> None:
    known = {path.name[:4] for path in RECORDS}
    missing = {
        (path.name, number)
        for path in CITING
        for number in re.findall(r"\badr/(\d{4})\b", path.read_text("utf-8"))
        if number not in known
    }
    assert missing == set()


def test_the_index_lists_every_record() -> None:
    index = (ROOT / "adr" / "README.md").read_text("utf-8")
    assert re.findall(r"\]\((\d{4}-[a-z0-9-]+\.md)\)", index) == [path.name for path in RECORDS]
