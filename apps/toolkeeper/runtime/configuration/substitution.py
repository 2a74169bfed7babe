"""What do the file's values come to with the environment's, and which variables are missing?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkeeper.runtime.configuration.file_text import Documents
from toolkeeper.runtime.configuration.variable import UnknownVariable, referenced, replaced
from toolkeeper.runtime.secret_key import SecretKeys
from toolkeeper_contract import ConfigError, Path

_KEYS = SecretKeys()
_SCHEMES = ("bearer", "basic", "token", "digest", "apikey")
"""What stands before the credential itself in an Authorization header."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """Replaces `${NAME}` in values of `documents`; each missing variable is added to `errors`."""

    environment: Mapping[str, str]
    documents: Documents
    errors: list[ConfigError]
    secrets: set[str] = field(default_factory=set, repr=False)
    """Credentials that were found on the way, by the words of their names."""
    _failures: set[Path] = field(default_factory=set)

    def text(self, value: str, path: Path) -> str:
        """`value` with its variables replaced, or as it stands when one is missing."""
        try:
            result = replaced(value, self.environment)
        except UnknownVariable as unknown:
            self._fail(unknown.name, path)
            return value
        self._remember(value, result, str(path[-1]))
        if "\x00" in result:
            self.errors.append(self.documents.error(path, "must not hold a null character"))
        return result

    def texts(self, values: Mapping[str, str], path: Path) -> dict[str, str]:
        """`text` for every value of a mapping."""
        return {name: self.text(value, (*path, name)) for name, value in values.items()}

    def failed(self, path: Path) -> bool:
        """Whether a variable was missing at `path`."""
        return path in self._failures

    def _remember(self, written: str, result: str, key: str) -> None:
        self.secrets.update(
            self.environment[name] for name in referenced(written) if _KEYS.covers(name)
        )
        if result and _KEYS.covers(key):
            scheme, _, rest = result.partition(" ")
            self.secrets.add(rest.strip() if scheme.lower() in _SCHEMES and rest else result)

    def _fail(self, name: str | None, path: Path) -> None:
        self._failures.add(path)
        if name is None:
            message = "a `${` here does not begin a variable"
            hint = "write `${NAME}` with letters, digits and `_`, or `$${` for a plain `${`"
        else:
            message = f"the environment variable `{name}` is not set"
            hint = f"set `{name}`, or write `$${{{name}}}` to mean the text itself"
        self.errors.append(self.documents.error(path, message, hint))
