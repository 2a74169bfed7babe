"""How is a frozen value filled in, or copied with a change, without paying for every field?

A frozen dataclass sets each field through `object.__setattr__`, because its own refuses. Around a
governed call dozens of values are made, and that was a fifth of its time (adr/0025). A drafted one
is a draft while it is filled in: of a class with the same slots, which is not frozen. Then it
becomes what it is, for good.
"""

import dataclasses
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

_become = object.__dict__["__class__"].__set__
"""Makes an object one of another class, where its own `__setattr__` would refuse to."""

_copies: dict[type, Callable[[Any, Mapping[str, Any]], Any]] = {}
"""How a drafted value is copied with changes, by its class."""

if TYPE_CHECKING:
    # A checker knows the fields of what is copied.
    from dataclasses import replace as replace
else:

    def replace(value: Any, /, **changes: Any) -> Any:
        """A copy with these fields changed: as `dataclasses.replace`, quick for drafted values."""
        copied = _copies.get(value.__class__)
        return dataclasses.replace(value, **changes) if copied is None else copied(value, changes)


def drafted(kind: type[T]) -> type[T]:
    """Gives a frozen, slotted dataclass an `__init__` that does the same in less time.

    Stands above `@dataclass(frozen=True, slots=True)`. TypeError for one with fields that are no
    parameters, or the other way round. A subclass has slots of its own, and keeps the usual way.
    """
    whole = kind.__init__
    parameters = list(signature(whole).parameters.values())[1:]
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    names = [each.name for each in fields]
    if names != [each.name for each in parameters]:
        raise TypeError(f"`{kind.__name__}` has fields that are no parameters: do not draft it")
    known: dict[str, Any] = {"kind": kind, "draft": _draft_of(kind), "become": _become}
    known |= {"whole": whole, "usual": dataclasses.replace, "new": object.__new__}
    values = {name: name for name in names}
    for each, parameter in zip(fields, parameters, strict=True):
        if callable(each.default_factory):
            known[f"new_{each.name}"] = each.default_factory
            known[f"none_{each.name}"] = parameter.default
            values[each.name] = (
                f"new_{each.name}() if {each.name} is none_{each.name} else {each.name}"
            )
    checks = ["  made.__post_init__()"] if hasattr(kind, "__post_init__") else []
    lines = [
        f"def __init__(made, {', '.join(_spelled(parameters))}):",
        "  if made.__class__ is not kind:",
        f"    return whole(made, {', '.join(f'{name}={name}' for name in names)})",
        "  become(made, draft)",
        *(f"  made.{name} = {value}" for name, value in values.items()),
        "  made.__class__ = kind",
        *checks,
        "def copied(value, changes):",
        "  made = new(draft)",
        *(f"  made.{name} = value.{name}" for name in names),
        "  for name in changes:",
        "    if name not in names:",
        "      return usual(value, **changes)",
        "    setattr(made, name, changes[name])",
        "  made.__class__ = kind",
        *checks,
        "  return made",
    ]
    made: dict[str, Any] = {}
    exec("\n".join(lines), known | {"names": frozenset(names)}, made)
    init = made["__init__"]
    for detail in ("__qualname__", "__module__", "__defaults__", "__kwdefaults__"):
        setattr(init, detail, getattr(whole, detail))
    init.__annotations__ = whole.__annotations__
    kind.__init__ = init  # type: ignore[method-assign]
    _copies[kind] = made["copied"]
    return kind


def _draft_of(kind: type) -> type:
    own = {"__slots__": kind.__dict__["__slots__"], "__setattr__": object.__setattr__}
    return type(f"{kind.__name__}Draft", kind.__bases__, own)


def _spelled(parameters: list[Parameter]) -> list[str]:
    """The parameters' names; their defaults are set on the function, which takes them as they are.

    Those that come by name alone stand behind a star.
    """
    names = [each.name for each in parameters]
    by_name = [each.kind is Parameter.KEYWORD_ONLY for each in parameters]
    if any(by_name):
        names.insert(by_name.index(True), "*")
    return names
