"""`toolkeeper policy`: check, explain, test and replay, as an owner of a policy meets them."""

import json
from typing import Any

import pytest

from toolkeeper.cli.keys import CHECKED, EXPLAINED, REPLAYED, TESTED

Desktop = Any

POLICY = """
version: 1
defaults: {message_send: ask}
rules:
  - id: colleagues
    tools: [mail.send]
    when: args.to.endsWith("@example.com")
    effect: allow
  - id: ask-bea
    side_effects: [workspace_write]
    effect: ask
    approvers: [bea]
  - id: not-on-hold
    tools: [schedule.update]
    when: has(session.attributes.hold) && session.attributes.hold
    effect: deny
hardline:
  - id: no-wires
    side_effects: [financial]
    effect: deny
"""


@pytest.fixture
def owner(desktop: Desktop) -> Desktop:
    """A desktop with the policy above."""
    desktop.write("policy.yaml", POLICY)
    desktop.configure(("version: 1\n", "version: 1\npolicy: [policy.yaml]\n"))
    return desktop


def policy(owner: Desktop, text: str) -> None:
    owner.write("policy.yaml", text)


# check


def test_a_good_policy_has_no_findings(owner: Desktop) -> None:
    ended = owner.toolkeeper("policy", "check", "--strict", "--json")
    assert (ended.code, tuple(ended.line)) == (0, CHECKED)
    assert ended.line == {"findings": [], "errors": 0, "warnings": 0}
    assert owner.toolkeeper("policy", "check").out == "0 errors, 0 warnings\n"


def test_a_warning_has_its_line_and_only_strict_ends_with_one(owner: Desktop) -> None:
    policy(owner, POLICY.replace("[schedule.update]", "[schedule.updaet]"))
    ended = owner.toolkeeper("policy", "check")
    assert ended.code == 0
    assert "policy.yaml:12: warning: " in ended.out
    assert "`schedule.update`" in ended.out
    assert owner.toolkeeper("policy", "check", "--strict").code == 1
    (finding,) = owner.toolkeeper("policy", "check", "--json").line["findings"]
    assert (finding["severity"], finding["file"], finding["line"], finding["rule"]) == (
        "warning",
        "policy.yaml",
        12,
        "not-on-hold",
    )


def test_an_argument_that_no_tool_has_is_found_beforehand(owner: Desktop) -> None:
    policy(owner, POLICY.replace("args.to.ends", "args.too.ends"))
    (finding,) = owner.toolkeeper("policy", "check", "--json").line["findings"]
    assert (finding["line"], finding["rule"]) == (4, "colleagues")
    assert "`too`" in finding["message"] + finding["hint"]


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("effect: ask", "effect: aks", 10, "`ask`"),
        (
            "side_effects: [workspace_write]",
            "side_effects: [workspace_wrote]",
            9,
            "workspace_write",
        ),
        ("args.to.endsWith(", "args.to.endsWit(", 6, "`endsWith`"),
        ("id: no-wires", "id: colleagues", 17, "taken already"),
        ("sources", "sources", 0, ""),
    ],
)
def test_an_error_has_its_line_and_ends_with_two(
    owner: Desktop, old: str, new: str, line: int, said: str
) -> None:
    if not line:
        policy(owner, POLICY.replace("tools: [mail.send]", "sources: [crm]"))
        line, said = 4, "`crm`"
    else:
        policy(owner, POLICY.replace(old, new))
    ended = owner.toolkeeper("policy", "check")
    assert ended.code == 2
    assert f"policy.yaml:{line}: error: " in ended.out
    assert said in ended.out
    parsed = owner.toolkeeper("policy", "check", "--json")
    assert (parsed.code, parsed.line["errors"]) == (2, 1)


def test_every_broken_document_is_told_at_once(owner: Desktop) -> None:
    owner.write("one.yaml", "version: 2\n")
    owner.write("two.yaml", "version: 1\nrules: 3\n")
    ended = owner.toolkeeper("policy", "check", "one.yaml", "policy.yaml", "two.yaml")
    assert ended.code == 2
    assert [line.partition(": ")[0] for line in ended.out.splitlines()[:-1]] == [
        "one.yaml:1",
        "two.yaml:2",
    ]


def test_files_are_checked_instead_of_the_configured_ones(owner: Desktop) -> None:
    policy(owner, "version: 3\n")
    owner.write("new.yaml", POLICY)
    assert owner.toolkeeper("policy", "check", "new.yaml").code == 0
    assert owner.toolkeeper("policy", "check", "new.yaml", "lethal-trifecta").code == 0
    ended = owner.toolkeeper("policy", "check", "lethal-trifeta")
    assert ended.code == 2
    assert "`lethal-trifecta`" in ended.err


def test_without_a_configuration_only_the_files_are_looked_at(owner: Desktop) -> None:
    (owner.folder / "toolkeeper.yaml").unlink()
    policy(owner, POLICY.replace("mail.send", "mail.sned"))
    ended = owner.toolkeeper("policy", "check", "policy.yaml", "--strict")
    assert ended.code == 0
    assert "is not checked" in ended.err
    assert owner.toolkeeper("policy", "check").code == 2


# explain


def explained(owner: Desktop, tool: str, args: Any = None, *more: str) -> Any:
    words = ["--agent", "chat", "--user", "ana", "--tool", tool, "--args", json.dumps(args or {})]
    ended = owner.toolkeeper("policy", "explain", *words, *more, "--json")
    assert ended.code == 0
    assert tuple(ended.line) == EXPLAINED
    return ended.line


def test_an_explanation_has_the_keys_of_the_contract_and_decides_like_a_call(
    owner: Desktop,
) -> None:
    allowed = explained(owner, "mail.send", {"to": "bo@example.com", "body": "hi"})
    assert (allowed["effect"], allowed["rules"], allowed["errors"]) == ("allow", ["colleagues"], [])
    assert (allowed["side_effect"], allowed["flags"]) == ("message_send", [])
    asked = explained(owner, "mail.send", {"to": "bo@evil.com", "body": "hi"})
    assert (asked["effect"], asked["rules"]) == ("ask", [])
    failed = explained(owner, "mail.send", {})
    assert (failed["effect"], failed["errors"]) == ("ask", ["colleagues"])
    assert explained(owner, "money.pay", {"amount": 1})["rules"] == ["no-wires"]
    for told, arguments in (
        (allowed, "{to: bo@example.com, body: hi}"),
        (asked, "{to: bo@evil.com, body: hi}"),
    ):
        line = owner.play(f"{{id: c, tool: mail.send, arguments: {arguments}}}").line
        assert line["decision"] == {key: told[key] for key in ("effect", "rules", "reasons")}


def test_attributes_and_taint_count(owner: Desktop) -> None:
    arguments = {"id": 7}
    assert explained(owner, "schedule.update", arguments)["effect"] == "ask"
    held = explained(owner, "schedule.update", arguments, "--attributes", '{"hold": true}')
    assert (held["effect"], held["rules"]) == ("deny", ["not-on-hold"])
    mail = {"to": "bo@example.com", "body": "hi"}
    tainted = explained(owner, "mail.send", mail, "--tainted", "--private")
    assert (tainted["effect"], tainted["taint"]) == ("ask", ["tainted", "private"])


def test_a_person_sees_what_matched_and_what_nearly_did_and_why_not(owner: Desktop) -> None:
    ended = owner.toolkeeper(
        "policy", "explain", "--agent", "chat", "--tool", "schedule.update", "--args", '{"id": 1}'
    )
    assert ended.out.startswith("schedule.update: ask\n")
    rows = {line.split()[0]: line for line in ended.out.splitlines() if line.strip()}
    assert "decides" in rows["ask-bea"]
    assert "its condition is false" in rows["not-on-hold"]
    assert "bea" in rows["approvers"]


def test_what_would_be_asked_of_whom_and_how_far_is_told(owner: Desktop) -> None:
    wire = {"to": "bo@evil.com", "body": "hi"}
    keys = ("asked_by", "approvers", "requester_excluded", "scope")

    def asked(*more: str) -> tuple[Any, ...]:
        told = explained(owner, "mail.send", wire, *more)
        return tuple(told[key] for key in keys)

    by_class = ["@default.message_send"]
    assert asked("--user", "ana") == (by_class, ["ana"], False, "always")
    assert asked("--tainted")[0] == [*by_class, "@taint"]
    policy(
        owner,
        POLICY + "  - {id: never, tools: [mail.send], effect: deny, when: args.body == 'no'}\n",
    )
    denied = explained(owner, "mail.send", {"to": "x@evil.com", "body": "no"})
    assert [denied[key] for key in keys] == [[], [], False, None]
    policy(
        owner,
        """
version: 1
rules:
  - {id: once, tools: [mail.send], effect: ask, approval_scope: once}
  - id: others
    tools: [mail.send]
    effect: ask
    exclude_requester: true
    approvers: [ana, bea]
""",
    )
    assert asked("--user", "ana") == (["once", "others"], ["bea"], True, "once")
    shown = owner.toolkeeper(
        *("policy", "explain", "--agent", "chat", "--tool", "mail.send", "--user", "ana"),
        *("--args", json.dumps(wire)),
    ).out
    assert "asked by    once, others\n" in shown
    assert "approvers   bea (not ana, who asks)\n" in shown
    assert "answer for  once (this very call)\n" in shown


def test_an_agents_own_approvers_are_told_where_no_rule_names_any(owner: Desktop) -> None:
    owner.configure(
        ("version: 1\n", "version: 1\npolicy: [policy.yaml]\n"),
        add="    exclude_requester: true\n    approvers: [ana, bo]\n",
    )
    told = explained(owner, "mail.send", {"to": "x@evil.com", "body": "hi"}, "--user", "ana")
    assert (told["approvers"], told["requester_excluded"]) == (["bo"], True)


def test_an_exclusion_without_secrets_is_warned_of(owner: Desktop) -> None:
    from toolkeeper.runtime import hash_secret

    policy(
        owner,
        """
version: 1
rules:
  - id: others
    tools: [mail.send]
    effect: ask
    exclude_requester: true
    approvers: [ana, bea]
""",
    )
    ended = owner.toolkeeper("policy", "check", "--json")
    (found,) = ended.line["findings"]
    assert (ended.code, found["severity"], found["rule"], found["line"]) == (
        0,
        "warning",
        "others",
        3,
    )
    assert "who can answer as `ana`, `bea`: no secret is asked" in found["message"]

    def configured(*names: str, agent: str = "") -> list[str]:
        secrets = "".join(f"  {name}: {hash_secret('s')}\n" for name in names)
        head = f"version: 1\npolicy: [policy.yaml]\napprover_secrets:\n{secrets}"
        owner.configure(("version: 1\n", head), add=agent)
        ended = owner.toolkeeper("policy", "check", "--json")
        return [each["message"] for each in ended.line["findings"]]

    assert ["as `bea`:" in each for each in configured("ana")] == [True]
    assert configured("ana", "bea") == []
    of_agent = "    exclude_requester: true\n    approvers: [cy, ana]\n"
    (message,) = configured("ana", "bea", agent=of_agent)
    assert message.startswith("agents.chat.exclude_requester: the agent `chat` excludes")
    assert "as `cy`:" in message


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--agent", "chta", "--tool", "mail.send"), "`chat`"),
        (("--agent", "chat", "--tool", "mail.sned"), "`mail.send`"),
        (("--agent", "chat", "--tool", "tool.call"), "control tool"),
        (("--agent", "chat", "--tool", "mail.send", "--args", "[1]"), "json object"),
        (("--agent", "chat", "--tool", "mail.send", "--args", "{"), "not valid json"),
        (("--agent", "chat", "--tool", "mail.send", "--attributes", "3"), "json object"),
        (("--agent", "chat"), "`--tool`"),
    ],
)
def test_what_cannot_be_explained_is_an_error_with_the_nearest_name(
    owner: Desktop, words: tuple[str, ...], said: str
) -> None:
    ended = owner.toolkeeper("policy", "explain", *words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


# test

CASES = """
cases:
  - name: a colleague
    agent: chat
    user: ana
    tool: mail.send
    args: {to: bo@example.com, body: hi}
    expect: allow
    rule: colleagues
  - name: a colleague, after reading the web
    tool: mail.send
    args: {to: bo@example.com, body: hi}
    session: {tainted: true}
    expect: ask
  - name: on hold
    tool: schedule.update
    args: {id: 1}
    session: {attributes: {hold: true}}
    expect: deny
    rule: not-on-hold
  - name: a read, by the class default
    tool: schedule.list
    expect: allow
    rule: null
"""


def test_a_table_that_holds_ends_with_nothing_and_names_what_it_left_out(owner: Desktop) -> None:
    owner.write("cases.yaml", CASES)
    ended = owner.toolkeeper("policy", "test", "cases.yaml", "--json")
    assert (ended.code, tuple(ended.line)) == (0, TESTED)
    assert (ended.line["passed"], ended.line["failed"]) == (4, 0)
    assert ended.line["rules"] == {
        "ask-bea": 1,
        "colleagues": 2,
        "not-on-hold": 1,
        "no-wires": 0,
    }
    assert ended.line["never_exercised"] == ["no-wires"]
    told = owner.toolkeeper("policy", "test", "cases.yaml").out
    assert "4 passed, 0 failed" in told
    assert "never exercised: no-wires" in told


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("expect: ask", "expect: allow", "expected allow, but it is ask by `colleagues`"),
        ("rule: not-on-hold", "rule: ask-bea", "expected `ask-bea` to decide"),
        ("rule: colleagues", "rule: null", "expected no rule to decide"),
        ("    rule: null", "    rule: ask-bea", "decided by default"),
    ],
)
def test_a_case_that_fails_is_told_with_its_line_and_ends_with_one(
    owner: Desktop, old: str, new: str, said: str
) -> None:
    owner.write("cases.yaml", CASES.replace(old, new))
    ended = owner.toolkeeper("policy", "test", "cases.yaml")
    assert ended.code == 1
    assert said in ended.out
    assert "cases.yaml:" in ended.out
    parsed = owner.toolkeeper("policy", "test", "cases.yaml", "--json").line
    assert parsed["failed"] == 1
    (failed,) = [case for case in parsed["cases"] if not case["passed"]]
    assert said in failed["fault"]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("cases: []\n", 1, "must not be empty"),
        ("", None, "the file is empty"),
        ("- 1\n", 1, "mapping"),
        ("case: []\n", 1, "did you mean `cases`?"),
        ("cases:\n  - {tool: mail.send}\n", 2, "the key `expect` is missing"),
        ("cases:\n  - {expect: ask}\n", 2, "the key `tool` is missing"),
        ("cases:\n  - {tool: mail.send, expect: aks}\n", 2, "did you mean `ask`?"),
        ("cases:\n  - {tool: mail.send, expect: ask, arg: {}}\n", 2, "did you mean `args`?"),
        ("cases:\n  - {tool: mail.sned, expect: ask}\n", 2, "did you mean `mail.send`?"),
        ("cases:\n  - {tool: mail.send, expect: ask, agent: x}\n", 2, "unknown agent `x`"),
        ("cases:\n  - {tool: mail.send, expect: ask, rule: coleagues}\n", 2, "`colleagues`"),
        ("cases:\n  - {tool: mail.send, expect: ask, args: [1]}\n", 2, "must be a mapping"),
        ("cases:\n  - {tool: mail.send, expect: ask, session: {tainted: 1}}\n", 2, "`true`"),
        ("cases:\n  - {tool: mail.send, expect: ask, session: {tained: true}}\n", 2, "`tainted`"),
        ("cases:\n  - {tool: mail.send, expect: ask, at: noon}\n", 2, "moment"),
        ("cases:\n  - {tool: mail.send, expect: ask, at: '2026-12-01T09:00'}\n", 2, "zone"),
        ("cases:\n  - {tool: a, tool: b, expect: ask}\n", 2, "stands here twice"),
    ],
)
def test_a_malformed_table_is_an_error_with_its_line(
    owner: Desktop, text: str, line: int | None, said: str
) -> None:
    (owner.folder / "cases.yaml").write_text(text)
    ended = owner.toolkeeper("policy", "test", "cases.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    if line is not None:
        assert f"cases.yaml:{line}" in ended.err


def test_where_there_are_several_agents_a_case_has_to_name_one(owner: Desktop) -> None:
    owner.configure(
        ("version: 1\n", "version: 1\npolicy: [policy.yaml]\n"), add="  other: {tools: [broken]}\n"
    )
    owner.write("cases.yaml", "cases:\n  - {tool: mail.send, args: {}, expect: ask}\n")
    ended = owner.toolkeeper("policy", "test", "cases.yaml")
    assert ended.code == 2
    assert "`agent` is missing" in ended.err


def test_a_case_may_say_what_was_said_and_when(owner: Desktop) -> None:
    policy(
        owner,
        """
        version: 1
        packs: [lethal-trifecta]
        zone: Europe/Zurich
        rules:
          - id: office-hours
            tools: [schedule.update]
            when: call.hour < 8 || call.hour >= 18
            effect: deny
        """,
    )
    owner.write(
        "cases.yaml",
        """
        cases:
          - tool: mail.send
            args: {to: bo@example.com, body: see you at the dentist}
            session: {said: "tell bo@example.com: see you at the dentist", tainted: true}
            expect: allow
            at: "2026-12-01T09:00:00+01:00"
          - tool: mail.send
            args: {to: bo@example.com, body: see you at the dentist}
            session: {said: see you at the dentist, untrusted: write to bo@example.com}
            expect: ask
          - {tool: schedule.update, args: {id: 1}, at: "2026-12-01T09:00:00Z", expect: allow}
          - {tool: schedule.update, args: {id: 1}, at: "2026-12-01T19:00:00Z", expect: deny}
        """,
    )
    ended = owner.toolkeeper("policy", "test", "cases.yaml")
    assert ended.code == 0, ended.out


# replay


@pytest.fixture
def recorded(owner: Desktop) -> Desktop:
    """The calls of a day: one of each effect, and one with a secret in its arguments."""
    owner.play(
        "{id: read, tool: schedule.list, arguments: {day: monday}}\n"
        "{id: ask, tool: schedule.update, arguments: {id: 1}}\n"
        "{id: mail, tool: mail.send, arguments: {to: bo@example.com, body: hi}}\n"
        "{id: deny, tool: money.pay, arguments: {amount: 3}}\n"
        "{id: secret, tool: slow.read, arguments: {seconds: 0, api_token: hunter2secret}}\n"
        "{id: broken, tool: no.such}\n"
    )
    return owner


def replayed(owner: Desktop, *words: str, code: int = 0) -> Any:
    ended = owner.toolkeeper("policy", "replay", *words, "--json")
    assert ended.code == code, ended.err
    assert tuple(ended.line) == REPLAYED
    return ended.line


def test_under_the_same_policy_nothing_changes(recorded: Desktop) -> None:
    told = replayed(recorded, "--policy", "policy.yaml")
    assert (told["calls"], told["unchanged"], told["changes"]) == (5, 5, [])
    assert (told["loosened"], told["undecidable"]) == (0, 0)
    assert {(move["from"], move["to"]) for move in told["transitions"]} == {
        ("allow", "allow"),
        ("ask", "ask"),
        ("deny", "deny"),
    }
    assert replayed(recorded) == told


def test_what_would_be_stricter_is_a_change_and_no_failure(recorded: Desktop) -> None:
    recorded.write("new.yaml", POLICY.replace('"@example.com"', '"@example.org"'))
    told = replayed(recorded, "--policy", "new.yaml")
    (change,) = told["changes"]
    assert (change["tool"], change["from"], change["to"]) == ("mail.send", "allow", "ask")
    assert (change["rules_before"], change["rules"]) == (["colleagues"], [])
    out = recorded.toolkeeper("policy", "replay", "--policy", "new.yaml").out
    assert "mail.send" in out
    assert "allowed" in out


def test_what_was_denied_and_would_be_allowed_ends_with_one(recorded: Desktop) -> None:
    recorded.write(
        "new.yaml",
        "version: 1\nrules:\n  - {id: pay, side_effects: [financial], effect: allow}\n",
    )
    told = replayed(recorded, "--policy", "new.yaml", code=1)
    assert told["loosened"] == 1
    assert "was denied would now be allowed" in (
        recorded.toolkeeper("policy", "replay", "--policy", "new.yaml").out
    )
    recorded.write("ask.yaml", "version: 1\ndefaults: {financial: ask}\n")
    assert replayed(recorded, "--policy", "ask.yaml")["loosened"] == 0


def test_what_hangs_on_a_masked_argument_is_undecidable_and_not_guessed(recorded: Desktop) -> None:
    recorded.write(
        "new.yaml",
        POLICY + "  - id: no-guests\n    tools: [slow.read]\n"
        "    when: args.api_token.startsWith('guest')\n    effect: deny\n",
    )
    told = replayed(recorded, "--policy", "new.yaml")
    (change,) = told["changes"]
    assert (change["tool"], change["to"], told["undecidable"]) == ("slow.read", "undecidable", 1)
    assert "`api_token`" in change["doubt"]
    assert "`no-guests`" in change["doubt"]
    assert "hunter2secret" not in json.dumps(told)


def test_a_masked_argument_that_decides_nothing_is_no_doubt(recorded: Desktop) -> None:
    recorded.write(
        "new.yaml",
        POLICY + "  - id: no-guests\n    tools: [slow.read]\n"
        "    when: args.api_token.startsWith('guest')\n    effect: deny\n"
        "  - {id: no-slow, tools: [slow.read], effect: deny}\n",
    )
    told = replayed(recorded, "--policy", "new.yaml")
    (change,) = told["changes"]
    assert (change["to"], told["undecidable"]) == ("deny", 0)
    other = POLICY + "  - id: days\n    tools: [slow.read]\n    when: args.seconds > 5\n"
    recorded.write("new.yaml", other + "    effect: deny\n")
    assert replayed(recorded, "--policy", "new.yaml")["changes"] == []


def test_several_files_make_one_policy_in_either_spelling(recorded: Desktop) -> None:
    recorded.write(
        "more.yaml", "version: 1\nrules:\n  - {id: m, tools: [mail.send], effect: deny}\n"
    )
    one = replayed(recorded, "--policy", "policy.yaml", "--policy", "more.yaml")
    assert one["revision"] == replayed(recorded, "--policy", "policy.yaml", "more.yaml")["revision"]
    assert [change["to"] for change in one["changes"]] == ["deny"]
    assert replayed(recorded, "--policy", "locked-down")["changes"]


def test_since_takes_a_moment_or_how_long_ago(recorded: Desktop) -> None:
    assert replayed(recorded, "--since", "7d")["calls"] == 5
    assert replayed(recorded, "--since", "2020-01-01")["calls"] == 5
    assert replayed(recorded, "--since", "2999-01-01T00:00:00Z")["calls"] == 0
    out = recorded.toolkeeper("policy", "replay", "--since", "2999-01-01").out
    assert out == "no decided call is recorded in that time\n"
    ended = recorded.toolkeeper("policy", "replay", "--since", "yesterday")
    assert ended.code == 2
    assert "`7d`" in ended.err


@pytest.mark.sqlite_file
def test_replaying_writes_nothing(recorded: Desktop) -> None:
    store = recorded.folder / "toolkeeper.db"
    before = (store.read_bytes(), recorded.files())
    recorded.toolkeeper("policy", "replay", "--policy", "locked-down")
    assert (store.read_bytes(), recorded.files()) == before


def test_where_values_came_from_is_told_again_from_the_ledger(recorded: Desktop) -> None:
    recorded.write(
        "session.yaml",
        """
        agent: chat
        user: ana
        turns:
          - user: read it, then write to bo@example.com that we meet at noon
            calls:
              - {id: c1, tool: slow.read, arguments: {seconds: 0}}
              - {id: c2, tool: mail.send, arguments: {to: bo@example.com, body: we meet at noon}}
              - {id: c3, tool: mail.send, arguments: {to: eve@example.com, body: we meet at noon}}
        """,
    )
    lines = recorded.toolkeeper("run", "session.yaml", "--json").lines
    assert [line["decision"]["effect"] for line in lines] == ["allow", "ask", "ask"]
    recorded.write("new.yaml", "version: 1\npacks: [lethal-trifecta]\n")
    session = lines[0]["session_id"]
    changes = [
        change
        for change in replayed(recorded, "--policy", "new.yaml")["changes"]
        if change["session_id"] == session
    ]
    assert [(change["from"], change["to"]) for change in changes] == [("ask", "allow")]
    assert changes[0]["invocation_id"] == lines[1]["invocation_id"]


def test_what_ends_a_call_before_policy_is_noted(owner: Desktop) -> None:
    words = ["policy", "explain", "--agent", "chat", "--tool", "mail.send", "--json"]
    ended = owner.toolkeeper(*words, "--user", "zoe", "--args", '{"to": "bo@example.com"}')
    assert (ended.code, ended.line["effect"]) == (0, "allow")
    assert "note: `zoe` does not hold the scope `mail`" in ended.err
    assert "do not fit the schema of `mail.send`" in ended.err
    whole = '{"to": "bo@example.com", "body": "hi"}'
    assert owner.toolkeeper(*words, "--user", "ana", "--args", whole).err == ""


def test_an_argument_that_the_classification_lists_and_no_tool_has_is_told(owner: Desktop) -> None:
    owner.configure(
        add="classification:\n"
        "  - {tools: [mail.send], destination: [too], payload: [body]}\n"
        "  - {tools: [schedule.*], payload: [title, day]}\n"
    )
    ended = owner.toolkeeper("policy", "check", "--strict")
    assert ended.code == 1
    (line, _) = ended.out.splitlines()
    assert line.startswith("toolkeeper.yaml:9: warning: classification[0].destination: ")
    assert "`too` (did you mean `to`?)" in line


def test_an_expired_rule_is_warned_of(owner: Desktop) -> None:
    policy(
        owner,
        POLICY.replace(
            "    effect: deny\nhardline", "    effect: deny\n    expires: 2020-01-01\nhardline"
        ),
    )
    ended = owner.toolkeeper("policy", "check", "--json")
    (finding,) = ended.line["findings"]
    assert ended.code == 0
    assert finding["rule"] == "not-on-hold"
    assert "expired" in finding["message"]
