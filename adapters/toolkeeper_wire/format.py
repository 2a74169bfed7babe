"""What must the wire format of a provider be able to do?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from toolkeeper_contract import Tool, ToolIdentity
from toolkeeper_wire.name_codec import NameCodec


@dataclass(frozen=True, slots=True)
class WireCall:
    """One call as it stands in a provider's response.

    `wire_name` is "" where the provider gave no string. `arguments` are the raw text, or an
    already parsed value, exactly as they came: nothing is repaired here.
    """

    call_id: str
    wire_name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class WireResult:
    """The answer to one call, under the id and the name that the model used."""

    call_id: str
    wire_name: str
    text: str
    is_error: bool = False


class Format(Protocol):
    """One provider's way to write tools, calls and results, in plain dictionaries."""

    @property
    def name(self) -> str:
        """The provider's name in configuration."""
        ...

    def codec(self, tools: Iterable[ToolIdentity]) -> NameCodec:
        """A table of wire names in the form that this provider takes."""
        ...

    def texts(self, tool: Tool) -> tuple[str, ...]:
        """The exact JSON of one definition on the wire; several where any of them may be sent."""
        ...

    def tools(self, tools: Sequence[Tool], codec: NameCodec) -> list[dict[str, Any]]:
        """The tools array, in the order given; keys are sorted when it is written canonically."""
        ...

    def request(self, tools: Sequence[Tool], codec: NameCodec, system: str) -> dict[str, Any]:
        """The parts of a request that a plan decides: `tools` and `system`."""
        ...

    def calls(self, response: Any) -> list[WireCall]:
        """The calls in a response: a mapping or an object of the provider's SDK.

        Text, thinking and unknown blocks are passed over. Raises ConfigError for something that
        is no response of this provider.
        """
        ...

    def result(self, result: WireResult) -> dict[str, Any]:
        """The message that answers one call."""
        ...

    def results(self, results: Sequence[WireResult]) -> list[dict[str, Any]]:
        """The messages that answer all calls of one response, as this provider groups them."""
        ...
