"""Which tools does a configuration's `myapp.tools:TOOLS` mean?"""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from toolkeeper_contract import ConfigError, did_you_mean
from toolkeeper_sources.function_tool import FunctionTool, as_tool


def load_functions(references: Iterable[str], folder: Path) -> tuple[FunctionTool, ...]:
    """The tools that `references` name, in order; modules are looked for in `folder` first.

    Each reference is `module:attribute`, the attribute an iterable of functions or of tools made
    with `tool(...)`. Raises ConfigError with what to change for anything that cannot be loaded.
    """
    folder = folder.resolve()
    # For good: functions may import more of their own package when they are called.
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    found: list[FunctionTool] = []
    for reference in references:
        found.extend(_tools(reference, folder))
    return tuple(found)


def _tools(reference: str, folder: Path) -> Iterator[FunctionTool]:
    module_name, _, attribute = reference.partition(":")
    parts = [*module_name.split("."), *attribute.split(".")]
    if not all(part.isidentifier() for part in parts):
        raise ConfigError(
            f"`{reference}` does not name a list of functions",
            "write it as `module:ATTRIBUTE`, for example `myapp.tools:TOOLS`",
        )
    value: Any = _module(module_name, folder, reference)
    for part in attribute.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            raise ConfigError(
                f"`{reference}`: the module has no `{part}`",
                did_you_mean(part, [name for name in vars(value) if not name.startswith("_")])
                if hasattr(value, "__dict__")
                else None,
            ) from None
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        raise ConfigError(
            f"`{reference}` is a value of type `{type(value).__name__}`, not a list of functions",
            f"write `{attribute} = [first, second]` in the module",
        )
    for position, item in enumerate(value):
        try:
            yield as_tool(item)
        except ConfigError as error:
            raise ConfigError(
                f"`{reference}`, entry {position + 1}: {error.message}",
                error.hint,
                code=error.code,
            ) from error


def _module(name: str, folder: Path, reference: str) -> ModuleType:
    _forget_namesake(name.partition(".")[0], folder)
    with _first_on_path(folder):
        importlib.invalidate_caches()
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is not None and f"{name}.".startswith(f"{error.name}."):
                raise ConfigError(
                    f"`{reference}`: there is no module `{error.name}`",
                    "modules are looked for in the folder of the configuration file first",
                ) from None
            raise _import_failed(reference, error) from error
        except KeyboardInterrupt:
            raise
        except ConfigError as error:
            # A tool of theirs that cannot be one: our own words, and the line that made it.
            raise ConfigError(
                f"`{reference}`{_place(error)}: {error.message}", error.hint, code=error.code
            ) from None
        except BaseException as error:  # SystemExit too: a script without a main guard
            raise _import_failed(reference, error) from error


def _import_failed(reference: str, error: BaseException) -> ConfigError:
    place = _place(error)
    return ConfigError(
        f"`{reference}`: importing the module failed with {type(error).__name__}{place}",
        "import it in python to see the whole error",
    )


def _place(error: BaseException) -> str:
    """The innermost line that is neither ours nor the import system's."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" at line {error.lineno} of {Path(error.filename).name}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<")
        and Path(frame.filename).parent
        not in (Path(__file__).parent, Path(importlib.__file__).parent)
    ]
    return f" at line {frames[-1].lineno} of {Path(frames[-1].filename).name}" if frames else ""


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    before = list(sys.path)
    sys.path[:] = [str(folder), *(entry for entry in before if entry != str(folder))]
    try:
        yield
    finally:
        # What the module itself put on the path stays there.
        added = [entry for entry in sys.path if entry not in before and entry != str(folder)]
        sys.path[:] = [*added, *before]


def _forget_namesake(name: str, folder: Path) -> None:
    """Drops an imported module of this name that is not the one in `folder`.

    INVARIANT: the folder comes first, also when another configuration's `tools.py` was loaded
    before in this process; tools made from it keep working, since they hold their functions.
    """
    loaded = sys.modules.get(name)
    own = [folder / f"{name}.py", folder / name / "__init__.py"]
    if loaded is None or not any(path.is_file() for path in own):
        return
    file = getattr(loaded, "__file__", None)
    if file is not None and Path(file).resolve() in own:
        return
    for key in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
        del sys.modules[key]
