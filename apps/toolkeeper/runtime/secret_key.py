"""Does a key's name say that its value is a secret?

Names are split into words, in any case and with any separator, so `MCP_API_KEY`, `x-api-key` and
`dbPassword` are all found, and `max_tokens`, `author` and `monkey` are not.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from toolkeeper.runtime.secret_glance import Glance

SECRET_WORDS: tuple[str, ...] = (
    "password", "passwords", "passwd", "passcode", "passphrase", "pwd",
    "secret", "secrets", "token", "bearer", "authorization", "authentication header",
    "credential", "credentials", "cookie", "session id", "sessionid",
    "api key", "apikey", "api keys", "apikeys", "access key", "accesskey", "secret key",
    "secretkey", "private key", "privatekey", "signing key", "encryption key", "master key",
    "account key", "auth key", "authkey", "service key", "subscription key", "license key",
    "connection string", "connectionstring", "dsn", "otp", "one time code", "cvv", "cvc",
    "webhook url", "x auth", "jwt",
)  # fmt: skip
"""The built-in words: the value of a key that contains one of these is masked.

Several words count where they follow each other. A key that is written without any separator
counts where it ends with a long one of them (`dbpassword`, `accesstoken`). The same list serves
arguments, results and text.
"""

HARMLESS_WORDS: tuple[str, ...] = (
    "page token", "next token", "sync token", "continuation token", "cursor token",
    "token count", "token limit", "token budget", "token usage", "token type", "token price",
    "token cost", "token length", "token id", "secret name", "password policy", "password length",
    "password strength", "cookie policy", "cookie consent",
)  # fmt: skip
"""Built-in words do not count inside these: masking a page's token would end the paging."""

_ENDINGS = (
    "password", "passwd", "passphrase", "secret", "apikey", "accesskey", "secretkey",
    "privatekey", "accesstoken", "authtoken", "refreshtoken", "idtoken", "bearertoken",
    "sessiontoken", "apitoken", "usertoken", "bottoken", "connectionstring",
)  # fmt: skip

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")
_LONGEST = 256


def words(key: str) -> tuple[str, ...]:
    """The words of a key in lower case: `MCPApiKey` has `mcp`, `api` and `key`."""
    return tuple(word.lower() for word in _WORD.findall(key[:_LONGEST]))


class SecretKeys:
    """Decides which keys hold secrets: the built-in words and the operator's `keys`."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        own = tuple(found for found in map(words, keys) if found)
        self._own = _phrases(own)
        # A key without separators is one word; the operator's own are found at its end too.
        self._own_endings = tuple(joined for joined in map("".join, own) if len(joined) > 5)
        phrases = (*own, *_BUILT_IN)
        telling = (*phrases, *((each,) for each in (*_ENDINGS, *self._own_endings)))
        self.phrases = tuple(filter(_is_ascii, telling))
        """All in ASCII that names a secret; a quick look finds them inside longer words too."""
        self._foreign = tuple(
            {_one_sigma(max(each, key=_foreignness)) for each in telling if not _is_ascii(each)}
        )
        self.has_foreign = bool(self._foreign)
        self._glance = Glance(self.phrases)
        self._several = _by_last(phrase for phrase in phrases if len(phrase) > 1)
        self.covers = lru_cache(maxsize=4096)(self._covers)

    def may_stand_in(self, text: str) -> bool:
        """A quick look: False means that no key in `text` can be a secret's."""
        return self._glance.meets(text) or self.foreign_stand_in(text)

    def foreign_stand_in(self, text: str) -> bool:
        """The same for what names a secret and is not ASCII."""
        if text.isascii():
            return False
        folded = _one_sigma(text.lower())
        return any(root in folded for root in self._foreign)

    def may_end(self, key: str) -> bool:
        """Whether `key` could be the last word of several that name a secret (`API key`)."""
        found = words(key[-32:])
        return bool(found) and found[-1] in self._several

    def ends(self, name: str) -> bool:
        """Whether `name` ends with several words that name a secret."""
        found = words(name)
        return bool(found) and any(
            found[-len(phrase) :] == phrase for phrase in self._several.get(found[-1], ())
        )

    def _covers(self, key: str) -> bool:
        found = words(key)
        if not found:
            return False
        if _contains(found, self._own) or _one_ends(found, self._own_endings):
            return True
        found = _without_harmless(found)
        return _contains(found, _BUILT_IN_PHRASES) or _one_ends(found, _ENDINGS)


def _one_sigma(text: str) -> str:
    """Which sigma a capital one becomes depends on what stands beside it."""
    return text.replace("\u03c2", "\u03c3")


def _foreignness(word: str) -> tuple[bool, int]:
    return not word.isascii(), len(word)


def _is_ascii(phrase: tuple[str, ...]) -> bool:
    return all(word.isascii() for word in phrase)


def _phrases(phrases: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Phrases by their first word."""
    result: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        result.setdefault(phrase[0], []).append(phrase)
    return result


def _by_last(phrases: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    result: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        result.setdefault(phrase[-1], []).append(phrase)
    return result


def _contains(found: tuple[str, ...], phrases: dict[str, list[tuple[str, ...]]]) -> bool:
    return any(
        found[index : index + len(phrase)] == phrase
        for index, word in enumerate(found)
        for phrase in phrases.get(word, ())
    )


def _one_ends(found: tuple[str, ...], endings: tuple[str, ...]) -> bool:
    return any(word.endswith(endings) for word in found)


def _without_harmless(found: tuple[str, ...]) -> tuple[str, ...]:
    index = 0
    kept: list[str] = []
    while index < len(found):
        for phrase in _HARMLESS.get(found[index], ()):
            if found[index : index + len(phrase)] == phrase:
                index += len(phrase)
                kept.append("")  # a gap, so that its neighbours do not become one phrase
                break
        else:
            kept.append(found[index])
            index += 1
    return tuple(kept)


_BUILT_IN = tuple(map(words, SECRET_WORDS))
_BUILT_IN_PHRASES = _phrases(_BUILT_IN)
_HARMLESS = _phrases(map(words, HARMLESS_WORDS))
