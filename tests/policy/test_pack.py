"""What do the shipped packs let through, and how do packs build on each other?"""

from typing import Any

import pytest

from toolkeeper_contract import (
    Classification,
    Code,
    ConfigError,
    Effect,
    Flag,
    Origin,
    Principal,
    Question,
    SideEffect,
)
from toolkeeper_policy import WORST_CASE, Policy, load_policy, pack_names, pack_text


def pack(name: str) -> Policy:
    return load_policy([(name, pack_text(name))])


def effect(policy: Policy, side_effect: SideEffect, *flags: Flag, **fields: Any) -> Effect:
    classification = Classification(side_effect, frozenset(flags), "rule")
    asked = Question("t", "s", classification, "chat", Principal("ana"), {"to": "long enough"})
    for name, value in fields.items():
        object.__setattr__(asked, name, value)
    return policy.decide(asked).effect


class Theirs:
    def origin(self, value: Any) -> Origin:
        return Origin.USER


def test_the_shipped_packs_are_these_and_each_can_be_loaded() -> None:
    names = ("developer-workstation", "lethal-trifecta", "locked-down", "reads-free")
    assert pack_names() == names
    for name in names:
        assert load_policy([("p.yaml", f"packs: [{name}]\n")]) == pack(name)
    with pytest.raises(ConfigError, match="no policy pack `reads`") as caught:
        pack_text("reads")
    assert caught.value.hint is not None


@pytest.mark.parametrize("name", pack_names())
def test_no_pack_lets_a_tool_nobody_described_run_unasked(name: str) -> None:
    for tainted in (False, True):
        asked = Question("t", "s", WORST_CASE, "chat", Principal("ana"), {}, tainted=tainted)
        assert pack(name).decide(asked).effect is not Effect.ALLOW


@pytest.mark.parametrize("name", pack_names())
def test_no_pack_lets_money_or_code_run_unasked(name: str) -> None:
    assert effect(pack(name), SideEffect.FINANCIAL) is Effect.DENY
    assert effect(pack(name), SideEffect.CODE_EXECUTION) is not Effect.ALLOW


def test_lethal_trifecta_lets_provenance_decide() -> None:
    trifecta = pack("lethal-trifecta")
    for side_effect in (
        SideEffect.WORKSPACE_WRITE,
        SideEffect.NETWORK_WRITE,
        SideEffect.MESSAGE_SEND,
    ):
        assert effect(trifecta, side_effect) is Effect.ALLOW
        assert effect(trifecta, side_effect, tainted=True) is Effect.ASK
        assert effect(trifecta, side_effect, tainted=True, provenance=Theirs()) is Effect.ALLOW
    reads = {"tainted": True, "private": True}
    assert effect(trifecta, SideEffect.NETWORK_READ, Flag.OPEN_WORLD, **reads) is Effect.ASK


def test_the_other_packs_say_what_their_names_promise() -> None:
    assert effect(pack("reads-free"), SideEffect.NETWORK_READ) is Effect.ALLOW
    assert effect(pack("reads-free"), SideEffect.WORKSPACE_WRITE) is Effect.ASK
    assert effect(pack("locked-down"), SideEffect.WORKSPACE_READ) is Effect.ALLOW
    assert effect(pack("locked-down"), SideEffect.WORKSPACE_READ, Flag.PRIVATE) is Effect.ASK
    assert effect(pack("locked-down"), SideEffect.MESSAGE_SEND) is Effect.DENY
    developer = pack("developer-workstation")
    assert effect(developer, SideEffect.WORKSPACE_WRITE) is Effect.ALLOW
    assert effect(developer, SideEffect.WORKSPACE_WRITE, Flag.DESTRUCTIVE) is Effect.ASK


def test_a_document_beside_a_pack_only_tightens_it() -> None:
    text = "packs: [lethal-trifecta]\ndefaults: {message_send: ask, code_execution: allow}\n"
    policy = load_policy([("p.yaml", text)])
    assert policy.taint == "provenance"
    assert policy.defaults[SideEffect.MESSAGE_SEND] is Effect.ASK
    assert policy.defaults[SideEffect.WORKSPACE_WRITE] is Effect.ALLOW
    both = load_policy([("lethal-trifecta", pack_text("lethal-trifecta")), ("p.yaml", text)])
    assert both == policy
    assert load_policy([("p.yaml", text + "taint: ask\n")]).taint == "ask"


FILES = {
    "a.yaml": "packs: [b.yaml]\n",
    "b.yaml": "version: 1\npacks:\n  - reads-free\n  - c.yaml\n",
    "c.yaml": "rules:\n  - {id: c, tools: [t], effect: deny}\n",
    "one.yaml": "packs: [two.yaml]\n",
    "two.yaml": "version: 1\npacks: [three.yaml]\n",
    "three.yaml": "version: 1\n\npacks: [two.yaml]\n",
    "self.yaml": "packs: [self.yaml]\n",
}


def read(file: str, name: str) -> tuple[str, str]:
    return name, FILES[name]


def test_packs_may_build_on_packs_and_files_beside_them() -> None:
    policy = load_policy([("a.yaml", FILES["a.yaml"])], read)
    assert [rule.id for rule in policy.rules] == ["c"]
    twice = "packs: [b.yaml, c.yaml]\n"
    assert load_policy([("d.yaml", twice)], read) == policy


@pytest.mark.parametrize(
    ("start", "file", "line", "circle"),
    [
        ("one.yaml", "three.yaml", 3, "`two.yaml` -> `three.yaml` -> `two.yaml`"),
        ("self.yaml", "self.yaml", 1, "`self.yaml` -> `self.yaml`"),
    ],
)
def test_a_circle_of_packs_is_refused(start: str, file: str, line: int, circle: str) -> None:
    with pytest.raises(ConfigError, match="in a circle") as caught:
        load_policy([(start, FILES[start])], read)
    assert caught.value.code is Code.POLICY_INVALID
    assert (caught.value.file, caught.value.line) == (file, line)
    assert circle in caught.value.message


def test_a_pack_beside_the_document_needs_somebody_who_reads_it() -> None:
    with pytest.raises(ConfigError, match=r"no policy pack `b\.yaml`"):
        load_policy([("a.yaml", FILES["a.yaml"])])


def test_a_document_may_stand_beside_one_that_builds_on_it_in_any_order() -> None:
    one = [("a.yaml", FILES["a.yaml"]), ("c.yaml", FILES["c.yaml"])]
    assert load_policy(one, read) == load_policy(one[::-1], read)


def test_a_circle_under_two_spellings_of_one_path_is_one() -> None:
    def reads_itself(file: str, name: str) -> tuple[str, str]:
        return f"{file}/../{name}", "packs: [a.yaml]\n"

    with pytest.raises(ConfigError, match="in a circle"):
        load_policy([("a.yaml", "packs: [a.yaml]\n")], reads_itself)
