"""`toolkeeper plan diff`: what moved between two plans, wherever they come from."""

import json
from collections import Counter
from typing import Any

import pytest

from toolkeeper.cli.keys import KEYS

Desktop = Any

CAPPED = """
version: 1
include: [toolkeeper.yaml]
override: {agents: {chat: {caps: {definitions: 5}}}}
"""


@pytest.fixture
def capped(desktop: Desktop) -> Desktop:
    """A desktop with a second configuration, whose array holds five definitions."""
    desktop.write("capped.yaml", CAPPED)
    return desktop


def diff(desktop: Desktop, *words: str) -> dict[str, Any]:
    ended = desktop.toolkeeper("plan", "diff", *words, "--json")
    assert (ended.code, ended.err) == (0, "")
    assert tuple(ended.line) == KEYS["plan diff"][1]
    line: dict[str, Any] = ended.line
    return line


def moved(found: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {
        row["name"]: (
            row["before"]["place"],
            row["before"]["reason"],
            row["after"]["place"],
            row["after"]["reason"],
        )
        for row in found["moved"]
    }


def digests(desktop: Desktop) -> list[str]:
    return [line["digest"] for line in desktop.toolkeeper("audit", "plans", "--json").lines]


def test_two_configurations_tell_what_was_deferred_and_why(capped: Desktop) -> None:
    found = diff(capped, "toolkeeper.yaml", "capped.yaml", "--user", "ana")
    places = moved(found)
    assert places["undeclared"] == ("defined", None, "deferred", "definition_cap")
    assert {place[2:] for place in places.values()} == {("deferred", "definition_cap")}
    assert {"key": "caps.definitions", "before": 30, "after": 5} in found["settings"]
    assert found["array_changed"] is True
    assert found["same"] is False


def test_the_same_plan_is_the_same_wherever_it_is_found(capped: Desktop) -> None:
    capped.play("{id: c1, tool: schedule.list}")
    (digest,) = digests(capped)
    plan = capped.toolkeeper("plan", "--agent", "chat", "--user", "ana", "--json").out
    capped.write("plan.json", plan)
    for word in (digest, digest[:8], "plan.json", "toolkeeper.yaml"):
        found = diff(capped, word, digest, "--user", "ana")
        assert (found["before"], found["after"], found["same"]) == (digest, digest, True)
        assert found["moved"] == found["added"] == found["settings"] == []


def test_stored_plans_of_two_turns_tell_what_the_turn_changed(desktop: Desktop) -> None:
    desktop.write(
        "session.yaml",
        """
        agent: chat
        user: ana
        turns:
          - calls: []
          - override: {disabled: [schedule.list]}
        """,
    )
    assert desktop.toolkeeper("run", "session.yaml").code == 0
    first, second = digests(desktop)
    found = diff(desktop, first[:12], second[:12])
    assert moved(found) == {"schedule.list": ("defined", None, "filtered", "disabled")}
    shown = desktop.toolkeeper("plan", "diff", first[:12], second[:12])
    assert shown.code == 0
    (row,) = [line for line in shown.out.splitlines() if line.startswith(" moved")]
    assert "filtered (disabled)" in row


def test_a_line_of_the_audit_is_a_plan(desktop: Desktop) -> None:
    desktop.play("{id: c1, tool: schedule.list}")
    desktop.write("line.json", desktop.toolkeeper("audit", "plans", "--json").out)
    assert diff(desktop, "line.json", digests(desktop)[0])["same"] is True


def test_two_users_of_one_configuration_have_two_plans(desktop: Desktop) -> None:
    for user in ("ana", "bob"):
        plan = desktop.toolkeeper("plan", "--agent", "chat", "--user", user, "--json").out
        desktop.write(f"{user}.json", plan)
    assert moved(diff(desktop, "ana.json", "bob.json")) == {
        "mail.send": ("deferred", "configured", "filtered", "scope")
    }


def test_models_are_compared_where_a_provider_searches(desktop: Desktop) -> None:
    desktop.write(
        "native.yaml",
        "version: 1\ninclude: [toolkeeper.yaml]\n"
        "override: {agents: {chat: {disclosure: native}}}\n",
    )
    found = diff(
        desktop,
        "toolkeeper.yaml",
        "native.yaml",
        "--user",
        "ana",
        "--provider",
        "anthropic",
        "--model",
        "claude-sonnet-4-5",
    )
    used = {each["key"]: each["after"] for each in found["settings"]}
    assert used["disclosure.used"] == "native"
    assert {row["name"] for row in found["removed"]} == {"tool.call", "tool.search"}


def test_the_table_tells_a_person_the_same(capped: Desktop) -> None:
    found = diff(capped, "toolkeeper.yaml", "capped.yaml", "--user", "ana")
    shown = capped.toolkeeper("plan", "diff", "toolkeeper.yaml", "capped.yaml", "--user", "ana")
    assert shown.code == 0
    for name in moved(found):
        (row,) = [line for line in shown.out.splitlines() if f" {name} " in line]
        assert "deferred (definition_cap)" in row
    assert "caps.definitions" in shown.out
    assert "the tools array changes" in shown.out
    same = capped.toolkeeper("plan", "diff", "capped.yaml", "capped.yaml")
    assert "nothing is different" in same.out


def test_comparing_writes_nothing(capped: Desktop) -> None:
    before = capped.files()
    diff(capped, "toolkeeper.yaml", "capped.yaml")
    assert capped.files() == before


def test_a_beginning_of_several_digests_is_ambiguous_and_one_of_none_is_unknown(
    desktop: Desktop,
) -> None:
    # Seventeen different plans: two of them begin with the same of sixteen digits.
    names = ["schedule.list", "schedule.update", "mail.send", "slow.read", "broken"]
    turns = [
        {"override": {"disabled": [name for at, name in enumerate(names) if number >> at & 1]}}
        for number in range(17)
    ]
    desktop.write("session.yaml", json.dumps({"agent": "chat", "user": "ana", "turns": turns}))
    assert desktop.toolkeeper("run", "session.yaml").code == 0
    found = digests(desktop)
    assert len(set(found)) == 17
    first = Counter(digest[0] for digest in found)
    common = next(digit for digit, count in first.items() if count > 1)
    ended = desktop.toolkeeper("plan", "diff", common, found[0])
    assert (ended.code, ended.out) == (2, "")
    assert f"the digests of {first[common]} stored plans begin with `{common}`" in ended.err
    other = "".join("0" if digit != "0" else "1" for digit in found[0])
    ended = desktop.toolkeeper("plan", "diff", other, found[0])
    assert (ended.code, ended.out) == (2, "")
    assert f"no stored plan's digest begins with `{other}`" in ended.err


def damaged(desktop: Desktop) -> dict[str, str]:
    plan = json.loads(desktop.toolkeeper("plan", "--agent", "chat", "--user", "ana", "--json").out)
    unpinned = {**plan, "pins": {}}
    odd = {**plan, "defined_tool_names": ["a", 7]}
    reason = {**plan, "skipped_tool_names": [{"name": "x", "reason": "because"}]}
    searchable = {**plan, "searchable_tool_names": ["x.y"]}
    caps = {**plan, "caps": {**plan["caps"], "definitions": "many"}}
    cut = {key: plan[key] for key in ("digest", "defined_tool_names")}
    whole = {
        name: json.dumps(value)
        for name, value in {
            "unpinned": unpinned,
            "odd": odd,
            "reason": reason,
            "searchable": searchable,
            "caps": caps,
            "cut": cut,
        }.items()
    }
    return {**whole, "broken": json.dumps(plan)[:-40]}


def test_a_damaged_plan_is_told_whatever_is_missing(desktop: Desktop) -> None:
    for name, text in damaged(desktop).items():
        desktop.write(f"{name}.json", text)
        ended = desktop.toolkeeper("plan", "diff", f"{name}.json", "toolkeeper.yaml")
        assert (ended.code, ended.out) == (2, ""), name
        assert ended.err.startswith(f"error: {name}.json: this is no whole plan (write one")


def test_a_file_of_several_plans_is_told(desktop: Desktop) -> None:
    plan = desktop.toolkeeper("plan", "--agent", "chat", "--json").out
    (desktop.folder / "two.json").write_text(plan * 2)
    ended = desktop.toolkeeper("plan", "diff", "two.json", "toolkeeper.yaml")
    assert ended.code == 2
    assert "two.json: the file holds 2 plans (keep one of them)" in ended.err


WORDS = {
    ("toolkeeper.yaml",): "the argument `B` is missing",
    ("nope.yaml", "toolkeeper.yaml"): "there is no file `nope.yaml`, and it is no digest of a plan",
    ("toolkeeper.yaml", "."): "there is no file `.`",
    ("toolkeeper.yaml", "toolkeeper.yaml", "--agent", "chta"): "unknown agent `chta`",
    ("toolkeeper.yaml", "tools.py"): "tools.py:",
    ("toolkeeper.yaml", "toolkeeper.yaml", "--intent", "{"): "`--intent`",
}


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_what_cannot_be_meant_is_told(desktop: Desktop, words: tuple[str, ...]) -> None:
    ended = desktop.toolkeeper("plan", "diff", *words)
    assert (ended.code, ended.out) == (2, "")
    assert WORDS[words] in ended.err


@pytest.mark.sqlite_file
def test_a_digest_without_a_store_is_told(desktop: Desktop) -> None:
    ended = desktop.toolkeeper("plan", "diff", "abcdef", "toolkeeper.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "toolkeeper.db" in ended.err


def test_of_several_agents_one_has_to_be_named(desktop: Desktop) -> None:
    desktop.configure(add="  other: {tools: [schedule.list]}\n")
    ended = desktop.toolkeeper("plan", "diff", "toolkeeper.yaml", "toolkeeper.yaml")
    assert ended.code == 2
    assert "several agents (name one with `--agent`: `chat`, `other`)" in ended.err
    assert diff(desktop, "toolkeeper.yaml", "toolkeeper.yaml", "--agent", "other")["same"] is True


def test_plan_is_still_a_verb_of_its_own(desktop: Desktop) -> None:
    assert desktop.toolkeeper("plan", "--agent", "chat", "--json").line["agent"] == "chat"
    bare = desktop.toolkeeper("plan")
    assert bare.code == 2
    assert "name an agent with `--agent`" in bare.err
    unknown = desktop.toolkeeper("plan", "dif")
    assert unknown.code == 2
    assert "unknown command `dif` (did you mean `diff`?)" in unknown.err
    before = desktop.toolkeeper("plan", "--agent", "chat", "diff", "toolkeeper.yaml", "x")
    assert before.code == 2
    assert "`--agent` stands before `diff`" in before.err
    for words in (("plan", "--help"), ("plan", "diff", "--help")):
        assert desktop.toolkeeper(*words).code == 0
    assert "diff" in desktop.toolkeeper("plan", "--help").out


def test_plan_can_force_a_tool_and_says_where_a_provider_searches(desktop: Desktop) -> None:
    forced = desktop.toolkeeper(
        "plan", "--agent", "chat", "--user", "ana", "--tool-choice", "mail.send", "--json"
    ).line
    assert "mail.send" in forced["defined_tool_names"]
    wrong = desktop.toolkeeper("plan", "--agent", "chat", "--tool-choice", "mail.sned")
    assert (wrong.code, wrong.out) == (2, "")
    assert "`mail.sned` cannot be forced" in wrong.err
    desktop.configure(add="    disclosure: native\n")
    words = ("plan", "--agent", "chat", "--user", "ana", "--provider", "anthropic")
    model = ("--model", "claude-sonnet-4-5")
    used = desktop.toolkeeper(*words, *model, "--json").line["disclosure"]
    assert used == {"asked": "native", "used": "native", "reason": None}
    for more in ((), (*model, "--endpoint", "https://proxy.example"), ("--model", "claude-2")):
        fallen = desktop.toolkeeper(*words, *more, "--json").line["disclosure"]
        assert (fallen["asked"], fallen["used"]) == ("native", "index")
        assert fallen["reason"]
        assert fallen["reason"] in desktop.toolkeeper(*words, *more).out
