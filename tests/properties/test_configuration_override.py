"""A file with an `override` is the file that one would have written in full."""

import json
import tempfile
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper.runtime.configuration import Configuration, load_configuration

NAMES = st.lists(st.sampled_from(["a.one", "a.two", "b.one", "c"]), unique=True, max_size=4)
AGENT = st.fixed_dictionaries(
    {},
    optional={
        "tools": NAMES,
        "listing": st.sampled_from(["index", "names", "none"]),
        "disclosure": st.sampled_from(["index", "search", "native"]),
        "replan": st.sampled_from(["on_change", "never"]),
        "search": st.fixed_dictionaries(
            {},
            optional={
                "limit": st.integers(1, 5),
                "max_limit": st.integers(5, 9),
                "name": st.sampled_from(["find_tools", "tool.search"]),
            },
        ),
        "caps": st.fixed_dictionaries(
            {},
            optional={
                "definitions": st.integers(1, 40),
                "definition_tokens": st.integers(1, 9000),
                "index_tokens": st.integers(0, 2000),
            },
        ),
        "approvers": st.lists(st.sampled_from(["ana", "bea"]), min_size=1, unique=True),
    },
)


def merged(below: Any, above: Any) -> Any:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return deepcopy(above)
    return {
        key: merged(below[key], above[key])
        if key in below and key in above
        else deepcopy(above.get(key, below.get(key)))
        for key in {**below, **above}
    }


def loaded(folder: Path, **files: Any) -> Configuration:
    for name, value in files.items():
        (folder / f"{name}.yaml").write_text(json.dumps(value))
    found = load_configuration(folder / "main.yaml", {})
    return replace(found, file="")


@given(AGENT, AGENT, st.booleans())
@settings(max_examples=60, deadline=None)
def test_laying_over_is_writing_in_full(below: Any, above: Any, deeper: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = loaded(folder, main={"version": 1, "agents": {"chat": merged(below, above)}})
        part = {"agents": {"chat": below}}
        parts: dict[str, Any] = (
            {"part": {"include": ["deep.yaml"]}, "deep": part} if deeper else {"part": part}
        )
        main = {
            "version": 1,
            "include": ["part.yaml"],
            "override": {"agents": {"chat": above}},
        }
        assert loaded(folder, main=main, **parts) == whole
