"""What may stand in a policy document, and how does a mistake show?"""

from datetime import UTC, datetime

import pytest

from toolkeeper_contract import (
    Classification,
    Code,
    ConfigError,
    Effect,
    Flag,
    Principal,
    Question,
    SideEffect,
)
from toolkeeper_policy import DEFAULTS, Policy, default_policy, load_policy

FULL = """\
version: 1
defaults: {none: allow, workspace_write: deny, financial: ask}
taint: ask
rules:
  - id: colleagues
    tools: ["mcp.gmail_*.send_message", notes.add]
    agents: [chat]
    users: [ana]
    scopes: [mail]
    side_effects: [message_send]
    flags: [destructive]
    sources: [gmail_1, functions]
    effect: ask
    approvers: [ana, ops]
hardline:
  - id: never-pay
    side_effects: [financial]
    effect: deny
"""


def rule(body: str) -> str:
    return f"version: 1\nrules:\n  - {body}\n"


def refusal(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_policy([("policy.yaml", text)])
    assert caught.value.code is Code.POLICY_INVALID
    assert caught.value.file == "policy.yaml"
    return caught.value


def test_a_whole_document_is_read() -> None:
    policy = load_policy([("policy.yaml", FULL)])
    (colleagues,) = policy.rules
    assert colleagues.tools == ("mcp.gmail_*.send_message", "notes.add")
    assert colleagues.sources == ("gmail_1", "functions")
    assert colleagues.side_effects == {SideEffect.MESSAGE_SEND}
    assert colleagues.flags == {Flag.DESTRUCTIVE}
    assert colleagues.agents == {"chat"}
    assert colleagues.users == {"ana"}
    assert colleagues.scopes == {"mail"}
    assert colleagues.approvers == ("ana", "ops")
    assert colleagues.effect is Effect.ASK
    assert colleagues.place is not None
    assert (colleagues.place.file, colleagues.place.line) == ("policy.yaml", 5)
    assert [hard.id for hard in policy.hardline] == ["never-pay"]
    assert policy.defaults == {
        **DEFAULTS,
        SideEffect.WORKSPACE_WRITE: Effect.DENY,
        SideEffect.FINANCIAL: Effect.ASK,
    }


def test_without_documents_the_class_defaults_hold() -> None:
    assert load_policy([]) == default_policy() == Policy()
    assert default_policy().defaults == DEFAULTS
    assert default_policy().taint == "ask"


@pytest.mark.parametrize("word", ["off", "'off'", "false"])
def test_taint_off_is_read_although_yaml_calls_it_false(word: str) -> None:
    assert load_policy([("p", f"version: 1\ntaint: {word}\n")]).taint == "off"


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("version: 1\nrulez: []\n", 2, "unknown key `rulez`", "`rules`"),
        ("version: 2\n", 1, "version must be 1, not `2`", "version: 1"),
        ("version: true\n", 1, "version must be 1", None),
        ("version: '1'\n", 1, "version must be 1", None),
        ("", None, "empty", "version: 1"),
        ("# nothing\n", None, "empty", "version: 1"),
        ("- a\n", 1, "must be a mapping, not a list", None),
        ("defaults: [allow]\n", 1, "`defaults` must be a mapping", None),
        ("defaults:\n  finanical: deny\n", 2, "`finanical`", "`financial`"),
        ("defaults:\n  financial: allwo\n", 2, "`allwo` is not a known effect", "`allow`"),
        ("defaults:\n  financial: true\n", 2, "not a boolean", None),
        ("taint: maybe\n", 1, "`maybe` is not a known taint", "`ask`"),
        ("taint: on\n", 1, "not a boolean", None),
        ("rules: {}\n", 1, "`rules` must be a list", "`-`"),
        (rule("just text"), 3, "must be a mapping, not a string", None),
        (rule("{tools: [a], effect: deny}"), 3, "a rule has no id", "id:"),
        (rule("{id: 7, tools: [a], effect: deny}"), 3, "id must be a string", "quotes"),
        (rule("{id: 'a`b', tools: [a], effect: deny}"), 3, "not a usable rule id", None),
        (rule("{id: x, effect: deny}"), 3, "rule `x` does not say which calls", "`tools`"),
        (rule("{id: x, tools: [a]}"), 3, "rule `x` has no effect", "allow, ask or deny"),
        (rule("{id: x, tools: [a], effect: block}"), 3, "`block` is not a known effect", "`deny`"),
        (rule("{id: x, tools: [a], effect: DENY}"), 3, "`DENY` is not a known effect", "deny"),
        (rule("{id: x, tool: [a], effect: deny}"), 3, "unknown key `tool`", "`tools`"),
        (rule("{id: x, tools: a.b, effect: deny}"), 3, "must be a list", "tools: [a.b]"),
        (rule("{id: x, tools: [], effect: deny}"), 3, "`tools` is empty", "leave `tools` out"),
        (rule("{id: x, tools: , effect: deny}"), 3, "must be a list, not nothing", None),
        (rule("{id: x, tools: [7], effect: deny}"), 3, "must hold names, not a number", "quotes"),
        (rule("{id: x, tools: ['a, b'], effect: deny}"), 3, "no tool name can have", "wildcard"),
        (rule("{id: x, tools: ['a?'], effect: deny}"), 3, "no tool name can have", "wildcard"),
        (rule("{id: x, tools: ['files[1].*'], effect: deny}"), 3, "no tool name", "wildcard"),
        (rule("{id: x, tools: [tool.call], effect: deny}"), 3, "control tool", "real tool"),
        (rule("{id: x, tools: ['tool.*'], effect: deny}"), 3, "control tool", "real tool"),
        (rule("{id: x, side_effects: [fincial], effect: deny}"), 3, "`fincial`", "`financial`"),
        (rule("{id: x, flags: [destructiv], effect: deny}"), 3, "`destructiv`", "`destructive`"),
        (rule("{id: x, sources: ['mcp.*'], effect: deny}"), 3, "cannot be a source", "functions"),
        (rule("{id: x, agents: ['*'], effect: deny}"), 3, "wildcard", "leave the selector out"),
        (rule("{id: x, users: [''], effect: deny}"), 3, "must hold names, not an empty", None),
        (rule("{id: x, when: true, effect: ask}"), 3, "`when` must be a condition", "quotes"),
        (rule("{id: x, when: '', effect: ask}"), 3, "the condition is empty", "leave"),
        (rule("{id: x, when: arg.to == 1, effect: ask}"), 3, "no variable `arg`", "`args`"),
        (rule("{id: x, tools: [a], effect: ask, expires: 1}"), 3, "must be a date", "2026-12-31"),
        (rule("{id: x, tools: [a], effect: ask, expires: soon}"), 3, "`soon` is not a date", "Z"),
        (
            rule("{id: x, tools: [a], effect: ask, expires: '2026-01-01T10:00:00'}"),
            3,
            "does not say its zone",
            "Z",
        ),
        (rule("{id: x, tools: [a], effect: ask, expires: 2026-02-30}"), 3, "not a date", None),
        (
            rule("{id: x, tools: [a], effect: ask, despite_taint: true}"),
            3,
            "`despite_taint` works in rules that allow",
            "leave it out",
        ),
        (rule("{id: x, tools: [a], effect: allow, despite_taint: 1}"), 3, "true or false", None),
        (rule("{id: x, attributes: [a], effect: ask}"), 3, "`attributes` must be a map", "website"),
        (rule("{id: x, attributes: {}, effect: ask}"), 3, "1 to 32", None),
        (rule("{id: x, attributes: {a: }, effect: ask}"), 3, "must have a value", None),
        (rule("{id: x, attributes: {a: []}, effect: ask}"), 3, "no values", None),
        (rule("{id: x, attributes: {a: {b: c}}, effect: ask}"), 3, "must have a value", None),
        ("zone: Europe/Zurch\n", 1, "`Europe/Zurch` is not a known time zone", "Europe/Zurich"),
        ("zone: 7\n", 1, "`zone` must be a name", None),
        ("packs: [reads-fre]\n", 1, "no policy pack `reads-fre`", "`reads-free`"),
        ("packs: reads-free\n", 1, "`packs` must be a list", "[reads-free]"),
        (
            "hardline:\n  - {id: x, tools: [a], effect: deny, expires: 2030-01-01}\n",
            2,
            "cannot expire",
            "`rules`",
        ),
        (
            "hardline:\n  - {id: x, tools: [a], effect: ask}\n",
            2,
            "a hardline rule can only deny",
            "effect: deny",
        ),
        (
            rule("{id: x, tools: [a], effect: ask}\n  - {id: x, tools: [b], effect: ask}"),
            4,
            "`x` is taken already in policy.yaml, line 3",
            "id of its own",
        ),
        ("rules: [\n", 2, "not valid yaml", None),
        ("rules:\n  - {id: x, id: y}\n", 2, "stands here twice", None),
    ],
)
def test_a_mistake_is_refused_with_its_line_and_a_hint(
    text: str, line: int | None, message: str, hint: str | None
) -> None:
    error = refusal(text)
    assert message in error.message
    assert error.line == line
    if hint is not None:
        assert hint in (error.hint or "")


def test_a_line_points_at_the_value_and_the_key_names_its_path() -> None:
    text = "version: 1\nrules:\n  - id: x\n    effect: deny\n    tools:\n      - a\n      - 'b c'\n"
    error = refusal(text)
    assert (error.line, error.key) == (7, "rules[0].tools[1]")


def test_several_documents_keep_the_strictest_default_and_all_rules() -> None:
    one = "defaults: {message_send: ask, network_write: allow}\ntaint: off\n"
    two = "defaults: {message_send: deny, network_write: allow}\n" + rule(
        "{id: b, tools: [t], effect: ask}"
    ).removeprefix("version: 1\n")
    three = rule("{id: a, tools: [t], effect: deny}") + "taint: ask\n"
    documents = [("1", one), ("2", two), ("3", three)]
    policy = load_policy(documents)
    assert policy.defaults[SideEffect.MESSAGE_SEND] is Effect.DENY
    assert policy.defaults[SideEffect.NETWORK_WRITE] is Effect.ALLOW
    assert policy.taint == "ask"
    assert [found.id for found in policy.rules] == ["a", "b"]
    backwards = load_policy(documents[::-1])
    assert backwards == policy
    assert backwards.revision == policy.revision


def test_a_silent_document_does_not_tighten_the_taint_of_another() -> None:
    assert load_policy([("1", "taint: off\n"), ("2", "version: 1\n")]).taint == "off"


def test_an_id_is_unique_across_documents_and_hardline() -> None:
    hard = "hardline:\n  - {id: x, tools: [a], effect: deny}\n"
    with pytest.raises(ConfigError, match=r"taken already in one\.yaml, line 3"):
        load_policy([("one.yaml", rule("{id: x, tools: [a], effect: ask}")), ("two.yaml", hard)])


def test_the_revision_changes_with_what_a_policy_says_and_with_nothing_else() -> None:
    spaced = FULL.replace("    users: [ana]\n", "    users:\n      - ana\n") + "# the end\n"
    base = load_policy([("a", FULL)]).revision
    assert load_policy([("b", spaced)]).revision == base
    for old, new in [("ana]", "eve]"), ("ops", "op"), ("deny, fin", "ask, fin"), ("never", "no")]:
        assert load_policy([("a", FULL.replace(old, new, 1))]).revision != base


WHOLE = """\
version: 1
zone: Europe/Zurich
taint: provenance
rules:
  - id: all
    tools: ["mcp.*"]
    attributes: {website: "*", tier: [1, gold]}
    when: args.to == "x" && call.hour < 12
    effect: allow
    expires: 2026-12-31
    despite_taint: true
  - {id: moment, tools: [a], expires: "2026-07-01T18:00:00+02:00", effect: ask}
"""


def test_conditions_dates_and_attributes_are_read() -> None:
    policy = load_policy([("p.yaml", WHOLE)])
    every, moment = policy.rules
    assert policy.taint == "provenance"
    assert every.attributes == {"website": ("*",), "tier": (1, "gold")}
    assert every.condition is not None
    assert (every.condition.text, every.condition.zone) == (
        'args.to == "x" && call.hour < 12',
        "Europe/Zurich",
    )
    # The day that is written is the last one on which the rule holds, where its owner lives.
    assert every.expires == datetime(2026, 12, 31, 23, 0, tzinfo=UTC)
    assert moment.expires == datetime(2026, 7, 1, 16, 0, tzinfo=UTC)
    assert every.despite_taint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Europe/Zurich", "Europe/London"),
        ("hour < 12", "hour < 13"),
        ("2026-12-31", "2027-12-31"),
        ("[1, gold]", "[gold, 2]"),
        ("despite_taint: true", "despite_taint: false"),
        ("+02:00", "+03:00"),
    ],
)
def test_the_revision_covers_conditions_dates_and_attributes(old: str, new: str) -> None:
    base = load_policy([("p.yaml", WHOLE)]).revision
    assert load_policy([("p.yaml", WHOLE.replace("[1, gold]", "[gold, 1]"))]).revision == base
    assert load_policy([("p.yaml", WHOLE.replace(old, new))]).revision != base


def test_one_document_named_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="is named twice"):
        load_policy([("p.yaml", WHOLE), ("p.yaml", WHOLE)])


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{letter}: &{letter} [" + ", ".join([f"*{before}"] * 9) + "]\n"
    for before, letter in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (BOMB, "aliases", 6),
        ("rules: &a\n  - *a\n", "nested deeper", 1),
        ("[" * 200 + "]" * 200, "nested deeper", None),
        ("# " + "x" * 10_000_000, "larger than", None),
        ("version: 1\n7: x\n", "a key must be a string", 2),
        ("rules:\n  - {id: x, effect: ask, attributes: {1: x}}\n", "a key must be a string", 2),
        ("version: 1\n? [a]\n: b\n", "a key must be a string", 2),
        ("version: !!python/object:os.system {}\n", "unknown", None),
        (
            "rules:\n  - {id: x, effect: ask, attributes: {a: " + "*a" * 200 + "}}\n",
            "not valid yaml",
            2,
        ),
    ],
)
def test_a_document_made_to_harm_is_one_clear_error(
    text: str, message: str, line: int | None
) -> None:
    error = refusal(text)
    if message != "unknown":
        assert message in error.message
    if line is not None:
        assert error.line is not None


def test_a_pattern_with_many_stars_answers_at_once() -> None:
    policy = load_policy([("p.yaml", rule("{id: x, tools: ['" + "*a" * 40 + "b'], effect: deny}"))])
    asked = Question(
        "a" * 200,
        "functions",
        Classification(SideEffect.NONE, frozenset(), ""),
        "chat",
        Principal("ana"),
        {},
    )
    assert policy.decide(asked).effect is Effect.ALLOW
