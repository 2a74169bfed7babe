"""How does a recorded conversation read to another provider than the one that it was held with?"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolkeeper_contract import canonical_text
from toolkeeper_wire.call_id import CallIds
from toolkeeper_wire.depth import is_shallow
from toolkeeper_wire.name_codec import NameCodec

INTERRUPTED = "The call was interrupted, and its outcome is not known."
"""The result of a recorded call that has none; a provider refuses a call without a result."""

UNREADABLE = "unreadable_arguments"
"""The one argument under which text that is no JSON object stands, where a provider wants one."""


@dataclass(frozen=True, slots=True)
class Said:
    """Plain text of the user or the assistant; `role` is `user` or `assistant`."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call with its result, as the ledger tells them.

    `name` is the canonical name that the model called (`tool.call` for a wrapped one), or what it
    said where that was no tool. `arguments` are the raw text or the parsed value, as they came.
    `result` is what the model read; None for a call that never came back.
    """

    call_id: str
    name: str
    arguments: Any
    result: str | None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One model step: the calls of one answer, and what the assistant said before them."""

    calls: tuple[RecordedCall, ...]
    text: str = ""


Entry: TypeAlias = Said | Step


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A recorded call under the id and the name that it bears on the wire."""

    call_id: str
    wire_name: str
    call: RecordedCall

    @property
    def text(self) -> str:
        """The arguments as JSON text; what the model wrote unreadably stays what it wrote."""
        arguments = self.call.arguments
        if isinstance(arguments, str):
            return _encodable(arguments)
        try:
            return canonical_text({} if arguments is None else arguments)
        except (TypeError, ValueError, RecursionError):
            return canonical_text({UNREADABLE: ""})

    @property
    def object(self) -> dict[str, Any]:
        """The arguments as an object."""
        text = self.text
        try:
            found = json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
            canonical_text(found)
        except (ValueError, TypeError, RecursionError):
            found = None
        if isinstance(found, dict) and is_shallow(found):
            return found
        return {UNREADABLE: text}

    @property
    def result(self) -> str:
        """What the model read, or that nothing came back."""
        return INTERRUPTED if self.call.result is None else _encodable(self.call.result)

    @property
    def is_error(self) -> bool:
        """Whether the result tells of a failure."""
        return self.call.is_error or self.call.result is None


PlacedEntry: TypeAlias = Said | tuple[str, tuple[PlacedCall, ...]]
"""Plain text, or a step: what the assistant said, and its calls."""


def placed(entries: Sequence[Entry], codec: NameCodec, id_limit: int) -> Iterator[PlacedEntry]:
    """The entries with wire ids and wire names; steps without calls are what was said in them.

    Text of white space only is left out, because a provider refuses it.

    `id_limit` is the length of a call id that the provider takes.
    """
    ids = CallIds(id_limit)
    for entry in entries:
        if isinstance(entry, Said):
            if entry.text.strip():
                yield Said(entry.role, _encodable(entry.text))
        elif entry.calls:
            calls = tuple(
                PlacedCall(ids.next(call.call_id), codec.spoken(call.name), call)
                for call in entry.calls
            )
            yield _encodable(entry.text if entry.text.strip() else ""), calls
        elif entry.text.strip():
            yield Said("assistant", _encodable(entry.text))


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which no request can carry."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in text)
    return text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError("no JSON number")
