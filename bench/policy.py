"""How long does one policy decision take, over 50 rules?

    python bench/policy.py

Prints medians in microseconds: a tool that no rule names, one that a few name, and 5,000 tools
one after another.
"""

import statistics
import time
from collections.abc import Callable, Sequence

from toolkeeper_contract import Classification, Effect, Flag, Principal, Question, SideEffect
from toolkeeper_policy import Policy, Rule

ROUNDS = 20_000
READ = Classification(SideEffect.WORKSPACE_READ, frozenset(), "declaration")
WRITE = Classification(SideEffect.NETWORK_WRITE, frozenset({Flag.OPEN_WORLD}), "declaration")


def policy() -> Policy:
    """Fifty rules of the kinds that policies have: exact names, globs, classes, people."""
    rules: list[Rule] = []
    for at in range(20):
        rules.append(Rule(f"exact-{at}", Effect.ASK, tools=(f"notes.tool_{at}",)))
    for at in range(15):
        rules.append(Rule(f"glob-{at}", Effect.ASK, tools=(f"mcp.server_{at}.*",)))
    for at in range(10):
        rules.append(
            Rule(
                f"class-{at}",
                Effect.ALLOW,
                side_effects=frozenset({SideEffect.NETWORK_WRITE}),
                users=frozenset({f"user_{at}"}),
            )
        )
    for at in range(5):
        rules.append(Rule(f"agent-{at}", Effect.DENY, agents=frozenset({f"agent_{at}"})))
    return Policy(rules=tuple(rules))


def question(tool: str, classification: Classification) -> Question:
    """A question as the pipeline asks it."""
    return Question(tool, "functions", classification, "chat", Principal("ana"), {"id": 7})


def median(decide: Callable[[Question], object], questions: Sequence[Question]) -> float:
    """Median microseconds of `decide` over `questions`, again and again."""
    times = []
    for at in range(ROUNDS):
        asked = questions[at % len(questions)]
        began = time.perf_counter_ns()
        decide(asked)
        times.append(time.perf_counter_ns() - began)
    return statistics.median(times) / 1_000


def main() -> None:
    """Prints the table."""
    decide = policy().decide
    cases = {
        "no rule matches": [question("files.read", READ)],
        "twelve candidates, one matches": [question("mcp.server_3.push", WRITE)],
        "5,000 tools in turn": [question(f"mcp.server_{at}.push", WRITE) for at in range(5_000)],
    }
    for name, questions in cases.items():
        print(f"{name:32} {median(decide, questions):8.2f} us")


if __name__ == "__main__":
    main()
