"""Which tools do functions of this program give, and how is one called?"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from toolkeeper_contract import (
    Code,
    ConfigError,
    Listed,
    Listing,
    NotAResult,
    NotDispatched,
    SourceKind,
    SourceState,
    SourceStatus,
    Text,
    ToolResult,
    is_parameter_name,
)
from toolkeeper_sources.function_tool import FunctionTool, as_tool
from toolkeeper_sources.returned import result_of
from toolkeeper_sources.worker import MAX_LEFT, Crew, in_thread, on_loop


class FunctionSource:
    """Functions as a source of tools, in the order given. A ToolSource.

    Raises ConfigError(tool_name_taken) when two bear one name.
    """

    kind = SourceKind.FUNCTION

    def __init__(
        self, tools: Iterable[FunctionTool | Callable[..., Any]], name: str = "functions"
    ) -> None:
        self.name = name
        self._tools: dict[str, FunctionTool] = {}
        for item in tools:
            made = as_tool(item)
            taken = self._tools.setdefault(made.name, made)
            if taken is not made:
                raise ConfigError(
                    f"two tools are called `{made.name}`: {taken.origin} and {made.origin}",
                    "give one of them another name with `tool(name=...)`",
                    code=Code.TOOL_NAME_TAKEN,
                )
        self._at_work = {name: _AtWork() for name in self._tools}

    async def listing(self) -> Listing:
        return Listing(
            tools=tuple(Listed(made.definition, made.declaration) for made in self._tools.values()),
            refused=(),
            status=SourceStatus(self.name, SourceState.OK),
        )

    async def call(self, raw_name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Runs the function, a blocking one in a thread; what it raises fails this call only.

        NotDispatched for a function too many of whose calls go on after they were given up; of one
        whose calls must not overlap that is one.
        """
        made = self._tools.get(raw_name)
        if made is None:
            raise NotDispatched("there is no such function")
        at_work = self._at_work[raw_name]
        serial = made.declaration.serial
        if at_work.crew.left >= (1 if serial else MAX_LEFT) or (serial and at_work.coroutines):
            raise NotDispatched("earlier calls of the function have not ended")
        try:
            values = made.signature.bind(arguments)
        except ValidationError as error:
            return ToolResult((Text(_turned_away(error)),), is_error=True)
        if made.is_async:
            value = await self._on_loop(made.function, values, at_work)
        else:
            value = await in_thread(made.function, values, at_work.crew)
            if inspect.iscoroutine(value):
                # A plain function that hands out a coroutine, as decorators like to.
                value = await self._on_loop(lambda: value, {}, at_work)
        try:
            return result_of(value)
        except TypeError as error:
            raise NotAResult(str(error)) from error

    async def close(self) -> None:
        """Nothing to close."""

    async def _on_loop(
        self, function: Callable[..., Any], values: dict[str, Any], at_work: "_AtWork"
    ) -> Any:
        at_work.coroutines += 1
        try:
            return await on_loop(function, values)
        finally:
            at_work.coroutines -= 1


@dataclass(slots=True)
class _AtWork:
    """What of one function's is under way, whoever still waits for it."""

    crew: Crew = field(default_factory=Crew)
    coroutines: int = 0


def _turned_away(error: ValidationError) -> str:
    """Which arguments a type's own check refused; neither their values nor the check's words."""
    places = []
    for entry in error.errors(include_url=False, include_context=False, include_input=False)[:8]:
        parts = [str(part) for part in entry["loc"]]
        places.append("/".join(part if is_parameter_name(part) else "*" for part in parts) or "*")
    names = ", ".join(f"`{place}`" for place in dict.fromkeys(places))
    return f"the tool does not accept the value of {names}; nothing was done"
