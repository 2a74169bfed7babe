"""Stage 2: which tool is this call really of?

`tool.call` is taken off exactly once, before anything resolves, so that no later stage ever sees a
wrapper (adr/0002). A malformed wrapper is a fault that goes on to *record*; nothing is guessed.
"""

from typing import Any

from toolkeeper_contract import TOOL_CALL, Code, is_canonical_name
from toolkeeper_pipeline.limits import Limits
from toolkeeper_pipeline.message import NOT_AVAILABLE
from toolkeeper_pipeline.receive import raw_digest, read_object
from toolkeeper_pipeline.states import Received, ShapeFault, Unwrapped

SHAPE = '{"name": "<tool name>", "arguments": {...}}'
"""The shape of the wrapper's arguments, as error messages show it."""


def unwrap(received: Received, controls: tuple[str, ...], limits: Limits) -> Unwrapped:
    """The named tool and its own arguments; `controls` are the plan's advertised control tools."""
    call = received.call
    if call.name != TOOL_CALL or TOOL_CALL not in controls or call.parked is not None:
        # Without a bridge in the plan, the wrapper is one more unknown name: not looked into.
        name = call.name if isinstance(call.name, str) and is_canonical_name(call.name) else None
        arguments = received.arguments
        if name is None:
            arguments = _unnamed(call.name, call.arguments)
        return Unwrapped(call, name, arguments, wrapped=False, decoded=received.decoded)
    outer = received.arguments
    if isinstance(outer, ShapeFault):
        return Unwrapped(call, None, outer, wrapped=True, decoded=received.decoded)
    name = outer.get("name")
    if not isinstance(name, str) or not name.strip() or outer.keys() - _KEYS:
        broken = _malformed(call.arguments)
        return Unwrapped(call, None, broken, wrapped=True, decoded=received.decoded)
    if not is_canonical_name(name):
        unknown = _unnamed(name, call.arguments)
        return Unwrapped(call, None, unknown, wrapped=True, decoded=received.decoded)
    # One layer of encoding is common here and unambiguous; the row says that it was taken off.
    arguments, layers = read_object(outer.get("arguments", {}), limits, layers=1)
    decoded = received.decoded or layers == 1
    return Unwrapped(call, name, arguments, wrapped=True, decoded=decoded)


_KEYS = frozenset({"name", "arguments"})


def _malformed(raw: Any) -> ShapeFault:
    text = f"the call is malformed; `tool.call` takes exactly {SHAPE}"
    return ShapeFault(Code.ARGUMENTS_INVALID, text, raw_digest(raw))


def _unnamed(name: Any, raw: Any) -> ShapeFault:
    if isinstance(name, str) and name.strip():
        # A name that no tool can bear is a name that was not offered, whatever its spelling.
        return ShapeFault(Code.NOT_OFFERED, NOT_AVAILABLE, raw_digest(raw))
    text = "the call names no tool; name one of the tools that are offered"
    return ShapeFault(Code.ARGUMENTS_INVALID, text, raw_digest(raw))
