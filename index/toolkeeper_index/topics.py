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
_QUOTE = re.compile("[\"'`\u201c\u2018]")
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


# Members looked up once: every word of every query needs them.
_TOPIC, _VALUED, _GENERAL = Role


def roles(query: str) -> Mapping[str, Role]:
    """Each search term of `query` with its role; a term with several is a topic, then a value.

    Where there is neither topic nor value (`list items`), general words are the topics.
    """
    stated, values = _parted(query)
    found: dict[str, Role] = {}
    for token in stated:
        for term, general in _terms(token):
            if general:
                found.setdefault(term, _GENERAL)
            else:
                found[term] = _TOPIC
    for value in values:
        for term in words(value):
            if found.get(term) is not _TOPIC:
                found[term] = _VALUED
    if all(role is _GENERAL for role in found.values()):
        return dict.fromkeys(found, _TOPIC)
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
    values: list[str] = []
    if _QUOTE.search(query):
        values = _QUOTED.findall(query)
        query = _QUOTED.sub(" ", query)
    tokens = query.split()
    titled = sum(token[0].isupper() for token in tokens) > _TITLE * len(tokens)
    stated: list[str] = []
    begins = True
    for token in tokens:
        capital, value = _shape(token)
        if value or (capital and not begins and not titled):
            values.append(token)
        else:
            stated.append(token)
        begins = token[-1] in _ENDS
    return stated, values


@lru_cache(maxsize=65_536)
def _shape(token: str) -> tuple[bool, bool]:
    """Whether a token begins with a capital, and whether it looks like a value."""
    bare = token.strip(_AROUND)
    return bare[:1].isupper(), _VALUE.search(bare) is not None
