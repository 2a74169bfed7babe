"""Which provider, at which endpoint and with which model, searches for tools on its side?

The documentation of the two providers decides (tool search, as of November 2026). Whatever it does
not name gets a no with a reason: a request that a provider refuses costs the turn, falling back to
the index costs a few tokens.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from toolkeeper_contract import ConfigError, did_you_mean

BM25 = "bm25"
REGEX = "regex"
HOSTED = "hosted"


@dataclass(frozen=True, slots=True)
class Capability:
    """A provider that searches on its side; `variant` is `bm25`, `regex` or `hosted`."""

    provider: str
    variant: str


@dataclass(frozen=True, slots=True)
class Incapable:
    """Why there is no search on the provider's side: a lower-case sentence for the plan event."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Family:
    """Models by one pattern with the groups `major` and `minor`, from version `since` on."""

    pattern: re.Pattern[str]
    since: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Searcher:
    """One row of the table: a provider that has a search, where, and with which models.

    `never` are models that a family would take in and that the provider refuses all the same.
    """

    provider: str
    host: str
    variants: tuple[str, ...]
    families: tuple[_Family, ...]
    exact: frozenset[str] = frozenset()
    never: re.Pattern[str] = re.compile(r"(?!)")


def _claude(family: str, since: tuple[int, int]) -> _Family:
    # Dates have eight digits, versions one or two: `claude-sonnet-4-20250514` is version 4.0.
    version = r"(?P<major>\d{1,2})(?:-(?P<minor>\d{1,2}))?"
    return _Family(re.compile(rf"claude-{family}-{version}(?:-\d{{8}}|-latest)?"), since)


_TABLE = (
    _Searcher(
        provider="anthropic",
        host="api.anthropic.com",
        variants=(BM25, REGEX),
        families=(
            _claude("opus", (4, 5)),
            _claude("sonnet", (4, 5)),
            _claude("haiku", (4, 5)),
            _claude("fable", (5, 0)),
            _claude("mythos", (5, 0)),
        ),
        exact=frozenset({"claude-mythos-preview"}),
    ),
    _Searcher(
        provider="openai-responses",
        host="api.openai.com",
        variants=(HOSTED,),
        families=(
            _Family(
                re.compile(r"gpt-(?P<major>\d{1,2})(?:\.(?P<minor>\d{1,2}))?(?:-[a-z0-9-]+)?"),
                (5, 4),
            ),
        ),
        # The small tier answers 400 to `tool_search`; what chat clients use is not documented.
        never=re.compile(r".*-(?:nano|chat)(?:-.*)?"),
    ),
)
_BY_PROVIDER = {row.provider: row for row in _TABLE}


def native_search(
    provider: str, endpoint: str | None, model: str | None, variant: str | None = None
) -> Capability | Incapable:
    """Whether `provider` at `endpoint` (None: its own) searches on its side with `model`.

    `variant` asks for one of several searches (`bm25` by default, or `regex`, on Anthropic).
    ConfigError for a variant that no provider has.
    """
    known = [name for row in _TABLE for name in row.variants]
    if variant is not None and variant not in known:
        raise ConfigError(
            f"`{variant}` is not a known tool search", did_you_mean(variant, tuple(known))
        )
    row = _BY_PROVIDER.get(provider)
    if row is None:
        return Incapable(f"provider `{provider}` has no tool search of its own")
    if not _is_first_party(endpoint, row.host):
        return Incapable(
            f"the endpoint is not `{row.host}`, and others are not known to have its tool search"
        )
    if not model:
        return Incapable("the session names no model, so nothing is known of its tool search")
    if not _has_search(row, model):
        return Incapable(f"model `{_shown(model)}` is not known to have tool search")
    if variant is None:
        return Capability(provider, row.variants[0])
    if variant not in row.variants:
        return Incapable(f"provider `{provider}` has no `{variant}` tool search")
    return Capability(provider, variant)


def _is_first_party(endpoint: str | None, host: str) -> bool:
    if endpoint is None:
        return True
    try:
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme == "https"
        and parts.hostname == host
        and port in (None, 443)
        and parts.username is None
    )


def _has_search(row: _Searcher, model: str) -> bool:
    if model in row.exact:
        return True
    if row.never.fullmatch(model) is not None:
        return False
    for family in row.families:
        found = family.pattern.fullmatch(model)
        if found is not None:
            return (int(found["major"]), int(found["minor"] or 0)) >= family.since
    return False


def _shown(model: str) -> str:
    return model if len(model) <= 80 and model.isprintable() else "…"
