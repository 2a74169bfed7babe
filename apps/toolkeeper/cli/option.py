"""Which options do several verbs share, and how are they read?"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from toolkeeper_contract import ConfigError

Config = Annotated[
    Path, typer.Option("--config", "-c", metavar="FILE", help="The configuration file.")
]
Store = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Read this ledger instead of the configured one."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
AgentName = Annotated[
    str, typer.Option("--agent", metavar="NAME", help="The agent's name in the configuration.")
]
User = Annotated[str, typer.Option("--user", metavar="NAME", help="On whose behalf.")]

PROVIDERS = ("generic", "openai", "openai-responses", "anthropic", "gemini", "mcp")
DEFAULT_CONFIG = Path("toolkeeper.yaml")
DEFAULT_USER = "local"


def json_option(option: str, text: str | None) -> Any:
    """The JSON value of an option; None when it was left out. ConfigError when it is no JSON."""
    if text is None:
        return None
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)
    except _Twice:
        raise ConfigError(
            f"a key stands twice in one object of `{option}`", "say each thing once"
        ) from None
    except (ValueError, RecursionError):
        raise ConfigError(
            f"the value of `{option}` is not valid json", "put it in single quotes in a shell"
        ) from None


def json_object_option(option: str, text: str | None) -> dict[str, Any]:
    """The JSON object of an option; empty when it was left out."""
    value = json_option(option, text)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"the value of `{option}` must be a json object", 'for example {"a": 1}')
    return value


def _refuse(name: str) -> Any:
    raise ValueError(name)


class _Twice(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Which of two equal keys counts is nobody's guess: what is approved must be what was read.
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found
