"""Each way to disclose is one line of the office's configuration, and does what the office says."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

OFFICE = Path(__file__).resolve().parents[2] / "examples" / "office"
VARIANTS = ("names", "search", "core", "native")

pytestmark = [
    pytest.mark.slow,
    # The configuration of the example names its store.
    pytest.mark.sqlite_file,
    pytest.mark.skipif(
        importlib.util.find_spec("mcp_server_git") is None
        or importlib.util.find_spec("mcp_server_time") is None,
        reason='the MCP servers are not installed: pip install -e ".[demo]"',
    ),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed: apt install git"),
]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example with a world in it."""
    folder = tmp_path_factory.mktemp("disclosure") / "office"
    shutil.copytree(OFFICE, folder, ignore=shutil.ignore_patterns("world", "__pycache__"))
    _python(folder, "-c", "from office.world import make_world; make_world()")
    return folder


@pytest.fixture(scope="module")
def plans(office: Path) -> dict[str, dict[str, Any]]:
    """The plan of ana's office in each variant, for a provider that can search on its side."""
    return {name: _plan(office, f"{name}.yaml") for name in ("toolkeeper", *VARIANTS)}


def test_a_variant_is_the_office_with_an_override_and_nothing_else() -> None:
    for name in VARIANTS:
        file = yaml.safe_load((OFFICE / f"{name}.yaml").read_text("utf-8"))
        assert set(file) == {"version", "include", "override"}
        assert list(file["override"]) == ["agents"]
        assert list(file["override"]["agents"]) == ["chat"]
    for name in ("names", "search", "native"):
        text = (OFFICE / f"{name}.yaml").read_text("utf-8")
        (line,) = [line for line in text.splitlines() if line.startswith("override")]
        assert line.endswith("}}}")


def test_every_variant_discloses_as_it_says(plans: dict[str, dict[str, Any]]) -> None:
    used = {name: (plan["disclosure"]["used"], plan["listing"]) for name, plan in plans.items()}
    assert used == {
        "toolkeeper": ("index", "index"),
        "names": ("index", "names"),
        "search": ("search", "index"),
        "core": ("search", "none"),
        "native": ("native", "none"),
    }


def test_no_variant_shows_more_or_less_than_the_office_has(
    plans: dict[str, dict[str, Any]],
) -> None:
    hidden = plans["toolkeeper"]["filtered_tool_names"]
    assert {row["name"] for row in hidden} == {"contacts.export", "mcp.git.git_create_branch"}
    for plan in plans.values():
        assert plan["filtered_tool_names"] == hidden
        skipped = {row["name"] for row in plan["skipped_tool_names"]}
        assert set(plan["pins"]) | skipped == set(plans["search"]["pins"])
    assert plans["native"]["skipped_tool_names"] == []
    assert plans["names"]["skipped_tool_names"] == []


def test_the_core_is_all_that_the_core_defines(plans: dict[str, dict[str, Any]]) -> None:
    plan = plans["core"]
    assert plan["defined_tool_names"] == ["calendar.list", "calendar.free", "find_tools"]
    assert plan["deferred_tool_names"] == []
    assert "mcp.time.convert_time" in plan["searchable_tool_names"]


def test_elsewhere_native_falls_back_to_the_index_and_says_why(office: Path) -> None:
    plan = _plan(office, "native.yaml", "--provider", "gemini")
    assert plan["disclosure"] == {
        "asked": "native",
        "used": "index",
        "reason": "provider `gemini` has no tool search of its own",
    }
    assert "tool.call" in plan["defined_tool_names"]


def test_the_native_request_defers_what_the_plan_defers(
    office: Path, plans: dict[str, dict[str, Any]]
) -> None:
    rendered = json.loads(
        _toolkeeper(office, "plan", "-c", "native.yaml", *_FOR, *_NATIVE, "--render")
    )
    deferred = [tool["name"] for tool in rendered["tools"] if tool.get("defer_loading")]
    assert len(deferred) == len(plans["native"]["deferred_tool_names"])
    assert rendered["tools"][0]["type"].startswith("tool_search_tool_bm25")
    assert rendered["system"] == ""


def test_what_a_search_loads_is_called_at_once_and_defined_a_turn_later(office: Path) -> None:
    lines = [
        json.loads(line)
        for line in _toolkeeper(
            office, "run", "searching.yaml", "-c", "core.yaml", "--json"
        ).splitlines()
    ]
    assert [(line["tool"], line["advertised_as"], line["outcome"]) for line in lines] == [
        ("find_tools", "definition", "completed"),
        ("mcp.time.convert_time", "search", "completed"),
        ("mcp.time.convert_time", "definition", "completed"),
    ]
    session = lines[0]["session_id"]
    one, two = (
        json.loads(line)
        for line in _toolkeeper(
            office, "audit", "plans", "-c", "core.yaml", "--session", session, "--json"
        ).splitlines()
    )
    assert (one["loaded_tool_names"], two["loaded_tool_names"]) == ([], ["mcp.time.convert_time"])
    assert two["defined_tool_names"] == [*one["defined_tool_names"], "mcp.time.convert_time"]


_FOR = ("--agent", "chat", "--user", "ana")
_NATIVE = ("--provider", "anthropic", "--model", "claude-sonnet-4-5")


def _plan(office: Path, file: str, *more: str) -> dict[str, Any]:
    options = more or _NATIVE
    plan: dict[str, Any] = json.loads(
        _toolkeeper(office, "plan", "-c", file, *_FOR, *options, "--json")
    )
    return plan


def _toolkeeper(office: Path, *words: str) -> str:
    return _python(office, "-m", "toolkeeper", *words)


def _python(folder: Path, *words: str) -> str:
    # The servers are started by name, from the folder of this Python.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
