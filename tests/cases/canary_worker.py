"""One session with a canary in every place where a value can come in, logging everything there is.

    python canary_worker.py CONFIG.yaml

Prints one line of JSON: how each call ended. Everything that anybody logs goes to standard error:
the root logger is at DEBUG, warnings are shown, the event loop is in its debug mode and tells of
every callback.
"""

import asyncio
import json
import logging
import sys
import warnings

# Before anything is imported: what libraries log while they load is logged too.
logging.basicConfig(
    level=logging.DEBUG, stream=sys.stderr, format="%(name)s %(levelname)s %(message)s"
)
logging.captureWarnings(True)
warnings.simplefilter("always")

# SQLAlchemy holds itself at WARNING unless somebody wants to see what it does.
import sqlalchemy  # noqa: E402, F401

from toolkeeper import Toolkeeper  # noqa: E402
from toolkeeper.runtime import resume_one  # noqa: E402
from toolkeeper_contract import ApprovalState, ToolkeeperError  # noqa: E402

for _name in ("sqlalchemy", "sqlalchemy.engine", "sqlalchemy.pool"):
    logging.getLogger(_name).setLevel(logging.DEBUG)

CANARIES = json.loads(sys.argv[2])


async def main(config: str) -> None:
    asyncio.get_running_loop().slow_callback_duration = 0
    ended = []
    keeper = Toolkeeper.from_config(config)
    async with keeper, keeper.session(agent="chat", user="ana") as session:
        # At every level that somebody could set, also for single loggers.
        for name in list(logging.root.manager.loggerDict):
            logging.getLogger(name).setLevel(logging.DEBUG)
        turn = await session.begin_turn(f"my password is {CANARIES['message']}")
        for number, (name, arguments) in enumerate(json.loads(sys.argv[3])):
            outcome = await turn.call(
                turn.read(
                    f"c{number}", name, arguments, idempotency_key=f"{CANARIES['key']}-{number}"
                )
            )
            if outcome.row.approval_id is not None:
                desk = keeper.desk()
                await desk.answer(outcome.row.approval_id, ApprovalState.APPROVED, by="ana")
                outcome = (await resume_one(keeper, outcome.row.approval_id)).outcomes[0]
            ended.append([outcome.row.tool, outcome.row.outcome, outcome.row.code])
        pair = [turn.read(f"p{n}", *call) for n, call in enumerate(json.loads(sys.argv[3])[:2])]
        await turn.call_all(pair)
        try:
            await keeper.desk().answer("apr_unknown", ApprovalState.APPROVED, by=CANARIES["name"])
        except ToolkeeperError as error:
            ended.append(["answer", "refused", error.code])
    print(json.dumps(ended), flush=True)


asyncio.run(main(sys.argv[1]), debug=True)
