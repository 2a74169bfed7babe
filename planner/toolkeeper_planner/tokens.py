"""How many tokens does a text cost on the wire?

The count of reference is o200k_base. Its vocabulary is megabytes and is not needed: a text is cut
into the same pieces as that encoding cuts it into (words with the character before them, groups of
three digits, runs of punctuation, white space), which is nine tenths of the answer, since most
pieces are one token. What a piece costs beyond that is

- for words: nothing when the word is in a list of common ones, else a sum of small weights (its
  script, its letters, its runs of three letters) that were fitted to the real vocabulary;
- for Han and Hangul: a weight per character by how common it is;
- for punctuation: the longest matches in a list of common runs;
- for everything unknown: its bytes, which no encoding of this kind exceeds.

The weights lean to the dear side, so that a total lies between the truth and 15 % above it
(adr/0010; `bench/tokens.py` prints the measurement, `bench/token_tables.py` made the tables).
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from toolkeeper_planner.vocabulary import (
    HAN_OTHER,
    HAN_SIMPLE,
    HANGUL,
    PUNCTUATION,
    SYMBOLS,
    WORDS,
)
from toolkeeper_planner.weights import FRAGMENTS, LETTERS, MARGINS, PREFIXES, STYLES

__all__ = ["estimate"]

_UPPER = "A-ZÀ-ÖØ-Þ"
_LOWER = "a-zß-öø-ÿĀ-ɏ\u0250-\u02af\u0300-\u036f\u1e00-\u1eff"
# every other script: letters, marks and digits, and the few signs that stand between them
_OTHER = (
    "\u0370-\u1dff\u1f00-\u1fff\u2c00-\u2dff\u3005-\u3007\u3031-\u3035\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u31ff\u3400-\u9fff\ua000-\ud7ff\uf900-\ufdff\ufe20-\ufe2f\ufe70-\ufefe"
    "\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc\U00010000-\U0001bfff\U0001e000-\U0001efff"
    "\U00020000-\U0003ffff"
)
_LEAD = f"[^\\r\\n0-9{_UPPER}{_LOWER}{_OTHER}]"
_LATIN = f"(?:[{_UPPER}]*+[{_LOWER}]+|[{_UPPER}]+)"
_SHORT_FORM = "(?:'(?:s|t|re|ve|m|ll|d))"

# Possessive quantifiers keep the cut linear in the length of any text.
PIECES: Final = re.compile(
    rf"{_LEAD}?+{_LATIN}{_SHORT_FORM}?|{_LEAD}?+[{_OTHER}]+|[0-9]{{1,3}}"
    rf"| ?[^\s0-9{_UPPER}{_LOWER}{_OTHER}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
WORD: Final = re.compile(rf"({_LEAD}?)({_LATIN}|[{_OTHER}]+)({_SHORT_FORM}?)")
_PUNCTUATION: Final = re.compile(
    r"([-=*_#~.+/\s])\1{3,15}|"
    + "|".join(map(re.escape, sorted(PUNCTUATION, key=len, reverse=True)))
    + "|.",
    re.DOTALL,
)
_SLOTS: Final = len(FRAGMENTS)
_STARTS: Final = {" ": "^", "": "<"}
# a text is cut into slices, so that a huge one does not become one huge list of pieces
_SLICE: Final = 1 << 18
_READ: Final = 1 << 20
# thousandths of a token
_DEAREST_BYTE: Final = 750
_CACHED_PIECES: Final = 1 << 16
_CACHED_LENGTH: Final = 48
_LONG_CODE: Final = 24
# a script that no margin was measured for
_UNKNOWN_SCRIPT: Final = 1.2
# on every text, for what the weights miss, in thousandths
_MARGIN: Final = 1020


def estimate(text: str) -> int:
    """The estimated number of o200k_base tokens of `text`; 0 for an empty text.

    Deterministic, and linear in the length of the text, whatever it holds. What stands beyond the
    first million characters is more than any cap allows and is priced by its bytes, dearly.
    """
    price = _PRICES.__getitem__
    total = 0
    for start in range(0, min(len(text), _READ), _SLICE):
        total += sum(map(price, PIECES.findall(text, start, min(start + _SLICE, _READ))))
    if len(text) > _READ:
        total += len(text[_READ:].encode("utf-8", "surrogatepass")) * _DEAREST_BYTE
    return -(-total * _MARGIN // 1_000_000)


class _Prices(dict[str, int]):
    """Piece -> thousandths of a token, filled as pieces are met.

    Whole numbers, so that sums are exact; bounded, and without influence on any result.
    """

    def __missing__(self, piece: str) -> int:
        price = round(_price(piece) * 1000)
        if len(piece) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_PIECES:
                self.clear()
            self[piece] = price
        return price


_PRICES: Final = _Prices()


def _price(piece: str) -> float:
    word = WORD.fullmatch(piece)
    if word is None:
        if piece.isascii() and piece.isdigit():
            return 1.0
        return float(_spaces(piece) if piece.isspace() else _marks(piece))
    lead, body, short_form = word.groups()
    if lead == "\\":
        # an escape inside JSON text: the encoding knows `\n` and goes on with the word behind it
        rest = body[1:] + short_form
        return 1.0 + (_price(rest) if rest else 0.0)
    if not short_form and is_common(body):
        return 1.0 if lead in _STARTS else 1.0 + PREFIXES.get(lead, 0.8)
    weight = sum(STYLES.get(style, 0.0) for style in styles(lead, body, short_form))
    weight += sum(map(_letter, filter(_is_foreign, body.lower())))
    weight += sum(FRAGMENTS[slot] for slot in slots(lead, body))
    weight = max(weight, 0.0) * MARGINS.get(script_of(body[0]), _UNKNOWN_SCRIPT)
    if len(body) > _LONG_CODE and body.isupper() and body.isascii():
        weight = max(weight, len(body) / 1.9)  # no word but a code: a key, a protein
    elif len(body) > _LONG_CODE:
        weight = max(weight, len(body) / 7)
    return 1.0 + weight


def is_common(body: str) -> bool:
    """Whether a word, in lower case or capitalised, is on the list of common ones."""
    return (body.islower() or body[1:].islower()) and body.lower() in WORDS


def styles(lead: str, body: str, short_form: str) -> Iterator[str]:
    """The named features of a word: its script, what stands before it, its case and length."""
    before = "space" if lead == " " else "sign" if lead else "none"
    script = script_of(body[0])
    yield f"{script}-{before}"
    if short_form:
        yield "short form"
    if script == "latin":
        if lead and before == "sign":
            yield f"sign {lead}"
        if len(body) > 1 and body.isupper():
            yield from ["upper"] * len(body)
        elif not body.islower():
            if body[1:].islower() or len(body) == 1:
                yield f"capital-{before}"
            else:
                yield from ["mixed"] * len(body)
        yield f"length {min(len(body), 20)}"


def slots(lead: str, body: str) -> Iterator[int]:
    """Where in the table of fragments the runs of three letters of a word stand.

    The fragments share slots by a fixed hash. Han has none: its runs are not words.
    """
    if script_of(body[0]) == "han":
        return
    marked = [ord(letter) for letter in f"{_STARTS.get(lead, '_')}{body.lower()}$"]
    for first, second, third in zip(marked, marked[1:], marked[2:], strict=False):
        yield ((first * 961 + second * 31 + third) * 40503 & 0xFFFFFFFF) % _SLOTS


def script_of(letter: str) -> str:
    """The name of a letter's script, or the block of 128 code points that it is in."""
    code = ord(letter)
    if code < 0x250:
        return "latin"
    if code < 0x2E80:
        return f"block {code >> 7}"
    return "hangul" if 0xAC00 <= code <= 0xD7A3 else "han"


def _is_foreign(letter: str) -> bool:
    return letter > "\x7f"


def _letter(letter: str) -> float:
    weight = LETTERS.get(letter)
    if weight is not None:
        return weight
    return STYLES.get(letter_class(letter), 0.0) or float(_size(letter))


def letter_class(letter: str) -> str:
    """The class whose weight a Han or Hangul character has; empty for other letters."""
    if "\u4e00" <= letter <= "\u9fff":
        if letter in HAN_SIMPLE:
            return "han simple"
        return "han other" if letter in HAN_OTHER else "han rare"
    if "\uac00" <= letter <= "\ud7a3":
        return "hangul common" if letter in HANGUL else "hangul rare"
    return ""


def _size(letter: str) -> int:
    """Its bytes in UTF-8: no encoding over bytes needs more tokens."""
    code = ord(letter)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _symbol(code: int) -> int:
    """A symbol that is no token: two where the encoding knows half of it, else its bytes."""
    if code >= 0x1FB00:
        return 4
    known = (
        code < 0x2400
        or 0x2460 <= code < 0x27C0
        or 0x3000 <= code < 0x3040
        or 0x1F1E6 <= code < 0x1F540
        or 0x1F600 <= code < 0x1F6C0
        or 0x1F900 <= code < 0x1F980
    )
    return 2 if known else 3


def _spaces(piece: str) -> int:
    """White space: an even run is one token up to a length, a mixed one is several."""
    if not piece.isascii():
        return sum(map(_size, piece))
    changes = sum(before != after for before, after in pairwise(piece))
    return 1 + changes * 2 // 3 + len(piece) // 16


def _marks(piece: str) -> float:
    """Punctuation and symbols: the longest common runs, then one by one."""
    if piece.isascii():
        return float(sum(1 for _ in _PUNCTUATION.finditer(piece)))
    total = 0.0
    for match in _PUNCTUATION.finditer(piece):
        text = match[0]
        total += 1 if text.isascii() or text in SYMBOLS else _symbol(ord(text[0]))
    # a space is merged with what follows it
    return total - 1 if piece[0] == " " and len(piece) > 1 and piece[1] > "\x7f" else total
