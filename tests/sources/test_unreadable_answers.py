"""An answer that is too long, too deep or no message ends its own call at once, and no other."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from toolkeeper_contract import LostAfterDispatch
from toolkeeper_pipeline import ResultTooLarge
from toolkeeper_sources import HttpMcpSource
from toolkeeper_sources.limits import RESULT_LIMITS
from toolkeeper_sources.unreadable import answered

DEEP = '{"content":[],"structuredContent":{"a":' + "[" * 5_000 + "]" * 5_000 + "}}"


@pytest.mark.parametrize(
    ("message", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"content":[', 7),
        (b' { "jsonrpc" : "2.0" , "id" : "a-b" , "result": [', "a-b"),
        (b'{"id":7,"jsonrpc":"2.0","result":{', 7),
        (b'{"result":{"a":[]},"jsonrpc":"2.0","id":7}', 7),
        (b'{"result":{"a":[]},"id":"x","jsonrpc":"2.0"} \r', "x"),
        # An id inside the result is none of the message's.
        (b'{"result":{"id":7}, "jsonrpc":"2.0"', None),
        (b'{"result":{"content":[{"id":7,"text":"x"}', None),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":7}}', None),
        (b'{"jsonrpc":"2.0","id":null,"result":{}}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"result":{}}', None),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5_000, None),
        (b"a line of a log: id 7", None),
        (b"", None),
    ],
)
def test_the_id_is_found_where_it_is_the_messages_own(message: bytes, request_id: Any) -> None:
    assert answered(message, message) == request_id


class Server(BaseHTTPRequestHandler):
    """Answers by the called tool's name, as one body of JSON or as an event."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.send_response(405)
        self.send_header("content-length", "0")
        self.end_headers()

    do_DELETE = do_GET

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        method, name = message["method"], message.get("params", {}).get("name", "")
        if method == "initialize":
            result = json.dumps(
                {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "x", "version": "0"},
                }
            )
        elif method == "tools/list":
            result = '{"tools":[]}'
        elif name.endswith("deep"):
            result = DEEP
        else:
            sizes = {"big": 5_000_000, "huge": RESULT_LIMITS.size + 1_000, "fine": 2}
            text = "x" * sizes[name.rpartition("_")[2]]
            result = json.dumps({"content": [{"type": "text", "text": text}]})
        body = f'{{"jsonrpc":"2.0","id":{json.dumps(message["id"])},"result":{result}}}'
        kind = "application/json"
        if name.startswith("event"):
            kind, body = "text/event-stream", f"event: message\ndata: {body}\n\n"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body.encode())
        except OSError:
            self.close_connection = True


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    server.shutdown()
    thread.join()
    server.server_close()


def test_over_http_as_a_body_or_as_an_event(address: str) -> None:
    names = ("body_deep", "body_big", "body_huge", "body_fine", "event_deep", "event_big",
             "event_huge", "event_fine")  # fmt: skip

    async def run() -> list[Any]:
        source = HttpMcpSource("x", address, mode="legacy")
        ended: list[Any] = []
        try:
            for name in names:
                try:
                    result = await source.call(name, {})
                    ended.append(len(getattr(result.parts[0], "text", "")))
                except (ResultTooLarge, LostAfterDispatch) as error:
                    ended.append(type(error))
        finally:
            await source.close()
        return ended

    assert asyncio.run(run()) == [ResultTooLarge, 5_000_000, ResultTooLarge, 2] * 2
