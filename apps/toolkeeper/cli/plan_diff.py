"""`toolkeeper plan diff`: what is different between two plans, and why?"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import (
    DEFAULT_CONFIG,
    Config,
    Json,
    Store,
    json_object_option,
    json_option,
)
from toolkeeper.cli.output import print_json, print_table, say
from toolkeeper.cli.plan_option import Attributes, Endpoint, Intent, Model, Provider, User
from toolkeeper.cli.plan_reference import PlanFinder
from toolkeeper_contract import Plan

if TYPE_CHECKING:
    from toolkeeper_planner import PlanDiff, Standing, ToolDifference

_A_PLAN = "A stored plan's digest or its beginning, a plan's JSON file, or a configuration file."


def diff(
    before: Annotated[str, typer.Argument(metavar="A", help=_A_PLAN)],
    after: Annotated[str, typer.Argument(metavar="B", help="The same; what came later.")],
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For configuration files: whose plan."),
    ] = None,
    user: User = None,
    provider: Provider = None,
    model: Model = None,
    endpoint: Endpoint = None,
    intent: Intent = None,
    attributes: Attributes = None,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show what moved between two plans, from defined to deferred, say, and why.

    Plans of configuration files are made on the spot. Writes nothing.
    """
    from toolkeeper_planner import diff_plans

    finder = PlanFinder(
        config,
        store,
        {
            "agent": agent,
            "user": user,
            "provider": provider,
            "model": model,
            "endpoint": endpoint,
            "intent": json_option("--intent", intent),
            "attributes": (
                None if attributes is None else json_object_option("--attributes", attributes)
            ),
        },
    )
    old, new = asyncio.run(_both(finder, before, after))
    found = diff_plans(old, new)
    print_json(found.as_json()) if as_json else _show(found)


async def _both(finder: PlanFinder, before: str, after: str) -> tuple[Plan, Plan]:
    return await finder.find(before), await finder.find(after)


def _show(found: "PlanDiff") -> None:
    if found.same:
        say(f"both are plan {found.before[:12]}: nothing is different")
        return
    say(f"plan {found.before[:12]} -> {found.after[:12]}")
    rows = [
        *_rows("moved", found.moved),
        *_rows("added", found.added),
        *_rows("removed", found.removed),
        *_rows("redefined", _not_in(found.redefined, found.moved)),
        *_rows("repriced", _not_in(found.repriced, found.redefined)),
    ]
    if rows:
        print_table(("what", "tool", "before", "after", "tokens"), rows)
    if found.reordered:
        say("the tools that both arrays have stand in another order")
    say("the tools array changes" if found.array else "the tools array stays as it is")
    if found.settings:
        print_table(
            ("setting", "before", "after"),
            [(each.key, _value(each.before), _value(each.after)) for each in found.settings],
        )


def _rows(what: str, tools: Iterable["ToolDifference"]) -> list[tuple[str, str, str, str, str]]:
    return [
        (what, tool.name, _place(tool.before), _place(tool.after), _tokens(tool)) for tool in tools
    ]


def _not_in(
    tools: Sequence["ToolDifference"], others: Sequence["ToolDifference"]
) -> list["ToolDifference"]:
    told = {tool.name for tool in others}
    return [tool for tool in tools if tool.name not in told]


def _place(standing: "Standing | None") -> str:
    if standing is None:
        return "-"
    return f"{standing.place} ({standing.reason})" if standing.reason else standing.place


def _tokens(tool: "ToolDifference") -> str:
    before, after = (each.tokens if each else None for each in (tool.before, tool.after))
    if before is None and after is None:
        return ""
    return f"{'-' if before is None else before} -> {'-' if after is None else after}"


def _value(value: Any) -> str:
    text = "-" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:12]}..." if text.isalnum() else f"{text[:60]}..."
