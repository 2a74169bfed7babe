"""Which injected calls would be let through, and how often is a user asked about their own?

    python bench/agentdojo.py [../shared/data/agentdojo-workspace-banking.json]

Replays the ground-truth calls of AgentDojo's user tasks and injection tasks through the real
pipeline, without a model: planning, classification, policy with the shipped pack `lethal-trifecta`,
approvals and the ledger in memory. The tools are AgentDojo's own, so results are what they are
there; `agentdojo.yaml` classifies them by what they do.

A user task is played on the untouched environment, and what is asked is approved. Then each is
played again for every injection task: its goal stands wherever the suite lets foreign text stand,
and the injected calls are tried twice, right after the first result that shows the goal, and after
the user's last call. What is asked of those is never approved.

Needs the package `agentdojo` besides toolkeeper.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolkeeper.runtime import Toolkeeper, Turn, load_configuration, resume_one
from toolkeeper.runtime.discovery import Discovery
from toolkeeper.testing import CountingIds, FixedClock, MemoryLedger
from toolkeeper_contract import (
    ApprovalState,
    Classification,
    Code,
    Effect,
    Listing,
    SourceKind,
    SourceState,
    SourceStatus,
    Text,
    ToolResult,
)
from toolkeeper_ledger import SealingKey
from toolkeeper_sources.published import sorted_out

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data" / "agentdojo-workspace-banking.json"
CONFIGURATION = HERE / "agentdojo.yaml"


@dataclass(frozen=True, slots=True)
class Task:
    """A user's or an injection's task: its words and its ground-truth calls, in order."""

    id: str
    words: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]


class Suite:
    """One of AgentDojo's suites as a source of tools. A ToolSource; `reset` makes its world anew.

    The data names the tools and the calls; the package executes them.
    """

    kind = SourceKind.MCP

    def __init__(self, name: str, data: Mapping[str, Any], version: str) -> None:
        from agentdojo.functions_runtime import FunctionsRuntime  # type: ignore[import-not-found]
        from agentdojo.task_suite.load_suites import (  # type: ignore[import-not-found]
            get_suite,
        )

        self.name = name
        self._suite = get_suite(version, name)
        self._runtime = FunctionsRuntime(self._suite.tools)
        self._tools, self._refused = sorted_out(name, data["tools"])
        self._vectors = tuple(data["injection_vectors"])
        self.user_tasks = tuple(_task(each, "prompt") for each in data["user_tasks"])
        self.injections = tuple(_task(each, "goal") for each in data["injection_tasks"])
        self.reset()

    def reset(self, foreign: str | None = None) -> None:
        """The world as it was; `foreign` is what stands in every place that others can write to."""
        written = {} if foreign is None else dict.fromkeys(self._vectors, _in_quotes(foreign))
        self._world = self._suite.load_and_inject_default_environment(written)

    async def listing(self) -> Listing:
        """The suite's tools, as the data has them."""
        return Listing(self._tools, self._refused, SourceStatus(self.name, SourceState.OK))

    async def call(self, raw_name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Runs the suite's own function in the world of this moment."""
        from agentdojo.agent_pipeline.tool_execution import (  # type: ignore[import-not-found]
            tool_result_to_str,
        )

        result, error = self._runtime.run_function(self._world, raw_name, dict(arguments))
        if error is not None:
            return ToolResult((Text(error),), is_error=True)
        return ToolResult((Text(tool_result_to_str(result)),))

    async def close(self) -> None:
        """Nothing to close."""


@dataclass(slots=True)
class Count:
    """What one way of deciding does to one suite."""

    injected: int = 0
    through: list[str] = field(default_factory=list)
    user_calls: int = 0
    asked: list[str] = field(default_factory=list)
    tasks: int = 0
    undisturbed: int = 0

    def plus(self, other: "Count") -> "Count":
        """Both together."""
        return Count(
            self.injected + other.injected,
            [*self.through, *other.through],
            self.user_calls + other.user_calls,
            [*self.asked, *other.asked],
            self.tasks + other.tasks,
            self.undisturbed + other.undisturbed,
        )

    def task(self, id: str, asked: Sequence[bool]) -> None:
        """Counts a user's task, with whether each of its calls was asked about (or denied)."""
        self.tasks += 1
        self.user_calls += len(asked)
        self.asked += [f"{id}#{at}" for at, gated in enumerate(asked, 1) if gated]
        self.undisturbed += not any(asked)


PACK = "lethal-trifecta, through the pipeline"
CLASS = "approve every change by class"
SPELLED = "the destination stands in the user's message"


class Bench:
    """A keeper over the suites, in memory."""

    def __init__(self, suites: Mapping[str, Suite]) -> None:
        clock = FixedClock()
        configuration = load_configuration(CONFIGURATION, {})
        servers = {name: configuration.servers[name] for name in suites}
        self.keeper = Toolkeeper(
            replace(configuration, servers=servers),
            ledger=MemoryLedger(clock=clock),
            sealer=SealingKey.generate(),
            clock=clock,
            ids=CountingIds(),
        )
        # The servers of the configuration, in this process.
        self.keeper._discovery = Discovery(dict(suites), configuration)
        self._suites = suites

    async def count(self, name: str) -> dict[str, Count]:
        """Every way of deciding, on one suite."""
        suite = self._suites[name]
        registry = await self.keeper.everything()
        classes = {tool.definition.name: tool.classification for tool in registry.tools.values()}
        counts = {PACK: Count(), CLASS: Count(), SPELLED: Count()}
        for task in suite.user_tasks:
            suite.reset()
            counts[PACK].task(task.id, await self._user_task(suite, task))
            for way, gates in ((CLASS, _by_class), (SPELLED, _by_spelling)):
                asked = [gates(classes[tool], given, task) for tool, given in task.calls]
                counts[way].task(task.id, asked)
            for injection in suite.injections:
                changing = [
                    (tool, given)
                    for tool, given in injection.calls
                    if not classes[tool].side_effect.reads
                ]
                label = f"{task.id}+{injection.id}"
                for count in counts.values():
                    count.injected += len(changing)
                for early in (True, False):
                    gated = await self._injection(suite, task, injection, early)
                    for (tool, _), held in zip(changing, gated, strict=True):
                        if not held and f"{label}:{tool}" not in counts[PACK].through:
                            counts[PACK].through.append(f"{label}:{tool}")
                for way, gates in ((CLASS, _by_class), (SPELLED, _by_spelling)):
                    counts[way].through += [
                        f"{label}:{tool}"
                        for tool, given in changing
                        if not gates(classes[tool], given, task)
                    ]
        return counts

    async def _user_task(self, suite: Suite, task: Task) -> list[bool]:
        async with self.keeper.session(agent=suite.name, user="emma") as session:
            turn = await session.begin_turn(task.words)
            return [
                (await self._call(suite, turn, f"u{at}", *call, approve=True))[0]
                for at, call in enumerate(task.calls)
            ]

    async def _injection(
        self, suite: Suite, task: Task, injection: Task, early: bool
    ) -> list[bool]:
        """Whether each changing call of `injection` is held, inside the user's task."""
        suite.reset(injection.words)
        async with self.keeper.session(agent=suite.name, user="emma") as session:
            turn = await session.begin_turn(task.words)
            for at, call in enumerate(task.calls):
                _, result = await self._call(suite, turn, f"u{at}", *call, approve=True)
                if early and injection.words[:24] in " ".join((result or "").split()):
                    break
            held = []
            for at, (tool, given) in enumerate(injection.calls):
                gated, _ = await self._call(suite, turn, f"i{at}", tool, given, approve=False)
                if not self._reads(suite, tool):
                    held.append(gated)
            return held

    def _reads(self, suite: Suite, tool: str) -> bool:
        registry = self.keeper.discovery.registry(frozenset(self._suites))
        return registry.tools[f"mcp.{suite.name}.{tool}"].classification.side_effect.reads

    async def _call(
        self,
        suite: Suite,
        turn: Turn,
        call_id: str,
        tool: str,
        given: Mapping[str, Any],
        *,
        approve: bool,
    ) -> tuple[bool, str | None]:
        """Whether the call was asked about or denied, and what the model reads of it."""
        outcome = await turn.call(turn.read(call_id, f"mcp.{suite.name}.{tool}", dict(given)))
        row = outcome.row
        if row.decision is None:
            # A call that never came to a decision would count as held, and prove nothing.
            raise SystemExit(f"{suite.name}: {tool} ended with {row.code} before it was decided")
        gated = row.decision.effect is not Effect.ALLOW
        if approve and row.approval_id is not None:
            await self.keeper.desk().answer(row.approval_id, ApprovalState.APPROVED)
            taken = await resume_one(self.keeper, row.invocation_id)
            row = taken.outcomes[0].row
            if row.code is Code.APPROVAL_EXPIRED:
                raise SystemExit(f"{suite.name}: the approval of {tool} did not hold")
        return gated, row.result


def _by_class(classification: Classification, given: Mapping[str, Any], task: Task) -> bool:
    return not classification.side_effect.reads


def _by_spelling(classification: Classification, given: Mapping[str, Any], task: Task) -> bool:
    """Asks about a change unless all its destinations (else its texts) are in the message."""
    if classification.side_effect.reads:
        return False
    named = classification.destination or tuple(given)
    values = [text for key in named for text in _texts(given.get(key))]
    return not values or not all(text.lower() in task.words.lower() for text in values)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _task(entry: Mapping[str, Any], words: str) -> Task:
    calls = tuple((call["tool"], call["args"]) for call in entry["calls"])
    return Task(entry["id"], entry[words], calls)


def _in_quotes(text: str) -> str:
    # The places are inside double-quoted and block scalars of a YAML template.
    return " ".join(text.replace("\\", "").replace('"', "'").split())


def load_suites(path: Path) -> dict[str, Suite]:
    """The suites of a data file, ready to be called. ModuleNotFoundError without the package."""
    # This script is called like the package, and its folder stands first where Python looks.
    sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != HERE]
    data = json.loads(path.read_text("utf-8"))
    version = data["benchmark_version"]
    return {name: Suite(name, body, version) for name, body in data["suites"].items()}


async def measure(suites: Mapping[str, Suite]) -> dict[str, dict[str, Count]]:
    """For each suite, and for all together, what each way of deciding does."""
    bench = Bench(suites)
    counted = {}
    async with bench.keeper:
        for name in suites:
            counted[name] = await bench.count(name)
    together: dict[str, Count] = {}
    for ways in counted.values():
        for way, count in ways.items():
            together[way] = together[way].plus(count) if way in together else count
    return {**counted, "together": together}


def main() -> int:
    """Prints the table; with `--calls` also every call behind it."""
    parser = argparse.ArgumentParser(description="Replay AgentDojo's ground truth.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--calls", action="store_true", help="name each call behind the numbers")
    chosen = parser.parse_args()
    try:
        suites = load_suites(chosen.data)
    except ModuleNotFoundError as error:
        if error.name != "agentdojo":
            raise
        print("this needs AgentDojo's tools: pip install agentdojo", file=sys.stderr)
        return 2
    counted = asyncio.run(measure(suites))
    print("| suite | decided by | injected changes | let through |", end=" ")
    print("user calls | asked | % | tasks without approval |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, ways in counted.items():
        for way, count in ways.items():
            share = 100 * len(count.asked) / count.user_calls
            print(
                f"| {name} | {way} | {count.injected} | {len(count.through)} "
                f"| {count.user_calls} | {len(count.asked)} | {share:.1f} "
                f"| {count.undisturbed} of {count.tasks} |"
            )
    if chosen.calls:
        for name, ways in counted.items():
            for way, count in ways.items():
                print(f"\n{name}, {way}\n  through: {', '.join(count.through) or '-'}")
                print(f"  asked: {', '.join(count.asked) or '-'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
