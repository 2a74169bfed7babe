"""Where do discovered tools come from, and how far is each server trusted?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Trust(StrEnum):
    """Whether words are taken for ours."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Acceptance(StrEnum):
    """Whether a server's first listing is accepted as it stands."""

    FIRST_LISTING = "first_listing"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class Command:
    """A child process that speaks MCP on its standard input and output.

    `cwd` is absolute. `env` is added to the allow-listed environment. Arguments and environment
    may hold secrets, so they are no part of the `repr`.
    """

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path = field(default_factory=Path)


@dataclass(frozen=True, slots=True)
class Remote:
    """A server reached over streamable HTTP; address and headers may hold secrets."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Catalog:
    """A saved listing at an absolute path; `server` takes one server's tools out of several."""

    file: Path
    server: str | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A server by its id. `timeout` is in seconds, for starting, connecting and listing.

    `serial`: its calls, of whatever tool, must not overlap.
    """

    name: str
    transport: Command | Remote | Catalog
    trust: Trust = Trust.UNTRUSTED
    annotations: Trust = Trust.UNTRUSTED
    acceptance: Acceptance = Acceptance.FIRST_LISTING
    timeout: float = 30.0
    serial: bool = False
