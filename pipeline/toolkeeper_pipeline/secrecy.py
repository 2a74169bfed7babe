"""What of one call is secret: by its tool's schemas, by the operator's word, by its own arguments?

Rows, cards, events and results are made from what this leaves. The policy and the executor see the
arguments as they are.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolkeeper_contract import Tool
from toolkeeper_pipeline.run import Redactor, Rim

MIN_SECRET = 6
"""Characters of the shortest secret argument that is looked for in what comes back."""

_SCHEMES = frozenset({"basic", "bearer", "token"})


def masked_arguments(
    arguments: Mapping[str, Any], tool: Tool | None, rim: Rim, data: bytes | None = None
) -> tuple[Any, tuple[str, ...]]:
    """The arguments as they are kept, and the JSON pointers of what was masked in them.

    With their canonical bytes `data`, they themselves where nothing in them had to be.
    """
    if tool is None:
        return rim.redactor.redact(arguments, (), data)
    pointers = rim.redactor.argument_pointers(tool.name)
    said = rim.schemas.secret_arguments(tool)
    if said.tells:
        pointers = (*said.pointers(arguments), *pointers)
    return rim.redactor.redact(arguments, pointers, data)


def result_redactor(
    redactor: Redactor,
    arguments: Any,
    masked: Iterable[str],
    structured: Any,
    secret: Iterable[str],
) -> Redactor:
    """The redactor for what came back: a secret that went in must not come out as an echo.

    `masked` are the pointers of what is secret in `arguments`, `secret` in `structured`.
    """
    values = {
        text
        for value, pointers in ((arguments, masked), (structured, secret))
        for pointer in pointers
        for text in _texts(_at(value, pointer))
    }
    return redactor.knowing(values) if values else redactor


def _at(value: Any, pointer: str) -> Any:
    """What stands at a pointer; None where there is nothing, or where it leads into a text."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _texts(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            scheme, _, token = item.partition(" ")
            if scheme.lower() in _SCHEMES and len(token) >= MIN_SECRET:
                yield token
            if len(item) >= MIN_SECRET:
                yield item
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
