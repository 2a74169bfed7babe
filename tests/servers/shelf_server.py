"""A real MCP server over stdio whose list of tools is a file, read anew at every listing.

    python shelf_server.py LISTING.json

Its tool `rearrange` writes the list `tools` that it is given into the file and announces the change
before it answers; `fall` ends the process.
"""

import json
import os
import sys
from pathlib import Path

LISTING = Path(sys.argv[1])


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def called(name, arguments):
    if name == "fall":
        os._exit(7)
    if name == "rearrange":
        LISTING.write_text(json.dumps(arguments["tools"]))
        say({"method": "notifications/tools/list_changed"})
    return {"content": [{"type": "text", "text": f"done {name}"}]}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "shelf", "version": "0"},
        }
    if method == "tools/list":
        return {"tools": json.loads(LISTING.read_text())}
    if method == "tools/call":
        return called(params["name"], params.get("arguments") or {})
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        say({"id": message["id"], "result": answer(message["method"], message.get("params", {}))})
