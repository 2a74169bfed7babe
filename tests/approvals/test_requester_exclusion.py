"""Who asks may be excluded from answering: with every answer, and at the moment it is used."""

from typing import Any

import pytest

from toolkeeper.runtime.answering import NotAnswerable
from toolkeeper_contract import ConfigError, Scope

MAIL = ("mail.send", {"to": "bea"})
RULE = """
version: 1
rules:
  - {id: mails, tools: [mail.send], effect: ask, exclude_requester: true, approvers: [ana, bo]}
"""


@pytest.fixture(params=["agent", "rule"])
def excluding(request: pytest.FixtureRequest, place: Any) -> Any:
    if request.param == "agent":
        place.configure(approvers=("ana", "bo"), exclude_requester=True)
    else:
        place.policy = RULE
    return place


def test_who_asks_cannot_approve(excluding: Any) -> None:
    row = excluding.ask(*MAIL)
    for act in (
        lambda keeper: keeper.desk().grant(row.approval_id, Scope.ALWAYS, by="ana"),
        lambda keeper: keeper.desk().edit(row.approval_id, {"to": "cleo"}, by="ana"),
    ):
        with pytest.raises(NotAnswerable, match="`ana` is not among the approvers"):
            excluding.do(act)
    for yes in (True, False):
        with pytest.raises(NotAnswerable, match="`ana` is not among the approvers"):
            excluding.answer(row, yes, by="ana")
    excluding.answer(row, by="bo")
    assert excluding.resume()[0].outcome == "completed"


def test_the_other_approvers_call_is_the_first_ones_to_answer(excluding: Any) -> None:
    row = excluding.ask(*MAIL, user="bo")
    with pytest.raises(NotAnswerable):
        excluding.answer(row, by="bo")
    excluding.answer(row)
    assert excluding.resume()[0].outcome == "completed"


def test_a_grant_that_was_given_to_oneself_before_holds_no_longer(place: Any) -> None:
    place.configure(approvers=("ana", "bo"))
    place.grant(place.ask(*MAIL), by="ana")
    assert place.call(("mail.send", {"to": "x"}))[0].outcome == "completed"
    place.configure(exclude_requester=True)
    (row,) = place.call(("mail.send", {"to": "x"}))
    assert row.outcome == "suspended"
    place.grant(row, by="bo")
    assert place.call(("mail.send", {"to": "y"}))[0].outcome == "completed"


def test_new_arguments_that_exclude_the_editor_are_not_theirs_to_approve(place: Any) -> None:
    place.configure(approvers=("ana", "bo"))
    place.policy = """
version: 1
rules:
  - {id: far, tools: [mail.send], when: 'args.to != "bea"', effect: ask, exclude_requester: true}
"""
    row = place.ask(*MAIL)
    with pytest.raises(NotAnswerable, match="may not approve the new arguments"):
        place.do(lambda keeper: keeper.desk().edit(row.approval_id, {"to": "cleo"}, by="ana"))
    place.do(lambda keeper: keeper.desk().edit(row.approval_id, {"to": "cleo"}, by="bo"))
    assert place.resume()[0].outcome == "completed"


@pytest.mark.parametrize("approvers", [None, ("ana",)])
def test_an_agent_that_leaves_nobody_is_an_error_when_it_is_loaded(
    swift: Any, approvers: Any
) -> None:
    swift.users = {"ana": frozenset()}
    swift.configure(exclude_requester=True, approvers=approvers)
    with pytest.raises(ConfigError, match="nobody else could answer"):
        swift.keeper()


def test_a_rule_that_leaves_nobody_is_an_error_with_its_line(swift: Any) -> None:
    swift.policy = RULE.replace(", approvers: [ana, bo]", "")
    with pytest.raises(ConfigError, match="rule `mails` excludes the requester") as raised:
        swift.keeper()
    assert (raised.value.file, raised.value.line) == ("policy.yaml", 4)
    swift.configure(approvers=("ana", "bo"))
    swift.keeper()


def test_a_user_of_whom_nobody_knew_is_denied_at_once_and_not_parked(swift: Any) -> None:
    swift.configure(exclude_requester=True, approvers=("ana",))
    (row,) = swift.call(MAIL, user="ana")
    assert (row.outcome, row.code) == ("refused", "tool.denied.policy")
    assert "nobody but the one who asks" in row.result
    assert row.decision.effect == "deny"
    assert swift.events("approval.asked") == []
    (other,) = swift.call(MAIL, user="bo")
    assert other.outcome == "suspended"


def test_rules_that_agree_on_the_requester_alone_deny(swift: Any) -> None:
    swift.policy = """
version: 1
rules:
  - {id: one, tools: [mail.send], effect: ask, exclude_requester: true, approvers: [ana, bo]}
  - {id: two, tools: [mail.send], effect: ask, approvers: [ana, cleo]}
"""
    (row,) = swift.call(MAIL, user="ana")
    assert (row.outcome, row.code) == ("refused", "tool.denied.policy")
    (other,) = swift.call(MAIL, user="dora")
    assert other.outcome == "suspended"
