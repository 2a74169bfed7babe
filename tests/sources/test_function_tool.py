"""Python functions as tools."""

import asyncio
import contextlib
import contextvars
import enum
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field

from toolkeeper_contract import (
    Blob,
    Code,
    ConfigError,
    Flag,
    NotAResult,
    NotDispatched,
    SideEffect,
    Text,
    ToolResult,
)
from toolkeeper_pipeline.schema import ArgumentSchema
from toolkeeper_sources import FunctionSource, ToolCrashed, load_functions, tool
from toolkeeper_sources.worker import MAX_LEFT


class Place(BaseModel):
    city: str
    inside: "Place | None" = None


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    at: date


def add_note(
    title: Annotated[str, Field(description="What it is called.")],
    place: Place | None = None,
    when: date | None = None,
    colour: Colour = Colour.RED,
    _page: int = 1,
    schema: Literal["a", "b"] = "a",
    model_config: str = "",
) -> str:
    """Adds a note."""
    return f"{title} {place} {when!r} {colour} {_page} {schema}{model_config}"


def call(function: Callable[..., Any], arguments: dict[str, Any] | None = None) -> ToolResult:
    source = FunctionSource([tool(function, name="it")])
    return asyncio.run(source.call("it", arguments or {}))


def test_a_schema_comes_from_the_signature() -> None:
    schema = tool(add_note).definition.input_schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["title"]
    assert list(schema["properties"]) == [
        "title",
        "place",
        "when",
        "colour",
        "_page",
        "schema",
        "model_config",
    ]
    assert schema["properties"]["title"] == {
        "type": "string",
        "description": "What it is called.",
    }
    assert tool(add_note).definition.description == "Adds a note."


def test_arguments_become_the_declared_types_and_defaults_are_the_functions_own() -> None:
    arguments = {
        "title": "x",
        "place": {"city": "Bern", "inside": {"city": "Aare"}},
        "when": "2026-12-04",
        "colour": "blue",
        "_page": 3,
    }
    assert ArgumentSchema(tool(add_note).definition.input_schema).is_valid(arguments)
    result = call(add_note, arguments)
    assert result.parts == (
        Text(
            "x city='Bern' inside=Place(city='Aare', inside=None) "
            "datetime.date(2026, 12, 4) Colour.BLUE 3 a"
        ),
    )


def test_a_schema_takes_no_coercion_and_no_unknown_argument() -> None:
    schema = ArgumentSchema(tool(add_note).definition.input_schema)
    assert not schema.is_valid({"title": 7})
    assert not schema.is_valid({"title": "x", "_page": "3"})
    assert not schema.is_valid({"title": "x", "field_0": "y"})


def test_a_declaration_says_what_its_author_said() -> None:
    @tool(side_effect="workspace_write", idempotent=True, private=True, scopes=["notes"])
    def save(title: str) -> None:
        """Saves."""

    assert save.declaration.side_effect is SideEffect.WORKSPACE_WRITE
    assert save.declaration.flags == {Flag.IDEMPOTENT, Flag.PRIVATE}
    assert save.declaration.scopes == ("notes",)
    assert save("x") is None
    assert save.__name__ == "save"
    assert tool(add_note).declaration.side_effect is None


@pytest.mark.parametrize(
    ("value", "parts", "structured"),
    [
        ("text", (Text("text"),), None),
        (None, (Text(""),), None),
        (b"\x00", (Blob(b"\x00", "application/octet-stream"),), None),
        (
            {"b": 1, "a": [True, None]},
            (Text('{"a":[true,null],"b":1}'),),
            {"b": 1, "a": [True, None]},
        ),
        (7, (Text("7"),), 7),
        ([], (Text("[]"),), []),
        (
            Point(1, date(2026, 1, 2)),
            (Text('{"at":"2026-01-02","x":1}'),),
            {"x": 1, "at": "2026-01-02"},
        ),
        (
            Place(city="Bern"),
            (Text('{"city":"Bern","inside":null}'),),
            {"city": "Bern", "inside": None},
        ),
        (float("nan"), (Text('"NaN"'),), "NaN"),
        ("\ud800", (Text("?"),), None),
        (ToolResult((Text("no"),), is_error=True), (Text("no"),), None),
    ],
)
def test_what_a_function_returns_becomes_a_result(
    value: Any, parts: tuple[Any, ...], structured: Any
) -> None:
    def give() -> Any:
        return value

    result = call(give)
    assert result.parts == parts
    assert result.structured == structured


@pytest.mark.parametrize("value", [object(), (n for n in ()), {"a": lambda: 1}])
def test_what_json_cannot_carry_fails_the_call(value: Any) -> None:
    def give() -> Any:
        return value

    with pytest.raises(NotAResult):
        call(give)


class Rude(BaseException):
    """What nobody who catches exceptions expects."""


@pytest.mark.parametrize("error", [SystemExit, StopIteration, asyncio.CancelledError, Rude])
def test_what_would_end_the_program_fails_the_call_only(error: type[BaseException]) -> None:
    def blocking() -> None:
        raise error

    async def waiting() -> None:
        raise error

    with pytest.raises(ToolCrashed):
        call(blocking)
    with pytest.raises((ToolCrashed, RuntimeError)):
        call(waiting)


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
def test_what_is_pythons_own_comes_through_on_the_loop_and_in_no_thread(
    error: type[BaseException],
) -> None:
    def blocking() -> None:
        raise error

    async def waiting() -> None:
        raise error

    with pytest.raises(ToolCrashed):
        call(blocking)
    with pytest.raises(error):
        call(waiting)


def test_calls_of_a_function_whose_threads_do_not_end_are_turned_away() -> None:
    release = threading.Event()
    began = threading.Semaphore(0)

    def stuck() -> None:
        began.release()
        assert release.wait(30)

    def quick() -> str:
        return "quick"

    async def main() -> None:
        source = FunctionSource([stuck, quick])
        calls = [asyncio.ensure_future(source.call("stuck", {})) for _ in range(MAX_LEFT)]
        await asyncio.to_thread(lambda: [began.acquire() for _ in calls])
        for each in calls:
            each.cancel()
        await asyncio.wait(calls)
        with pytest.raises(NotDispatched):
            await source.call("stuck", {})
        # Nobody else's calls are touched by it.
        assert (await source.call("quick", {})).parts == (Text("quick"),)
        release.set()
        while source._at_work["stuck"].crew.left:
            await asyncio.sleep(0.001)
        await source.call("stuck", {})

    asyncio.run(main())


def test_a_serial_function_is_turned_away_while_an_earlier_call_goes_on() -> None:
    release = threading.Event()

    def blocking() -> str:
        assert release.wait(30)
        return "done"

    async def stubborn() -> str:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.001)
        return "done"

    async def main(name: str) -> None:
        release.clear()
        source = FunctionSource([tool(blocking, serial=True), tool(stubborn, serial=True)])
        given_up = asyncio.ensure_future(source.call(name, {}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
        with pytest.raises(NotDispatched):
            await source.call(name, {})
        release.set()
        await asyncio.wait([given_up])
        while source._at_work[name].crew.left:
            await asyncio.sleep(0.001)
        assert (await source.call(name, {})).parts == (Text("done"),)

    asyncio.run(main("blocking"))
    asyncio.run(main("stubborn"))


def test_an_ordinary_error_comes_through_as_it_is() -> None:
    def broken() -> None:
        raise LookupError("x")

    with pytest.raises(LookupError):
        call(broken)


def test_a_blocking_function_holds_nobody_up_and_sees_the_callers_context() -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")
    release = threading.Event()

    def blocking() -> str:
        assert release.wait(10)
        return user.get()

    async def quick() -> str:
        release.set()
        return "quick"

    async def main() -> None:
        user.set("ana")
        source = FunctionSource([blocking, quick])
        results = await asyncio.gather(source.call("blocking", {}), source.call("quick", {}))
        assert [result.parts for result in results] == [(Text("ana"),), (Text("quick"),)]

    asyncio.run(main())


def test_a_cancelled_call_does_not_wait_for_its_thread() -> None:
    release = threading.Event()

    def blocking() -> None:
        release.wait(10)

    async def main() -> None:
        source = FunctionSource([blocking])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await source.call("blocking", {})
        release.set()

    asyncio.run(main())


def test_a_wrapped_coroutine_function_is_awaited() -> None:
    async def inner(n: int) -> int:
        return n + 1

    def outer(n: int) -> Any:
        return inner(n)

    assert call(outer, {"n": 1}).structured == 2


def test_a_check_of_the_types_own_turns_the_call_away_without_the_value() -> None:
    def even(value: int) -> int:
        if value % 2:
            raise ValueError(f"{value} is secret")
        return value

    def take(n: Annotated[int, AfterValidator(even)]) -> int:
        return n

    result = call(take, {"n": 77})
    assert result.is_error
    assert result.parts == (Text("the tool does not accept the value of `n`; nothing was done"),)


def test_an_unknown_function_was_not_dispatched() -> None:
    with pytest.raises(NotDispatched):
        asyncio.run(FunctionSource([]).call("nothing", {}))


def unannotated(a): ...  # type: ignore[no-untyped-def]


def positional(a: int, /) -> None: ...


def many(*a: int) -> None: ...


def keywords(**a: int) -> None: ...


def unknown_type(a: "NoSuchType") -> None: ...  # type: ignore[name-defined]  # noqa: F821


class Opaque: ...


def opaque(a: Opaque) -> None: ...


@pytest.mark.parametrize(
    "function", [unannotated, positional, many, keywords, unknown_type, opaque, lambda: 1, 7, len]
)
def test_a_function_that_cannot_be_a_tool_is_a_configuration_error(function: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        tool(function)
    assert caught.value.hint
    assert caught.value.message[0].islower() or caught.value.message[0] == "`"


@pytest.mark.parametrize(
    "name", ["tool.call", "tool_search", "Tool-Result", "mcp.x", "device.y.z", "tool.new"]
)
def test_a_reserved_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tool(add_note, name=name)
    assert caught.value.code is Code.TOOL_NAME_RESERVED


def test_two_functions_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        FunctionSource([add_note, tool(opaque_free, name="add_note")])
    assert caught.value.code is Code.TOOL_NAME_TAKEN
    assert "opaque_free" in caught.value.message


def opaque_free() -> None: ...


@pytest.mark.parametrize(
    "options", [{"side_effect": "workspace_wrte"}, {"scopes": "notes"}, {"name": "a b"}]
)
def test_a_wrong_option_is_a_configuration_error(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        tool(add_note, **options)
    assert caught.value.hint


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    modules, path = set(sys.modules), list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


TOOLS = "def one(n: int) -> int:\n    'One.'\n    return n\nTOOLS = [one]\n"


def test_a_reference_names_an_iterable_in_a_module_of_the_folder(folder: Path) -> None:
    (folder / "myown").mkdir()
    (folder / "myown" / "__init__.py").write_text("")
    (folder / "myown" / "tools.py").write_text(TOOLS)
    (made,) = load_functions(["myown.tools:TOOLS"], folder)
    assert made.name == "one"
    assert made.origin == "myown.tools:one"


def test_the_folder_comes_first_also_when_a_namesake_was_loaded_before(folder: Path) -> None:
    for name in ("first", "second"):
        (folder / name).mkdir()
        (folder / name / "namesake_tools.py").write_text(TOOLS.replace("one", name))
    loaded = [
        load_functions(["namesake_tools:TOOLS"], folder / name)[0].name
        for name in ("first", "second", "first")
    ]
    assert loaded == ["first", "second", "first"]


@pytest.mark.parametrize(
    ("text", "reference", "words"),
    [
        (TOOLS, "own_tools", "does not name"),
        (TOOLS, "own_tools:", "does not name"),
        (TOOLS, "own-tools:TOOLS", "does not name"),
        (TOOLS, "own_toolz:TOOLS", "no module `own_toolz`"),
        (TOOLS, "own_tools.sub:TOOLS", "no module"),
        (TOOLS, "own_tools:TOOL", "no `TOOL` (did you mean `TOOLS`?)"),
        (TOOLS, "own_tools:one", "not a list of functions"),
        ("TOOLS = 'abc'", "own_tools:TOOLS", "not a list of functions"),
        ("TOOLS = [7]", "own_tools:TOOLS", "entry 1"),
        ("def f(a): ...\nTOOLS = [f]", "own_tools:TOOLS", "entry 1"),
        ("import sys\n\nsys.exit(3)", "own_tools:TOOLS", "SystemExit at line 3 of own_tools.py"),
        ("x = (", "own_tools:TOOLS", "SyntaxError at line 1 of own_tools.py"),
        ("import no_such_module_x", "own_tools:TOOLS", "ModuleNotFoundError at line 1"),
        ("1 / 0", "own_tools:TOOLS", "ZeroDivisionError at line 1 of own_tools.py"),
    ],
)
def test_a_reference_that_cannot_be_loaded_says_why(
    folder: Path, text: str, reference: str, words: str
) -> None:
    (folder / "own_tools.py").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_functions([reference], folder)
    assert words in str(caught.value)
