"""A real MCP server over stdio whose tool `grow` adds a tool and announces it, in both eras."""

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("growing", version="0.1")


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""

    def extra() -> str:
        """Came later."""
        return "extra"

    server.add_tool(extra, name="extra")
    await ctx.notify_tools_changed()
    if (ctx.protocol_version or "") < "2026":
        await ctx.session.send_tool_list_changed()
    return "grown"


server.run("stdio")
