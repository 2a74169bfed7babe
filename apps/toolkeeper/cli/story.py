"""How does a call's line read to a person?"""

from typing import TYPE_CHECKING, Any

from toolkeeper.cli.output import say

if TYPE_CHECKING:
    from toolkeeper_contract import Outcome

_MARK = {"completed": "ok", "refused": "no", "failed": "!!", "suspended": ".."}
_RESULT_LINES = 6


def line_of(outcome: "Outcome") -> dict[str, Any]:
    """The JSON line of a call that was made or resumed."""
    return {**outcome.row.line(), "repeated": outcome.repeated}


def tell(line: dict[str, Any]) -> None:
    """One call: what was called, by which way, what was decided and what came of it."""
    outcome = line["outcome"]
    decision = line["decision"]
    via = "" if line["advertised_as"] == "definition" else f" (by {line['advertised_as']})"
    say(f"[{_MARK.get(outcome, '??')}] {line['call_id']}  {line['tool']}{via}: {outcome}")
    if line["repeated"]:
        stored = (
            "this is the stored result of an earlier call"
            if outcome != "suspended"
            else ("an equal call was made earlier")
        )
        say(f"       repeated  {stored}, {line['invocation_id']}; nothing was run now")
    if line["code"]:
        say(f"       code      {line['code']}")
    if decision is not None:
        rules = f" by {', '.join(decision['rules'])}" if decision["rules"] else ""
        say(f"       decision  {decision['effect']}{rules}: {'; '.join(decision['reasons'])}")
    if line["approval_id"]:
        say(f"       approval  {line['approval_id']}")
    if line["grant_id"]:
        say(f"       grant     {line['grant_id']}")
    lines = (line["result"] or "").split("\n")
    for number, text in enumerate(lines[:_RESULT_LINES]):
        say(f"       {'result    ' if number == 0 else '          '}{text[:300]}")
    if len(lines) > _RESULT_LINES:
        say(f"                 ... {len(lines) - _RESULT_LINES} more lines")
