"""What was measured, and by which command? Writes docs/reference/measurements.md anew.

    python bench/measurements.py [--data ../shared/data] [SECTION ...]

Runs each measurement as a command of its own and puts what it prints into its section. Without
names all sections are measured; with names the others stay as they are in the file. Needs
`pip install -e ".[test,bench]"`, and the data for the sections that use it.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = ROOT / "docs" / "reference" / "measurements.md"

INTRODUCTION = """# Measurements

Made by `python bench/measurements.py`; do not edit. Each section names its command. Times are
medians on the machine that ran it and mean something only beside the others of the same table.
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, the script and its arguments (`DATA` stands for the folder), and what it shows."""

    name: str
    title: str
    command: tuple[str, ...]
    words: str


SECTIONS = (
    Section(
        "prices",
        "Token prices against o200k_base",
        ("tokens.py", "--data", "DATA"),
        "Totals should lie between the truth and 15 % above it, and no single tool be under by "
        "more than 10 % (adr/0010).",
    ),
    Section(
        "retrieval",
        "`tool.search` on labelled queries",
        ("retrieval.py", "DATA"),
        "Beside plain BM25Okapi and bm25s in the same run. Queries without an answer: `missed` are "
        "a set's own; `removed` the same with their right tools taken out; `foreign` those of sets "
        "about other catalogs, which a broad catalog may serve (adr/0009).",
    ),
    Section(
        "policy",
        "A policy decision",
        ("policy.py",),
        "Fifty rules, microseconds a decision.",
    ),
    Section(
        "agentdojo",
        "Attacks, without a model",
        ("agentdojo.py", "DATA/agentdojo-workspace-banking.json"),
        "AgentDojo's ground truth through the whole pipeline, under the shipped pack "
        "`lethal-trifecta` and a configuration that a user could have written "
        "(`bench/agentdojo.yaml`). An injected change counts as let through when it runs unasked "
        "in either of two places: right after the first result that shows it, or after the user's "
        "last call. `asked` are the user's own calls that wait for approval. The other two ways "
        "decide the same calls by the same classes. Needs `pip install agentdojo`.",
    ),
    Section(
        "ledger",
        "Claim and settle",
        ("ledger.py",),
        "The two commits of a call, with one event each, without the pipeline around them.",
    ),
    Section(
        "durable",
        "A governed call whose row survives",
        ("durable.py",),
        "The whole way from the model's text to a settled row, beside the same tool call as a "
        "durable step of LangGraph and DBOS. `memory`: nothing survives.",
    ),
    Section(
        "commands",
        "What a command costs",
        ("commands.py",),
        "The processor's time of a whole process, the least of ten. A command loads what it uses "
        "(adr/0024); the one with a condition loads the library that evaluates it.",
    ),
    Section(
        "memory",
        "Memory over 100,000 calls",
        ("memory.py", "--sessions", "200"),
        "What a process holds that makes calls in sessions that come and go.",
    ),
    Section(
        "memory-session",
        "Memory over 100,000 calls of one session",
        ("memory.py",),
        "What one session has read is kept for provenance, up to a bound.",
    ),
    Section(
        "soak",
        "Four workers, eight clients",
        ("soak.py",),
        "Workers are killed while calls run; then every number has to add up.",
    ),
    Section(
        "crash",
        "Workers that die",
        ("crash.py",),
        "A worker is killed by SIGKILL at each boundary that it passes, twenty times on each "
        "database (`loop`: PostgreSQL, with a call's commits from the caller's own event loop, "
        "as they go after a worker's first few calls; `postgresql`: by a thread), while the "
        "effects of its tools are counted in a file outside; then another process reaps once, "
        "answers, takes up everything, and counts. `lost`: a row, an effect, an event, an "
        "answer, a kept result, a sink's event or a delegator's mark that one of the others "
        "does not know of. `stuck`: not settled after one pass of the reaper. `not taken up`: a "
        "read that `resume --all` leaves. `unreported`: an interrupted call without its ending "
        "and event. The test suite does the same once at each point (`tests/crash/`).",
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure, and write the page of measurements.")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    chosen = parser.parse_args()
    parts = _sections(PAGE.read_text("utf-8")) if PAGE.exists() else {}
    for section in SECTIONS:
        if not chosen.sections or section.name in chosen.sections:
            print(f"measuring {section.name} ...", file=sys.stderr)
            parts[section.title] = _measured(section, chosen.data)
            # At once: a later one may fail.
            _write(parts)
    return 0


def _write(parts: Mapping[str, str]) -> None:
    known = [parts[section.title] for section in SECTIONS if section.title in parts]
    PAGE.write_text("\n".join([INTRODUCTION, *known]), "utf-8")


def _measured(section: Section, data: Path) -> str:
    script, *arguments = section.command
    given = [re.sub("^DATA(?=/|$)", lambda _: str(data), each) for each in arguments]
    done = subprocess.run(
        [sys.executable, str(HERE / script), *given], capture_output=True, text=True, cwd=ROOT
    )
    if done.returncode != 0:
        raise SystemExit(f"{script} failed:\n{done.stderr}")
    shown = " ".join(["python", f"bench/{script}", *arguments])
    body = done.stdout.strip()
    if "|" not in body:
        body = f"```text\n{body}\n```"
    return f"## {section.title}\n\n{section.words}\n\n```console\n{shown}\n```\n\n{body}\n"


def _sections(page: str) -> dict[str, str]:
    found = re.split(r"^## ", page, flags=re.M)[1:]
    return {part.split("\n", 1)[0]: f"## {part.rstrip()}\n" for part in found}


if __name__ == "__main__":
    sys.exit(main())
