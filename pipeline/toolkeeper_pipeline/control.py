"""What do the framework's own tools answer?

`tool.search` ranks the run's pinned tools that are not defined, `tool.result` reads on in a result
that was cut. Both see this run's pins, principal and session and nothing else. `tool.call` is not
here: it never executes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolkeeper_contract import (
    TOOL_CALL,
    TOOL_RESULT,
    Blob,
    Ledger,
    Listing,
    Plan,
    Principal,
    SourceKind,
    SourceState,
    SourceStatus,
    Text,
    Tool,
    ToolResult,
)
from toolkeeper_index import Catalog, SearchAnswer, SearchFailure, clean, enveloped, render_answer
from toolkeeper_pipeline.media import UNKNOWN_TYPE, as_text, described
from toolkeeper_pipeline.reading import Kept, page

SEARCH_SHAPE = "a search takes `query`, `limit` and `select`, and nothing else"
_SEARCH_KEYS = frozenset({"query", "limit", "select"})
MAX_FRUITLESS = 5
"""So many searches of a run that match nothing are answered with the index; later ones are not."""

FRUITLESS = (
    "no tool matches, as for every search before it that found nothing in this turn; "
    "stop searching for it: go on with the tools that there are, or say that it cannot be done"
)
NO_RESULT = "there is no kept result under this handle in this session"
NO_TEXT = "[this is no text; its bytes are kept for the program that runs this session]"


def is_search(tool: Tool) -> bool:
    """Whether `tool` is the framework's search, under whatever name an agent knows it."""
    return tool.identity.kind is SourceKind.CONTROL and tool.name not in (TOOL_CALL, TOOL_RESULT)


def search_result(
    answer: SearchAnswer,
    *,
    token: str,
    index: str,
    result_bytes: int,
    call_name: str | None = TOOL_CALL,
) -> tuple[SearchAnswer, str]:
    """The answer and the text that a model reads of it.

    The last tools, whose definitions would break the bound of a result, are left out of both, and
    the text says how many. A single definition that is longer than the bound stands there by name.
    """
    whole = len(answer.tools)
    while True:
        text = render_answer(answer, token=token, index=index, call_name=call_name)
        left = whole - len(answer.tools)
        if left:
            text = f"{text}\n{_left_out(left)}"
        if len(text.encode("utf-8")) <= result_bytes or not answer.tools:
            return answer, text
        if len(answer.tools) == 1:
            name = answer.tools[0].name
            return answer, "\n".join([too_long(name), *([_left_out(left)] if left else [])])
        answer = replace(answer, tools=answer.tools[:-1])


def too_long(name: str) -> str:
    """The answer with a tool whose definition alone is longer than a result may be."""
    return (
        f"1 tool found: `{name}`; its definition is too long to be shown here. It can be called at "
        "once all the same; what is wrong with its arguments will be told"
    )


def _left_out(count: int) -> str:
    return f"[{count} more matched and are left out, because the answer would be too long]"


class Controls:
    """Serves the control tools of one run.

    `found` holds the names that may be called without being advertised, because a search of this
    run answered with them or an earlier one loaded them.
    """

    kind = SourceKind.CONTROL
    name = "control"

    def __init__(
        self,
        *,
        plan: Plan,
        principal: Principal,
        session_id: str,
        token: str,
        catalog: Callable[[], Catalog],
        ledger: Ledger,
        result_bytes: int,
        index: str = "",
        search_limit: int = 5,
        search_max_limit: int = 20,
        found: Iterable[str] = (),
        call_name: str = TOOL_CALL,
    ) -> None:
        """`catalog` gives what can be searched at this moment: pinned, not defined, enabled.

        `index` is the prompt region that a search without an answer prints again. `found` are the
        names that earlier searches brought up. `call_name` is the provider's name for `tool.call`.
        """
        self._plan = plan
        self._principal = principal
        self._session_id = session_id
        self._token = token
        self._ledger = ledger
        self._result_bytes = result_bytes
        self._index = index
        self._search_limit = search_limit
        self._search_max_limit = search_max_limit
        self._catalog = catalog
        self._loads = plan.disclosure.used == "search"
        self._call_name = call_name if TOOL_CALL in plan.controls else None
        self._fruitless = 0
        self.found: set[str] = {*found, *(placed.name for placed in plan.overflow)}

    async def listing(self) -> Listing:
        return Listing((), (), SourceStatus(self.name, SourceState.OK))

    async def call(self, raw_name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Answers one control tool; a failed search is an error result, never an exception."""
        if raw_name == TOOL_RESULT:
            return await self._result(arguments)
        return self._search(arguments)

    async def close(self) -> None:
        """Nothing is held open."""

    def _search(self, arguments: Mapping[str, Any]) -> ToolResult:
        if arguments.keys() - _SEARCH_KEYS:
            return ToolResult((Text(SEARCH_SHAPE),), is_error=True)
        answer = self._catalog().search(
            arguments.get("query"),
            limit=arguments.get("limit"),
            select=arguments.get("select"),
            default_limit=self._search_limit,
            max_limit=self._search_max_limit,
        )
        if answer.failure is SearchFailure.NO_MATCH:
            self._fruitless += 1
            if self._fruitless > MAX_FRUITLESS:
                # Printing the index again would keep a model hunting, at its price each time.
                return self._answered(answer, FRUITLESS)
        answer, text = search_result(
            answer,
            token=self._token,
            index=self._index,
            result_bytes=self._result_bytes,
            call_name=self._call_name,
        )
        return self._answered(answer, text)

    def _answered(self, answer: SearchAnswer, text: str) -> ToolResult:
        self.found.update(tool.name for tool in answer.tools)
        # Also when nothing was found: a later search under the same call id is still the second.
        loaded = {tool.name: tool.fingerprint for tool in answer.tools}
        structured = {"loaded": loaded} if self._loads else None
        return ToolResult((Text(text),), structured, is_error=answer.is_error)

    async def _result(self, arguments: Mapping[str, Any]) -> ToolResult:
        result = await self._ledger.kept_result(
            arguments["handle"],
            session_id=self._session_id,
            user=self._principal.user,
            agent=self._plan.agent,
        )
        if result is None:
            return ToolResult((Text(NO_RESULT),), is_error=True)
        kept = Kept.unpacked(result)
        foreign = kept.source is not None
        text = kept.text
        if kept.data is not None:
            found = as_text(kept.data)
            if found is None:
                blob = Blob(kept.data, kept.mime_type or UNKNOWN_TYPE)
                return ToolResult((Text(self._whose(described(blob), kept)), Text(NO_TEXT)))
            text = clean(found) if foreign else found
        # Whole numbers may come as 1.0, and as large as anybody likes.
        offset, length = int(arguments.get("offset", 0)), arguments.get("limit")
        if offset >= len(text) > 0:
            return ToolResult((Text(f"[nothing is there; it ends at {len(text):,} characters]"),))
        shown, end = page(
            text,
            offset,
            self._result_bytes if length is None else int(length),
            self._result_bytes,
            encoded=foreign,
        )
        rest = len(text) - end
        note = (
            f'[{rest:,} characters follow; read on with "offset": {end}]' if rest > 0 else "[end]"
        )
        return ToolResult((Text(f"{self._whose(shown, kept)}\n{note}"),))

    def _whose(self, text: str, kept: Kept) -> str:
        if kept.source is None:
            return text
        return enveloped(text, token=self._token, source=kept.source)
