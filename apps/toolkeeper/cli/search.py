"""`toolkeeper search`: what would `tool.search` answer?"""

import asyncio
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkeeper.cli.option import DEFAULT_CONFIG, DEFAULT_USER, AgentName, Config, Json, User
from toolkeeper.cli.output import print_json, print_table, say
from toolkeeper.cli.queries import Query, read_queries
from toolkeeper_contract import ConfigError

if TYPE_CHECKING:
    from toolkeeper.runtime.searching import Searching


def search(
    agent: AgentName,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="What the tool should do.")
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            "--queries",
            metavar="FILE",
            help='Many queries, JSON Lines: {"id": ..., "query": ...}; answers are JSON Lines too.',
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Tools in an answer; the agent's `search` says what is most."
        ),
    ] = None,
    user: User = DEFAULT_USER,
    provider: Annotated[
        str, typer.Option(metavar="NAME", help="Whose wire format decides what is defined.")
    ] = "generic",
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Show what `tool.search` would answer in a new session. Writes nothing.

    It looks through what the agent's plan leaves without a definition. With `--queries` each line
    is `{"id": ..., "tools": [names, best first]}`; a query without an answer has no tools.
    """
    if (query is None) == (queries is None):
        raise ConfigError("name one query with `--query`, or a file of them with `--queries`")
    asked = [] if queries is None else read_queries(queries)
    searching = asyncio.run(_searching(config, agent, user, provider))
    if queries is not None:
        _answer_all(searching, asked, limit)
        return
    assert query is not None
    _answer(searching, query, limit, as_json)


async def _searching(config: Path, agent: str, user: str, provider: str) -> "Searching":
    from toolkeeper.runtime import Toolkeeper
    from toolkeeper.runtime.searching import Searching

    keeper = Toolkeeper.from_config(config)
    try:
        sight = await keeper.sight(agent=agent, user=user, provider=provider)
        return Searching.of(sight, keeper.agent(agent))
    finally:
        await keeper.close()


def _answer_all(searching: "Searching", queries: Iterable[Query], limit: int | None) -> None:
    for query in queries:
        line = {"id": query.id, "tools": searching.names(query.text, limit)}
        # ASCII, as no reader's idea of a line or of an encoding can break it.
        sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _answer(searching: "Searching", query: str, limit: int | None, as_json: bool) -> None:
    answer, text = searching.answer(query, limit)
    names = [tool.name for tool in answer.tools]
    if as_json:
        print_json({"query": query, "tools": names, "is_error": answer.is_error, "answer": text})
    elif names:
        print_table(
            ("rank", "tool", "description"),
            [
                (rank, tool.name, tool.definition.description.split("\n")[0][:100])
                for rank, tool in enumerate(answer.tools, start=1)
            ],
        )
    else:
        count = len(searching.catalog)
        looked = "1 tool was" if count == 1 else f"{count:,} tools were"
        say(f"{text.split(chr(10))[0]} ({looked} looked through)")
