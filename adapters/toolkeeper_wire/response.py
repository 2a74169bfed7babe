"""Is this a provider's response, and what is in it?"""

from collections.abc import Mapping, Sequence
from typing import Any

from toolkeeper_contract import ConfigError


def body_of(response: Any, provider: str) -> Mapping[str, Any]:
    """The response as a mapping, whether it is one or an object of an SDK."""
    if isinstance(response, Mapping):
        return response
    dump = getattr(response, "model_dump", None)
    if callable(dump):
        # By alias, because one SDK names its fields differently from its wire; without warnings,
        # because what the provider really sent may be newer than the SDK's types.
        body = dump(mode="python", by_alias=True, warnings=False)
        if isinstance(body, Mapping):
            return body
    raise refused(provider, "it must be a mapping or an object of the provider's sdk")


def list_at(body: Mapping[str, Any], key: str, provider: str) -> Sequence[Any]:
    """The list under `key`; a null counts as empty."""
    value = body.get(key)
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise refused(provider, f"`{key}` must be a list")
    return value


def mapping_at(body: Any, key: str) -> Mapping[str, Any]:
    """The mapping under `key`, or an empty one."""
    value = body.get(key) if isinstance(body, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def text_at(body: Mapping[str, Any], key: str) -> str:
    """The string under `key`, or "" for anything else."""
    value = body.get(key)
    return value if isinstance(value, str) else ""


def refused(provider: str, why: str) -> ConfigError:
    """The error for something that is no response of `provider`."""
    return ConfigError(
        f"this is not a response of provider `{provider}`: {why}",
        "open the session with the provider whose responses you hand over",
    )
