"""What should an editor know about configuration files?"""

from typing import Any

from toolkeeper.runtime.configuration.file_model import ConfigurationFile

_SAYS_NOTHING = {"type": "null"}


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a configuration file; fragments need not have every key."""
    schema: dict[str, Any] = _without_nulls(ConfigurationFile.model_json_schema())
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "toolkeeper configuration"
    server = schema["$defs"]["ServerFile"]
    server["oneOf"] = [{"required": [way]} for way in ("command", "url", "catalog")]
    return schema


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
