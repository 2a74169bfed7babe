"""A server that does what it is asked and loses the answer.   losing_server.py WAY FILE

works      answers
never      does not answer
dies       ends before it answers
garbage    answers with a result that is no object
shapeless  answers with content that is no list of blocks

With `-once` behind it, a second call is answered well. FILE gets a line for each call that came.
"""

import json
import os
import sys
from pathlib import Path

WAY, FILE = sys.argv[1].removesuffix("-once"), Path(sys.argv[2])
ONCE = sys.argv[1].endswith("-once")
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("read", "send")]


def answered(name):
    with FILE.open("a") as file:
        file.write(f"{name}\n")
    calls = len(FILE.read_text().split())
    if WAY == "works" or (ONCE and calls > 1):
        return {"content": [{"type": "text", "text": f"{name} it"}]}
    if WAY == "dies":
        os._exit(3)
    return {"never": None, "garbage": "it", "shapeless": {"content": "it"}}[WAY]


for line in sys.stdin:
    message = json.loads(line)
    method = message["method"]
    if "id" not in message:
        continue
    if method == "initialize":
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "losing", "version": "0"},
        }
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        result = answered(message["params"]["name"])
        if result is None:
            continue
    else:
        reply = {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
