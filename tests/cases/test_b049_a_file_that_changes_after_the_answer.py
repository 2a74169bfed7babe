"""B49: the approved command names a file whose content changes before it runs.

Right: where a tool declares what its arguments name, a digest of the content is taken when the call
is asked about and held against the content when it is to run; everywhere else the card says that
contents are not covered.
"""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.in_this_process

SCRIPTS = '''
from pathlib import Path

from toolkeeper import tool

from case_tools import happened


@tool(name="script.run", side_effect="code_execution", operands=["/path"])
def run_script(path: str) -> str:
    """Run a script."""
    happened("run", Path(path).read_text())
    return "done"


@tool(name="script.show", side_effect="code_execution")
def run_blindly(path: str, shout: bool = False) -> str:
    """Run a script of which nothing is declared."""
    happened("run", Path(path).read_text())
    return "done"


TOOLS = [run_script, run_blindly]
'''


@pytest.fixture
def scripts(home: Any) -> Any:
    (home.folder / "script_tools.py").write_text(SCRIPTS)
    home.settings["functions"] = ["case_tools:TOOLS", "script_tools:TOOLS"]
    home.agent["tools"] = ["script.run", "script.show"]
    home.agent["deferred_tools"] = []
    home.write()
    (home.folder / "job.sh").write_text("the good one")
    return home


def ask(scripts: Any, tool: str = "script.run") -> str:
    (line,) = scripts.run({"id": "c1", "tool": tool, "arguments": {"path": "job.sh"}})
    assert line["outcome"] == "suspended"
    return str(line["approval_id"])


def test_a_file_that_is_another_when_it_is_to_run_is_not_run(scripts: Any) -> None:
    id = ask(scripts)
    scripts.toolkeeper("approvals", "approve", id, expect=0)
    (scripts.folder / "job.sh").write_text("the evil one")
    (line,) = scripts.toolkeeper("resume", id, "--json", expect=1).lines()
    assert (line["outcome"], line["code"]) == ("refused", "tool.approval.expired")
    assert "`/path`" in line["result"]
    assert scripts.effects() == []
    (row,) = scripts.here("audit", "calls")
    assert row["result"] == line["result"]
    assert scripts.here("approvals", "list", "--all")[0]["state"] == "expired"


def test_one_that_changed_before_the_answer_is_not_run_either(scripts: Any) -> None:
    # What was shown when it was asked about is what is approved, not what stands there by then.
    id = ask(scripts)
    (scripts.folder / "job.sh").write_text("the evil one")
    scripts.toolkeeper("approvals", "approve", id, expect=0)
    scripts.toolkeeper("resume", id, expect=1)
    assert scripts.effects() == []


def test_one_that_is_the_same_is_run(scripts: Any) -> None:
    id = ask(scripts)
    scripts.toolkeeper("approvals", "approve", id, expect=0)
    (scripts.folder / "job.sh").write_text("the good one")
    scripts.toolkeeper("resume", id, expect=0)
    assert scripts.effects() == [["run", "the good one"]]


@pytest.mark.parametrize(
    ("tool", "words"),
    [("script.run", "not run if that changes"), ("script.show", "/path: not covered")],
)
def test_the_card_says_what_is_covered(scripts: Any, tool: str, words: str) -> None:
    id = ask(scripts, tool)
    assert words in scripts.toolkeeper("approvals", "show", id, expect=0).out
    (row,) = scripts.here("approvals", "list")
    assert list(row["operands"]) == (["/path"] if tool == "script.run" else [])


def test_the_operator_declares_what_a_server_does_not(scripts: Any) -> None:
    schema = {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]}
    scripts.settings["classification"] = [
        {"tools": ["mcp.shell.*"], "side_effect": "code_execution", "operands": ["/file"]}
    ]
    scripts.serve("shell", [{"name": "run", "description": "Run.", "inputSchema": schema}])
    call = {"tool": "mcp.shell.run", "arguments": {"file": str(scripts.folder / "job.sh")}}
    asked = scripts.run({"id": "c1", **call}, {"id": "c2", **call})
    for line in asked:
        scripts.toolkeeper("approvals", "approve", line["approval_id"], expect=0)
    scripts.toolkeeper("resume", asked[0]["approval_id"], expect=0)
    (scripts.folder / "job.sh").write_text("the evil one")
    scripts.toolkeeper("resume", asked[1]["approval_id"], expect=1)
    assert len(scripts.called("shell")) == 1


@pytest.mark.parametrize("operand", ["file", "", "/", "/a~2b"])
def test_an_operand_that_is_no_pointer_is_an_error_with_its_line(
    scripts: Any, operand: str
) -> None:
    scripts.settings["classification"] = [{"tools": ["script.*"], "operands": [operand]}]
    scripts.write()
    said = scripts.toolkeeper("policy", "check", expect=2)
    assert "classification[0]" in said.err + said.out
    assert "pointer" in said.err + said.out
    assert Path(scripts.folder / "ledger.db").exists() is False
