"""How does a Python function become a tool?"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, overload

from toolkeeper_contract import (
    Code,
    ConfigError,
    Declaration,
    Flag,
    SideEffect,
    ToolDefinition,
    did_you_mean,
    is_argument_pointer,
    is_reserved,
    is_tool_name,
)
from toolkeeper_sources.definition import check_definition
from toolkeeper_sources.signature import Signature


class FunctionTool:
    """A function with its published definition and its author's declaration.

    Calling it calls the function, ungoverned, so that code and tests can go on using it.
    `origin` says where it stands (`myapp.notes:add_note`), for error messages.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        definition: ToolDefinition,
        declaration: Declaration,
        signature: Signature,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.definition = definition
        self.declaration = declaration
        self.signature = signature
        self.is_async = _is_async(function)

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def origin(self) -> str:
        return _origin(self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"FunctionTool({self.name!r}, {self.origin})"


@overload
def tool(
    fn: Callable[..., Any],
    *,
    name: str | None = ...,
    side_effect: SideEffect | str | None = ...,
    destructive: bool | None = ...,
    idempotent: bool | None = ...,
    open_world: bool | None = ...,
    private: bool | None = ...,
    scopes: Iterable[str] = ...,
    deferred: bool = ...,
    serial: bool = ...,
    operands: Iterable[str] = ...,
    description: str | None = ...,
    title: str | None = ...,
) -> FunctionTool: ...


@overload
def tool(
    fn: None = None,
    *,
    name: str | None = ...,
    side_effect: SideEffect | str | None = ...,
    destructive: bool | None = ...,
    idempotent: bool | None = ...,
    open_world: bool | None = ...,
    private: bool | None = ...,
    scopes: Iterable[str] = ...,
    deferred: bool = ...,
    serial: bool = ...,
    operands: Iterable[str] = ...,
    description: str | None = ...,
    title: str | None = ...,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...


def tool(
    fn: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    side_effect: SideEffect | str | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    private: bool | None = None,
    scopes: Iterable[str] = (),
    deferred: bool = False,
    serial: bool = False,
    operands: Iterable[str] = (),
    description: str | None = None,
    title: str | None = None,
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Makes a tool of a function, as `tool(fn)`, `@tool` or `@tool(...)`.

    The name is `name` or the function's own, the description `description` or the docstring, the
    schema comes from the signature. Without `side_effect` the tool counts as the worst: a
    destructive write in the open world. Calls of a `serial` tool never overlap in one process, and
    keep their order within a model step. Raises ConfigError with what to change.

    `operands` are JSON pointers (`/path`) of arguments that name files: an approval of a call
    covers what these hold, too.
    """
    flags = {
        Flag.DESTRUCTIVE: destructive,
        Flag.IDEMPOTENT: idempotent,
        Flag.OPEN_WORLD: open_world,
        Flag.PRIVATE: private,
    }

    def made(function: Callable[..., Any]) -> FunctionTool:
        function = function.function if isinstance(function, FunctionTool) else function
        own_name = _checked_name(function, name)
        declaration = Declaration(
            side_effect=_side_effect(side_effect, own_name),
            flags=frozenset(flag for flag, wanted in flags.items() if wanted),
            scopes=_scopes(scopes, own_name),
            deferred=deferred,
            operands=_operands(operands, own_name),
            serial=serial,
        )
        signature = Signature(function, own_name)
        text = description if description is not None else inspect.getdoc(function) or ""
        definition = ToolDefinition(own_name, title, text, signature.schema)
        reason = check_definition(definition)
        if reason is not None:
            raise ConfigError(
                f"the tool `{own_name}` cannot be offered: {reason}",
                f"change {_origin(function)}",
            )
        return FunctionTool(function, definition, declaration, signature)

    return made if fn is None else made(fn)


def as_tool(item: Any) -> FunctionTool:
    """`item` itself when it is a tool, otherwise the tool made of it; ConfigError for neither."""
    if isinstance(item, FunctionTool):
        return item
    if callable(item) and not inspect.isclass(item):
        made: FunctionTool = tool(item)
        return made
    raise ConfigError(
        f"a value of type `{type(item).__name__}` is neither a function nor a tool",
        "list functions, or tools made with `tool(...)`",
    )


def _checked_name(function: Callable[..., Any], name: str | None) -> str:
    if not callable(function):
        raise ConfigError(
            f"a value of type `{type(function).__name__}` is not a function",
            "give `tool` a function",
        )
    own = name if name is not None else getattr(function, "__name__", "")
    if not isinstance(own, str) or not is_tool_name(own):
        raise ConfigError(
            f"`{own}` cannot be a tool's name",
            "give `name=` one of letters, digits, `_`, `.` and `-`, at most 128 characters",
        )
    if is_reserved(own):
        raise ConfigError(
            f"the tool name `{own}` is reserved",
            "choose another with `name=`; `tool.`, `mcp.` and `device.` are the framework's",
            code=Code.TOOL_NAME_RESERVED,
        )
    return own


def _side_effect(value: SideEffect | str | None, name: str) -> SideEffect | None:
    if value is None:
        return None
    try:
        return SideEffect(value)
    except ValueError:
        raise ConfigError(
            f"the tool `{name}` declares the unknown side effect `{value}`",
            did_you_mean(str(value), [effect.value for effect in SideEffect]),
        ) from None


def _scopes(scopes: Iterable[str], name: str) -> tuple[str, ...]:
    # A lone string is an iterable too, of letters, and would ask for scopes that nobody has.
    if isinstance(scopes, str):
        raise ConfigError(f"the scopes of the tool `{name}` are a string", f'write ["{scopes}"]')
    return tuple(scopes)


def _operands(operands: Iterable[str], name: str) -> tuple[str, ...]:
    given = (operands,) if isinstance(operands, str) else tuple(operands)
    for pointer in given:
        if not is_argument_pointer(pointer):
            raise ConfigError(
                f"the tool `{name}` declares the operand `{pointer}`, which is no json pointer",
                "write `/path` for the argument `path`",
            )
    return given


def _is_async(function: Callable[..., Any]) -> bool:
    # Not unwrapped: a plain wrapper round a coroutine function may well run it itself.
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(
        getattr(inner, "__call__", None)  # noqa: B004 - whether calling an object gives a coroutine
    )


def _origin(function: Callable[..., Any]) -> str:
    module = getattr(function, "__module__", None) or "?"
    return f"{module}:{getattr(function, '__qualname__', type(function).__name__)}"
