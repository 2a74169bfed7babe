"""A real MCP server over stdio whose tools stand in a file, so that they outlive the process.

    python bookshelf_server.py SHELF.json

The file maps names to descriptions. The tool `arrange` replaces it and announces the new list, in
both protocol eras.
"""

import json
import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

SHELF = Path(sys.argv[1])
server = MCPServer("bookshelf", version="0.1")
standing = []


def stock():
    for name in standing:
        server.remove_tool(name)
    standing.clear()
    for name, description in json.loads(SHELF.read_text("utf-8")).items():
        server.add_tool(item(name), name=name, description=description)
        standing.append(name)


def item(name):
    def take(copies: int = 1) -> str:
        return f"{copies} of {name}"

    return take


@server.tool()
async def arrange(tools: dict[str, str], ctx: Context) -> str:
    """Puts other tools on the shelf."""
    SHELF.write_text(json.dumps(tools), "utf-8")
    stock()
    await ctx.notify_tools_changed()
    if (ctx.protocol_version or "") < "2026":
        await ctx.session.send_tool_list_changed()
    return "arranged"


stock()
server.run("stdio")
