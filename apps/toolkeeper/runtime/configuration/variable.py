"""What does `${NAME}` stand for?"""

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}|\$\{")


class UnknownVariable(Exception):
    """`name` is not set; None when the reference itself is malformed."""

    def __init__(self, name: str | None) -> None:
        self.name = name


def referenced(text: str) -> tuple[str, ...]:
    """The names of the variables in `text`, in order."""
    return tuple(match[1] for match in _REFERENCE.finditer(text) if match[1])


def replaced(text: str, environment: Mapping[str, str]) -> str:
    """`text` with every `${NAME}` replaced from `environment`; `$${` stands for `${` itself.

    What a variable holds is not looked at again. Raises UnknownVariable.
    """
    if "${" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        name = match[1]
        if name is None or name not in environment:
            raise UnknownVariable(name)
        return environment[name]

    return _REFERENCE.sub(value, text)
