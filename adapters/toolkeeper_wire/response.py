"""Is this a provider's response, and does it hold only what was asked for?"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from toolkeeper_contract import ConfigError

_TYPE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class ProtocolViolation(ConfigError):
    """A response holds what no session of ours asks a provider for.

    Either the provider executed a tool itself, so that no policy, no approval and no record stood
    before it, or it sent something that nobody here can read. What else the response holds is not
    acted upon.
    """


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


def sendable(part: Mapping[str, Any]) -> dict[str, Any]:
    """A part of a response as it may be sent back.

    An SDK's object spells out fields that were never there, and a provider refuses some of those.
    """
    return {key: value for key, value in part.items() if value is not None}


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


def executed(provider: str, what: str) -> ProtocolViolation:
    """The error for a tool that ran on the provider's side; `what` is the type it came as."""
    return ProtocolViolation(
        f"provider `{provider}` executed a tool itself{_named(what)}; only its tool search may run"
        " on its side",
        "leave the provider's own tools out of the request, and offer tools of yours instead",
    )


def unreadable(provider: str, what: object) -> ProtocolViolation:
    """The error for a part of a response whose type is not known."""
    return ProtocolViolation(
        f"the response of provider `{provider}` has a part of an unknown type{_named(what)}",
        "update toolkeeper, or leave out of the request what makes the provider send it",
    )


def check_parts(
    provider: str,
    parts: Sequence[Any],
    known: Collection[str],
    executes: Collection[str],
) -> None:
    """Looks at the types of all parts before any of them is acted upon.

    ProtocolViolation for one that tells of a tool executed by the provider, and for one that is
    neither among `known` nor among `executes`.
    """
    for part in parts:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if isinstance(kind, str) and kind in known:
            continue
        if isinstance(kind, str) and kind in executes:
            raise executed(provider, kind)
        raise unreadable(provider, kind)


def _named(what: object) -> str:
    return f" (`{what}`)" if isinstance(what, str) and _TYPE.fullmatch(what) else ""
