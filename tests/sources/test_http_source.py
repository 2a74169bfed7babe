"""MCP servers behind a URL: against a real server on this machine."""

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from toolkeeper_contract import (
    ConfigError,
    LostAfterDispatch,
    NotDispatched,
    SourceState,
    Text,
)
from toolkeeper_sources import HttpMcpSource

SCRIPT = Path(__file__).parent.parent / "servers" / "http_server.py"
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(port: int) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


def source(port: int, **options: Any) -> HttpMcpSource:
    return HttpMcpSource("web", f"http://127.0.0.1:{port}/mcp", timeout=10, **options)


@ERAS
def test_a_server_is_listed_called_missed_and_found_again(mode: str) -> None:
    port = free_port()

    async def main() -> None:
        web = source(port, mode=mode)
        try:
            with serving(port):
                listing = await web.listing()
                assert [item.definition.name for item in listing.tools] == ["die", "greet"]
                result = await web.call("greet", {"name": "ana"})
                assert result.parts == (Text("hello ana"),)
            for _ in range(2):
                with pytest.raises(NotDispatched):
                    await web.call("greet", {"name": "ben"})
            missed = await web.listing()
            assert missed.tools == listing.tools
            assert missed.status.state is SourceState.UNAVAILABLE
            assert missed.status.reason == "the server could not be reached"
            with serving(port):
                result = await web.call("greet", {"name": "cat"})
                assert result.parts == (Text("hello cat"),)
        finally:
            await web.close()

    asyncio.run(main())


@ERAS
def test_a_server_that_dies_during_a_call_is_lost_after_dispatch(mode: str) -> None:
    port = free_port()

    async def main() -> None:
        web = source(port, mode=mode)
        try:
            with serving(port):
                await web.listing()
                with pytest.raises(LostAfterDispatch):
                    await web.call("die", {})
        finally:
            await web.close()

    asyncio.run(main())


def test_credentials_do_not_cross_a_redirect() -> None:
    seen: list[str | None] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.headers.get("Authorization"))
            self.send_error(500)

        def log_message(self, *_: Any) -> None: ...

    class Redirecting(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{elsewhere.server_port}/mcp")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    elsewhere = HTTPServer(("127.0.0.1", 0), Elsewhere)
    redirecting = HTTPServer(("127.0.0.1", 0), Redirecting)
    for server in (elsewhere, redirecting):
        threading.Thread(target=server.serve_forever, daemon=True).start()

    async def main() -> None:
        web = source(redirecting.server_port, headers={"Authorization": "Bearer s3cret"})
        listing = await web.listing()
        assert listing.status.state is SourceState.UNAVAILABLE
        assert "s3cret" not in (listing.status.reason or "")
        await web.close()

    try:
        asyncio.run(main())
    finally:
        for server in (elsewhere, redirecting):
            server.shutdown()
            server.server_close()
    assert seen == []


@pytest.mark.parametrize("url", ["", "crm", "ftp://x/y", "http://", "http://[x"])
def test_a_url_that_is_none_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigError):
        HttpMcpSource("web", url)
