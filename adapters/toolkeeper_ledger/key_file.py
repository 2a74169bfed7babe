"""Where is the sealing key, and who makes the first one?

Never in the database. In the variable TOOLKEEPER_SEAL_KEY; or else in a file that its owner alone
can read: the one that TOOLKEEPER_SEAL_KEY_FILE names, or the one beside a database that is a file.
Beside a server there is no place that its workers share, so somebody has to name one.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from toolkeeper_contract import ConfigError, Sealer
from toolkeeper_ledger.location import is_on_server, store_path
from toolkeeper_ledger.sealing import KEY_BYTES, SealingKey, decode_key, encode_key, unsealable

VARIABLE = "TOOLKEEPER_SEAL_KEY"
FILE_VARIABLE = "TOOLKEEPER_SEAL_KEY_FILE"
_MAKE_ONE = "`openssl rand -base64 32` makes one"


def open_sealer(
    url: str, *, environ: Mapping[str, str] | None = None, answering: bool = False
) -> Sealer:
    """The sealer of the store at `url`.

    The variables are read at once: ConfigError when one does not hold a key, or when a store on a
    server has none. A file is read or made when it is first needed. `answering` is for who may have
    no key, because approving and denying need none: the error comes with the first use then.
    """
    variables = os.environ if environ is None else environ
    text = variables.get(VARIABLE)
    if text is not None:
        key = decode_key(text)
        if key is None:
            raise ConfigError(f"`{VARIABLE}` does not hold {KEY_BYTES} bytes in base64", _MAKE_ONE)
        return SealingKey(key)
    named = variables.get(FILE_VARIABLE)
    if named:
        return KeyFile(Path(named))
    if is_on_server(url):
        if answering:
            return NoKey()
        raise _no_key()
    path = store_path(url)
    return KeyFile(path.with_name(path.name + ".key"))


def _no_key() -> ConfigError:
    return ConfigError(
        "a store on a server needs a sealing key that all of its workers have",
        f"set `{VARIABLE}` to the same key for each ({_MAKE_ONE}), or `{FILE_VARIABLE}`",
    )


class NoKey:
    """A `Sealer` of somebody who was given no key: ConfigError when it is used."""

    def seal(self, data: bytes, context: str) -> bytes:
        raise _no_key()

    def open(self, sealed: bytes, context: str) -> bytes:
        raise _no_key()


class KeyFile:
    """A `Sealer` whose key is in a file of mode 0600, made when something is first sealed.

    Opening never makes a key: a new one could not open what an old one has sealed.
    ConfigError when others can read the file or it holds no key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key: SealingKey | None = None

    def seal(self, data: bytes, context: str) -> bytes:
        if self._key is None:
            self._key = self._read() or self._make()
        return self._key.seal(data, context)

    def open(self, sealed: bytes, context: str) -> bytes:
        if self._key is None:
            self._key = self._read()
        if self._key is None:
            raise unsealable(
                f"the sealing key `{self._path}` is missing",
                f"put the file back or set `{VARIABLE}`; without it the call can only be denied",
            )
        return self._key.open(sealed, context)

    def _read(self) -> SealingKey | None:
        try:
            # Not to wait for a writer, should somebody have put a pipe there.
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError:
            raise ConfigError(
                f"the sealing key `{self._path}` cannot be read", "check who may read it"
            ) from None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise ConfigError(
                    f"the sealing key `{self._path}` is not a file",
                    f"move it away, or set `{VARIABLE}`",
                )
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise ConfigError(
                    f"the sealing key `{self._path}` can be read by others",
                    f"chmod 600 {self._path}",
                )
            text = os.read(descriptor, 1024).decode("ascii", errors="replace")
        finally:
            os.close(descriptor)
        key = decode_key(text)
        if key is None:
            raise ConfigError(
                f"the sealing key `{self._path}` does not hold {KEY_BYTES} bytes in base64",
                "restore it; or, with no call parked, delete it and a new one is made",
            )
        return SealingKey(key)

    def _make(self) -> SealingKey:
        # Written whole under another name and then linked: when two processes race, the second
        # link fails and both use the first key; nobody ever reads half of one.
        draft = self._path.with_name(f"{self._path.name}.{secrets.token_hex(8)}")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(descriptor, "w", encoding="ascii") as file:
                    file.write(encode_key(os.urandom(KEY_BYTES)) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                with contextlib.suppress(FileExistsError):
                    os.link(draft, self._path)
            finally:
                draft.unlink()
            _sync_folder(self._path.parent)
        except OSError:
            raise ConfigError(
                f"the sealing key `{self._path}` cannot be made",
                f"check who may write the folder, or set `{VARIABLE}`: {_MAKE_ONE}",
            ) from None
        key = self._read()
        if key is None:
            raise ConfigError(f"the sealing key `{self._path}` was removed while it was made")
        return key


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
