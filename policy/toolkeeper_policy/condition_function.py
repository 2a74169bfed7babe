"""What can conditions compute, beside the operators of CEL?

All of these take time linear in their arguments. A failure never quotes a value: the library that
evaluates conditions logs what its functions raise.
"""

import logging
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

import re2  # type: ignore[import-untyped]

from toolkeeper_contract import Origin, Provenance

# The library logs a warning for each function that fails; without a handler of the application's
# it would land on standard error.
logging.getLogger("cel").addHandler(logging.NullHandler())

_PATTERN_CHARACTERS = 1_000
_PATTERN_BYTES = 1 << 20
_ADDRESS_CHARACTERS = 2_048
_PARTS = 1_000
_MAILBOX = re.compile(r"[^\s@<>()\[\],;:\\\"]+@([^\s@<>()\[\],;:\\\"/?#]+)")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,62})")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f\\<>\"^`{|}]")

_DISPUTED = frozenset("\u00df\u1e9e\u03c2\u200c\u200d")
"""Characters that the two standards of international host names take for different hosts."""


class FunctionFault(Exception):
    """A function of a condition could not answer; the message quotes nothing."""


def matches(text: Any, pattern: Any) -> bool:
    """Whether `pattern` (RE2 syntax) is found anywhere in `text`, in linear time."""
    if not isinstance(text, str) or not isinstance(pattern, str):
        raise FunctionFault("matches needs a text and a pattern")
    return compiled(pattern).search(text) is not None


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any:
    """The compiled pattern; raises FunctionFault when it is none, or too large."""
    if len(pattern) > _PATTERN_CHARACTERS:
        raise FunctionFault("the pattern is too long")
    options = re2.Options()
    options.max_mem = _PATTERN_BYTES
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError):
        raise FunctionFault("the pattern cannot be read") from None


def domain(address: Any) -> str:
    """The host, in lower case, of an e-mail address, a URL or a bare host name.

    Whatever two readers could take for two hosts (display names, lists of addresses, backslashes,
    two `@`) has none: it raises FunctionFault.
    """
    if not isinstance(address, str) or not 0 < len(address) <= _ADDRESS_CHARACTERS:
        raise FunctionFault("domain needs an address")
    if address[:7].lower() == "mailto:":
        address = address[7:]
    if _SCHEME.match(address):
        return _host(_of_url(address))
    mailbox = _MAILBOX.fullmatch(address)
    return _host(mailbox[1] if mailbox else address)


def _of_url(url: str) -> str:
    if _UNSAFE.search(url):
        raise FunctionFault("this is no clear address")
    try:
        parts = urlsplit(url)
        if parts.netloc.count("@") > 1 or "%" in parts.netloc.rpartition("@")[2]:
            raise FunctionFault("this is no clear address")
        # A port that is no number is an error, too.
        _ = parts.port
        return parts.hostname or ""
    except ValueError:
        raise FunctionFault("this is no clear address") from None


def _host(name: str) -> str:
    if ":" in name and set(name) <= set("0123456789abcdefABCDEF:."):
        return name.lower()
    if not _DISPUTED.isdisjoint(name):
        raise FunctionFault("this is no clear address")
    try:
        # As browsers do: full-width and other look-alike spellings of one host are one host.
        ascii_name = name.removesuffix(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise FunctionFault("this is no clear address") from None
    if not ascii_name or len(ascii_name) > 253:
        raise FunctionFault("this is no clear address")
    if any(_LABEL.fullmatch(label) is None for label in ascii_name.split(".")):
        raise FunctionFault("this is no clear address")
    return ascii_name


def origin_of(value: Any, provenance: Provenance | None) -> Origin:
    """Where `value` was seen; for a list or a map, the weakest origin of what is in it."""
    if provenance is None:
        return Origin.NOWHERE
    weakest: Origin | None = None
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)
        elif isinstance(item, str | int | float) and not isinstance(item, bool):
            found = provenance.origin(item)
            if weakest is None or _STRENGTH[found] < _STRENGTH[weakest]:
                weakest = found
    return Origin.NOWHERE if weakest is None else weakest


_STRENGTH = {Origin.NOWHERE: 0, Origin.UNTRUSTED: 1, Origin.TRUSTED: 2, Origin.USER: 3}


def origin_function(provenance: Provenance | None) -> Callable[[Any], str]:
    """`origin(value)` for one call."""

    def origin(value: Any) -> str:
        try:
            return origin_of(value, provenance).value
        except Exception:
            raise FunctionFault("the origin is not known") from None

    return origin


def lower_ascii(text: Any) -> str:
    """`text` with A to Z in lower case."""
    return _text(text).translate(_LOWER)


def upper_ascii(text: Any) -> str:
    """`text` with a to z in upper case."""
    return _text(text).translate(_UPPER)


def trim(text: Any) -> str:
    """`text` without white space at its ends."""
    return _text(text).strip()


def split(text: Any, separator: Any) -> list[str]:
    """The parts of `text` between separators, at most 1,000."""
    if not _text(separator):
        raise FunctionFault("split needs a separator")
    parts = _text(text).split(separator)
    if len(parts) > _PARTS:
        raise FunctionFault("there are too many parts")
    return parts


def substring(text: Any, begin: Any, end: Any = None) -> str:
    """The characters of `text` from `begin` to before `end`."""
    whole = _text(text)
    stop = len(whole) if end is None else end
    if type(begin) is not int or type(stop) is not int or not 0 <= begin <= stop <= len(whole):
        raise FunctionFault("substring needs positions in the text")
    return whole[begin:stop]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise FunctionFault("this function needs a text")
    return value


_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}

FUNCTIONS_OF_CONDITIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "matches": matches,
    "domain": domain,
    "lowerAscii": lower_ascii,
    "upperAscii": upper_ascii,
    "trim": trim,
    "split": split,
    "substring": substring,
}
"""By the names that conditions use; `origin` is made for each call."""
