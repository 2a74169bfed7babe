"""The page about recorded sessions shows one that loads, with every key that there is."""

import re
from pathlib import Path

from toolkeeper.runtime.script import load_script
from toolkeeper.runtime.script_file import ChildFile, ScriptFile, TurnFile

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "recorded-session.md"


def test_the_session_on_the_page_loads_and_shows_every_key(tmp_path: Path) -> None:
    block = re.search(r"```yaml\n(agent:.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block is not None
    (tmp_path / "session.yaml").write_text(block[1])
    (tmp_path / "answer.json").write_text("{}")
    script = load_script(tmp_path / "session.yaml")
    assert [len(turn.steps) for turn in script.every_turn()] == [2, 1, 1]
    text = PAGE.read_text("utf-8")
    for file in (ScriptFile, TurnFile, ChildFile):
        for key in file.model_fields:
            assert f"{key}:" in text or f"`{key}`" in text
