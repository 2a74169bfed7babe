"""Saved listings as sources."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import ConfigError, NotDispatched, SourceState
from toolkeeper_sources import CatalogSource

DATA = Path(__file__).parents[3] / "shared" / "data"
SCHEMA = {"type": "object"}


def row(name: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": "Does it.", "inputSchema": SCHEMA, **fields}


def saved(folder: Path, value: Any) -> Path:
    path = folder / "saved.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def listing(path: Path, server: str | None = None) -> Any:
    return asyncio.run(CatalogSource("saved", path, server).listing())


def names(found: Any) -> list[str]:
    return [item.definition.name for item in found.tools]


@pytest.mark.parametrize(
    "value",
    [
        [row("b"), row("a")],
        {"tools": [row("b"), row("a")], "nextCursor": None},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [row("b"), row("a")]}},
        {
            "tools": [
                row("mcp.git.b", raw_name="b", server="git"),
                row("mcp.git.a", raw_name="a", server="git"),
            ],
            "refused": [],
        },
        "\ufeff" + json.dumps([row("b"), row("a")]),
        "\n".join(json.dumps(row(name)) for name in "ba"),
    ],
)
def test_each_shape_of_a_saved_listing_is_read(tmp_path: Path, value: Any) -> None:
    found = listing(saved(tmp_path, value))
    assert names(found) == ["a", "b"]
    assert found.refused == ()
    assert found.status.state is SourceState.OK


def test_camel_and_snake_case_keys_are_the_same(tmp_path: Path) -> None:
    camel = row("a", outputSchema=SCHEMA, annotations={"readOnlyHint": True})
    snake = {
        "name": "a",
        "description": "Does it.",
        "input_schema": SCHEMA,
        "output_schema": SCHEMA,
        "annotations": {"readOnlyHint": True, "title": None},
    }
    prints = {
        listing(saved(tmp_path, [entry])).tools[0].definition.fingerprint()
        for entry in (camel, snake)
    }
    assert len(prints) == 1


def test_odd_entries_are_refused_and_counted(tmp_path: Path) -> None:
    entries = [row("good"), row("b c"), row(7), "x", None, {}, {"name": "bare"}, row("t"), row("t")]
    found = listing(saved(tmp_path, entries))
    assert names(found) == ["good"]
    assert len(found.tools) + len(found.refused) == len(entries)
    assert all(refused.source == "saved" and refused.reason for refused in found.refused)


def test_one_server_of_several_is_taken_by_name(tmp_path: Path) -> None:
    path = saved(tmp_path, [row("a", server="x"), row("a", server="y"), row("b", server="y")])
    assert names(listing(path, "y")) == ["a", "b"]
    every = listing(path)
    assert names(every) == ["b"]
    assert [refused.name for refused in every.refused] == ["a", "a"]
    assert all("server: NAME" in refused.reason for refused in every.refused)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{\n  oops", ":2: "),
        ("", "not valid json"),
        ('{"tools": {}}', "no list of tools"),
        ("7", "no list of tools"),
        ("[" * 100_000, "nested too deep"),
        ("[" + "9" * 5000 + "]", "a number that is too long"),
    ],
)
def test_a_file_of_another_shape_is_a_configuration_error(
    tmp_path: Path, value: str, words: str
) -> None:
    path = saved(tmp_path, value)
    with pytest.raises(ConfigError) as caught:
        CatalogSource("saved", path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)


def test_a_file_that_cannot_be_read_is_a_configuration_error(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing.json", tmp_path, binary):
        with pytest.raises(ConfigError) as caught:
            CatalogSource("saved", path)
        assert str(path) in str(caught.value)


def test_an_unknown_server_names_the_nearest(tmp_path: Path) -> None:
    path = saved(tmp_path, [row("a", server="github")])
    with pytest.raises(ConfigError) as caught:
        CatalogSource("saved", path, "githib")
    assert caught.value.hint == "did you mean `github`?"


def test_a_saved_tool_cannot_be_called(tmp_path: Path) -> None:
    source = CatalogSource("saved", saved(tmp_path, [row("a")]))
    with pytest.raises(NotDispatched):
        asyncio.run(source.call("a", {}))


@pytest.mark.skipif(not DATA.is_dir(), reason="the real catalogs are not here")
@pytest.mark.parametrize("name", ["live", "github", "livemcp", "metatool", "sealtools"])
def test_every_entry_of_a_real_catalog_is_accounted_for(name: str) -> None:
    path = DATA / f"catalog-{name}.json"
    found = listing(path)
    assert len(found.tools) + len(found.refused) == len(json.loads(path.read_text()))
