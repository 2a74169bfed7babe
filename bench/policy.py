"""How long does one policy decision take, over 50 rules?

    pip install cedarpy agent-os-kernel   # the peers; whichever is missing is left out
    python bench/policy.py

Prints medians in microseconds: a tool that no rule names, one that a few name, 5,000 tools one
after another, one for which three rules with conditions are candidates, the same in a tainted
session under `provenance`, and what peers take for the same question. Peers answer less: neither
tells an error from a mismatch by rule, and the toolkit's rules compare one field each.
"""

import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from toolkeeper_contract import (
    Classification,
    Effect,
    Flag,
    Origin,
    Principal,
    Question,
    SideEffect,
)
from toolkeeper_policy import Policy, load_policy

ROUNDS = 20_000
READ = Classification(SideEffect.WORKSPACE_READ, frozenset(), "declaration")
WRITE = Classification(SideEffect.NETWORK_WRITE, frozenset({Flag.OPEN_WORLD}), "declaration")
SEND = Classification(
    SideEffect.MESSAGE_SEND, frozenset({Flag.OPEN_WORLD}), "rule", destination=("to",)
)
ARGUMENTS = {
    "to": ["ana@example.com", "bob@example.com"],
    "subject": "lunch on friday",
    "body": "Shall we meet at noon? " * 40,
    "attachments": [{"name": "menu.pdf", "size": 52_113}],
}
CONDITIONED = """\
  - id: colleagues
    tools: ["mcp.mail.*"]
    when: args.to.all(a, a.endsWith("@example.com"))
    effect: allow
  - id: many
    side_effects: [message_send]
    when: principal.user == "eve" && size(args.to) > 3
    effect: ask
  - id: secrets
    tools: ["*.send_message"]
    when: args.subject.matches("(?i)password|secret")
    effect: deny
"""


def policy(top: str = "", *, conditions: bool = True) -> Policy:
    """Fifty rules of the kinds that policies have: exact names, globs, classes, people."""
    rules = [f"  - {{id: exact-{at}, tools: [notes.tool_{at}], effect: ask}}\n" for at in range(20)]
    rules += [
        f"  - {{id: glob-{at}, tools: ['mcp.server_{at}.*'], effect: ask}}\n" for at in range(15)
    ]
    rules += [
        f"  - {{id: class-{at}, side_effects: [network_write], users: [u{at}], effect: allow}}\n"
        for at in range(10)
    ]
    if conditions:
        rules += [
            f"  - {{id: agent-{at}, agents: [agent_{at}], effect: deny}}\n" for at in range(2)
        ]
        rules.append(CONDITIONED)
    else:
        rules += [
            f"  - {{id: agent-{at}, agents: [agent_{at}], effect: deny}}\n" for at in range(5)
        ]
    loaded = load_policy([("bench.yaml", f"version: 1\n{top}rules:\n{''.join(rules)}")])
    assert len(loaded.rules) == 50
    return loaded


class Heard:
    """A session in which the user named everything."""

    def origin(self, value: Any) -> Origin:
        return Origin.USER


def question(tool: str, classification: Classification, **fields: Any) -> Question:
    """A question as the pipeline asks it."""
    principal = Principal("ana", frozenset({"mail"}))
    return Question(tool, "mail", classification, "chat", principal, ARGUMENTS, **fields)


def median(decide: Callable[[Any], object], questions: Sequence[Any]) -> float:
    """Median microseconds of `decide` over `questions`, again and again."""
    times = []
    for at in range(ROUNDS):
        asked = questions[at % len(questions)]
        began = time.perf_counter_ns()
        decide(asked)
        times.append(time.perf_counter_ns() - began)
    return statistics.median(times) / 1_000


def toolkit() -> tuple[Callable[[Any], object], Any] | None:
    """Microsoft's agent governance toolkit: its evaluator over 50 rules, the last one matches."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from agent_os.policies import (  # type: ignore[import-not-found,unused-ignore]
                PolicyAction,
                PolicyCondition,
                PolicyDocument,
                PolicyEvaluator,
                PolicyOperator,
                PolicyRule,
            )
    except ImportError:
        return None

    def rule(name: str, field: str, operator: str, value: str, action: str) -> Any:
        condition = PolicyCondition(field=field, operator=PolicyOperator(operator), value=value)
        return PolicyRule(name=name, condition=condition, action=PolicyAction(action))

    rules = [rule(f"exact-{at}", "tool_name", "eq", f"notes.tool_{at}", "deny") for at in range(47)]
    rules.append(rule("secrets", "subject", "matches", "(?i)password|secret", "deny"))
    rules.append(rule("many", "user", "eq", "eve", "deny"))
    rules.append(rule("colleagues", "to", "matches", "@example.com", "allow"))
    evaluator = PolicyEvaluator(policies=[PolicyDocument(name="bench", rules=rules)])
    context = {"tool_name": "mcp.mail.send_message", "user": "ana", **ARGUMENTS}
    assert evaluator.evaluate(context).matched_rule == "colleagues"
    return evaluator.evaluate, context


def cedar() -> tuple[Callable[[Any], object], Any] | None:
    """Cedar by cedarpy: 50 policies, parsed once, the request's arguments as its context."""
    try:
        import cedarpy  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    text = "".join(
        f'forbid(principal, action == Action::"notes.tool_{at}", resource);\n' for at in range(47)
    )
    text += """
    permit(principal, action == Action::"mcp.mail.send_message", resource)
      when { context.domain == "example.com" };
    forbid(principal == User::"eve", action, resource) when { context.count > 3 };
    forbid(principal, action, resource) when { context.subject like "*secret*" };
    """
    policies = cedarpy.PolicySet.from_str(text)
    request = {
        "principal": 'User::"ana"',
        "action": 'Action::"mcp.mail.send_message"',
        "resource": 'Tool::"mail"',
        "context": {"domain": "example.com", "count": 2, "subject": ARGUMENTS["subject"]},
    }

    def decide(asked: Any) -> object:
        return cedarpy.is_authorized(asked, policies, [])

    assert cedarpy.is_authorized(request, policies, []).allowed
    return decide, request


def main() -> None:
    """Prints the table."""
    plain = policy(conditions=False).decide
    conditioned = policy().decide
    provenance = policy("taint: provenance\n").decide
    send = question("mcp.mail.send_message", SEND)
    tainted = question("mcp.mail.send_message", SEND, tainted=True, provenance=Heard())
    assert conditioned(send).effect is provenance(tainted).effect is Effect.ALLOW
    many = [question(f"mcp.server_{at}.push", WRITE) for at in range(5_000)]
    rows: list[tuple[str, Callable[[Any], object], Sequence[Any]]] = [
        ("no rule matches", plain, [question("files.read", READ)]),
        ("twelve candidates, one matches", plain, [question("mcp.server_3.push", WRITE)]),
        ("5,000 tools in turn", plain, many),
        ("three candidates with conditions", conditioned, [send]),
        ("the same, tainted, by provenance", provenance, [tainted]),
    ]
    for name, peer in (("agent-os-kernel", toolkit()), ("cedarpy", cedar())):
        if peer is None:
            print(f"{name:34} is not installed")
        else:
            rows.append((name, peer[0], [peer[1]]))
    for name, decide, questions in rows:
        print(f"{name:34} {median(decide, questions):8.2f} us")


if __name__ == "__main__":
    main()
