"""What should an editor know about configuration files?"""

from typing import Any

from toolkeeper.runtime.configuration import file_model
from toolkeeper.runtime.configuration.field_words import field_words
from toolkeeper_contract import TOOL_SEARCH

_SAYS_NOTHING = {"type": "null"}


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a configuration file; fragments need not have every key."""
    schema: dict[str, Any] = _without_nulls(file_model.ConfigurationFile.model_json_schema())
    _describe(schema, "ConfigurationFile")
    for name, section in schema["$defs"].items():
        _describe(section, name)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "toolkeeper configuration"
    server = schema["$defs"]["ServerFile"]
    server["oneOf"] = [{"required": [way]} for way in ("command", "url", "catalog")]
    schema["$defs"]["AgentFile"]["allOf"] = [
        _needs_search({"disclosure": {"const": "search"}}, ["disclosure"]),
        _needs_search(
            {"listing": {"const": "none"}, "disclosure": {"const": "index"}}, ["listing"]
        ),
    ]
    _describe_overriding(schema)
    return schema


def _describe(section: dict[str, Any], model: str) -> None:
    """Puts the words about each field of `model` beside what may stand there."""
    for key, text in field_words(getattr(file_model, model)).items():
        section["properties"][key]["description"] = text


def _needs_search(when: dict[str, Any], written: list[str]) -> dict[str, Any]:
    return {
        "if": {"properties": when, "required": written},
        "then": {"properties": {"control_tools": {"contains": {"const": TOOL_SEARCH}}}},
    }


def _describe_overriding(schema: dict[str, Any]) -> None:
    """The keys of `override`: those of a file, and an agent may stand in an included one."""
    properties = schema["properties"]
    over = properties["override"]
    over["properties"] = {
        key: value
        for key, value in properties.items()
        if key not in ("version", "include", "override")
    }
    # Part of a server need not say again how the server is reached.
    over["properties"]["servers"] = {**over["properties"]["servers"]}
    over["properties"]["servers"]["additionalProperties"] = {"type": "object"}
    over["additionalProperties"] = False
    schema["required"].remove("agents")
    schema["anyOf"] = [{"required": ["agents"]}, {"required": ["include"]}]


def _without_nulls(value: Any) -> Any:
    """`value` without the nulls that stand for absence: a key without a value is an error."""
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: _without_nulls(item)
        for key, item in value.items()
        if not (key == "default" and item is None)
    }
    options = kept.get("anyOf")
    if isinstance(options, list) and _SAYS_NOTHING in options:
        options.remove(_SAYS_NOTHING)
        if len(options) == 1:
            del kept["anyOf"]
            kept = {**options[0], **kept}
    return kept
