"""What in a value or a text is a secret, and what is left when it is masked?"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolkeeper.runtime.secret_glance import SHORT, Glance
from toolkeeper.runtime.secret_json import (
    MAX_DEPTH,
    is_deep,
    is_shallow,
    parsed,
    rewritten,
    spelled_out,
)
from toolkeeper.runtime.secret_key import SecretKeys, words
from toolkeeper.runtime.secret_pattern import compiled, pattern_fault
from toolkeeper.runtime.secret_shape import HINTS, MASK, mask_shapes, mask_spans
from toolkeeper.runtime.secret_text import assignments
from toolkeeper_contract import Json, matches

__all__ = ["MASK", "MAX_DEPTH", "Redactor", "ToolSecrets", "pattern_fault", "words"]

_FLAG = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9._-]*")
"""A flag alone, without its value; `--token=...` is read as text."""

_ESCAPED = re.compile(r"[\x00-\x1f\"\\/]")

_PASSES = 4
"""A mask can uncover the key or the token beside it; more passes than this are never needed."""

MIN_SECRET = 8
"""Characters of the shortest known secret that is looked for."""

Places: TypeAlias = tuple[Mapping[str | None, Any], ...]
"""Trees of the parts of JSON pointers; one ends where its tree holds None."""

_NAMING = ("name", "key", "header", "field", "variable")
"""Keys whose value names what the `value` beside them is, as lists of headers do."""

_SCHEMA_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_SCHEMA_SAMPLES = frozenset({"default", "const", "enum", "example", "examples"})


@dataclass(frozen=True, slots=True)
class ToolSecrets:
    """Where the operator knows secrets of tools: `tool` is a name or a glob.

    `arguments` and `results` are JSON pointers; a `*` in one stands for any key or index.
    """

    tool: str
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


class Redactor:
    """Masks secrets by the words of their keys, by the shapes of tokens, and by patterns.

    `keys` and `patterns` (RE2 syntax) are the operator's own, besides the built-in ones; `secrets`
    are known values, such as a server's token, to be masked wherever they stand. `tools` say which
    arguments and results of a tool are secret, in order. The time is linear in the size of what is
    masked. What was masked once is left as it is.
    """

    def __init__(
        self,
        keys: Iterable[str] = (),
        patterns: Iterable[str] = (),
        secrets: Iterable[str] = (),
        tools: Iterable[ToolSecrets] = (),
    ) -> None:
        self._keys = SecretKeys(keys)
        self._glance = Glance(self._keys.phrases, HINTS)
        # Short ones stand in innocent words.
        self._secrets = _longest_first(
            {item for item in secrets if len(item) >= MIN_SECRET and item not in MASK}
        )
        self._are_escaped = _are_escaped(self._secrets)
        self._patterns = tuple(compiled(pattern) for pattern in patterns)
        self._tools = tuple(tools)
        self._pointers: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def argument_pointers(self, tool: str) -> Sequence[str]:
        """JSON pointers of this tool's arguments that the operator calls secret."""
        return self._pointers_of(tool)[0] if self._tools else ()

    def result_pointers(self, tool: str) -> Sequence[str]:
        """The same for what the tool gives back, where it is JSON."""
        return self._pointers_of(tool)[1] if self._tools else ()

    def knowing(self, values: Collection[str]) -> "Redactor":
        """This redactor with further known values, of any length."""
        known = copy(self)
        known._secrets = _longest_first({*self._secrets, *values} - {"", MASK})
        known._are_escaped = _are_escaped(known._secrets)
        return known

    def redact(
        self, value: Json, pointers: Collection[str] = (), text: bytes | None = None
    ) -> tuple[Json, tuple[str, ...]]:
        """A copy of `value` with secrets masked, and the JSON pointers of what was masked.

        `pointers` name further values to mask, where a schema says so; in them a `*` stands for
        any key or index. Who gives the canonical `text` of the value gets the value itself where
        nothing in it is masked.
        """
        if text is not None and not pointers:
            said = text.decode("utf-8")
            if self._holds_nothing(said) and spelled_out(said) and is_shallow(value, said, 0):
                return value, ()
        masked: list[str] = []
        result = self._walk(value, (), masked, _places(pointers), False)
        if text is not None and not masked and result == value:
            return value, ()
        return result, tuple(masked)

    def redact_text(self, text: str, pointers: Collection[str] = ()) -> tuple[str, int]:
        """`text` with secrets masked, and how many were.

        Text that is JSON stays JSON with the same values; it is written anew only when something
        was masked in it. `pointers` are for such text, as those of `redact`.
        """
        return self._text(text, (), _places(pointers) if pointers else ())

    def _pointers_of(self, tool: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = self._pointers.get(tool)
        if found is None:
            mine = [each for each in self._tools if matches(each.tool, tool)]
            found = (
                tuple(dict.fromkeys(place for each in mine for place in each.arguments)),
                tuple(dict.fromkeys(place for each in mine for place in each.results)),
            )
            self._pointers[tool] = found
        return found

    def _holds_nothing(self, text: str) -> bool:
        """A quick look: True means that there is surely nothing to mask in a text.

        Nor in the values whose JSON it is, where that is spelled out and not deep: each word and
        each known secret that they hold stands in it as a whole then.
        """
        if self._patterns or self._glance.meets(text):
            return False
        if self._keys.has_foreign and self._keys.foreign_stand_in(text):
            return False
        if not self._secrets:
            return True
        if self._are_escaped and "\\" in text:
            return False
        for secret in self._secrets:  # noqa: SIM110 - a plain loop is twice as fast
            if secret in text:
                return False
        return True

    def _text(self, text: str, path: tuple[str, ...], places: Places = ()) -> tuple[str, int]:
        # A short one is taken apart as quickly.
        looked_at = len(text) > SHORT and not places and self._holds_nothing(text)
        if looked_at and not is_deep(text, len(path)):
            return text, 0
        inside = parsed(text) if "{" in text or "[" in text else None
        if inside is None:
            return self._flat(text)
        masked: list[str] = []
        value = self._walk(inside, (*path, ""), masked, places, False)
        # The operator's patterns may look across the borders of values.
        return self._matched(rewritten(value, text) if masked else text, len(masked))

    def _flat(self, text: str) -> tuple[str, int]:
        count = 0
        if self._secrets or self._patterns:
            text, count = self._matched(text, 0)
        for _ in range(_PASSES):
            text, shaped = mask_shapes(text)
            assigned = assignments(text, self._keys)
            if assigned:
                text, masked = mask_spans(text, assigned)
                shaped += masked
            if not shaped:
                break
            count += shaped
        return text, count

    def _matched(self, text: str, count: int) -> tuple[str, int]:
        for secret in self._secrets:
            if secret in text:
                count += text.count(secret)
                text = text.replace(secret, MASK)
        for pattern in self._patterns:
            text, found = mask_spans(text, pattern.spans(text))
            count += found
        return text, count

    def _tells(self, number: float) -> bool:
        """Whether one of the operator's patterns finds something in a number."""
        text = json.dumps(number)
        return any(True for pattern in self._patterns for _ in pattern.spans(text))

    def _walk(
        self,
        value: Json,
        path: tuple[str, ...],
        masked: list[str],
        places: Places,
        secret: bool,
    ) -> Json:
        if places and any(None in place for place in places):
            masked.append(_pointer(path))
            return MASK
        if isinstance(value, str):
            return self._string(value, path, masked, secret)
        if not isinstance(value, dict | list):
            # A flag or a null under a secret's key tells no secret.
            if value is None or isinstance(value, bool):
                return value
            if secret or (self._patterns and self._tells(value)):
                masked.append(_pointer(path))
                return MASK
            return value
        if len(path) >= MAX_DEPTH:
            masked.append(_pointer(path))
            return MASK
        if isinstance(value, list):
            flags = self._flags(value)
            items = []
            for index, item in enumerate(value):
                below = secret or index in flags
                inner = _inner(places, str(index)) if places else ()
                items.append(self._walk(item, (*path, str(index)), masked, inner, below))
            return items
        schema = secret and _is_schema(value)
        named = self._names_secret(value)
        result: dict[str, Json] = {}
        for key, item in value.items():
            below = secret and (not schema or key in _SCHEMA_SAMPLES)
            below = below or self._keys.covers(key) or (named and key == "value")
            shown = self._shown_key(key, result)
            inner = _inner(places, key) if places else ()
            result[shown] = self._walk(item, (*path, shown), masked, inner, below)
        return result

    def _string(self, value: str, path: tuple[str, ...], masked: list[str], secret: bool) -> str:
        if secret:
            if not value or value == MASK:
                return value
            masked.append(_pointer(path))
            return MASK
        text, count = self._text(value, path)
        if count:
            masked.append(_pointer(path))
        return text

    def _names_secret(self, value: Mapping[str, Any]) -> bool:
        """Whether this is `{"name": "password", "value": ...}`."""
        if "value" not in value:
            return False
        names = (value.get(key) for key in _NAMING)
        return any(isinstance(name, str) and self._keys.covers(name) for name in names)

    def _flags(self, value: list[Json]) -> set[int]:
        """The positions after a flag that takes a secret, as in `["--token", "..."]`."""
        return {
            index + 1
            for index, item in enumerate(value)
            if isinstance(item, str)
            and item.startswith("-")
            and len(item) <= 128
            and _FLAG.fullmatch(item)
            and self._keys.covers(item.lstrip("-"))
        }

    def _shown_key(self, key: str, taken: Mapping[str, Json]) -> str:
        """`key`, or what is left of it when it holds a secret itself; never one that is taken."""
        if len(key) < 12:
            return key
        shown, count = self._flat(key)
        if not count:
            return key
        number, name = 1, shown
        while name in taken:
            number += 1
            name = f"{shown}#{number}"
        return name


def _is_schema(value: Mapping[str, Any]) -> bool:
    """Whether a mapping under a secret's key describes the secret instead of holding it."""
    said = value.get("type")
    kinds = said if isinstance(said, list) else [said]
    return any(isinstance(kind, str) and kind in _SCHEMA_TYPES for kind in kinds) or any(
        key in value for key in ("$ref", "anyOf", "oneOf", "allOf")
    )


def _pointer(path: tuple[str, ...]) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)


def _parts(pointer: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def _places(pointers: Collection[str]) -> Places:
    """The pointers as a tree, so that many of them cost no more than one."""
    if not pointers:
        return ()
    root: dict[str | None, Any] = {}
    for pointer in pointers:
        place = root
        for part in _parts(pointer):
            place = place.setdefault(part, {})
        place[None] = True
    return (root,)


def _inner(places: Places, part: str) -> Places:
    found = [place[key] for place in places for key in {part, "*"} if key in place]
    return tuple(found)


def _are_escaped(secrets: Collection[str]) -> bool:
    """Whether JSON writes one of these otherwise than it is."""
    return any(_ESCAPED.search(secret) for secret in secrets)


def _longest_first(values: Collection[str]) -> tuple[str, ...]:
    # One may be a part of another.
    return tuple(sorted(values, key=lambda item: (-len(item), item)))
