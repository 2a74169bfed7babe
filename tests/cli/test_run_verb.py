"""`toolkeeper run` and `call`: recorded sessions against the real pipeline and real tools."""

from typing import Any

import pytest

from toolkeeper.cli.keys import ENDED

Desktop = Any


def brief(line: dict[str, Any]) -> tuple[Any, ...]:
    return line["call_id"], line["tool"], line["outcome"], line["code"]


def test_every_call_is_one_line_with_the_keys_of_the_contract(desktop: Desktop) -> None:
    ended = desktop.play(
        """{id: c1, tool: schedule.list, arguments: {day: friday}}
        {id: c2, tool: tool.call, arguments: {name: mail.send, arguments: {to: a, body: b}}}
        {id: c3, tool: money.pay, arguments: {amount: 3}}
        {id: c4, tool: broken}
        {id: c5, tool: nothing.like.it}"""
    )
    assert ended.code == 1
    assert ended.err == ""
    assert {tuple(line) for line in ended.lines} == {ENDED}
    assert [brief(line) for line in ended.lines] == [
        ("c1", "schedule.list", "completed", None),
        ("c2", "mail.send", "suspended", None),
        ("c3", "money.pay", "refused", "tool.denied.policy"),
        ("c4", "broken", "failed", "tool.failed"),
        ("c5", "nothing.like.it", "refused", "tool.not_found.not_offered"),
    ]
    assert [line["advertised_as"] for line in ended.lines] == [
        "definition",
        "tool.call",
        "definition",
        "definition",
        "direct",
    ]
    assert [line["decision"] and line["decision"]["effect"] for line in ended.lines] == [
        "allow",
        "ask",
        "deny",
        "allow",
        None,
    ]
    assert "secret of the library" not in ended.out
    assert len({line["session_id"] for line in ended.lines}) == 1


def test_all_done_exits_with_nothing_to_complain_about(desktop: Desktop) -> None:
    ended = desktop.play("{id: c1, tool: schedule_list}\n{id: c2, tool: schedule.list}")
    assert (ended.code, ended.err) == (0, "")
    assert [line["tool"] for line in ended.lines] == ["schedule.list", "schedule.list"]


def test_the_final_state_of_an_answered_call_is_its_line(desktop: Desktop) -> None:
    update = "{{id: {0}, tool: schedule.update, arguments: {{id: {1}}}}}"
    ended = desktop.play(
        "\n".join(update.format(f"c{n}", n) for n in range(1, 5)),
        tail="    approvals: {c1: approve, c2: deny, c3: {edit: {id: 33}}, c4: leave}\n",
    )
    assert ended.code == 1
    assert [(brief(line), line["result"][:10]) for line in ended.lines] == [
        (("c1", "schedule.update", "completed", None), "updated 1"),
        (("c2", "schedule.update", "refused", "tool.approval.rejected"), "this call "),
        (("c3", "schedule.update", "completed", None), "updated 33"),
        (("c4", "schedule.update", "suspended", None), "this call "),
    ]
    assert {line["decision"]["effect"] for line in ended.lines} == {"ask"}
    assert all(line["approval_id"] for line in ended.lines)
    assert desktop.world == ["updated 1", "updated 33"]


def test_a_star_answers_for_every_other_call(desktop: Desktop) -> None:
    update = "{{id: {0}, tool: schedule.update, arguments: {{id: {1}}}}}"
    ended = desktop.play(
        "\n".join(update.format(f"c{n}", n) for n in range(1, 4)),
        tail='    approvals: {"*": approve, c2: deny}\n',
    )
    assert [line["outcome"] for line in ended.lines] == ["completed", "refused", "completed"]


def test_an_id_that_comes_twice_is_two_calls(desktop: Desktop) -> None:
    update = "{{id: c1, tool: schedule.update, arguments: {{id: {0}}}}}"
    ended = desktop.play(
        f"{update.format(1)}\n{update.format(2)}",
        tail='    approvals: {c1: deny, "c1#2": approve}\n',
    )
    first, second = ended.lines
    assert first["invocation_id"] != second["invocation_id"]
    assert [first["outcome"], second["outcome"]] == ["refused", "completed"]
    assert desktop.world == ["updated 2"]


def test_an_id_is_counted_on_through_the_session(desktop: Desktop) -> None:
    update = "{id: c1, tool: schedule.update, arguments: {id: 1}}"
    (line,) = desktop.play(update).lines
    ended = desktop.play(
        update.replace("{id: 1}", "{id: 2}"),
        "--session",
        line["session_id"],
        tail='    approvals: {"c1#2": approve}\n',
    )
    assert ended.line["outcome"] == "completed"
    assert ended.line["session_id"] == line["session_id"]


def test_the_calls_of_one_step_run_side_by_side(desktop: Desktop) -> None:
    calls = ", ".join(
        f"{{id: c{n}, tool: slow.read, arguments: {{seconds: 0.01}}}}" for n in range(4)
    )
    ended = desktop.play(f"[{calls}]\n{{id: last, tool: schedule.list}}")
    assert [line["call_id"] for line in ended.lines] == ["c0", "c1", "c2", "c3", "last"]
    assert ended.code == 0
    events = desktop.toolkeeper("audit", "events", "--json").lines
    order = [row["event"] for row in events if row["event"] in ("call.claimed", "call.settled")]
    assert order[:4] == ["call.claimed"] * 4


RAW = {
    "an object": ('\'{"day": "friday"}\'', "completed", None),
    "nothing": ("''", "completed", None),
    "no json": ("'{\"day\":'", "refused", "tool.arguments_invalid"),
    "a list": ("'[1]'", "refused", "tool.arguments_invalid"),
    "a key twice": ('\'{"day": "a", "day": "b"}\'', "refused", "tool.arguments_invalid"),
    "a number that is none": ("'{\"day\": NaN}'", "refused", "tool.arguments_invalid"),
    "a wrong type": ("{day: 3}", "refused", "tool.arguments_invalid"),
    "an unknown argument": ("{dya: x}", "refused", "tool.arguments_invalid"),
    "null": ("null", "refused", "tool.arguments_invalid"),
}


@pytest.mark.parametrize("case", RAW.values(), ids=RAW)
def test_arguments_are_taken_as_sent(desktop: Desktop, case: tuple[str, str, str | None]) -> None:
    written, outcome, code = case
    ended = desktop.play(f"{{id: c1, tool: schedule.list, arguments: {written}}}")
    assert (ended.line["outcome"], ended.line["code"]) == (outcome, code)
    assert ended.line["decision"] is None or outcome == "completed"


ODD = {
    "no name": ("{id: c1, arguments: {}}", "tool.malformed", "tool.arguments_invalid"),
    "a name that is no text": ("{id: c1, tool: [1]}", "tool.malformed", "tool.arguments_invalid"),
    "an empty name": ("{id: c1, tool: ''}", None, None),
    "a wrapper around nothing": ("{id: c1, tool: tool.call, arguments: {}}", None, None),
    "a wrapper around a wrapper": (
        "{id: c1, tool: tool.call, arguments: {name: tool.call, arguments: {}}}",
        "tool.call",
        "tool.not_found.not_offered",
    ),
    "another case": (
        "{id: c1, tool: Schedule.List}",
        "Schedule.List",
        "tool.not_found.not_offered",
    ),
    "control characters": ('{id: c1, tool: "a\\e[31mb\\n"}', None, "tool.not_found.not_offered"),
}


@pytest.mark.parametrize("case", ODD.values(), ids=ODD)
def test_an_odd_call_is_a_refused_call_with_a_row(
    desktop: Desktop, case: tuple[str, str | None, str | None]
) -> None:
    call, tool, code = case
    ended = desktop.play(call)
    assert ended.code == 1
    assert ended.line["outcome"] == "refused"
    assert tool in (None, ended.line["tool"])
    assert code in (None, ended.line["code"])
    row = desktop.toolkeeper("audit", "show", ended.line["invocation_id"], "--json").line
    assert row["state"] == "settled"
    told = desktop.toolkeeper("run", "session.yaml")
    assert "\x1b" not in told.out


def test_an_invalid_call_of_a_deferred_tool_gets_its_schema(desktop: Desktop) -> None:
    ended = desktop.play(
        "{id: c1, tool: tool.call, arguments: {name: mail.send, arguments: {to: a}}}\n"
        "{id: c2, tool: schedule.update, arguments: {}}"
    )
    deferred, defined = ended.lines
    assert deferred["code"] == defined["code"] == "tool.arguments_invalid"
    assert '"body"' in deferred["result"]
    assert "input schema:" in deferred["result"]
    assert "input schema:" not in defined["result"]


def test_an_intent_stays_until_it_is_changed(desktop: Desktop) -> None:
    def go(intent: str, *session: str, more: str = "") -> dict[str, Any]:
        desktop.write(
            "s.yaml",
            f"agent: chat\nuser: ana\n{intent}turns:\n  - user: hello\n{more}"
            "    calls: [{id: c1, tool: schedule.list}]\n",
        )
        line: dict[str, Any] = desktop.toolkeeper("run", "s.yaml", "--json", *session).line
        return line

    first = go("intent: {disabled: [schedule.list]}\n")
    assert first["outcome"] == "refused"
    session = ("--session", first["session_id"])
    assert go("", *session)["outcome"] == "refused"
    assert go("", *session, more="    override: {enabled: true}\n")["outcome"] == "completed"
    assert go("", *session)["outcome"] == "refused"  # an override is stored nowhere
    assert go("intent: null\n", *session)["outcome"] == "completed"
    assert go("", *session)["outcome"] == "completed"
    assert go("intent: [mail.send]\n", *session)["outcome"] == "refused"
    assert go("intent: [schedule.list]\n", *session)["outcome"] == "completed"
    plans = desktop.toolkeeper("audit", "plans", "--json").lines
    assert [row["turn"] for row in plans] == list(range(1, 9))
    assert [row["intent"] for row in plans] == [
        {"disabled": ["schedule.list"]},
        {"disabled": ["schedule.list"]},
        {"enabled": True},
        {"disabled": ["schedule.list"]},
        None,
        None,
        ["mail.send"],
        ["schedule.list"],
    ]


@pytest.mark.parametrize(
    "head", ["agent: other\n", "user: bob\n", "provider: mcp\n", "attributes: {a: 1}\n"]
)
def test_a_session_keeps_who_and_what_it_was_opened_with(desktop: Desktop, head: str) -> None:
    (line,) = desktop.play("{id: c1, tool: schedule.list}").lines
    desktop.write("s.yaml", head + "turns: [{user: hello}]\n")
    ended = desktop.toolkeeper("run", "s.yaml", "--session", line["session_id"])
    assert (ended.code, ended.out) == (2, "")
    assert head.split(":")[0] in ended.err
    desktop.write("s.yaml", "turns:\n  - calls: [{id: c1, tool: schedule.list}]\n")
    assert desktop.toolkeeper("run", "s.yaml", "--session", line["session_id"]).code == 0


def test_an_unknown_session_is_told(desktop: Desktop) -> None:
    desktop.play("{id: c1, tool: schedule.list}")
    ended = desktop.play("{id: c1, tool: schedule.list}", "--session", "ses_nothing")
    assert (ended.code, ended.out) == (2, "")
    assert "unknown session `ses_nothing`" in ended.err


def test_a_call_is_the_same_line_in_a_session_of_its_own(desktop: Desktop) -> None:
    words = ("call", "--agent", "chat", "--user", "ana")
    done = desktop.toolkeeper(*words, "schedule.list", '{"day": "friday"}', "--json")
    assert done.code == 0
    assert tuple(done.line) == ENDED
    assert done.line["result"] == '["friday","dentist"]'
    asked = desktop.toolkeeper(*words, "schedule_update", '{"id": 1}', "--json")
    assert (asked.code, asked.line["outcome"]) == (1, "suspended")
    broken = desktop.toolkeeper(*words, "schedule.list", "{", "--json")
    assert (broken.code, broken.line["code"]) == (1, "tool.arguments_invalid")
    unknown = desktop.toolkeeper(*words, "schedule.lits", "{}", "--json")
    assert (unknown.code, unknown.line["code"]) == (1, "tool.not_found.not_offered")
    assert len({each.line["session_id"] for each in (done, asked, broken, unknown)}) == 4


def test_a_person_reads_the_story(desktop: Desktop) -> None:
    desktop.play(
        "{id: c1, tool: schedule.list}\n{id: c2, tool: schedule.update, arguments: {id: 1}}"
    )
    told = desktop.toolkeeper("run", "session.yaml")
    assert told.code == 1
    assert "c1  schedule.list: completed" in told.out
    assert "c2  schedule.update: suspended" in told.out
    assert "approval  apr_" in told.out


def test_a_repeated_call_reads_as_one_and_runs_nothing(desktop: Desktop) -> None:
    words = ("call", "--agent", "chat", "--user", "ana", "schedule.list", '{"day": "friday"}')
    key = ("--idempotency-key", "list of friday")
    first = desktop.toolkeeper(*words, *key)
    assert (first.code, "repeated" in first.out) == (0, False)
    again = desktop.toolkeeper(*words, *key)
    line = desktop.toolkeeper(*words, *key, "--json").line
    assert again.code == 0
    assert (
        f"repeated  this is the stored result of an earlier call, {line['invocation_id']}; "
        "nothing was run now\n"
    ) in again.out
    assert (line["repeated"], line["outcome"]) == (True, "completed")
    assert desktop.toolkeeper(*words, "--json").line["repeated"] is False


def test_a_repeated_call_that_waits_says_that_it_waits_already(desktop: Desktop) -> None:
    words = ("call", "--agent", "chat", "--user", "ana", "schedule.update", '{"id": 7}')
    key = ("--idempotency-key", "seven")
    one = desktop.toolkeeper(*words, *key, "--json").line
    two = desktop.toolkeeper(*words, *key, "--json").line
    assert (one["repeated"], two["repeated"]) == (False, True)
    assert one["approval_id"] == two["approval_id"]
    shown = desktop.toolkeeper(*words, *key).out
    assert f"repeated  an equal call was made earlier, {one['invocation_id']}; nothing was" in shown
    assert len(desktop.toolkeeper("approvals", "list", "--json").lines) == 1


def test_a_recorded_session_tells_which_of_its_calls_were_repeated(desktop: Desktop) -> None:
    ended = desktop.play(
        """{id: c1, tool: schedule.list, arguments: {day: friday}, idempotency_key: k}
        {id: c2, tool: schedule.list, arguments: {day: friday}, idempotency_key: k}
        {id: c3, tool: schedule.list, arguments: {day: friday}}"""
    )
    told = [(line["call_id"], line["repeated"], line["result"]) for line in ended.lines]
    assert [repeated for _, repeated, _ in told] == [False, True, False]
    assert [name for name, _, _ in told] == ["c1", "c2", "c3"]
    assert told[0][2] == told[1][2]
