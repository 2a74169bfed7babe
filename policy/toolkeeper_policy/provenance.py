"""Where was a value seen before a call named it?

The user's own words, trusted results and untrusted results of a session, each in an index of its
own. Nothing here guesses: a value counts as heard where it stands as a whole, and the best place
wins.
"""

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from toolkeeper_contract import Origin
from toolkeeper_policy.provenance_destination import (
    DestinationKind,
    bare,
    named,
    stands_as_host,
)
from toolkeeper_policy.provenance_index import Alone, HeardIndex, sought
from toolkeeper_policy.provenance_number import as_number, spellings
from toolkeeper_policy.provenance_text import (
    SEPARATOR,
    normalised,
    stands_alone,
    tokens,
    whole,
    without,
)

CAPACITY = 4_000_000
"""Characters that are kept of each origin; the latest ones."""

MAX_VALUE = 1_000_000
"""Characters of the longest value that is looked for."""

_MOST_WAITING = 1_024
"""Texts that wait to be indexed: a short one takes many times its own size as long as it waits, and
its call's arguments wait with it."""

_REMEMBERED = 1_024
_REMEMBERED_LENGTH = 2_048
_MAX_LEAVES = 50_000
_MAX_GIVEN = 2_000
_BEST_FIRST = (Origin.USER, Origin.TRUSTED, Origin.UNTRUSTED)


@dataclass(frozen=True, slots=True)
class Destination:
    """A part of a value that names where something goes; `text` is its normal form."""

    kind: DestinationKind
    text: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class _Told:
    """A text that was heard but not looked at yet; `given` is what the call had put in."""

    text: str
    origin: Origin
    given: Any = None


class Heard:
    """What a session has heard; implements `toolkeeper_contract.Provenance`.

    Texts are only kept when they are heard, and indexed when somebody first asks. The same texts in
    the same order give the same answers. At most `capacity` characters are kept of each origin;
    what is forgotten is from nowhere, which is never positive.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._indexes = {origin: HeardIndex(capacity) for origin in _BEST_FIRST}
        self._waiting: list[_Told] = []
        self._waiting_size = 0
        self._known: dict[str | tuple[type, int | float], Origin] = {}

    def user(self, text: str) -> None:
        """The user's own words."""
        self._tell(_Told(text, Origin.USER))

    def trusted(self, text: str, given: Any = None) -> None:
        """A trusted result, and the arguments that the call `given` had.

        What a call puts in does not come out trusted: words of arguments that are neither the
        user's nor trusted are left out where the result repeats them.
        """
        self._tell(_Told(text, Origin.TRUSTED, given))

    def untrusted(self, text: str) -> None:
        """Somebody else's words."""
        self._tell(_Told(text, Origin.UNTRUSTED))

    def origin(self, value: Any) -> Origin:
        """The best place where the whole of `value` (text or number) was seen.

        Without regard to case, runs of white space, compatibility forms, and the punctuation and
        quotes around it. NOWHERE for lists, objects, booleans and null.
        """
        self._catch_up()
        return self._origin(value)

    def destinations(self, value: Any) -> tuple[Destination, ...]:
        """The places that a text names, each with where it was seen; in a total order."""
        if not isinstance(value, str):
            return ()
        self._catch_up()
        return tuple(
            Destination(place.kind, place.text, self._place(place.kind, place.text))
            for place in named(value)
        )

    def copy(self) -> "Heard":
        """What was heard so far, to go on with apart from this one."""
        other = Heard(self._capacity)
        other._indexes = {origin: index.copy() for origin, index in self._indexes.items()}
        other._waiting = list(self._waiting)
        other._waiting_size = self._waiting_size
        return other

    # inside

    def _tell(self, told: _Told) -> None:
        if not told.text:
            return
        most = max(1, self._capacity // 2)
        if len(told.text) > most:
            told = replace(told, text=told.text[:most])
        self._waiting.append(told)
        self._waiting_size += len(told.text)
        if self._waiting_size > self._capacity or len(self._waiting) > _MOST_WAITING:
            # Nobody asks, but what waits is bounded all the same.
            self._catch_up()

    def _catch_up(self) -> None:
        if not self._waiting:
            return
        waiting, self._waiting, self._waiting_size = self._waiting, [], 0
        for told in waiting:
            text = _readable(told.text)
            if told.origin is Origin.TRUSTED:
                foreign = self._not_positive(told.given, tokens(text))
                if foreign:
                    text = without(text, foreign)
            self._indexes[told.origin].add(text)
            self._known.clear()

    def _not_positive(self, given: Any, repeated: Set[str]) -> set[str]:
        """Which of the words `repeated` stand in values that are neither the user's nor trusted."""
        words: set[str] = set()
        for number, value in enumerate(leaves(given)):
            own = tokens(normalised(value if isinstance(value, str) else json.dumps(value)))
            own &= repeated
            # More than that nobody looks up; not to know is not positive.
            if own and (number >= _MAX_GIVEN or not self._origin(value).positive):
                words |= own
        return words

    def _origin(self, value: Any) -> Origin:
        key: str | tuple[type, int | float]
        if isinstance(value, str) and len(value) <= _REMEMBERED_LENGTH:
            key = value
        elif isinstance(value, int | float):
            # A boolean is equal to a number, but is none.
            key = (type(value), value)
        else:
            return self._seen(value)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[key] = self._seen(value)
        return known

    def _seen(self, value: Any) -> Origin:
        number = as_number(value)
        if not isinstance(value, str):
            return Origin.NOWHERE if number is None else self._first(tuple(spellings(number)))
        if len(value) > MAX_VALUE:
            return Origin.NOWHERE
        text = whole(value)
        forms = (text,) if number is None else (text, *spellings(number))
        best = self._first(forms)
        return best if best.positive else _better(best, self._as_one_place(text))

    def _first(self, forms: Sequence[str], alone: Alone = stands_alone) -> Origin:
        """The best origin of which one of these normalised texts stands alone."""
        wanted = [form for form in map(sought, forms) if form is not None]
        for origin in _BEST_FIRST:
            index = self._indexes[origin]
            if any(index.holds(form, alone) for form in wanted):
                return origin
        return Origin.NOWHERE

    def _as_one_place(self, text: str) -> Origin:
        """The origin of a value that is one host, account or telephone and nothing else."""
        if len(text) > _LONGEST_PLACE:
            return Origin.NOWHERE
        places = named(text)
        if len(places) != 1 or places[0].kind not in _ANY_SPELLING | {DestinationKind.HOST}:
            return Origin.NOWHERE
        place = places[0]
        # Also `0049` for `+49`.
        if bare(text) not in (bare(place.text), f"00{bare(place.text)}"):
            return Origin.NOWHERE
        return self._place(place.kind, place.text)

    def _place(self, kind: DestinationKind, text: str) -> Origin:
        if kind not in _ANY_SPELLING:
            return self._first(
                (text,), stands_as_host if kind is DestinationKind.HOST else stands_alone
            )
        characters = bare(text)
        forms = (characters, f"00{characters}") if text.startswith("+") else (characters,)
        for origin in _BEST_FIRST:
            index = self._indexes[origin]
            if any(index.holds_spelled(form) for form in forms):
                return origin
        return Origin.NOWHERE


_ANY_SPELLING = frozenset({DestinationKind.ACCOUNT, DestinationKind.PHONE})
_LONGEST_PLACE = 256


def leaves(value: Any) -> Iterator[str | int | float]:
    """Every text and number in a JSON value, keys included."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str) or (isinstance(item, int | float) and not isinstance(item, bool)):
            yield item
        elif isinstance(item, Mapping):
            pending.extend(item.values())
            pending.extend(item.keys())
        elif isinstance(item, list | tuple):
            pending.extend(item)


def _better(one: Origin, other: Origin) -> Origin:
    return min(one, other, key=_RANK.__getitem__)


_RANK = {origin: rank for rank, origin in enumerate((*_BEST_FIRST, Origin.NOWHERE))}


def _readable(text: str) -> str:
    """The normalised text; of JSON also its values as they are once their escapes are undone."""
    normal = normalised(text)
    if "\\" not in text or not text[:64].lstrip().startswith(("{", "[", '"')):
        return normal
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return normal
    inside = (normalised(item) for item in leaves(value) if isinstance(item, str))
    return SEPARATOR.join((normal, *islice(inside, _MAX_LEAVES)))
