"""A drafted value is what the frozen dataclass would have been, by whatever way it is made."""

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
from dataclasses import FrozenInstanceError, dataclass, field

import pytest

import toolkeeper_contract
import toolkeeper_pipeline
from toolkeeper_contract.draft import _copies, drafted, replace


@drafted
@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    seen: list[int] = field(default_factory=list)
    unit: str = field(default="mm", kw_only=True)


@drafted
@dataclass(frozen=True, slots=True)
class Positive:
    number: int

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError("not positive")


@dataclass(frozen=True, slots=True)
class Named(Point):
    name: str = "p"


def test_parameters_and_defaults_are_those_of_the_dataclass():
    assert str(inspect.signature(Point)) == (
        "(x: int, y: int = 2, seen: list[int] = <factory>, *, unit: str = 'mm') -> None"
    )
    assert dataclasses.astuple(Point(1)) == (1, 2, [], "mm")
    assert dataclasses.astuple(Point(1, 3, [4], unit="m")) == (1, 3, [4], "m")
    assert Point(1).seen is not Point(1).seen


def test_it_is_frozen_once_it_is_made():
    point = Point(1)
    assert type(point) is Point
    with pytest.raises(FrozenInstanceError):
        point.x = 2
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(FrozenInstanceError):
        replace(point, x=3).x = 4


@pytest.mark.parametrize("given", [{}, {"x": 1, "z": 2}])
def test_wrong_parameters_are_refused(given):
    with pytest.raises(TypeError):
        Point(**given)


def test_equal_values_are_equal_and_have_one_hash():
    assert Positive(1) == Positive(1) != Positive(2)
    assert hash(Positive(1)) == hash(Positive(1))
    assert repr(Point(1)) == "Point(x=1, y=2, seen=[], unit='mm')"


def test_what_is_checked_after_filling_in_is_checked():
    with pytest.raises(ValueError, match="not positive"):
        Positive(0)
    with pytest.raises(ValueError, match="not positive"):
        replace(Positive(1), number=0)


def test_a_copy_has_the_changes_and_shares_the_rest():
    point = Point(1, seen=[1])
    changed = replace(point, y=5, unit="m")
    assert dataclasses.astuple(changed) == (1, 5, [1], "m")
    assert changed.seen is point.seen
    assert dataclasses.astuple(point) == (1, 2, [1], "mm")
    with pytest.raises(TypeError):
        replace(point, z=1)


def test_values_are_copied_and_pickled_as_before():
    point = Point(1, seen=[1])
    assert copy.copy(point) == copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(point)) == point


def test_a_subclass_is_made_in_the_usual_way():
    named = Named(1, name="a")
    assert (type(named), named.x, named.y, named.name) == (Named, 1, 2, "a")
    assert replace(named, x=4) == Named(4, name="a")


def test_fields_that_are_no_parameters_are_refused():
    with pytest.raises(TypeError, match="do not draft it"):

        @drafted
        @dataclass(frozen=True, slots=True)
        class Counted:
            x: int
            count: int = field(init=False, default=0)


def test_every_drafted_value_of_ours_is_made_as_the_dataclass_would_make_it():
    for package in (toolkeeper_contract, toolkeeper_pipeline):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    ours = [kind for kind in _copies if kind.__module__.startswith("toolkeeper")]
    assert len(ours) > 20
    for kind in ours:
        usual = dataclass(frozen=True, slots=True)(type("Usual", kind.__bases__, _body_of(kind)))
        assert inspect.signature(kind) == inspect.signature(usual), kind
        if hasattr(kind, "__post_init__"):
            continue
        given = {name: object() for name in inspect.signature(kind).parameters}
        made, other = kind(**given), usual(**given)
        needed = [
            each.name
            for each in dataclasses.fields(kind)
            if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        ]
        least = {name: given[name] for name in needed}
        for name in given:
            assert getattr(made, name) is getattr(other, name) is given[name]
            assert type(getattr(kind(**least), name)) is type(getattr(usual(**least), name))


def _body_of(kind):
    body = {"__annotations__": dict(kind.__annotations__), "__module__": kind.__module__}
    for each in dataclasses.fields(kind):
        if each.default is not dataclasses.MISSING:
            body[each.name] = each.default
        elif each.default_factory is not dataclasses.MISSING:
            body[each.name] = field(default_factory=each.default_factory)
    if hasattr(kind, "__post_init__"):
        body["__post_init__"] = kind.__post_init__
    return body
