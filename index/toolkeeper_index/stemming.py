"""Which form stands for all forms of an English word?

Porter's algorithm (M. F. Porter, "An algorithm for suffix stripping", 1980), as published. Words
with a letter outside a-z are left alone.
"""

import re
from functools import lru_cache

_VOWEL = "aeiou"

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("abli", "able"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic", "ou",
)  # fmt: skip
_WORD = re.compile(r"[a-z]{3,64}")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case English word; anything else comes back as it is."""
    if _WORD.fullmatch(word) is None:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2)
    word = _replaced(word, _STEP_3)
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t"))):
                word = rest
            break
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _plural(word: str) -> str:
    if word.endswith("sses") or word.endswith("ies"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if not _has_vowel(rest):
                return word
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if len(rest) > 1 and rest[-1] == rest[-2] and rest[-1] not in _VOWEL + "lsz":
                return rest[:-1]
            return rest + "e" if _measure(rest) == 1 and _short(rest) else rest
    return word


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for suffix, ending in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + ending if _measure(rest) > 0 else word
    return word


def _is_consonant(word: str, at: int) -> bool:
    letter = word[at]
    if letter in _VOWEL:
        return False
    return letter != "y" or at == 0 or not _is_consonant(word, at - 1)


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, at) for at in range(len(word)))


def _measure(word: str) -> int:
    """How many times a vowel run is followed by a consonant run."""
    count = 0
    vowel = False
    for at in range(len(word)):
        consonant = _is_consonant(word, at)
        if consonant and vowel:
            count += 1
        vowel = not consonant
    return count


def _short(word: str) -> bool:
    """Consonant, vowel, consonant at the end, and the last is not w, x or y."""
    end = len(word) - 1
    return (
        end >= 2
        and _is_consonant(word, end)
        and not _is_consonant(word, end - 1)
        and _is_consonant(word, end - 2)
        and word[end] not in "wxy"
    )
