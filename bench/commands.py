"""What does a command cost, before and while it does its work?

    python bench/commands.py [--times 10] [--beside CHECKOUT]

The processor's time of whole processes, as multiples of `python -c pass` in the same run: the least
of several times. With `--beside`, the same by another checkout, in turns with this one.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOTS = ("contract", "policy", "index", "planner", "pipeline", "adapters", "apps")
TOOLS = '''
from toolkeeper import tool

@tool(name="notes.read", side_effect="workspace_read")
def read(title: str = "today") -> str:
    """Read a note."""
    return title

@tool(name="notes.add", side_effect="workspace_write")
def add(title: str) -> str:
    """Add a note."""
    return title

TOOLS = [read, add]
'''
FILES = {
    "notes_tools.py": TOOLS,
    "toolkeeper.yaml": "version: 1\nfunctions: ['notes_tools:TOOLS']\npolicy: [rules.yaml]\n"
    "agents: {chat: {tools: [notes.read, notes.add]}}\n",
    "rules.yaml": "version: 1\nrules:\n  - {id: reads, tools: [notes.read], effect: allow}\n",
    "conditions.yaml": "version: 1\ninclude: [toolkeeper.yaml]\n"
    "override: {policy: [conditional.yaml]}\n",
    "conditional.yaml": "version: 1\nrules:\n"
    "  - {id: reads, tools: [notes.read], effect: allow, when: args.title != 'secret'}\n",
}
CALL = ("call", "--agent", "chat", "notes.read")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "--help": ("--help",),
    "schema": ("schema",),
    "approvals list": ("approvals", "list"),
    "audit verify": ("audit", "verify"),
    "plan": ("plan", "--agent", "chat"),
    "call": CALL,
    "call, a policy with a condition": (*CALL, "--config", "conditions.yaml"),
    "resume --all": ("resume", "--all"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what commands cost.")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--beside", type=Path, help="the root of another checkout")
    chosen = parser.parse_args()
    checkouts = [ROOT, *([chosen.beside.resolve()] if chosen.beside else [])]
    with tempfile.TemporaryDirectory() as place:
        folders = [_folder(Path(place), checkout) for checkout in checkouts]
        nothing = min(_cost(folders[0], ROOT, ["-c", "pass"]) for _ in range(2 * chosen.times))
        print(
            "| command | CPU ms | times `python -c pass` |"
            + " beside | ratio |" * bool(folders[1:])
        )
        print("| --- | ---: | ---: |" + " ---: | ---: |" * bool(folders[1:]))
        for name, words in COMMANDS.items():
            costs = _costs(list(zip(folders, checkouts, strict=True)), words, chosen.times)
            cells = [f"{1000 * costs[0]:.0f}", f"{costs[0] / nothing:.0f}"]
            if costs[1:]:
                cells += [f"{1000 * costs[1]:.0f}", f"{costs[0] / costs[1]:.2f}"]
            print(f"| `{name}` | {' | '.join(cells)} |", flush=True)
    return 0


def _folder(place: Path, checkout: Path) -> Path:
    """A folder with a configuration, and with a store in which one call waits."""
    folder = Path(tempfile.mkdtemp(dir=place))
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    _cost(folder, checkout, ["-m", "toolkeeper", *CALL])
    waits = json.dumps({"title": "x"})
    words = ["-m", "toolkeeper", "call", "--agent", "chat", "notes.add", waits]
    _cost(folder, checkout, words, code=1)
    return folder


def _costs(places: list[tuple[Path, Path]], words: tuple[str, ...], times: int) -> list[float]:
    """The least time in each place; in turns, so that what else the machine does hits all."""
    rounds = [
        [_cost(folder, checkout, ["-m", "toolkeeper", *words]) for folder, checkout in places]
        for _ in range(times)
    ]
    return [min(found) for found in zip(*rounds, strict=True)]


def _cost(folder: Path, checkout: Path, words: list[str], *, code: int = 0) -> float:
    """Seconds of processor time of one process."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(checkout / root) for root in ROOTS),
        # As where it is installed, whatever the shell says: compiled once, not at each start.
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(folder.parent / "compiled"),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != code:
        raise SystemExit(f"{words} ended with {done.returncode}:\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
