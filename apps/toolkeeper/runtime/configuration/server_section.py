"""What is a server of the file, once its variables are replaced?"""

from pathlib import Path as FilePath

from toolkeeper.runtime.configuration.file_model import ConfigurationFile, ServerFile
from toolkeeper.runtime.configuration.file_text import Documents
from toolkeeper.runtime.configuration.server import (
    Acceptance,
    Catalog,
    Command,
    Remote,
    Server,
    Trust,
)
from toolkeeper.runtime.configuration.substitution import Substitution
from toolkeeper.runtime.configuration.web_address import is_web_address
from toolkeeper_contract import ConfigError, Path, is_server_id
from toolkeeper_policy import FUNCTIONS

_WAYS = {
    "command": ("args", "env", "cwd"),
    "url": ("headers",),
    "catalog": ("server",),
}
"""The three kinds of server, each with the keys that only it can have."""


def servers(
    file: ConfigurationFile,
    documents: Documents,
    substitution: Substitution,
    errors: list[ConfigError],
) -> dict[str, Server]:
    """The servers by id; what is wrong with them is added to `errors`."""
    found = {}
    for name, section in file.servers.items():
        at: Path = ("servers", name)
        _check_id(name, at, documents, errors)
        transport = _transport(section, at, documents, substitution, errors)
        if transport is not None:
            found[name] = Server(
                name=name,
                transport=transport,
                trust=Trust(section.trust),
                annotations=Trust(section.annotations),
                acceptance=Acceptance(section.acceptance),
                timeout=section.timeout,
                serial=section.serial,
            )
    return found


def _check_id(name: str, at: Path, documents: Documents, errors: list[ConfigError]) -> None:
    if not is_server_id(name):
        errors.append(
            documents.error(
                at,
                "this cannot be the id of a server",
                "ids have 1 to 64 letters, digits, `_` or `-`; no dots and no spaces",
            )
        )
    elif name == FUNCTIONS:
        errors.append(
            documents.error(
                at,
                f"`{FUNCTIONS}` cannot be the id of a server",
                "selectors mean the functions of this program by it; choose another id",
            )
        )


def _transport(
    section: ServerFile,
    at: Path,
    documents: Documents,
    substitution: Substitution,
    errors: list[ConfigError],
) -> Command | Remote | Catalog | None:
    ways = [way for way in _WAYS if getattr(section, way) is not None]
    if len(ways) != 1:
        said = " and ".join(f"`{way}`" for way in ways) if ways else "none of them"
        errors.append(
            documents.error(
                at,
                f"a server has exactly one of `command`, `url` and `catalog`, and this has {said}",
                "a server has one way to be reached" if ways else "say how it is reached",
            )
        )
        return None
    for way, keys in _WAYS.items():
        for key in keys:
            if way != ways[0] and key in section.model_fields_set:
                errors.append(
                    documents.error(
                        (*at, key),
                        f"`{key}` belongs to a server with `{way}`, and this has `{ways[0]}`",
                        "remove it",
                    )
                )
    if ways == ["command"]:
        return _command(section, at, documents, substitution)
    if ways == ["url"]:
        return _remote(section, at, documents, substitution, errors)
    file = substitution.text(section.catalog or "", (*at, "catalog"))
    return Catalog(documents.folder((*at, "catalog")) / file, section.server)


def _command(
    section: ServerFile, at: Path, documents: Documents, substitution: Substitution
) -> Command:
    folder = documents.folder((*at, "command"))
    cwd = substitution.text(section.cwd, (*at, "cwd")) if section.cwd else ""
    return Command(
        command=substitution.text(section.command or "", (*at, "command")),
        args=tuple(
            substitution.text(argument, (*at, "args", index))
            for index, argument in enumerate(section.args)
        ),
        env=substitution.texts(section.env, (*at, "env")),
        cwd=folder / FilePath(cwd),
    )


def _remote(
    section: ServerFile,
    at: Path,
    documents: Documents,
    substitution: Substitution,
    errors: list[ConfigError],
) -> Remote:
    url = substitution.text(section.url or "", (*at, "url"))
    headers = substitution.texts(section.headers, (*at, "headers"))
    # The address may hold a secret, so the errors do not quote it.
    if not is_web_address(url) and not substitution.failed((*at, "url")):
        errors.append(
            documents.error(
                (*at, "url"),
                "this is not the address of a server",
                "write `https://host/path`; `http://` works too",
            )
        )
    for name, value in headers.items():
        if not value.isprintable() or not value.isascii() or not _is_header_name(name):
            errors.append(
                documents.error(
                    (*at, "headers", name),
                    "this header cannot be sent",
                    "its name has letters, digits and `-`, its value plain characters "
                    "without line breaks; look at the variables in it",
                )
            )
    return Remote(url, headers)


def _is_header_name(name: str) -> bool:
    return (
        name.isascii() and bool(name) and all(c.isalnum() or c in "-_.!#$%&'*+^`|~" for c in name)
    )
