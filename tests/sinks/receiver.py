"""A receiver of webhooks, as a process of its own: behaves as it is told, request by request.

receiver.py BEHAVIOUR... ; each is a status (`500`), `hang`, `drop` or `redirect`; the last one goes
on for ever. It prints its port, and then a line of JSON for each request: path, headers, body.
"""

import json
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

BEHAVIOURS = sys.argv[1:] or ["200"]
SEEN = count()
ONE_AT_A_TIME = threading.Lock()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        behaviour = BEHAVIOURS[min(next(SEEN), len(BEHAVIOURS) - 1)]
        told = {"path": self.path, "headers": dict(self.headers), "body": body.decode()}
        with ONE_AT_A_TIME:
            print(json.dumps(told), flush=True)
        if behaviour == "hang":
            time.sleep(3600)
        if behaviour == "drop":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
            self.close_connection = True
            return
        self.send_response(302 if behaviour == "redirect" else int(behaviour))
        if behaviour == "redirect":
            self.send_header("location", "/elsewhere")
        # A body without an end: nobody is to read it.
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"4\r\nmore\r\n")
        self.wfile.flush()

    def do_GET(self) -> None:
        print(json.dumps({"path": self.path, "headers": {}, "body": "followed"}), flush=True)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


server = Server(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
