"""What does a keeper look like that is measured: one tool, fifty rules, and any ledger?"""

from pathlib import Path

from policy import policy

from toolkeeper import FunctionTool, tool
from toolkeeper.runtime.clock import RandomIds, SystemClock
from toolkeeper.runtime.configuration import Agent, Configuration
from toolkeeper.runtime.keeper import Toolkeeper
from toolkeeper_contract import Ledger
from toolkeeper_ledger import SealingKey

TITLE, BODY = "dentist", "friday at nine, bring the papers and the insurance card"
ARGUMENTS = f'{{"title": "{TITLE}", "body": "{BODY}", "tags": ["health", "family"]}}'


async def add_note(title: str, body: str, tags: list[str]) -> str:
    """Add a note to the notebook."""
    return f"added {title}"


def add_note_in_thread(title: str, body: str, tags: list[str]) -> str:
    """Add a note to the notebook, by a function that may block."""
    return f"added {title}"


def keeper_on(ledger: Ledger) -> Toolkeeper:
    """A keeper whose agent `chat` has the tools `notes.add` and `notes.add_in_thread`."""
    tools: list[FunctionTool] = [
        tool(add_note, name="notes.add", side_effect="workspace_read"),
        tool(add_note_in_thread, name="notes.add_in_thread", side_effect="workspace_read"),
    ]
    configuration = Configuration(
        file="bench",
        folder=Path.cwd(),
        store="memory",
        agents={"chat": Agent(name="chat", tools=tuple(each.name for each in tools))},
    )
    keeper = Toolkeeper(
        configuration,
        policy=policy(),
        ledger=ledger,
        sealer=SealingKey.generate(),
        clock=SystemClock(),
        ids=RandomIds(),
    )
    for each in tools:
        keeper.add(each)
    return keeper
