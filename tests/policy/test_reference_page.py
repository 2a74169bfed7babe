"""The reference page of policies names what a policy may hold."""

from pathlib import Path

import pytest

from toolkeeper_policy import pack_names, policy_json_schema
from toolkeeper_policy.condition_names import FIELDS

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/policy.md").read_text("utf-8")


@pytest.mark.parametrize("pack", pack_names())
def test_every_pack_is_there(pack: str) -> None:
    assert f"| `{pack}` |" in PAGE


@pytest.mark.parametrize("variable", FIELDS)
def test_every_variable_of_conditions_is_there(variable: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{variable}` |"))
    assert all(f"`{field}`" in row for field in FIELDS[variable] or ())


def test_every_key_of_a_document_is_there() -> None:
    keys = set(policy_json_schema()["properties"])
    assert {key for key in keys if f"`{key}`" not in PAGE} == set()
