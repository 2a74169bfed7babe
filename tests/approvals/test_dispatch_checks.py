"""What was approved is looked at once more before it runs; each look can end it."""

from pathlib import Path
from typing import Any

import pytest

MAIL = ("mail.send", {"to": "bea"})


def approved(place: Any, name: str = MAIL[0], arguments: Any = MAIL[1], **more: Any) -> Any:
    row = place.ask(name, arguments)
    place.answer(row, **more)
    return row


def ended(place: Any) -> Any:
    """How the one call that was taken up ended."""
    (row,) = place.resume()
    assert place.row(row) == row
    return row


def test_with_nothing_changed_it_runs_days_later_in_another_process(place: Any) -> None:
    from toolkeeper.runtime.configuration import Limits

    place.configure(limits=Limits(approval_expiry=30 * 86_400.0))
    row = place.ask(*MAIL)
    place.clock.advance(days=6)
    # A deploy in between: other caps, one tool more to see, another policy that still asks.
    place.configure(deferred_tools=("lookup",), replan="never")
    place.policy = "version: 1\nrules:\n  - {id: mails, tools: [mail.send], effect: ask}\n"
    place.answer(row)
    place.clock.advance(days=2)
    done = ended(place)
    assert (done.outcome, done.invocation_id) == ("completed", row.invocation_id)
    # The row keeps the decision that asked; the event tells the one it ran under.
    assert done.decision.rules == ("mails",)
    first, second = place.events("call.decided")
    assert (first["decision"]["rules"], second["decision"]["rules"]) == ([], ["mails"])
    assert place.effects == [("send", "bea")]


def test_another_definition_is_not_what_was_approved(place: Any) -> None:
    approved(place)
    place.description = "Send a mail, and a copy to everybody."
    row = ended(place)
    assert (row.outcome, row.code) == ("refused", "tool_pin_mismatch")
    assert place.effects == []


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("rules:\n  - {id: nobody, tools: [mail.send], when: 'args.to == \"bea\"', effect: deny}",
         "tool.denied.policy"),
        ("hardline:\n  - {id: never, tools: [mail.send], effect: deny}", "tool.denied.hardline"),
        ("rules:\n  - {id: odd, tools: [mail.send], when: 'args.cc == \"x\"', effect: ask}",
         "tool.denied.rule_error"),
    ],
)  # fmt: skip
def test_the_policy_of_the_moment_has_the_last_word(place: Any, policy: str, code: str) -> None:
    approved(place)
    place.policy = f"version: 1\n{policy}\n"
    row = ended(place)
    assert (row.outcome, row.code) == ("refused", code)
    assert place.effects == []


def test_a_policy_that_no_longer_asks_lets_pass_what_was_approved(place: Any) -> None:
    place.policy = """
version: 1
rules:
  - {id: mails, tools: [mail.send], effect: ask, approvers: [bo]}
"""
    approved(place, by="bo")
    place.policy = "version: 1\nrules:\n  - {id: mails, tools: [mail.send], effect: allow}\n"
    assert ended(place).outcome == "completed"


def test_an_answer_that_is_too_old_is_none(place: Any) -> None:
    approved(place)
    place.clock.advance(hours=25)
    row = place.do(lambda keeper: keeper.ledger.invocation("inv_0001"))
    assert (row.outcome, row.code) == ("refused", "tool.approval.expired")
    assert place.resume() == []
    assert place.effects == []


def test_an_approver_who_is_none_any_more_has_approved_nothing(place: Any) -> None:
    place.configure(approvers=("ana", "bo"))
    approved(place, by="bo")
    place.configure(approvers=("ana",))
    row = ended(place)
    assert (row.outcome, row.code) == ("refused", "tool.approval.expired")
    assert "no longer entitled" in row.result
    assert place.effects == []


def test_one_who_asked_is_none_when_the_requester_is_excluded_since(place: Any) -> None:
    place.configure(approvers=("ana", "bo"))
    approved(place, by="ana")
    place.configure(exclude_requester=True)
    assert ended(place).code == "tool.approval.expired"
    assert place.effects == []


def test_a_tool_that_was_taken_away_does_not_run(place: Any) -> None:
    row = approved(place)
    place.do(lambda keeper: _disable(keeper, row.session_id))
    assert ended(place).code == "tool.not_found.withdrawn"
    assert place.effects == []


async def _disable(keeper: Any, session_id: str) -> None:
    session = await keeper.resumed_session(session_id)
    await session.set_intent({"disabled": ["mail.send"]})


# What the arguments name


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "script"
    file.write_text("the good one")
    return file


def test_a_file_that_is_as_it_was_approved_is_run(place: Any, script: Path) -> None:
    row = approved(place, "script.run", {"path": str(script)})
    (asked,) = place.events("approval.asked")
    assert asked["operands"]["/path"].startswith("sha256:")
    assert row.approval_id == asked["approval_id"]
    assert ended(place).outcome == "completed"
    assert place.effects == [("run", "the good one")]


@pytest.mark.parametrize("change", ["rewrite", "remove", "replace", "link"])
def test_a_file_that_is_another_since_is_not(
    place: Any, script: Path, tmp_path: Path, change: str
) -> None:
    approved(place, "script.run", {"path": str(script)})
    if change == "rewrite":
        script.write_text("the evil one")
    elif change == "remove":
        script.unlink()
    elif change == "replace":
        (tmp_path / "new").write_text("the evil one")
        (tmp_path / "new").rename(script)
    else:
        (tmp_path / "other").write_text("the evil one")
        script.unlink()
        script.symlink_to(tmp_path / "other")
    row = ended(place)
    assert (row.outcome, row.code) == ("refused", "tool.approval.expired")
    assert "`/path`" in row.result
    assert "changed since" in row.result
    assert place.effects == []


def test_a_file_that_was_not_there_may_not_appear(place: Any, tmp_path: Path) -> None:
    approved(place, "script.run", {"path": str(tmp_path / "later")})
    (tmp_path / "later").write_text("the evil one")
    assert ended(place).code == "tool.approval.expired"
    assert place.effects == []


def test_an_equal_call_does_not_use_an_answer_for_what_the_file_was(
    place: Any, script: Path
) -> None:
    row = approved(place, "script.run", {"path": str(script)})
    script.write_text("the evil one")
    (again,) = place.call(("script.run", {"path": str(script)}), session=row.session_id)
    assert again.outcome == "suspended"
    assert again.invocation_id != row.invocation_id
    assert place.effects == []


def test_edited_arguments_are_approved_with_what_they_name(
    place: Any, script: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text("another good one")
    for evil in (False, True):
        row = place.ask("script.run", {"path": str(script)})
        place.do(lambda keeper, row=row: keeper.desk().edit(row.approval_id, {"path": str(other)}))
        if evil:
            other.write_text("the evil one")
        assert ended(place).outcome == ("refused" if evil else "completed")
    assert place.effects == [("run", "another good one")]
