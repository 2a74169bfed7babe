"""How does an approval read to the one who has to answer it?"""

import json
from typing import TYPE_CHECKING, Any

from toolkeeper.cli.output import moment, say
from toolkeeper_contract import Scope

if TYPE_CHECKING:
    from toolkeeper_contract import Approval, Grant

_WIDTH = 11


def card(approval: "Approval") -> None:
    """Everything that an approver should know, the question first and the ids last."""
    binding, decision = approval.binding, approval.decision
    say(f"a call of {binding.tool}", style="bold")
    _field("arguments", json.dumps(approval.arguments, ensure_ascii=False, indent=2))
    for pointer, digest in approval.operands.items():
        _field("content", f"{pointer}: {_content(digest)}")
    for pointer in _uncovered(approval):
        _field("content", f"{pointer}: not covered; what it names may change before the call runs")
    _field("asked for", f"{binding.user}, by the agent {binding.agent}")
    _field("because", "\n".join(decision.reasons))
    if decision.taint:
        _field("session", f"has read what is {' and '.join(decision.taint)}")
    _field("approvers", ", ".join(approval.approvers))
    if decision.requester_excluded:
        _field("", f"not {binding.user}, who asks")
    _field("answer for", _scopes(approval))
    _field("state", _state(approval))
    _field("asked at", moment(approval.asked_at.isoformat()))
    _field("expires at", moment(approval.expires_at.isoformat()))
    say()
    _field("approval", approval.approval_id)
    _field("call", approval.invocation_id)
    _field("session", binding.session_id)


def tell_answer(approval: "Approval", asked: str, grant: "Grant | None") -> None:
    """What was decided, and everything that it lets through."""
    if approval.approval_id != asked:
        say(f"{asked} was replaced by {approval.approval_id}, for the new arguments")
    say(f"{approval.approval_id} is {approval.state.value} by {approval.decided_by}")
    if grant is not None:
        from toolkeeper.runtime.granting import in_words

        through, ends = in_words(grant).split("\n")
        say(f"{grant.grant_id} lets through {through}")
        say(f"  {ends}")
        say(f"end it with: toolkeeper grants revoke {grant.grant_id}")
    if approval.state.value == "approved":
        say(f"run it with: toolkeeper resume {approval.approval_id}")


def short(arguments: Any) -> str:
    """The arguments on one line of a table."""
    text = json.dumps(arguments, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _field(name: str, text: str) -> None:
    first, *rest = text.split("\n")
    say(f"  {name.ljust(_WIDTH)} {first}")
    for line in rest:
        say(f"  {'':{_WIDTH}} {line}")


def _content(digest: str) -> str:
    words = {
        "absent": "the argument is left out",
        "missing": "there is no such file",
        "no file": "this is no file",
        "no path": "this is no path",
        "unreadable": "it cannot be read",
        "unknown": "nobody could look at it",
    }
    known = words.get(digest)
    if known is not None:
        return f"{known}; the call is not run if that changes"
    kind = {"folder": "folder ", "part": "large file ", "list": "files "}.get(
        digest.partition(":")[0], ""
    )
    return f"{kind}{digest.partition(':')[2][:16]}...; the call is not run if that changes"


def _uncovered(approval: "Approval") -> tuple[str, ...]:
    from toolkeeper.runtime.operands import uncovered

    return uncovered(approval)


def _scopes(approval: "Approval") -> str:
    widest = approval.decision.scope
    if widest is Scope.ONCE:
        return "once: this very call"
    names = ", ".join(scope.value for scope in widest.up_to())
    return f"{names}; beyond once any arguments, unless `--condition` says which"


def _state(approval: "Approval") -> str:
    if approval.decided_at is None:
        return approval.state.value
    why = f": {approval.reason}" if approval.reason else ""
    when = moment(approval.decided_at.isoformat())
    return f"{approval.state.value}; answered by {approval.decided_by} at {when}{why}"
