"""Does a part of a document hold what it may hold, and on which line does it not?"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from toolkeeper_contract import CONTROL_TOOLS, Code, Document, Path, did_you_mean, is_pattern

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping inside a document, read key by key.

    `subject` names it in messages (`rule `x``). Every reader raises ConfigError with the
    document's file, the key's line and what to write instead.
    """

    document: Document
    path: Path
    code: Code
    subject: str
    body: Mapping[str, Any]

    @classmethod
    def of(
        cls, document: Document, path: Path, value: Any, *, subject: str, code: Code
    ) -> "Section":
        """`value`, which has to be a mapping."""
        if not isinstance(value, dict):
            raise document.error(path, f"{subject} must be a mapping, not {kind(value)}", code=code)
        return cls(document, path, code, subject, value)

    def named(self, subject: str) -> "Section":
        """The same section under the name that it turned out to have."""
        return Section(self.document, self.path, self.code, subject, self.body)

    def fail(self, message: str, hint: str | None, *keys: str | int) -> NoReturn:
        """Raises the error for this section, or for what stands under `keys` in it."""
        raise self.document.error((*self.path, *keys), message, hint, code=self.code)

    def only(self, known: Collection[str]) -> None:
        """Refuses every key that is not `known`."""
        for key in self.body:
            if key not in known:
                self.fail(
                    f"{self.subject} has the unknown key {quoted(key)}",
                    did_you_mean(key, known),
                    key,
                )

    def choice(self, key: str, options: Collection[str]) -> str:
        """One of `options`."""
        return self.option(self.body[key], options, key, key)

    def option(self, value: Any, options: Collection[str], what: str, *keys: str | int) -> str:
        """`value`, which stands under `keys` and has to be one of `options`."""
        if not isinstance(value, str):
            self.fail(
                f"{self.subject}: `{what}` must be a name, not {kind(value)}",
                did_you_mean("", options),
                *keys,
            )
        if value not in options:
            self.fail(
                f"{self.subject}: {quoted(value)} is not a known {what}",
                did_you_mean(value, options),
                *keys,
            )
        return value

    def texts(
        self, key: str, check: Callable[[str], tuple[str, str | None] | None]
    ) -> tuple[str, ...]:
        """A list of at least one string, without repetitions; () when the key is absent.

        `check` gives the message and hint for a string that may not stand here.
        """
        if key not in self.body:
            return ()
        value = self.body[key]
        if not isinstance(value, list):
            example = value if isinstance(value, str) and value else "..."
            self.fail(
                f"{self.subject}: `{key}` must be a list, not {kind(value)}",
                f"write {quoted(f'{key}: [{example}]')}",
                key,
            )
        if not value:
            # An empty list would match nothing, which is never what a deny rule means.
            self.fail(
                f"{self.subject}: `{key}` is empty, so nothing can match",
                f"leave `{key}` out to match everything",
                key,
            )
        for position, item in enumerate(value):
            if not isinstance(item, str) or not item:
                self.fail(
                    f"{self.subject}: `{key}` must hold names, not {kind(item)}",
                    "put it in quotes" if isinstance(item, int | float) else None,
                    key,
                    position,
                )
            problem = check(item)
            if problem is not None:
                message, hint = problem
                self.fail(f"{self.subject}: {message}", hint, key, position)
        return tuple(dict.fromkeys(value))


def kind(value: Any) -> str:
    """What a value is, in the words of someone who writes YAML."""
    if value is None:
        return "nothing"
    if value == "":
        return "an empty string"
    for types, word in (
        (bool, "a boolean"),
        (int | float, "a number"),
        (str, "a string"),
        (list, "a list"),
    ):
        if isinstance(value, types):
            return word
    return "a mapping"


def quoted(text: str) -> str:
    """User input for a message: in backticks, printable and not too long."""
    visible = "".join(char if char.isprintable() else "?" for char in text[:_SHOWN])
    return f"`{visible}{'...' if len(text) > _SHOWN else ''}`"


def pattern_problem(pattern: str, on_control_tool: str, hint: str) -> tuple[str, str | None] | None:
    """What is wrong with a selector of tools, and what to do; None when nothing is.

    `on_control_tool` says what a control tool cannot be here, `hint` what to write instead.
    """
    if not is_pattern(pattern):
        return (
            f"{quoted(pattern)} has a character that no tool name can have",
            "names have letters, digits, `_`, `.` and `-`; the only wildcard is `*`",
        )
    if pattern in CONTROL_TOOLS or pattern.startswith("tool."):
        return f"{quoted(pattern)} is a control tool, {on_control_tool}", hint
    return None
