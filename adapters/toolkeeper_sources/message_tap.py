"""What passed over a connection that the SDK does not tell?

Two things: the tools of a listing as the server wrote them (the SDK takes or leaves a page as a
whole, and one malformed tool must not cost the others), and whether a call really left.
"""

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from mcp_types import JSONRPCRequest, JSONRPCResponse, RequestId

LIST_METHOD = "tools/list"


@dataclass(slots=True)
class Dispatch:
    """Whether the request that a task makes has left, and under which id; set for one request."""

    left: bool = False
    request_id: RequestId | None = None


DISPATCH: ContextVar[Dispatch | None] = ContextVar("toolkeeper_dispatch", default=None)


@dataclass(frozen=True, slots=True)
class Page:
    """The tools of one page, as they came, and the bytes of its message."""

    tools: list[Any]
    size: int


@dataclass(slots=True)
class MessageTap:
    """Sees every request on its way out and every response on its way in."""

    _asked: set[RequestId] = field(default_factory=set)
    _pages: dict[RequestId, Page] = field(default_factory=dict)
    _unsettled: dict[RequestId, Dispatch] = field(default_factory=dict)

    def sent(self, request: JSONRPCRequest) -> None:
        """To be told right before a request is handed over, in the task that makes it."""
        if request.method == LIST_METHOD:
            self._asked.add(request.id)
        dispatch = DISPATCH.get()
        if dispatch is not None:
            dispatch.left = True
            dispatch.request_id = request.id
            self._unsettled[request.id] = dispatch

    def kept_back(self, request_id: RequestId | None) -> None:
        """To be told when a request that was handed over did not get out after all."""
        dispatch = self._unsettled.get(request_id) if request_id is not None else None
        if dispatch is not None:
            dispatch.left = False

    def in_flight(self, request_id: RequestId) -> bool:
        """Whether somebody waits for the answer to this request."""
        return request_id in self._unsettled

    def settled(self, dispatch: Dispatch) -> None:
        """To be told when the request's task no longer waits."""
        if dispatch.request_id is not None:
            self._unsettled.pop(dispatch.request_id, None)

    def awaits(self, response: JSONRPCResponse) -> bool:
        """Whether this response would be a page."""
        return response.id in self._asked

    def received(self, response: JSONRPCResponse, size: int) -> None:
        """To be told of a response before the SDK sees it; takes the tools out of a page."""
        if response.id not in self._asked:
            return
        self._asked.discard(response.id)
        tools = response.result.get("tools")
        if isinstance(tools, list):
            self._pages[response.id] = Page(tools, size)
            response.result["tools"] = []

    def take_page(self, dispatch: Dispatch) -> Page | None:
        """The page that answered this request, once; what came too late for others is dropped."""
        page = self._pages.get(dispatch.request_id) if dispatch.request_id is not None else None
        self._pages.clear()
        return page
