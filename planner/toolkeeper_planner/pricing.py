"""How many tokens does a tool put on the wire?

One estimator prices definitions, index lines and prompt text alike, so that no error of one hides
an error of the other.
"""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from toolkeeper_contract import Tool
from toolkeeper_index import index_line

_REMEMBERED = 100_000
"""Prices kept at most; a registry that changes for weeks must not grow the process."""

_SHORT = 256
"""Characters of a text that may be one of thousands, such as a name in a list of names."""


_Key = TypeVar("_Key")


class Pricing(Protocol):
    """Prices in estimated tokens; the same tool or text always has the same price."""

    def definition(self, tool: Tool) -> int:
        """What the full definition costs in the provider's tools array."""
        ...

    def index_line(self, tool: Tool) -> int:
        """What the line in the deferred index costs."""
        ...

    def text(self, text: str) -> int:
        """What any other text costs."""
        ...


class DefinitionFormat(Protocol):
    """A provider's way to write a definition."""

    @property
    def name(self) -> str:
        """The provider as it stands on a plan (`openai`, `generic`)."""
        ...

    def texts(self, tool: Tool) -> tuple[str, ...]:
        """The text that the tool puts on the wire; several where the provider is not known."""
        ...


class Prices:
    """`Pricing` for one provider format; every price is worked out once for each fingerprint."""

    def __init__(self, format: DefinitionFormat, estimate: Callable[[str], int]) -> None:
        self._format = format
        self._estimate = estimate
        # The canonical name is on the wire too, and equal definitions of two servers share a
        # fingerprint, so both make the key.
        self._definitions: dict[tuple[str, str], int] = {}
        self._lines: dict[tuple[str, str], int] = {}
        self._texts: dict[str, int] = {}
        self._short_texts: dict[str, int] = {}

    def definition(self, tool: Tool) -> int:
        """The dearest of the format's texts."""
        key = (tool.fingerprint, tool.name)
        price = self._definitions.get(key)
        if price is None:
            price = max(map(self._estimate, self._format.texts(tool)))
            _remember(self._definitions, key, price)
        return price

    def index_line(self, tool: Tool) -> int:
        """Exactly the index line."""
        key = (tool.fingerprint, tool.name)
        price = self._lines.get(key)
        if price is None:
            price = self._estimate(index_line(tool))
            _remember(self._lines, key, price)
        return price

    def text(self, text: str) -> int:
        short = len(text) <= _SHORT
        known = self._short_texts if short else self._texts
        price = known.get(text)
        if price is None:
            price = self._estimate(text)
            _remember(known, text, price, limit=_REMEMBERED if short else 1_000)
        return price

    def prepare(self, tools: Iterable[Tool]) -> None:
        """Prices `tools` ahead of any plan, as discovery does once for each fingerprint."""
        for tool in tools:
            self.definition(tool)
            self.index_line(tool)


def _remember(prices: dict[_Key, int], key: _Key, price: int, limit: int = _REMEMBERED) -> None:
    if len(prices) >= limit:
        prices.clear()
    prices[key] = price
