"""What must the wire format of a provider be able to do?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from toolkeeper_contract import Tool, ToolIdentity
from toolkeeper_wire.history import Entry, PlacedCall
from toolkeeper_wire.name_codec import NameCodec
from toolkeeper_wire.native import NativeTools
from toolkeeper_wire.pause import Continue
from toolkeeper_wire.tool_choice import ToolChoice


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

    @classmethod
    def of(cls, call: PlacedCall) -> "WireResult":
        """The result of a recorded call."""
        return cls(call.call_id, call.wire_name, call.result, call.is_error)


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

    def tools(
        self, tools: Sequence[Tool], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        """The tools array, in the order given; keys are sorted when it is written canonically.

        `tools` are the defined ones. With `native` the array also holds the provider's search,
        the deferred tools and the tombstones; it does not change when tools are found. `codec`
        knows all of them. ConfigError for `native` on a provider without search.
        """
        ...

    def request(
        self,
        tools: Sequence[Tool],
        codec: NameCodec,
        system: str,
        *,
        native: NativeTools | None = None,
        choice: ToolChoice | None = None,
        cached: bool = False,
    ) -> dict[str, Any]:
        """The parts of a request that a plan decides: `tools`, `system`, and the tool choice.

        Under the names that the provider gives them, but for `system`. `choice` stands there only
        where it is asked for; ConfigError when it forces a tool that is not defined. `cached` puts
        a cache marker on the last tool that is not deferred, where the provider has such markers.
        """
        ...

    def calls(self, response: Any) -> list[WireCall]:
        """The calls in a response: a mapping or an object of the provider's SDK.

        Text, thinking and the provider's own tool search are passed over. Raises ConfigError for
        something that is no response of this provider, ProtocolViolation (one of them) when the
        provider executed a tool itself or a part of the response has an unknown type.
        """
        ...

    def found(self, response: Any, codec: NameCodec) -> tuple[str, ...]:
        """The canonical names that the provider's own search found in this response, in its order.

        An assistant's message of the conversation may stand for the response. A name that the
        table does not know is left out. Raises like `calls`.
        """
        ...

    def pause(self, response: Any) -> Continue | None:
        """What to send again when the provider stopped in the middle of its own search, else None.

        Raises like `calls`.
        """
        ...

    def history(
        self, entries: Sequence[Entry], codec: NameCodec, native: NativeTools | None = None
    ) -> list[dict[str, Any]]:
        """A recorded conversation as messages of this provider, each step with its results.

        `native` are the ones of the request that the messages go with. Growing the conversation
        never changes the messages that it began with.
        """
        ...

    def result(self, result: WireResult) -> dict[str, Any]:
        """The message that answers one call."""
        ...

    def results(self, results: Sequence[WireResult]) -> list[dict[str, Any]]:
        """The messages that answer all calls of one response, as this provider groups them."""
        ...
