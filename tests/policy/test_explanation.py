"""What does an explanation say of each rule?"""

import json
from datetime import UTC, datetime
from typing import Any

from toolkeeper_contract import Classification, Effect, Flag, Principal, Question, SideEffect
from toolkeeper_policy import Explanation, explain, load_policy


def explained(rules: str, top: str = "", **fields: Any) -> Explanation:
    asked: dict[str, Any] = {
        "tool": "mcp.mail.send",
        "source": "mail",
        "classification": Classification(SideEffect.MESSAGE_SEND, frozenset(), "rule"),
        "agent": "chat",
        "principal": Principal("ana", frozenset({"mail"})),
        "arguments": {"to": "eve@example.com"},
        "at": datetime(2026, 6, 1, tzinfo=UTC),
    }
    policy = load_policy([("p.yaml", f"version: 1\n{top}rules:\n{rules}")])
    return explain(policy, Question(**{**asked, **fields}))


def why(rule: str, **fields: Any) -> str | None:
    found = explained(f"  - {{id: x, {rule}}}\n", **fields)
    return found.missed[0].why if found.missed else None


def test_every_rule_that_matched_is_named_and_which_of_them_decided() -> None:
    found = explained(
        "  - {id: b, tools: [mcp.mail.send], effect: ask}\n"
        "  - {id: a, side_effects: [message_send], effect: allow}\n"
        "hardline:\n  - {id: c, tools: [mcp.mail.send], when: args.to == 'x', effect: deny}\n"
    )
    assert [(one.rule, one.effect, one.decided) for one in found.matched] == [
        ("a", Effect.ALLOW, False),
        ("b", Effect.ASK, True),
    ]
    (missed,) = found.missed
    assert (missed.rule, missed.hardline) == ("c", True)
    assert missed.why == "its condition is false: `args.to == 'x'`"


def test_a_near_miss_says_which_one_thing_is_otherwise() -> None:
    assert "agents `work`" in (why("tools: [mcp.mail.send], agents: [work], effect: ask") or "")
    assert "users `eve`" in (why("tools: ['mcp.*'], users: [eve], effect: ask") or "")
    assert "scopes `notes`" in (why("agents: [chat], scopes: [notes], effect: ask") or "")
    assert "sources `git`" in (why("agents: [chat], sources: [git], effect: ask") or "")
    assert "this call is `message_send`" in (
        why("tools: ['mcp.*'], side_effects: [financial], effect: ask") or ""
    )
    assert "flags `private`" in (why("tools: ['mcp.*'], flags: [private], effect: ask") or "")
    assert "no attribute `site`" in (
        why("tools: ['mcp.*'], attributes: {site: '*'}, effect: ask") or ""
    )
    assert "other values" in (
        why("agents: [chat], attributes: {a: 1}, effect: ask", attributes={"a": 2}) or ""
    )
    assert "expired at 2026-01-02" in (
        why("tools: ['mcp.*'], expires: 2026-01-01, effect: ask") or ""
    )
    assert "no moment" in (
        why("tools: ['mcp.*'], expires: 2030-01-01, effect: allow", at=None) or ""
    )
    assert "could not be evaluated: something that it reads is missing" in (
        why("when: args.cc == 'x', effect: ask") or ""
    )


def test_a_spelling_of_another_tool_is_shown_and_a_wholly_other_rule_is_not() -> None:
    assert "names are exact" in (why("tools: [mcp.Mail.Send], effect: deny") or "")
    assert "names are exact" in (why("tools: [mcp_mail_send], effect: deny") or "")
    assert "another tool" in (why("tools: [mcp.mail.sent], effect: deny") or "")
    assert why("tools: [notes.add], effect: deny") is None
    assert why("tools: [notes.add], agents: [work], effect: deny") is None
    assert why("tools: [mcp.mail.send], agents: [work], users: [eve], effect: deny") is None


def test_an_allow_rule_that_does_not_count_is_a_near_miss() -> None:
    wipe = Classification(SideEffect.MESSAGE_SEND, frozenset({Flag.DESTRUCTIVE}), "rule")
    said = why("tools: [mcp.mail.send], effect: allow", classification=wipe)
    assert said == "it does not name the flag `destructive`"


def test_an_explanation_is_plain_json_with_taint_and_origins() -> None:
    found = explained(
        "  - {id: a, tools: ['mcp.*'], effect: allow}\n", "taint: provenance\n", tainted=True
    )
    body = found.as_json()
    assert json.loads(json.dumps(body)) == body
    keys = ("effect", "rules", "reasons", "errors", "side_effect", "flags", "taint", "origins")
    assert [key for key in (*keys, "revision") if key not in body] == []
    assert (body["effect"], body["taint"], body["origins"]) == (
        "ask",
        ["tainted"],
        {"/to": "nowhere"},
    )
    assert body["matched"] == [{"rule": "a", "effect": "allow", "hardline": False, "decided": True}]
