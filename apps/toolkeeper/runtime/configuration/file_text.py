"""What stands in the files that people write, and where does each key stand?"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from toolkeeper_contract import Code, ConfigError, Document, Path, did_you_mean, parse_document

MAX_BYTES = 8_000_000
"""What is read of a file at most; a longer one is an error."""


def read_text(
    path: FilePath,
    *,
    hint: str | None = None,
    code: Code = Code.CONFIG_INVALID,
    most: int = MAX_BYTES,
) -> str:
    """The text of a file that a person wrote; ConfigError when there is none to be had.

    `hint` says what to do when the file does not exist. `most` bytes are read.
    """
    file = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except FileNotFoundError:
        raise ConfigError(
            "there is no such file", _similar(path) or hint, code=code, file=file
        ) from None
    except IsADirectoryError:
        raise ConfigError(
            "this is a directory, not a file", "name the file in it", code=code, file=file
        ) from None
    except NotADirectoryError:
        raise ConfigError(
            "there is no such file: a part of its path is a file", hint, code=code, file=file
        ) from None
    except PermissionError:
        raise ConfigError(
            "the file cannot be read", "check its permissions", code=code, file=file
        ) from None
    except (OSError, ValueError):
        raise ConfigError("the file cannot be read", hint, code=code, file=file) from None
    if len(data) > most:
        raise ConfigError(
            f"the file is larger than {most:,} bytes",
            "split it into several files",
            code=code,
            file=file,
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(
            "the file is not utf-8 text", "save it as utf-8", code=code, file=file, line=line
        ) from None


def read_document(
    path: FilePath, *, hint: str | None = None, code: Code = Code.CONFIG_INVALID
) -> Document:
    """The YAML document in a file, with its lines; ConfigError for anything else."""
    return parse_document(read_text(path, hint=hint, code=code), str(path), code=code)


@dataclass(frozen=True, slots=True)
class Documents:
    """One mapping put together from several files, which still knows where each key stands.

    `origins` maps every path that is written somewhere to the document it is written in.
    """

    main: Document
    value: dict[str, Any]
    origins: dict[Path, Document]

    def document(self, path: Path) -> Document:
        """The document that holds `path`, or its nearest written ancestor."""
        while path and path not in self.origins:
            path = path[:-1]
        return self.origins.get(path, self.main)

    def folder(self, path: Path) -> FilePath:
        """The absolute folder that a relative file name at `path` starts from."""
        return FilePath(self.document(path).file).absolute().parent

    def error(
        self,
        path: Path,
        message: str,
        hint: str | None = None,
        *,
        code: Code = Code.CONFIG_INVALID,
    ) -> ConfigError:
        """An error with the file and the line of `path`."""
        return self.document(path).error(path, message, hint, code=code)


def alone(document: Document, start: str | None = None) -> Documents:
    """A document that includes nothing. It has to be a mapping; `start` is the error's hint."""
    value = mapping_of(document, start)
    return Documents(document, value, dict.fromkeys(document.lines, document))


def mapping_of(document: Document, start: str | None = None) -> dict[str, Any]:
    """The document's mapping; ConfigError for an empty file or anything else, `start` as hint."""
    value = document.value
    if value is None:
        raise document.error((), "the file is empty", start)
    if not isinstance(value, dict):
        raise document.error((), "the file must be a mapping of keys to values", start)
    return value


def nulls(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all keys and items that were left without a value."""
    if value is None:
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from nulls(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from nulls(item, (*path, index))


def _similar(path: FilePath) -> str | None:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    except OSError:
        return None
    near = did_you_mean(path.name, names)
    return near if near and near.startswith("did you mean") else None
