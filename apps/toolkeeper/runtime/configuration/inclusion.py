"""Which files make up one configuration?"""

from pathlib import Path as FilePath
from typing import Any

from toolkeeper.runtime.configuration.file_text import Documents, mapping_of, read_document
from toolkeeper.runtime.configuration.overriding import ENTRIES, override
from toolkeeper_contract import Document, Path

_START = "start with `version: 1` and an agent under `agents`"


def read_documents(path: FilePath) -> Documents:
    """The configuration at `path` and all that it includes, as one mapping.

    A key that stands in two files is a ConfigError that names both; so is a cycle. `version` may
    stand in every file. What the main file has under `override` takes the place of what the
    included files say there.
    """
    main = read_document(path, hint="write one, or name another with `-c FILE`")
    documents = Documents(main, {}, {})
    _add(main, documents, (path.resolve(),))
    return override(documents)


def _add(document: Document, documents: Documents, chain: tuple[FilePath, ...]) -> None:
    value = mapping_of(document, _START)
    files = value.get("include", [])
    for key, item in value.items():
        if key == "include":
            continue
        if key == "override":
            if document is not documents.main:
                raise document.error(
                    ("override",),
                    "only the main file can override what other files say",
                    "make the change where the key stands, or start from this file with `-c FILE`",
                )
            continue
        if key in ENTRIES and isinstance(item, dict):
            if not isinstance(documents.value.setdefault(key, {}), dict):
                raise _twice(documents, document, (key,))
            for name, entry in item.items():
                _place(documents, document, (key, name), documents.value[key], entry)
        else:
            _place(documents, document, (key,), documents.value, item)
    for path in document.lines:
        documents.origins.setdefault(path, document)
    _include(document, files, documents, chain)


def _place(
    documents: Documents, document: Document, path: Path, owner: dict[str, Any], item: Any
) -> None:
    key = str(path[-1])
    if key in owner and not (path == ("version",) and owner[key] == item):
        raise _twice(documents, document, path)
    owner[key] = item


def _twice(documents: Documents, document: Document, path: Path) -> Exception:
    other = documents.document(path)
    line = other.line(path)
    return document.error(
        path,
        f"the key `{path[-1]}` stands in `{other.file}` (line {line}) and in `{document.file}`",
        "remove one of the two",
    )


def _include(
    document: Document, files: Any, documents: Documents, chain: tuple[FilePath, ...]
) -> None:
    if not isinstance(files, list):
        raise document.error(
            ("include",), "must be a list of files", "put it in square brackets, `[...]`"
        )
    for index, name in enumerate(files):
        path = ("include", index)
        if not isinstance(name, str) or not name:
            raise document.error(path, "must be the name of a file")
        file = FilePath(document.file).parent / name
        if file.resolve() in chain:
            raise document.error(
                path, f"`{name}` includes itself, directly or through others", "break the circle"
            )
        if any(file.resolve() == FilePath(seen.file).resolve() for seen in _files(documents)):
            raise document.error(path, f"`{name}` is included twice", "include it in one place")
        if not file.exists():
            raise document.error(
                path, f"there is no file `{name}`", "it is looked for beside the including file"
            )
        _add(read_document(file), documents, (*chain, file.resolve()))


def _files(documents: Documents) -> list[Document]:
    return list({id(document): document for document in documents.origins.values()}.values())
