"""Where was a value seen before a call named it?

The user's own words, trusted results and untrusted results of a session, each in an index of its
own. Nothing here guesses: a value counts as heard where it stands as a whole, and the best place
wins.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from toolkeeper_contract import Origin
from toolkeeper_policy.provenance_destination import (
    DestinationKind,
    bare,
    may_be_one_place,
    named,
    stands_as_host,
)
from toolkeeper_policy.provenance_given import Leaf, leaves, packed, put_in
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

MOST_WAITING = 2_048
"""Texts that wait to be indexed. With their arguments they are at most a quarter of the capacity.

What is more is indexed though nobody asks, an eighth at a time. A short text takes some times its
own size as long as it waits, and whoever asks first waits until all of them are indexed.
"""

_REMEMBERED = 1_024
_REMEMBERED_LENGTH = 2_048
_MAX_LEAVES = 50_000
_BEST_FIRST = (Origin.USER, Origin.TRUSTED, Origin.UNTRUSTED)
_POSITIVE = (Origin.USER, Origin.TRUSTED)


@dataclass(frozen=True, slots=True)
class Destination:
    """A part of a value that names where something goes; `text` is its normal form."""

    kind: DestinationKind
    text: str
    origin: Origin


_Told = tuple[str, str, str | None]
"""A text that was heard but not looked at yet, its origin, and the packed arguments of its call.

Made of plain things, which the garbage collector need not look at again and again.
"""


class Heard:
    """What a session has heard; implements `toolkeeper_contract.Provenance`.

    Texts are only kept when they are heard, and indexed when somebody first asks. The same texts in
    the same order give the same answers. At most `capacity` characters are kept of each origin;
    what is forgotten is from nowhere, which is never positive.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._longest = max(1, capacity // 2)
        self._most_waiting = capacity // 4
        self._indexes: dict[str, HeardIndex] = {
            origin: HeardIndex(capacity) for origin in _BEST_FIRST
        }
        self._waiting: list[_Told] = []
        self._waiting_size = 0
        self._known: dict[str | tuple[type, int | float], Origin] = {}

    def user(self, text: str) -> None:
        """The user's own words."""
        self._tell(text, "user", None)

    def trusted(self, text: str, given: Any = None) -> None:
        """A trusted result, and the arguments that the call `given` had.

        What a call puts in does not come out trusted: words of arguments that are neither the
        user's nor trusted are left out where the result repeats them.
        """
        self._tell(text, "trusted", packed(given))

    def untrusted(self, text: str) -> None:
        """Somebody else's words."""
        self._tell(text, "untrusted", None)

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

    def _tell(self, text: str, origin: str, given: str | None) -> None:
        size = len(text)
        if not size:
            return
        if size > self._longest:
            text, size = text[: self._longest], self._longest
        if given:
            size += len(given)
        self._waiting.append((text, origin, given))
        self._waiting_size += size
        if self._waiting_size > self._most_waiting or len(self._waiting) > MOST_WAITING:
            # Nobody asks, but what waits is bounded all the same.
            self._take_in(self._oldest())

    def _oldest(self) -> int:
        """How many of the texts that wait have to be indexed for others to find room again."""
        count, size = len(self._waiting) - MOST_WAITING * 7 // 8, self._waiting_size
        most = self._most_waiting * 7 // 8
        for number, (text, _, given) in enumerate(self._waiting):
            if number >= count and size <= most:
                return number
            size -= len(text) + (len(given) if given else 0)
        return len(self._waiting)

    def _catch_up(self) -> None:
        if self._waiting:
            self._take_in(len(self._waiting))

    def _take_in(self, count: int) -> None:
        """Indexes the first of the texts that wait."""
        taken = self._waiting[:count]
        del self._waiting[:count]
        self._known.clear()
        for told, origin, given in taken:
            self._waiting_size -= len(told) + (len(given) if given else 0)
            text = _readable(told)
            words = tokens(text)
            if given:
                foreign = self._not_positive(given, words)
                if foreign:
                    text = without(text, foreign)
                    words = tokens(text)
            self._indexes[origin].add(text, words)

    def _not_positive(self, given: str, repeated: set[str]) -> set[str]:
        """Which of the words `repeated` stand in values that are neither the user's nor trusted."""
        words: set[str] = set()
        found: dict[tuple[type, Leaf], bool] = {}
        try:
            for value, own in put_in(given, repeated):
                if not own <= words and not self._is_positive(value, found):
                    words |= own
        except RecursionError:
            return repeated
        return words

    def _is_positive(self, value: Leaf | None, found: dict[tuple[type, Leaf], bool]) -> bool:
        if value is None:
            return False
        key = (type(value), value)
        if key not in found:
            found[key] = self._seen(value, _POSITIVE).positive
        return found[key]

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

    def _seen(self, value: Any, among: Sequence[Origin] = _BEST_FIRST) -> Origin:
        number = as_number(value)
        if not isinstance(value, str):
            if number is None:
                return Origin.NOWHERE
            return self._first(tuple(spellings(number)), among)
        if len(value) > MAX_VALUE:
            return Origin.NOWHERE
        text = whole(value)
        forms = (text,) if number is None else (text, *spellings(number))
        best = self._first(forms, among)
        return best if best.positive else _better(best, self._as_one_place(text, among))

    def _first(
        self, forms: Sequence[str], among: Sequence[Origin], alone: Alone = stands_alone
    ) -> Origin:
        """The best origin of which one of these normalised texts stands alone."""
        wanted = [form for form in map(sought, forms) if form is not None]
        for origin in among:
            index = self._indexes[origin]
            for form in wanted:
                if index.holds(form, alone):
                    return origin
        return Origin.NOWHERE

    def _as_one_place(self, text: str, among: Sequence[Origin]) -> Origin:
        """The origin of a value that is one host, account or telephone and nothing else."""
        if len(text) > _LONGEST_PLACE or not may_be_one_place(text):
            return Origin.NOWHERE
        places = named(text)
        if len(places) != 1 or places[0].kind not in _ANY_SPELLING | {DestinationKind.HOST}:
            return Origin.NOWHERE
        place = places[0]
        # Also `0049` for `+49`.
        if bare(text) not in (bare(place.text), f"00{bare(place.text)}"):
            return Origin.NOWHERE
        return self._place(place.kind, place.text, among)

    def _place(
        self, kind: DestinationKind, text: str, among: Sequence[Origin] = _BEST_FIRST
    ) -> Origin:
        if kind not in _ANY_SPELLING:
            alone = stands_as_host if kind is DestinationKind.HOST else stands_alone
            return self._first((text,), among, alone)
        characters = bare(text)
        forms = (characters, f"00{characters}") if text.startswith("+") else (characters,)
        for origin in among:
            index = self._indexes[origin]
            if any(index.holds_spelled(form) for form in forms):
                return origin
        return Origin.NOWHERE


_ANY_SPELLING = frozenset({DestinationKind.ACCOUNT, DestinationKind.PHONE})
_LONGEST_PLACE = 256


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
