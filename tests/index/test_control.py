"""The framework's own tools."""

import jsonschema
import pytest

from toolkeeper_contract import CONTROL_TOOLS, SourceKind
from toolkeeper_index import control_tool


@pytest.mark.parametrize("name", CONTROL_TOOLS)
def test_a_control_tool_is_ours_and_its_schema_is_one(name: str) -> None:
    tool = control_tool(name)
    assert (tool.name, tool.identity.kind, tool.foreign) == (name, SourceKind.CONTROL, False)
    assert control_tool(name) is tool
    jsonschema.Draft202012Validator.check_schema(dict(tool.definition.input_schema))


@pytest.mark.parametrize(
    ("name", "arguments", "valid"),
    [
        ("tool.call", {"name": "a.b", "arguments": {"x": 1}}, True),
        ("tool.call", {"name": "a.b"}, True),
        ("tool.call", {"name": "a.b", "arguments": None}, False),
        ("tool.call", {"arguments": {}}, False),
        ("tool.search", {"query": "cancel"}, True),
        ("tool.search", {"select": ["a.b"], "limit": 3}, True),
        ("tool.search", {"query": 3}, False),
        ("tool.search", {"query": "a", "limit": 0}, False),
        ("tool.result", {"handle": "h", "offset": 0, "limit": 10}, True),
        ("tool.result", {"offset": 0}, False),
    ],
)
def test_the_schemas_say_what_is_accepted(name: str, arguments: object, valid: bool) -> None:
    schema = dict(control_tool(name).definition.input_schema)
    assert jsonschema.Draft202012Validator(schema).is_valid(arguments) is valid


def test_any_other_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"tool\.other"):
        control_tool("tool.other")
