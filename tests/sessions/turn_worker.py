"""One step of a turn in a process of its own.

python turn_worker.py CONFIG begin | reopen SESSION | next SESSION
"""

import asyncio
import json
import os
import sys

from toolkeeper import Toolkeeper


async def main() -> None:
    keeper = Toolkeeper.from_config(sys.argv[1])
    await keeper.open()
    if sys.argv[2] == "begin":
        session = await keeper.open_session(agent="chat", user="ana", provider="openai")
        turn = await session.begin_turn("find it")
        outcome = await turn.call(turn.read("s1", "tool_search", {"query": "weather forecast"}))
        assert not outcome.row.is_error
        print(json.dumps({"session": session.session_id, "request": turn.request}), flush=True)
        os._exit(0)
    session = await keeper.resumed_session(sys.argv[3])
    if sys.argv[2] == "reopen":
        turn = await session.reopen_turn()
        row = (await turn.call(turn.read("c1", "weather_today", {"city": "Ulm"}))).row
        print(json.dumps({"request": turn.request, "outcome": [row.outcome, row.advertised_as]}))
    else:
        print(json.dumps({"tools": (await session.begin_turn("go on")).tools}))
    await keeper.close()


asyncio.run(main())
