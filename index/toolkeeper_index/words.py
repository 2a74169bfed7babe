"""Which words does a text or an identifier consist of, for a search?"""

import re
import unicodedata
from functools import lru_cache

from toolkeeper_index.stemming import stem
from toolkeeper_index.stop_words import STOP_WORDS

_ASCII_RUN = re.compile(r"[A-Za-z0-9]+(?:[_.\-/][A-Za-z0-9]+)*")
_UNICODE_RUN = re.compile(r"[^\W_]+(?:[_.\-/][^\W_]+)*")
# Where one word of an identifier ends: before an upper-case letter after a lower-case one, before
# the last upper-case letter of a run that a word follows, and between letters and digits.
_BOUNDARY = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_SEPARATOR = re.compile(r"[_.\-/]+")

# Scripts without spaces between words (and Hangul, whose words carry their particles with them).
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_UNSPACED_RUN = re.compile(f"({_UNSPACED.pattern}+)")
_ACCENTS = re.compile("(?<=[a-zA-Z])[\u0300-\u036f]+")


def words(text: str) -> list[str]:
    """The search terms of `text` in order, repeated as often as they stand there.

    Identifiers are split before case is folded (`createInvoice`, `XMLParser`, `getURL2`), and the
    whole of one is kept as a term too, without its separators. Words of any script count; runs of
    scripts without spaces give every character and every pair. English words are stemmed, and
    words that say nothing (`the`, `please`) are left out.
    """
    found: list[str] = []
    if not text.isascii():
        text = _folded(text)
    for run in _ASCII_RUN.findall(text) if text.isascii() else _runs(text):
        found.extend(_terms(run))
    return found


def parts(name: str) -> list[str]:
    """The terms of an identifier's own words: those of `words` without the joined ones."""
    return [
        term
        for piece in _SEPARATOR.split(_folded(name).strip())
        for part in ([piece] if _UNSPACED.search(piece) else _BOUNDARY.split(piece))
        for term in (_pairs(part) if _UNSPACED.search(part) else [_term(part)])
        if term
    ]


@lru_cache(maxsize=65_536)
def _terms(run: str) -> tuple[str, ...]:
    if len(run) > 256:
        return ()
    terms: list[str] = []
    pieces = _SEPARATOR.split(run)
    for piece in pieces:
        if _UNSPACED.search(piece):
            terms += _pairs(piece)
            continue
        parts = _BOUNDARY.split(piece)
        terms += (_term(part) for part in parts)
        if len(parts) > 1 and len(pieces) == 1:
            terms.append(piece.casefold())
    if len(pieces) > 1:
        terms.append("".join(pieces).casefold())
    return tuple(term for term in terms if term)


def _term(part: str) -> str:
    word = part.casefold()
    return "" if word in STOP_WORDS else stem(word)


def _pairs(run: str) -> list[str]:
    """Single characters and bigrams of an unspaced run; a foreign word inside stays whole."""
    terms: list[str] = []
    for piece in _UNSPACED_RUN.split(run):
        if not _UNSPACED.match(piece):
            terms += _terms(piece)
            continue
        terms += piece
        terms += (piece[at : at + 2] for at in range(len(piece) - 1))
    return terms


def _folded(text: str) -> str:
    """One spelling for what reads the same: width, ligatures, and accents on Latin letters."""
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def _runs(text: str) -> list[str]:
    """Runs of letters, marks and digits of any script, joined by single separators."""
    if not any(unicodedata.category(each)[0] == "M" for each in set(text) if each > "\x7f"):
        return _UNICODE_RUN.findall(text)
    # Python's `\w` leaves out the vowel signs of many scripts.
    runs: list[str] = []
    run: list[str] = []
    for character in text:
        inside = character.isalnum() or unicodedata.category(character)[0] == "M"
        if inside or (character in "_.-/" and run and run[-1] not in "_.-/"):
            run.append(character)
        elif run:
            runs.append("".join(run).strip("_.-/"))
            run = []
    if run:
        runs.append("".join(run).strip("_.-/"))
    return [run for run in runs if run]
