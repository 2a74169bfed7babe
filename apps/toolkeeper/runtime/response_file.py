"""What did a provider answer, word for word?"""

import json
from pathlib import Path
from typing import Any

from toolkeeper.runtime.configuration.file_text import read_text
from toolkeeper_contract import ConfigError


def read_response(path: Path, shown: str) -> dict[str, Any]:
    """The JSON object in the file at `path`, which messages call `shown`.

    ConfigError with the file and the line for anything else; whether it is a response of some
    provider is not looked at.
    """
    try:
        text = read_text(path)
    except ConfigError as error:
        raise ConfigError(error.message, error.hint, file=shown, line=error.line) from None
    try:
        value = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ConfigError("this is not valid json", _HINT, file=shown, line=error.lineno) from None
    except (ValueError, RecursionError):
        raise ConfigError("this json cannot be read", _HINT, file=shown) from None
    if not isinstance(value, dict):
        raise ConfigError("a response is a json object, and this is none", _HINT, file=shown)
    return value


_HINT = "keep the provider's response as it came"


def _refuse(name: str) -> Any:
    raise ValueError(name)
