"""Which parts of a value name where something goes?

Addresses, hosts, accounts, telephones and file paths, in the form in which two spellings of one
place are equal. Every pattern takes time that is linear in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from toolkeeper_policy.provenance_text import normalised, stands_alone

MAX_LENGTH = 100_000
"""Characters of a value that are looked through."""

MAX_FOUND = 64
"""Parts of one value that are told."""

_MAX_LOOKED_AT = 1_000
"""Addresses in one value that are looked at, equal ones too."""


class DestinationKind(StrEnum):
    """What kind of place a part names."""

    EMAIL = "email"
    URL = "url"
    HOST = "host"
    ACCOUNT = "account"
    PHONE = "phone"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Named:
    """A place that a value names; `text` is its normal form."""

    kind: DestinationKind
    text: str


_LABELS = r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_](?:[\w-]{0,61}[^\W_])"
_DOMAIN = re.compile(_LABELS)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,15}\Z")
_REST_OF_URL = re.compile(r"(?:\[[0-9a-f:.]{2,45}\])?[^\s\"'`<>{}|\\^\[\]]{0,2048}")
_HOST = re.compile(
    rf"(?<![\w@.%-]){_LABELS}(?![\w-])|(?<![\w.])\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?!\w|\.\d)"
)
_IBAN = re.compile(r"(?<!\w)[a-z]{2}\d{2}(?:[ -]?[a-z0-9]){11,30}(?!\w)")
_WALLET = re.compile(r"(?<!\w)(?:0x[0-9a-f]{40}|bc1[a-z0-9]{20,60}|[13][a-z0-9]{25,34})(?!\w)")
_DIGITS = re.compile(r"(?<![\w.])\+?\(?\d(?:[ ().\-/]{0,2}\d){6,33}(?!\w)")
_SEVEN_DIGITS = re.compile(r"\d(?:[ ().\-/]{0,2}\d){6}")
_DIGIT = re.compile(r"\d")
_SHORTEST_ACCOUNT = 15
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,3}(?:\.\d{1,3}){3}")
_PATH = re.compile(
    r"(?<![\w:/\\.~-])(?:~|\.{1,2}|[a-z]:)?(?:[/\\][^\s/\\\"'`<>|:*?,;]{1,255}){1,64}[/\\]?"
    r"|(?<![\w:/\\.~-])[\w.-]{1,255}(?:[/\\][^\s/\\\"'`<>|:*?,;]{1,255}){0,64}\.[a-z0-9]{1,10}(?!\w)"
)
_NOT_LOCAL = frozenset("@<>()[]{},;:\"'`|\\/=?&")
_GAPS = str.maketrans("", "", " ().-/")
_FILE_ENDINGS = frozenset(
    (
        "bak", "bmp", "cfg", "conf", "css", "csv", "db", "doc", "docx", "env", "exe", "gif", "gz",
        "htm", "html", "ini", "jpeg", "jpg", "js", "json", "lock", "log", "mp3", "mp4", "odt",
        "pdf", "pem", "png", "ppt", "pptx", "rtf", "sql", "sqlite", "svg", "tar", "tex", "toml",
        "ts", "tsv", "txt", "wav", "xls", "xlsx", "xml", "yaml", "yml",
    )
)  # fmt: skip
"""Endings of file names that are no top-level domain."""


def named(value: str) -> tuple[Named, ...]:
    """The places that `value` names, each once, by kind and then in the order of the text."""
    text = normalised(value[:MAX_LENGTH])
    found: dict[Named, None] = {}
    for place in _all(text):
        found[place] = None
        if len(found) == MAX_FOUND:
            break
    return tuple(found)


def may_be_one_place(text: str) -> bool:
    """A quick look: False means that a normalised text names no host, account or telephone."""
    # A host has a dot, a telephone seven digits; any other account is longer and has a digit.
    return (
        "." in text
        or _SEVEN_DIGITS.search(text) is not None
        or (len(text) >= _SHORTEST_ACCOUNT and _DIGIT.search(text) is not None)
    )


def stands_as_host(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is the whole host there, in a URL or by itself."""
    before = text[start - 1] if start else " "
    if before.isalnum() or before in "._-@%+":
        return False
    if before == "/" and not text.startswith("//", max(0, start - 2)):
        return False
    after = text[end : end + 2]
    if not after:
        return True
    if after[0].isalnum() or after[0] in "_-@":
        return False
    return not (after[0] == "." and len(after) == 2 and (after[1].isalnum() or after[1] in "-_"))


class _Taken:
    """Which stretches of a text a place was found in already."""

    def __init__(self, length: int) -> None:
        self._marks = bytearray(length)

    def take(self, start: int, end: int) -> None:
        self._marks[start:end] = b"\1" * (end - start)

    def holds(self, start: int, end: int) -> bool:
        """Whether any of it was taken."""
        return self._marks.find(1, start, end) >= 0


def _all(text: str) -> Iterator[Named]:
    taken = _Taken(len(text))
    yield from _urls(text, taken)
    yield from _emails(text, taken)
    if "." in text:
        for match in _HOST.finditer(text):
            ending = match.group().rpartition(".")[2]
            if ending not in _FILE_ENDINGS and not taken.holds(*match.span()):
                yield Named(DestinationKind.HOST, match.group())
    for pattern in (_IBAN, _WALLET):
        for match in pattern.finditer(text):
            if not taken.holds(*match.span()):
                taken.take(*match.span())
                yield Named(DestinationKind.ACCOUNT, match.group().translate(_GAPS))
    for match in _DIGITS.finditer(text):
        if not taken.holds(*match.span()) and not _DATE.match(match.group()):
            yield _number(match.group())
    if "/" in text or "\\" in text or "." in text:
        yield from _paths(text, taken)


def _urls(text: str, taken: _Taken) -> Iterator[Named]:
    at = text.find("://")
    for _ in range(_MAX_LOOKED_AT):
        if at < 0:
            return
        scheme = _SCHEME.search(text, max(0, at - 16), at)
        rest = _REST_OF_URL.match(text, at + 3)
        end = rest.end() if rest else at + 3
        if scheme and end > at + 3:
            address = text[scheme.start() : end].rstrip(".,;:!?)*")
            taken.take(scheme.start(), end)
            yield Named(DestinationKind.URL, address)
            host = host_of(address)
            if host:
                yield Named(DestinationKind.HOST, host)
        # One address may hold another, to send its reader on to.
        at = text.find("://", at + 3)


def host_of(address: str) -> str:
    """The host in a normalised URL, without user, password and port; empty when it has none."""
    authority = re.split(r"[/?#\\]", address.partition("://")[2], maxsplit=1)[0]
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].rstrip(".")


def _emails(text: str, taken: _Taken) -> Iterator[Named]:
    at = text.find("@")
    while at >= 0:
        start = at
        while start > max(0, at - 64) and _is_local(text[start - 1]):
            start -= 1
        domain = _DOMAIN.match(text, at + 1) if start < at else None
        if domain and not taken.holds(start, at):
            taken.take(start, domain.end())
            yield Named(DestinationKind.EMAIL, text[start : domain.end()])
        at = text.find("@", at + 1)


def _is_local(character: str) -> bool:
    """Whether a local part of an address may have this character."""
    return not character.isspace() and character not in _NOT_LOCAL


def bare(text: str) -> str:
    """The letters and digits of an account or telephone, without what separates them."""
    return text.translate(_GAPS).removeprefix("+")


def _number(spelled: str) -> Named:
    international = spelled.lstrip("(").startswith(("+", "00"))
    digits = bare(spelled)
    separated = international or digits != spelled
    kind = DestinationKind.PHONE if separated else DestinationKind.ACCOUNT
    if international and "+" not in spelled:
        digits = digits[2:]
    return Named(kind, f"+{digits}" if international else digits)


def _paths(text: str, taken: _Taken) -> Iterator[Named]:
    for match in _PATH.finditer(text):
        path = match.group().rstrip(".,;:!?)")
        start = match.start()
        ends_as_file = path.rpartition(".")[2] in _FILE_ENDINGS
        is_path = "/" in path or "\\" in path or ends_as_file
        if not is_path or taken.holds(*match.span()):
            continue
        if stands_alone(text, start, start + len(path)):
            yield Named(DestinationKind.PATH, path)
