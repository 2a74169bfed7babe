"""Which tools do functions of this program give, and how is one called?"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from toolkeeper_contract import (
    Code,
    ConfigError,
    Listed,
    Listing,
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
from toolkeeper_sources.worker import in_thread, on_loop


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

    async def listing(self) -> Listing:
        return Listing(
            tools=tuple(Listed(made.definition, made.declaration) for made in self._tools.values()),
            refused=(),
            status=SourceStatus(self.name, SourceState.OK),
        )

    async def call(self, raw_name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Runs the function, a blocking one in a thread; what it raises fails this call only."""
        made = self._tools.get(raw_name)
        if made is None:
            raise NotDispatched("there is no such function")
        try:
            values = made.signature.bind(arguments)
        except ValidationError as error:
            return ToolResult((Text(_turned_away(error)),), is_error=True)
        if made.is_async:
            value = await on_loop(made.function, values)
        else:
            value = await in_thread(made.function, values)
            if inspect.iscoroutine(value):
                # A plain function that hands out a coroutine, as decorators like to.
                value = await on_loop(lambda: value, {})
        return result_of(value)

    async def close(self) -> None:
        """Nothing to close."""


def _turned_away(error: ValidationError) -> str:
    """Which arguments a type's own check refused; neither their values nor the check's words."""
    places = []
    for entry in error.errors(include_url=False, include_context=False, include_input=False)[:8]:
        parts = [str(part) for part in entry["loc"]]
        places.append("/".join(part if is_parameter_name(part) else "*" for part in parts) or "*")
    names = ", ".join(f"`{place}`" for place in dict.fromkeys(places))
    return f"the tool does not accept the value of {names}; nothing was done"
