"""The tools that the store of version 1 was made with; what they do is appended to `world.txt`."""

import time
from pathlib import Path

from toolkeeper import tool

WORLD = Path("world.txt")


@tool(name="list.show", side_effect="workspace_read")
def show(lines: int = 1) -> str:
    """Show the shopping list."""
    return "one loaf of bread\n" * lines


@tool(name="list.add", side_effect="workspace_write")
def add(item: str, api_token: str = "") -> str:
    """Put something on the shopping list."""
    with WORLD.open("a", encoding="utf-8") as world:
        world.write(f"{item} with {api_token or 'no token'}\n")
    return f"added {item}"


@tool(name="list.wait", side_effect="workspace_read")
def wait(seconds: float) -> str:
    """Wait before reading."""
    WORLD.with_name("started").touch()
    if WORLD.with_name("making").exists():
        # Whoever makes the store kills the call now; who takes it up need not wait as long as it
        # may take.
        time.sleep(seconds)
    return "waited"


TOOLS = [show, add, wait]
