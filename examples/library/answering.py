"""How does a loop of one's own use toolkeeper?"""

import asyncio
from pathlib import Path

from toolkeeper import Suspended, Toolkeeper

keeper = Toolkeeper.from_config("toolkeeper.yaml")
notes = {}


@keeper.tool(name="notes.add", side_effect="workspace_write")
def add_note(title: str, body: str) -> str:
    """Add a note to today's page."""
    notes[title] = body
    return f"noted under {title}"


async def answer(message, ask_model):
    async with keeper.session(agent="chat", user="ana", provider="anthropic") as session:
        turn = await session.begin_turn(message)
        conversation = [{"role": "user", "content": message}]
        reply = ask_model(system=turn.system, tools=turn.tools, messages=conversation)
        outcomes = await turn.call_all(turn.calls(reply))
        for outcome in outcomes:
            if isinstance(outcome, Suspended):
                print(f"{outcome.row.tool} waits for approval {outcome.row.approval_id}")
        return turn.results(outcomes)


# What follows stands in for a model, so that the example runs without a network. With one,
# `ask_model` is `functools.partial(client.messages.create, model=..., max_tokens=...)`.


def recorded_reply(*, system, tools, messages):
    """A response of Anthropic's Messages API, as a dictionary."""
    arguments = {"title": "Dentist", "body": "Call before noon."}
    call = {"type": "tool_use", "id": "toolu_1", "name": tools[0]["name"], "input": arguments}
    return {"role": "assistant", "stop_reason": "tool_use", "content": [call]}


if __name__ == "__main__":
    Path("world").mkdir(exist_ok=True)  # where toolkeeper.yaml puts the ledger
    for result in asyncio.run(answer("remember to call the dentist", recorded_reply)):
        print(result)
