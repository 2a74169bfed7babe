"""Which words of a request say what it is about?

A request names what it wants done (its topics), says so in words that could stand in any request
(`find me the latest ...`), and gives values: what is quoted, names of people and places, numbers,
dates, addresses, paths. Values are arguments; no tool has to know them.
"""

import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

from toolkeeper_index.general_words import is_general
from toolkeeper_index.words import words

_QUOTED = re.compile(
    '"[^"]{1,200}"|\u201c[^\u201d]{1,200}\u201d|\u2018[^\u2019]{1,200}\u2019|`[^`]{1,200}`'
    r"|(?<!\w)'[^'\n]{1,200}'(?!\w)"
)
_VALUE = re.compile(r"\d|@|://|^[/~#$%]|\w\.\w{2,4}$")
_WORD = re.compile(r"[^\W_]+")
_AROUND = "`'\"\u201c\u201d\u2018\u2019,;:!?()[]{}."
_ENDS = ".!?:"
_LONGEST = 256
# From this share of capitals on, capitals mean nothing: `List Open Issues`.
_TITLE = 0.6


class Role(Enum):
    """What a word is in a request."""

    TOPIC = "topic"
    VALUE = "value"
    GENERAL = "general"


def roles(query: str) -> Mapping[str, Role]:
    """Each search term of `query` with its role; a term with several is a topic, then a value.

    Where there is neither topic nor value (`list items`), general words are the topics.
    """
    stated, values = _parted(query)
    found: dict[str, Role] = {}
    for token in stated:
        for term, general in _terms(token):
            if general:
                found.setdefault(term, Role.GENERAL)
            else:
                found[term] = Role.TOPIC
    for value in values:
        for term in words(value):
            if found.get(term) is not Role.TOPIC:
                found[term] = Role.VALUE
    if Role.TOPIC not in found.values() and Role.VALUE not in found.values():
        return dict.fromkeys(found, Role.TOPIC)
    return found


@lru_cache(maxsize=65_536)
def _terms(token: str) -> tuple[tuple[str, bool], ...]:
    """The search terms of a token, and whether each is general."""
    if len(token) > _LONGEST:
        return ()
    general = {
        term for word in _WORD.findall(token) if is_general(word.casefold()) for term in words(word)
    }
    return tuple((term, term in general) for term in words(token))


def _parted(query: str) -> tuple[list[str], list[str]]:
    """What a query says in its own words, and the values that it gives."""
    query = query.strip()
    if len(query) > 2 and query[0] == query[-1] and query[0] in "\"'`":
        query = query[1:-1]
    values = _QUOTED.findall(query)
    tokens = _QUOTED.sub(" ", query).split()
    titled = sum(token[0].isupper() for token in tokens) > _TITLE * len(tokens)
    stated: list[str] = []
    begins = True
    for token in tokens:
        bare = token.strip(_AROUND)
        named = bare[:1].isupper() and not begins and not titled
        (values if named or _VALUE.search(bare) else stated).append(token)
        begins = token[-1] in _ENDS
    return stated, values
