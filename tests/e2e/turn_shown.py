"""Another process: prints what the last turn of a session shows, as canonical JSON.

python turn_shown.py toolkeeper.yaml SESSION
"""

import asyncio
import sys

from toolkeeper import Toolkeeper
from toolkeeper_contract import canonical_text


async def main(config: str, session_id: str) -> None:
    async with Toolkeeper.from_config(config) as keeper:
        session = await keeper.resumed_session(session_id)
        turn = await session.reopen_turn()
        sys.stdout.buffer.write(canonical_text(turn.request).encode("utf-8"))


asyncio.run(main(*sys.argv[1:]))
