"""The reference of the command line says what the command says."""

import importlib.util
from pathlib import Path

from toolkeeper.cli.keys import KEYS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def made() -> str:
    spec = importlib.util.spec_from_file_location("generate_cli", REFERENCE / "generate_cli.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text: str = module.reference()
    return text


def test_the_reference_is_current() -> None:
    assert (REFERENCE / "cli.md").read_text("utf-8") == made()


def test_every_verb_that_shows_something_has_its_keys_there() -> None:
    text = made()
    for verb, (_, keys) in KEYS.items():
        section = text.split(f"## `{verb}`")[1].split("\n## ")[0]
        assert all(f"`{key}`" in section for key in keys)
