"""Which characters may not reach a prompt, a card, a log or a terminal as they are?

The tables are written out instead of asking `unicodedata`, so that the same text gives the same
bytes under every Python version.
"""

import re

_REMOVED = (
    "\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f"  # C0 but tab and line breaks, DEL, C1 but NEL
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"  # invisible letters, marks and fillers
    "\u200e\u200f\u202a-\u202e\u2060-\u206f"  # bidi marks, embeddings, overrides, isolates
    "\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tag characters and their unassigned kin
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000)
    )
)
_BREAKS = "\r\x0b\x0c\x85\u2028\u2029"
_SURROGATES = "\ud800-\udfff"
_JOINERS = "\u200c\u200d"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"

SUSPECT = re.compile(f"[{_REMOVED}{_BREAKS}{_SURROGATES}\u200b{_JOINERS}{_SELECTORS}]")
"""Any character that is not simply kept; text without one is clean."""

SUSPECT_ASCII = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
"""The same for ASCII text, and several times faster."""

REMOVED = re.compile(f"[{_REMOVED}]")
"""Characters that are removed wherever they stand."""

BREAK = re.compile(f"\r\n|[{_BREAKS}]")
"""Line breaks of every kind but the plain newline."""

SURROGATE = re.compile(f"[{_SURROGATES}]")
"""Halves of a pair; no UTF-8 can carry them."""

REPLACED = re.compile(f"[{_REMOVED}{_BREAKS}{_SURROGATES}\u200b]")
"""Every single character that never stays, wherever it stands."""

DEPENDENT = re.compile(f"[{_JOINERS}{_SELECTORS}]")
"""Joiners and variation selectors: kept where their neighbours need them, else removed."""

# Introducers of escape sequences come as ESC and a letter, or as one C1 character. A string
# sequence (OSC and its kin) hides its payload; one that is not closed on its line loses only its
# introducer, because a terminal's habit of swallowing the rest would hide what follows.
ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n\r]{0,65536}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[\]PX^_\[]"
    r"|\x1b[ -/]*[0-~]"
)
"""ANSI escape sequences, to be removed whole."""

_JOINING = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1aaf\u1b00-\u1c4f"
    "\ua800-\ua8ff\ua900-\ua9df\uaa00-\uaaff\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010fff\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
_PICTURE = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")
_MONGOLIAN = re.compile("[\u1800-\u18af]")
_VARIED = re.compile("[\u0030\u2205-\u22ff\u1000-\u109f\ua840-\ua87f]")
"""Bases of the standardised variation sequences: zero, mathematics, Myanmar, Phags-pa."""


def is_joining(character: str) -> bool:
    """Whether the script of `character` shapes words with ZWJ and ZWNJ (Persian, Indic, ...)."""
    return _JOINING.match(character) is not None


def is_picture(character: str) -> bool:
    """Whether `character` can be part of an emoji sequence."""
    return _PICTURE.match(character) is not None


def selects(selector: str, before: str, after: str) -> bool:
    """Whether a variation selector has a base in `before` that knows variants."""
    if selector in "\ufe0e\ufe0f":
        keycap = before in "0123456789#*" and after == "\u20e3"
        return keycap or is_picture(before) or bool(_HAN.match(before))
    if "\u180b" <= selector <= "\u180f":
        return _MONGOLIAN.match(before) is not None
    if "\ufe00" <= selector <= "\ufe0d":
        return bool(_HAN.match(before) or _VARIED.match(before))
    return _HAN.match(before) is not None
