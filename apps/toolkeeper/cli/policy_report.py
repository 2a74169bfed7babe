"""How are findings, explanations, tests and replays of a policy shown?"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from toolkeeper.cli.output import print_fields, print_json, print_table, say
from toolkeeper_contract import Effect, Scope

if TYPE_CHECKING:
    from toolkeeper.runtime.policy_cases import CaseReport, CaseResult
    from toolkeeper.runtime.policy_replay import Redecided
    from toolkeeper_policy import Explanation, Finding, Matched, Missed


def show_findings(findings: "Sequence[Finding]", as_json: bool) -> None:
    """What `policy check` found, each with its place."""
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    if as_json:
        print_json(
            {
                "findings": [
                    {
                        "severity": finding.severity.value,
                        "file": finding.file,
                        "line": finding.line,
                        "rule": finding.rule or None,
                        "message": finding.message,
                        "hint": finding.hint,
                    }
                    for finding in findings
                ],
                "errors": errors,
                "warnings": warnings,
            }
        )
        return
    for finding in findings:
        place = ":".join(str(part) for part in (finding.file, finding.line) if part is not None)
        hint = f" ({finding.hint})" if finding.hint else ""
        head = f"{place}: " if place else ""
        say(f"{head}{finding.severity.value}: {finding.message}{hint}")
    say(f"{_counted(errors, 'error')}, {_counted(warnings, 'warning')}")


def show_explanation(
    explanation: "Explanation",
    approvers: Sequence[str],
    *,
    exclude_requester: bool,
    as_json: bool,
) -> None:
    """The decision of one supposed call, and every rule that matched it or nearly did.

    `approvers` and `exclude_requester` are the agent's.
    """
    from toolkeeper_policy import answerers

    decision, question = explanation.decision, explanation.question
    asks = decision.effect is Effect.ASK
    user = question.principal.user
    who = answerers(decision, user, approvers=approvers, exclude_requester=exclude_requester)
    classification = question.classification
    told: dict[str, Any] = {
        "effect": decision.effect.value,
        "rules": list(decision.rules),
        "reasons": list(decision.reasons),
        "errors": list(decision.errors),
        "side_effect": classification.side_effect.value,
        "flags": sorted(flag.value for flag in classification.flags),
        "taint": list(decision.taint),
        "origins": dict(decision.origins),
        "revision": decision.revision,
        "asked_by": list(decision.asked_by),
        "approvers": list(who) if asks else [],
        "requester_excluded": asks and (decision.requester_excluded or exclude_requester),
        "scope": decision.scope.value if asks else None,
    }
    if as_json:
        print_json(told)
        return
    say(f"{question.tool}: {decision.effect.value}", style="bold")
    for reason in decision.reasons:
        say(f"  {reason}")
    say()
    classified = f"{classification.side_effect.value} ({classification.classified_by})"
    origins = [f"{pointer} {origin}" for pointer, origin in decision.origins.items()]
    print_fields(
        {
            "rules": ", ".join(decision.rules) or None,
            "errors": ", ".join(decision.errors) or None,
            "class": ", ".join([classified, *told["flags"]]),
            "taint": ", ".join(decision.taint) or None,
            "origins": "\n".join(origins) or None,
            "asked by": ", ".join(decision.asked_by) or None,
            "approvers": _approvers(who, user, excluded=told["requester_excluded"], asks=asks),
            "answer for": _scopes(decision.scope) if asks else None,
            "revision": decision.revision,
        }
    )
    rows = [
        (found.rule, _kind(found), "decides" if found.decided else "matches")
        for found in explanation.matched
    ]
    rows += [(missed.rule, _kind(missed), f"no: {missed.why}") for missed in explanation.missed]
    if rows:
        say()
        print_table(("rule", "effect", "matches"), rows)


def _approvers(who: Sequence[str], user: str, *, excluded: bool, asks: bool) -> str | None:
    if not asks:
        return None
    names = ", ".join(who) or "nobody, so the call is denied"
    return f"{names} (not {user}, who asks)" if excluded else names


def _scopes(widest: Scope) -> str:
    names = ", ".join(scope.value for scope in widest.up_to())
    return f"{names} (this very call)" if widest is Scope.ONCE else names


def show_cases(report: "CaseReport", as_json: bool) -> None:
    """How the cases of a policy test went, and which rules none of them exercised."""
    if as_json:
        print_json(
            {
                "cases": [_case(result) for result in report.results],
                "passed": len(report.results) - len(report.failed),
                "failed": len(report.failed),
                "rules": dict(report.matched),
                "never_exercised": list(report.never_exercised),
            }
        )
        return
    for result in report.results:
        say(f"{'ok' if result.passed else 'FAILED'}  {result.case.name}")
        if result.fault:
            say(f"    {result.case.file}:{result.case.line}: {result.fault}")
            for reason in result.decision.reasons:
                say(f"    {reason}")
    failed = len(report.failed)
    say(f"{len(report.results) - failed} passed, {failed} failed")
    exercised = len(report.matched) - len(report.never_exercised)
    say(f"{exercised} of {_counted(len(report.matched), 'rule')} exercised")
    for rule in report.never_exercised:
        say(f"never exercised: {rule}")


def show_replay(
    found: "Sequence[Redecided]", revision: str, since: datetime | None, as_json: bool
) -> None:
    """What another policy would have decided differently."""
    changed = [one for one in found if one.changed]
    moves = Counter((one.before.value, one.after) for one in found)
    if as_json:
        print_json(
            {
                "revision": revision,
                "since": since.isoformat() if since else None,
                "calls": len(found),
                "unchanged": len(found) - len(changed),
                "undecidable": sum(one.decision is None for one in found),
                "loosened": sum(one.loosened for one in found),
                "transitions": [
                    {"from": before, "to": after, "calls": count}
                    for (before, after), count in sorted(moves.items())
                ],
                "changes": [_change(one) for one in changed],
            }
        )
        return
    if not found:
        say("no decided call is recorded in that time")
        return
    say(f"{_counted(len(found), 'call')}, policy {revision[:12]}")
    print_table(
        ("was", "would be", "calls"),
        [
            (
                _PAST[before],
                _PAST[after] if after != before else f"{_PAST[after]} (as before)",
                count,
            )
            for (before, after), count in sorted(moves.items())
        ],
    )
    if changed:
        say()
        print_table(
            ("invocation", "at", "tool", "was", "would be", "why"),
            [
                (
                    one.call.row.invocation_id,
                    one.call.row.opened_at.isoformat(timespec="seconds"),
                    one.call.row.tool,
                    _PAST[one.before.value],
                    _PAST[one.after],
                    one.doubt or "; ".join(one.decision.reasons if one.decision else ()),
                )
                for one in changed
            ],
        )
    loosened = sum(one.loosened for one in found)
    if loosened:
        say(f"{_counted(loosened, 'call')} that {_were(loosened)} denied would now be allowed")


_PAST = {"allow": "allowed", "ask": "asked", "deny": "denied", "undecidable": "undecidable"}


def _kind(seen: "Matched | Missed") -> str:
    return f"{seen.effect.value} (hardline)" if seen.hardline else seen.effect.value


def _case(result: "CaseResult") -> dict[str, Any]:
    case, decision = result.case, result.decision
    return {
        "name": case.name,
        "passed": result.passed,
        "expect": case.expected.effect.value,
        "effect": decision.effect.value,
        "rules": list(decision.rules),
        "reasons": list(decision.reasons),
        "fault": result.fault,
        "file": case.file,
        "line": case.line,
    }


def _change(one: "Redecided") -> dict[str, Any]:
    row, session, decision = one.call.row, one.call.session, one.decision
    return {
        "invocation_id": row.invocation_id,
        "session_id": row.session_id,
        "opened_at": row.opened_at.isoformat(),
        "agent": session.agent,
        "user": session.user,
        "tool": row.tool,
        "from": one.before.value,
        "to": one.after,
        "rules_before": list(row.decision.rules) if row.decision else [],
        "rules": list(decision.rules) if decision else [],
        "reasons": list(decision.reasons) if decision else [],
        "doubt": one.doubt,
    }


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
