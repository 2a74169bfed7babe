"""A real MCP server over stdio whose tools answer with what is hard to swallow.

    python heavy_server.py

Each tool's name says what it gives; the bytes are written by hand, since no library would send some
of them.
"""

import base64
import json
import sys

DEEP = "[" * 5_000 + "]" * 5_000


def answer(name):
    if name == "text":
        return {"content": [{"type": "text", "text": "wörd " * 1_000_000}]}
    if name == "blocks":
        return {"content": [{"type": "text", "text": f"block {n}"} for n in range(10_000)]}
    if name == "nodes":
        return {"content": [], "structuredContent": {"rows": list(range(200_000))}}
    if name == "checked":
        return {"content": [], "structuredContent": {"rows": list(range(200_000))}}
    if name == "picture":
        data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"p" * 1_000).decode()
        return {"content": [{"type": "image", "mimeType": "image/png", "data": data}]}
    if name == "blob":
        return {
            "content": [{"type": "image", "mimeType": "image/png", "data": "QUFB" * 16_700_000}]
        }
    if name == "broken":
        return {"content": [{"type": "image", "mimeType": "image/png", "data": "%%% no base64"}]}
    if name == "resources":
        text = {"uri": "file:///notes.md", "mimeType": "text/markdown", "text": "# notes"}
        blob = {"uri": "file:///a.bin", "mimeType": "application/x-thing", "blob": "AAECAw=="}
        link = {
            "type": "resource_link",
            "uri": "file:///b.csv",
            "name": "b",
            "size": 1234,
            "mimeType": "text/csv",
        }
        sound = {"type": "audio", "mimeType": "audio/wav", "data": "UklGRgAAAABXQVZF"}
        resources = [{"type": "resource", "resource": each} for each in (text, blob)]
        return {"content": [*resources, link, sound]}
    if name == "error":
        return {"content": [{"type": "text", "text": "e" * 5_000_000}], "isError": True}
    if name == "structured_error":
        return {"content": [], "structuredContent": {"wrong": True}, "isError": True}
    return {"content": [{"type": "text", "text": f"done {name}"}]}


NAMES = (
    "text",
    "blocks",
    "nodes",
    "checked",
    "picture",
    "blob",
    "broken",
    "resources",
    "error",
    "structured_error",
    "deep",
    "deep_id_last",
    "fine",
)
CHECKED = ("checked", "structured_error")
ROWS = {"type": "object", "required": ["rows"]}


def listing():
    return [
        {
            "name": name,
            "inputSchema": {"type": "object"},
            **({"outputSchema": ROWS} if name in CHECKED else {}),
        }
        for name in NAMES
    ]


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, number = message.get("method"), message["id"]
    if method == "tools/call" and message["params"]["name"].startswith("deep"):
        result = '"result":{"content":[],"structuredContent":{"a":' + DEEP + "}}"
        first, last = (f'"id":{number}', result)
        if message["params"]["name"] == "deep_id_last":
            first, last = last, first
        print('{"jsonrpc":"2.0",' + first + "," + last + "}", flush=True)
        continue
    reply = {"jsonrpc": "2.0", "id": number}
    if method == "initialize":
        reply["result"] = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "heavy", "version": "0"},
        }
    elif method == "tools/list":
        reply["result"] = {"tools": listing()}
    elif method == "tools/call":
        reply["result"] = answer(message["params"]["name"])
    else:
        reply["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(reply), flush=True)
