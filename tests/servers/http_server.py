"""A real MCP server over streamable HTTP.   python http_server.py PORT"""

import os
import sys

from mcp.server import MCPServer

server = MCPServer("web", version="0.1")


@server.tool()
def greet(name: str) -> str:
    """Greets."""
    return f"hello {name}"


@server.tool()
def die() -> str:
    """Ends the server."""
    os._exit(3)


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
