"""A real MCP server over stdio that lists and answers whatever a file says, by hand-written JSON.

    python listing_server.py LISTING.json

The file holds `tools` (sent as they are), `results` by tool name (a `tools/call` result; the text
`done NAME` otherwise) and `called`, a file that gets one line of JSON for each call.
"""

import json
import sys
from pathlib import Path

LISTING = json.loads(Path(sys.argv[1]).read_text())


def initialize(params):
    return {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "listing", "version": "0"},
    }


def tools_call(params):
    with open(LISTING["called"], "a") as called:
        called.write(json.dumps(params) + "\n")
    name = params["name"]
    plain = {"content": [{"type": "text", "text": f"done {name}"}]}
    return LISTING.get("results", {}).get(name, plain)


METHODS = {
    "initialize": initialize,
    "tools/list": lambda params: {"tools": LISTING["tools"]},
    "tools/call": tools_call,
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = METHODS.get(message.get("method"))
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method is None:
        reply["error"] = {"code": -32601, "message": "no such method"}
    else:
        reply["result"] = method(message.get("params", {}))
    print(json.dumps(reply), flush=True)
