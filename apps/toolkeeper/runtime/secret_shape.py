"""Which pieces of a text are secrets by their shape alone?"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator

from toolkeeper.runtime.secret_glance import SHORT, Glance

MASK = "[redacted]"
"""What stands where a secret stood."""

# Each shape has the literals that a text must hold for it to be worth looking. Every repetition
# is possessive or bounded, so that no text takes more than linear time.
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (literals, re.compile(pattern))
    for literals, pattern in (
        (
            ("PRIVATE KEY",),
            r"-----BEGIN (?:[A-Z0-9]{1,16}+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            # whole where it is closed, else as far as it looks like a key
            r"(?:(?:[^-]|-(?!-{4}(?:END|BEGIN))){0,20000}+-----END [A-Z0-9 ]{1,60}+-----"
            r"|[A-Za-z0-9+/=\s\\]{0,20000}+)",
        ),
        (("sk-", "sk_", "rk_", "pk_"), r"\b(?:sk-|[srp]k_(?:live|test)_)[A-Za-z0-9_-]{16,512}+"),
        (
            ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}+|github_pat_[A-Za-z0-9_]{20,255}+)",
        ),
        (("glpat-", "gldt-", "glrt-"), r"\bgl(?:pat|dt|rt)-[A-Za-z0-9_.-]{16,255}+"),
        (("xox", "xapp-"), r"\b(?:xox[abceoprsd]|xapp)-[A-Za-z0-9-]{10,255}+"),
        (("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{10,255}+"),
        (("AKIA", "ASIA"), r"\bA[KS]IA[A-Z2-7]{16}\b"),
        (("AIza",), r"\bAIza[A-Za-z0-9_-]{35}"),
        (("ya29.",), r"\bya29\.[A-Za-z0-9_-]{20,1024}+"),
        (
            ("eyJ",),
            r"\beyJ[A-Za-z0-9_-]{8,8192}+\.[A-Za-z0-9_-]{8,65536}+(?:\.[A-Za-z0-9_-]{0,8192}+)?",
        ),
        (("npm_", "hf_", "pypi-"), r"\b(?:npm_|hf_|pypi-)[A-Za-z0-9_-]{30,512}+"),
        (("SG.",), r"\bSG\.[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{16,128}+"),
        (("dop_v1_", "shpat_", "shpss_"), r"\b(?:dop_v1_|shp(?:at|ss)_)[a-f0-9]{32,128}+"),
        (("AGE-SECRET-KEY-",), r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,70}+"),
    )
)

_USERINFO = re.compile(r"(?<=://)[^\s/?#\"'<>\\]{1,512}(?=@)")
_SCHEMES = ("bearer", "Bearer", "BEARER", "basic", "Basic", "BASIC")
_BEARER = re.compile(r"\b((?i:bearer|basic))[ \t]{1,4}([A-Za-z0-9._~+/=-]{3,8192}+)")
_PROSE = frozenset(
    (
        "token", "tokens", "auth", "authentication", "authorization", "header", "headers", "scheme",
        "format", "credential", "credentials", "string", "value", "access", "realm", "login",
        "password", "challenge", "type", "based",
    )
)  # fmt: skip
_SHORTEST = 8
"""Characters of the shortest text that can hold such a token."""

_FIRM_HINTS = {
    "sk-": "sk-[A-Za-z0-9_-]{16}",  # `task-7` has no such end
    **{f"{kind}_": f"{kind}_(?:live|test)_" for kind in ("sk", "rk", "pk")},
}
HINTS = (
    r"://[^\s/?#\"'<>]*@",
    *_SCHEMES,
    *(_FIRM_HINTS.get(each, re.escape(each)) for literals, _ in _SHAPES for each in literals),
)
"""Patterns, for RE2: a text without any of these has no token of a well-known shape."""

_MARKS = "-_.:"
"""Most literals hold one of these, and most texts hold few of them."""


def _mark_of(literal: str) -> str:
    return next((mark for mark in _MARKS if mark in literal), "")


_LITERALS = (*(literal for literals, _ in _SHAPES for literal in literals), "://", *_SCHEMES)
_LITERALS_BY_MARK = tuple(
    (mark, tuple(literal for literal in _LITERALS if _mark_of(literal) == mark))
    for mark in (*_MARKS, "")
)
_GLANCE = Glance(hints=HINTS)
_HARMLESS_USERS = frozenset({"git", "anonymous", "user", "www"})


def mask_shapes(text: str) -> tuple[str, int]:
    """`text` with every token of a well-known shape masked, and how many there were."""
    count = 0
    if len(text) < _SHORTEST or not _may_hold_one(text):
        return text, 0
    for literals, pattern in _SHAPES:
        for literal in literals:
            if literal in text:
                text, found = mask_spans(text, (match.span() for match in pattern.finditer(text)))
                count += found
                break
    if "://" in text:
        text, found = mask_spans(text, _userinfo(text))
        count += found
    if any(hint in text for hint in _SCHEMES):
        text, found = mask_spans(text, _schemes(text))
        count += found
    return text, count


def _may_hold_one(text: str) -> bool:
    """A quick look: False means that there is no such token in `text`."""
    if len(text) > SHORT:
        return _GLANCE.meets(text)
    for mark, literals in _LITERALS_BY_MARK:
        if mark in text:
            for literal in literals:
                if literal in text:
                    return True
    return False


def mask_spans(text: str, spans: Iterable[tuple[int, int]]) -> tuple[str, int]:
    """`text` with each span masked; overlapping spans are one. Spans come in order."""
    pieces: list[str] = []
    done, count = 0, 0
    for start, end in spans:
        start = max(start, done)
        if start >= end or text[start:end] == MASK:
            continue
        pieces.append(text[done:start])
        pieces.append(MASK)
        done = end
        count += 1
    if not count:
        return text, 0
    pieces.append(text[done:])
    return "".join(pieces), count


def _userinfo(text: str) -> Iterator[tuple[int, int]]:
    for match in _USERINFO.finditer(text):
        # `ssh://git@host` names an account that everybody knows.
        if match[0] not in _HARMLESS_USERS:
            yield match.span()


def _schemes(text: str) -> Iterator[tuple[int, int]]:
    for match in _BEARER.finditer(text):
        scheme, token = match[1], match[2].rstrip(".")
        if token.lower() in _PROSE:
            continue
        if scheme.lower() == "basic":
            if _is_basic(token):
                yield match.span(2)
            continue
        telling = any(not character.isalpha() for character in token) or len(token) >= 20
        if telling or (scheme != "bearer" and len(token) > 5):
            yield match.span(2)


def _is_basic(token: str) -> bool:
    """Whether this is `user:password` in base64, and not a word of prose."""
    try:
        return b":" in base64.b64decode(token + "=" * (-len(token) % 4))
    except binascii.Error:
        return False
