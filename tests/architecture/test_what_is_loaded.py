"""A command loads what it uses, and a governed call loads nothing (adr/0024)."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOTS = ["contract", "policy", "index", "planner", "pipeline", "adapters", "apps"]
FACES = [
    path
    for root in ROOTS
    for path in sorted((ROOT / root).rglob("__init__.py"))
    if "face(" in path.read_text("utf-8")
]
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
CONFIG = """
version: 1
functions: ["notes_tools:TOOLS"]
policy: [rules.yaml]
agents: {chat: {tools: [notes.read, notes.add]}}
"""
RULES = "version: 1\nrules:\n  - {id: reads, tools: [notes.read], effect: allow%s}\n"
CONDITION = ", when: args.title != 'secret'"

HELP = {"cryptography", "jsonschema_rs", "pydantic", "rich", "sqlalchemy", "yaml"}
STORE = {"alembic", "psycopg", "sqlalchemy.dialects.postgresql"}
ELSEWHERE = {"cel", "httpx2", "mcp", "opentelemetry", "prompt_toolkit"}
"""What only a condition, a webhook, a server or a collector needs."""

NOT_LOADED = {
    "--help": HELP | ELSEWHERE | STORE | {"structlog", "toolkeeper.runtime"},
    "approvals --help": HELP - {"pydantic"} | ELSEWHERE | STORE | {"structlog"},
    "approvals list": ELSEWHERE | STORE | {"jsonschema_rs", "structlog", "toolkeeper_planner"},
    "audit calls --json": ELSEWHERE | STORE | {"jsonschema_rs", "rich", "structlog"},
    "audit verify": ELSEWHERE | STORE | {"jsonschema_rs", "structlog", "toolkeeper_planner"},
    "plan --agent chat --json": ELSEWHERE | STORE | {"rich", "sqlalchemy", "structlog"},
    "call --agent chat notes.read": ELSEWHERE | STORE | {"rich", "structlog"},
    "schema": HELP - {"pydantic", "yaml"} | ELSEWHERE | STORE,
}
MODULES = {"--help": 60, "approvals list": 145, "plan --agent chat --json": 300}
"""How many modules of ours each of them loads at most."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A configuration with a tool that may run by itself, and one that is asked about."""
    (tmp_path / "notes_tools.py").write_text(TOOLS)
    (tmp_path / "toolkeeper.yaml").write_text(CONFIG)
    (tmp_path / "rules.yaml").write_text(RULES % "")
    return tmp_path


def loaded(folder: Path, *words: str, code: int = 0) -> set[str]:
    """The modules that are there when the command ends."""
    program = (
        "import json, sys\n"
        "from toolkeeper.cli.main import main\n"
        "try:\n    main()\n"
        f"except SystemExit as end:\n    assert end.code == {code}, end.code\n"
        "open('loaded.json', 'w').write(json.dumps(sorted(sys.modules)))\n"
    )
    run(folder, program, *words)
    return set(json.loads((folder / "loaded.json").read_text()))


def run(folder: Path, program: str, *words: str, env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.sqlite_file
@pytest.mark.parametrize("words", NOT_LOADED)
def test_a_verb_loads_only_what_it_needs(folder: Path, words: str) -> None:
    if words != "--help":
        loaded(folder, "call", "--agent", "chat", "notes.add", '{"title": "x"}', code=1)
    there = loaded(folder, *words.split())
    assert NOT_LOADED[words] & there == set()
    ours = {name for name in there if name.startswith("toolkeeper")}
    assert len(ours) <= MODULES.get(words, 400), len(ours)


@pytest.mark.sqlite_file
def test_what_is_needed_is_loaded(folder: Path) -> None:
    # Otherwise the names above could be misspelt.
    (folder / "rules.yaml").write_text(RULES % CONDITION)
    there = loaded(folder, "call", "--agent", "chat", "notes.read")
    assert {"cel", "jsonschema_rs", "pydantic", "sqlalchemy", "yaml"} <= there


def test_a_call_loads_nothing(folder: Path) -> None:
    """What a call needs is there before it: nothing that is missing can be in its way."""
    (folder / "rules.yaml").write_text(RULES % CONDITION)
    program = (
        "import asyncio, sys\n"
        "from toolkeeper import Toolkeeper\n"
        "async def main():\n"
        "    keeper = Toolkeeper.from_config('toolkeeper.yaml')\n"
        "    async with keeper.session(agent='chat') as session:\n"
        "        before = set(sys.modules)\n"
        "        turn = await session.begin_turn('hello')\n"
        "        for tool, given in ('read', '{}'), ('add', '{\"title\": \"x\"}'), ('add', '{}'):\n"
        "            outcome = await turn.call(turn.read('c1', f'notes.{tool}', given))\n"
        "            print(type(outcome).__name__)\n"
        "        print({name for name in set(sys.modules) - before if '.' not in name\n"
        "               or name.startswith('toolkeeper')} or 'nothing')\n"
        "asyncio.run(main())\n"
    )
    told = run(folder, program, env={"TOOLKEEPER_STORE": "sqlite:///notes.db"}).split("\n")
    assert told[:4] == ["Completed", "Suspended", "Refused", "nothing"]


def _id(path: Path) -> str:
    return str(path.parent.relative_to(ROOT))


@pytest.mark.parametrize("path", FACES, ids=_id)
def test_a_face_says_the_same_to_people_who_check_types_and_to_python(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    (choice,) = [node for node in tree.body if isinstance(node, ast.If)]
    checked = {
        node.module: tuple(alias.name for alias in node.names)
        for node in choice.body
        if isinstance(node, ast.ImportFrom)
    }
    (assigned,) = choice.orelse
    assert isinstance(assigned, ast.Assign)
    assert isinstance(assigned.value, ast.Call)
    assert ast.literal_eval(assigned.value.args[1]) == checked


@pytest.mark.parametrize("path", FACES, ids=_id)
def test_no_name_of_a_face_is_that_of_a_module_beside_it(path: Path) -> None:
    # Python binds a module that was loaded to its name in the package, and `face` would never
    # be asked for the other thing of that name.
    modules = {each.stem for each in path.parent.iterdir()} - {"__init__"}
    tree = ast.parse(path.read_text("utf-8"))
    named = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    } - {"face"}
    assert not modules & named


def test_every_package_of_several_modules_has_a_face() -> None:
    packages = {
        path
        for root in ROOTS
        for path in (ROOT / root).rglob("__init__.py")
        if len(list(path.parent.glob("*.py"))) > 2
    }
    without = {_id(path) for path in packages - set(FACES)}
    assert without == {
        "apps/toolkeeper/cli",
        "adapters/toolkeeper_ledger/migrations",
        "policy/toolkeeper_policy/packs",
    }


def test_modules_do_not_import_each_other_in_a_ring() -> None:
    """Since any of them may be loaded first."""
    needs = {
        ".".join(path.relative_to(ROOT / root).with_suffix("").parts): path
        for root in ROOTS
        for path in (ROOT / root).rglob("*.py")
        if path.name != "__init__.py"
    }
    graph = {name: set(_imported(path)) & needs.keys() for name, path in needs.items()}
    assert sum(map(len, graph.values())) > 500
    while leaves := {name for name, found in graph.items() if not found}:
        graph = {name: found - leaves for name, found in graph.items() if name not in leaves}
    assert graph == {}


def _imported(path: Path) -> Iterator[str]:
    """The modules that are loaded with the one at `path`."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            homes = _homes(node.module)
            for alias in node.names:
                yield homes.get(alias.name, node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _homes(package: str) -> Mapping[str, str]:
    """Where the names of a package's face are; nothing for a module."""
    for root in ROOTS:
        path = ROOT / root / Path(*package.split(".")) / "__init__.py"
        if path in FACES:
            return {
                alias.name: str(node.module)
                for node in ast.walk(ast.parse(path.read_text("utf-8")))
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
    return {}
