"""What in a value or a text is a secret, and what is left when it is masked?"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from toolkeeper.runtime.secret_key import SecretKeys, words
from toolkeeper.runtime.secret_pattern import compiled, pattern_fault
from toolkeeper.runtime.secret_shape import MASK, mask_shapes, mask_spans
from toolkeeper.runtime.secret_text import assignments
from toolkeeper_contract import Json

__all__ = ["MASK", "MAX_DEPTH", "Redactor", "pattern_fault", "words"]

MAX_DEPTH = 300
"""Levels of nesting that are looked at; what lies deeper is masked whole."""

_FLAG = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9._-]*")
"""A flag alone, without its value; `--token=...` is read as text."""

_PASSES = 4
"""A mask can uncover the key or the token beside it; more passes than this are never needed."""

MIN_SECRET = 8
"""Characters of the shortest known secret that is looked for."""

_NAMING = ("name", "key", "header", "field", "variable")
"""Keys whose value names what the `value` beside them is, as lists of headers do."""

_SCHEMA_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_SCHEMA_SAMPLES = frozenset({"default", "const", "enum", "example", "examples"})


class Redactor:
    """Masks secrets by the words of their keys, by the shapes of tokens, and by patterns.

    `keys` and `patterns` (RE2 syntax) are the operator's own, besides the built-in ones; `secrets`
    are known values, such as a server's token, to be masked wherever they stand. The time
    is linear in the size of what is masked. What was masked once is left as it is.
    """

    def __init__(
        self, keys: Iterable[str] = (), patterns: Iterable[str] = (), secrets: Iterable[str] = ()
    ) -> None:
        self._keys = SecretKeys(keys)
        # The longest first: one may be a part of another. Short ones stand in innocent words.
        self._secrets = tuple(
            sorted(
                {item for item in secrets if len(item) >= MIN_SECRET and item not in MASK},
                key=lambda item: (-len(item), item),
            )
        )
        self._patterns = tuple(compiled(pattern) for pattern in patterns)

    def redact(self, value: Json, pointers: Collection[str] = ()) -> tuple[Json, tuple[str, ...]]:
        """A copy of `value` with secrets masked, and the JSON pointers of what was masked.

        `pointers` name further values to mask, where a schema says so; in them a `*` stands for
        any key or index.
        """
        masked: list[str] = []
        extra = tuple(_parts(pointer) for pointer in pointers)
        result = self._walk(value, (), masked, extra, False)
        return result, tuple(masked)

    def redact_text(self, text: str) -> tuple[str, int]:
        """`text` with secrets masked, and how many were.

        Text that is JSON stays JSON with the same values; it is written anew only when something
        was masked in it.
        """
        return self._text(text, ())

    def _text(self, text: str, path: tuple[str, ...]) -> tuple[str, int]:
        inside = _parsed(text)
        if inside is None:
            return self._flat(text)
        masked: list[str] = []
        value = self._walk(inside, (*path, ""), masked, (), False)
        # The operator's patterns may look across the borders of values.
        return self._matched(_rewritten(value, text) if masked else text, len(masked))

    def _flat(self, text: str) -> tuple[str, int]:
        text, count = self._matched(text, 0)
        for _ in range(_PASSES):
            text, shaped = mask_shapes(text)
            text, assigned = mask_spans(text, assignments(text, self._keys))
            count += shaped + assigned
            if not shaped + assigned:
                break
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
        extra: tuple[tuple[str, ...], ...],
        secret: bool,
    ) -> Json:
        if extra and any(_points(pointer, path) for pointer in extra):
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
                items.append(self._walk(item, (*path, str(index)), masked, extra, below))
            return items
        schema = secret and _is_schema(value)
        named = self._names_secret(value)
        result: dict[str, Json] = {}
        for key, item in value.items():
            below = secret and (not schema or key in _SCHEMA_SAMPLES)
            below = below or self._keys.covers(key) or (named and key == "value")
            shown = self._shown_key(key, result)
            result[shown] = self._walk(item, (*path, shown), masked, extra, below)
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


def _parsed(text: str) -> Json:
    if not text[:64].lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _rewritten(value: Json, text: str) -> str:
    """`value` as JSON in the manner of `text`: in lines or in one, with spaces or without."""
    if "\n" in text.strip():
        return json.dumps(value, ensure_ascii=False, indent=2)
    separators = (", ", ": ") if '": ' in text else (",", ":")
    return json.dumps(value, ensure_ascii=False, separators=separators)


def _pointer(path: tuple[str, ...]) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)


def _parts(pointer: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def _points(pointer: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(pointer) == len(path) and all(
        part in ("*", here) for part, here in zip(pointer, path, strict=True)
    )
