"""A real MCP server over stdio whose listing and tools misbehave on request.

    python scenario_server.py SCENARIO

whole      three pages of tools, out of order
looping    its second page's cursor is its first
endless    a page after every page
broken     dies while its second page is asked for
fewer      like `calls`, but without `echo` from its second start on (a file remembers)
stalling   answers calls, but never a listing
calls      tools that answer, fail, hang, die, or tell what they can see
"""

import asyncio
import os
import sys

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

SCENARIO = sys.argv[1]
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
NAMES = [f"t{position:03d}" for position in range(120)][::-1]


def tool(name: str) -> types.Tool:
    return types.Tool(name=name, description=f"Does {name}.", input_schema=SCHEMA)


def started_before():
    with open(sys.argv[2]) as file:
        return file.read().count("started") > 1


async def list_tools(ctx, params):
    start = int(params.cursor) if params is not None and params.cursor else 0
    if SCENARIO == "whole":
        following = start + 50 if start + 50 < len(NAMES) else None
        return page([tool(name) for name in NAMES[start : start + 50]], following)
    if SCENARIO == "looping":
        return page([tool(f"t{start}")], 1 if start == 0 else 0 if start == 2 else 2)
    if SCENARIO == "endless":
        return page([tool(f"t{start}")], start + 1)
    if SCENARIO == "stalling":
        await asyncio.sleep(60)
    if SCENARIO == "broken":
        if start:
            os._exit(7)
        return page([tool("first")], 1)
    names = ["slow", "die", "fail", "echo", "picture", "wrong", "crash", "env"]
    if SCENARIO == "fewer" and started_before():
        names.remove("echo")
    return page([tool(name) for name in names], None)


def page(tools, cursor):
    return types.ListToolsResult(
        tools=tools, next_cursor=None if cursor is None else str(cursor), ttl_ms=0
    )


async def call_tool(ctx, params):
    name, arguments = params.name, params.arguments or {}
    if name == "echo" and "wait" in arguments:
        await asyncio.sleep(arguments["wait"])
    if name == "slow":
        try:
            await asyncio.sleep(60)
        finally:
            with open(arguments["witness"], "w") as file:
                file.write("cancelled")
    if name == "die":
        os._exit(3)
    if name == "fail":
        return result("not today", error=True)
    if name == "picture":
        image = types.ImageContent(type="image", data="aGVsbG8=", mime_type="image/png")
        return types.CallToolResult(content=[image], structured_content={"a": 1})
    if name == "wrong":
        raise types_error(types.INVALID_PARAMS, "n must be even")
    if name == "crash":
        raise types_error(types.INTERNAL_ERROR, "secret in the engine room")
    if name == "env":
        return result("\n".join(sorted(os.environ)))
    return result(f"{name} {arguments.get('n')}")


def result(text, error=False):
    block = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[block], is_error=error)


def types_error(code, message):
    from mcp import MCPError

    return MCPError(code=code, message=message)


async def main():
    if SCENARIO == "fewer":
        with open(sys.argv[2], "a") as file:
            file.write("started\n")
    server = Server("paged", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
