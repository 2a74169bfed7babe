"""What did the user toggle?

A session stores this and nothing else about its tools: nothing, a small object, or the short list
of names that the user picked by hand. Never an expanded list.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolkeeper_contract import ConfigError, did_you_mean

_KEYS = ("enabled", "toolset", "allowed", "disabled", "overlays")
_MAX_NAME = 256


@dataclass(frozen=True, slots=True)
class Intent:
    """A user's toggles; None means "follow the agent" in every field.

    `picked` is the hand-picked list; no other field is set beside it. `written` lists the keys
    that stood in the object, so that what was stored reads back equal.
    """

    enabled: bool | None = None
    toolset: str | None = None
    allowed: tuple[str, ...] | None = None
    disabled: tuple[str, ...] | None = None
    overlays: Mapping[str, bool] | None = None
    picked: tuple[str, ...] | None = None
    written: tuple[str, ...] = field(default=(), compare=False)

    @property
    def nothing(self) -> bool:
        """Whether the user switched everything off, which beats overlays."""
        return self.enabled is False or self.picked == () or self.allowed == ()

    @property
    def switched_on(self) -> tuple[str, ...]:
        """The overlays that are on, sorted."""
        return tuple(sorted(name for name, on in (self.overlays or {}).items() if on))

    def as_json(self) -> Any:
        """The stored form: equal to the value that `parse_intent` was given."""
        if self.picked is not None:
            return list(self.picked)
        keys = self.written or tuple(key for key in _KEYS if getattr(self, key) is not None)
        return {key: _plain(getattr(self, key)) for key in keys}


def parse_intent(value: Any) -> Intent | None:
    """The intent that `value` (parsed JSON) states; None for nothing.

    Raises ConfigError, with the key, for anything but null, a list of names, or an object of the
    five known keys. There is no lenient reading: a misread toggle would be everything.
    """
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return Intent(picked=_names(value, "intent"))
    if not isinstance(value, Mapping):
        raise ConfigError(
            "an intent is an object, a list of tool names, or null",
            'for example {"disabled": ["mail.send"]}',
            key="intent",
        )
    for key in value:
        if key not in _KEYS:
            raise ConfigError(
                f"unknown key `{key}` in the intent",
                did_you_mean(str(key), _KEYS) or "known: " + ", ".join(f"`{k}`" for k in _KEYS),
                key=f"intent.{key}",
            )
    return Intent(
        enabled=_flag(value.get("enabled"), "intent.enabled", optional=True),
        toolset=_toolset(value.get("toolset")),
        allowed=_optional_names(value, "allowed"),
        disabled=_optional_names(value, "disabled"),
        overlays=_overlays(value.get("overlays")),
        written=tuple(value),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _flag(value: Any, key: str, *, optional: bool = False) -> bool | None:
    # `is`, not truthiness: the text "false" must not switch anything on.
    if value is True or value is False or (optional and value is None):
        return value
    raise ConfigError("a flag must be true or false" + (", or null" if optional else ""), key=key)


def _toolset(value: Any) -> str | None:
    return None if value is None else _name(value, "intent.toolset", "a toolset's name")


def _overlays(value: Any) -> dict[str, bool] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ConfigError(
            "overlays must be an object of flags",
            'for example {"web_search": true}',
            key="intent.overlays",
        )
    flags: dict[str, bool] = {}
    for name, flag in value.items():
        name = _name(name, "intent.overlays", "an overlay's name")
        flags[name] = bool(_flag(flag, f"intent.overlays.{name}"))
    return flags


def _optional_names(value: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    names = value.get(key)
    return None if names is None else _names(names, f"intent.{key}")


def _names(value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ConfigError(
            "a list of tool names is expected here",
            "write the names in brackets, also when there is one",
            key=key,
        )
    return tuple(
        _name(name, f"{key}[{position}]", "a tool's name") for position, name in enumerate(value)
    )


def _name(value: Any, key: str, what: str) -> str:
    # Unknown names are recorded on the plan, so they must at least be printable text.
    if isinstance(value, str) and 0 < len(value) <= _MAX_NAME and value.isprintable():
        return value
    raise ConfigError(f"{what} is expected here, as text of 1 to {_MAX_NAME} characters", key=key)
