"""What does the main file change in what its parts say?

`include: [office.yaml]` with `override: {agents: {chat: {disclosure: search}}}` is the office with
one line changed: a variant is written as its difference, and the parts stay as they are.
"""

from copy import deepcopy
from typing import Any

from toolkeeper.runtime.configuration.file_text import Documents
from toolkeeper_contract import Document, Path, did_you_mean

ENTRIES = ("servers", "toolsets", "overlays", "users", "agents", "approver_secrets")
"""Sections of named entries: files may add entries to them, each name in one file only."""

_SECTIONS = frozenset((section,) for section in ENTRIES)
_NOT_HERE = ("version", "include", "override")


def override(documents: Documents) -> Documents:
    """`documents` with the main file's `override` laid over the included files' keys.

    Mappings are laid over mappings; a list or a value takes the place of the whole one that was
    there. ConfigError for an entry that no included file has, and for a key that the main file
    has itself. Places inside name the overriding file from then on.
    """
    changes = documents.main.value.get("override")
    if changes is None and "override" not in documents.main.value:
        return documents
    over = _below(documents.main)
    if not isinstance(changes, dict):
        raise documents.main.error(
            ("override",), "must be a mapping", "write `{agents: {chat: {...}}}`, say"
        )
    if not documents.main.value.get("include"):
        raise documents.main.error(
            ("override",), "this file includes no other that it could override", "add `include`"
        )
    for key in _NOT_HERE:
        if key in changes:
            raise over.error((key,), f"`{key}` cannot be overridden", "remove it")
    laid = Documents(documents.main, deepcopy(documents.value), dict(documents.origins))
    _lay(laid, over, (), laid.value, changes)
    return laid


def _below(document: Document) -> Document:
    """The document's `override` as a document of its own, with the lines where it stands."""
    return Document(
        document.file,
        document.value.get("override"),
        {path[1:]: line for path, line in document.lines.items() if path[:1] == ("override",)},
    )


def _lay(laid: Documents, over: Document, at: Path, below: dict[str, Any], above: Any) -> None:
    for key, value in above.items():
        path = (*at, key)
        there = below.setdefault(key, {}) if path in _SECTIONS else below.get(key)
        if path not in _SECTIONS and laid.origins.get(path) is laid.main:
            raise over.error(
                path, f"`{key}` stands in this file itself too", "make the change there"
            )
        if isinstance(value, dict) and isinstance(there, dict):
            _lay(laid, over, path, there, value)
            continue
        if at in _SECTIONS and key not in below:
            # A misspelt name must not become an entry of its own.
            raise over.error(
                path,
                f"no included file has `{key}` under `{at[0]}`",
                did_you_mean(key, below) or "an entry of its own stands outside `override`",
            )
        below[key] = deepcopy(value)
        for old in [place for place in laid.origins if place[: len(path)] == path]:
            del laid.origins[old]
        for place in over.lines:
            if place[: len(path)] == path:
                laid.origins[place] = over
