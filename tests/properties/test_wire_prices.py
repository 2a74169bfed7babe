"""Invariant of `generic`: no format is dearer than the texts that it is priced by."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import (
    Classification,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
    is_tool_name,
)
from toolkeeper_planner.tokens import estimate
from toolkeeper_wire import PROVIDERS, format_for

DATA = Path(__file__).parents[3] / "shared" / "data"
WRITE = Classification(SideEffect.NETWORK_WRITE, frozenset(), "worst_case")
OTHERS = [format_for(name) for name in PROVIDERS if name != "generic"]

names = st.sampled_from(["a", "b", "customer_id", "$meta"])
leaves = st.sampled_from(
    [
        {"type": "string", "description": "A text.", "default": "x"},
        {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
        {"type": "array"},
        {"const": "x"},
        {"enum": ["x", None]},
        {"allOf": [{"type": "string"}, {"minLength": 3}], "pattern": "^x"},
        {"$ref": "#/definitions/s", "title": "S"},
        {},
    ]
)
schemas = st.fixed_dictionaries(
    {},
    optional={
        "$schema": st.sampled_from(
            [
                "http://json-schema.org/draft-07/schema#",
                "http://json-schema.org/draft-04/schema#",
                "https://json-schema.org/draft/2020-12/schema",
            ]
        ),
        "type": st.just("object"),
        "title": st.just("Arguments"),
        "definitions": st.just({"s": {"const": "a"}, "t": {"type": "string"}}),
        "properties": st.dictionaries(names, leaves, max_size=4),
        "required": st.lists(names, unique=True, max_size=2),
        "anyOf": st.lists(st.fixed_dictionaries({"required": st.lists(names)}), min_size=1),
        "additionalProperties": st.booleans(),
    },
)
raw_names = st.text("ab_.-1", min_size=1, max_size=9) | st.sampled_from(
    ["get_customer", "x" * 70, "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o", "_" * 20, "q9" * 60]
)
identities = st.one_of(
    st.builds(ToolIdentity, st.just(SourceKind.FUNCTION), st.just("functions"), raw_names),
    st.builds(
        ToolIdentity, st.just(SourceKind.MCP), st.sampled_from(["kb", "a__b", "s" * 60]), raw_names
    ),
)
descriptions = st.sampled_from(["", "Finds a customer.", "顧客を探す。", 'Says "hi" & more.'])


def dearest(tool: Tool, texts: tuple[str, ...]) -> int:
    return max(map(estimate, texts))


@settings(max_examples=300, deadline=None)
@given(identities, st.sampled_from([None, "A title"]), descriptions, schemas)
def test_no_format_is_dearer_than_generic(
    identity: ToolIdentity, title: str | None, description: str, schema: dict[str, Any]
) -> None:
    definition = ToolDefinition(identity.raw_name, title, description, schema)
    tool = Tool.of(identity, definition, WRITE)
    generic = dearest(tool, format_for("generic").texts(tool))
    assert generic == max(dearest(tool, form.texts(tool)) for form in OTHERS)


@pytest.mark.parametrize("catalog", ["github", "livemcp"])
def test_no_format_is_dearer_than_generic_on_real_catalogs(catalog: str) -> None:
    path = DATA / f"catalog-{catalog}.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not beside this checkout")
    for row in json.loads(path.read_text(encoding="utf-8")):
        if not is_tool_name(row["name"]):
            continue
        server = re.sub(r"[^A-Za-z0-9_-]", "-", row["server"])[:64]
        definition = ToolDefinition(
            row["name"], None, row.get("description") or "", row.get("inputSchema") or {}
        )
        tool = Tool.of(ToolIdentity(SourceKind.MCP, server, row["name"]), definition, WRITE)
        generic = dearest(tool, format_for("generic").texts(tool))
        assert generic == max(dearest(tool, form.texts(tool)) for form in OTHERS)
