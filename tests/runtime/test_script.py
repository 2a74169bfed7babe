"""A recorded session's file: what is data, and what is malformed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from toolkeeper.runtime.script import (
    ABSENT,
    LEAVE,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    Verdict,
    load_script,
)
from toolkeeper_contract import ConfigError

Load = Callable[[str], Script]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    monkeypatch.chdir(tmp_path)

    def load(text: str) -> Script:
        Path("s.yaml").write_text(text)
        return load_script(Path("s.yaml"))

    return load


def only_call(script: Script) -> ScriptedCall:
    ((call,),) = script.turns[0].steps
    return call


def test_a_whole_session_arrives(load: Load) -> None:
    script = load(
        """
agent: chat
user: ana
provider: anthropic
attributes: {website: example.com}
intent: {disabled: [mail.send]}
turns:
  - user: move the dentist to friday
    override: [a, b]
    tool_choice: schedule.update
    calls:
      - {id: c1, tool: tool.call, arguments: {name: schedule.update, arguments: {id: 7}}}
      - [{id: c2, tool: a, arguments: "{}"}, {tool: b}]
    approvals: {c1: approve, "*": deny}
"""
    )
    assert (script.agent, script.user, script.provider) == ("chat", "ana", "anthropic")
    assert script.attributes == {"website": "example.com"}
    assert script.intent == {"disabled": ["mail.send"]}
    (turn,) = script.turns
    assert (turn.user, turn.override, turn.tool_choice) == (
        "move the dentist to friday",
        ["a", "b"],
        "schedule.update",
    )
    wrapped = {"name": "schedule.update", "arguments": {"id": 7}}
    assert turn.steps == (
        (ScriptedCall("c1", "tool.call", wrapped, 1, 1),),
        (ScriptedCall("c2", "a", "{}", 1, 1), ScriptedCall("call_1", "b", {}, 1, 1)),
    )


def test_everything_but_the_turns_may_be_left_out(load: Load) -> None:
    script = load("turns: [{}]")
    assert (script.agent, script.user, script.provider) == (None, None, None)
    (turn,) = script.turns
    assert (turn.user, turn.override, turn.tool_choice, turn.steps) == ("", None, None, ())


def test_an_absent_intent_is_not_an_explicit_null(load: Load) -> None:
    assert load("turns: [{}]").intent is ABSENT
    assert load("intent: null\nturns: [{}]").intent is None
    assert load("intent: []\nturns: [{}]").intent == []


def test_the_nulls_of_a_turn_mean_nothing(load: Load) -> None:
    script = load("turns: [{user: x, override: null, tool_choice: null, calls: , approvals: }]")
    assert script.turns[0].steps == ()


@pytest.mark.parametrize(
    ("written", "tool", "arguments"),
    [
        ("{}", None, {}),
        ("{tool: ''}", "", {}),
        ("{tool: 7}", 7, {}),
        ("{tool: null}", None, {}),
        ("{tool: [a, b]}", ["a", "b"], {}),
        ("{tool: a, arguments: [1]}", "a", [1]),
        ("{tool: a, arguments: null}", "a", None),
        ("{tool: a, arguments: 7}", "a", 7),
        ("{tool: a, arguments: ''}", "a", ""),
        ('{tool: a, arguments: \'{"x":1,"x":2}\'}', "a", '{"x":1,"x":2}'),
        ("{tool: a, arguments: {x: .nan}}", "a", '{"x": NaN}'),
        ("{tool: a, arguments: {x: [-.inf]}}", "a", '{"x": [-Infinity]}'),
    ],
)
def test_what_a_model_could_have_sent_is_data(
    load: Load, written: str, tool: object, arguments: object
) -> None:
    call = only_call(load(f"turns: [{{calls: [{written}]}}]"))
    assert (call.tool, call.arguments) == (tool, arguments)


def test_a_second_call_with_an_id_is_named_by_its_number(load: Load) -> None:
    script = load(
        "turns:\n"
        "- calls: [{id: c1, tool: a}, {id: c1, tool: a}]\n"
        "  approvals: {c1: approve, 'c1#2': deny}\n"
        "- calls: [{id: c1, tool: a}, {id: c2, tool: a}]\n"
        "  approvals: {c1: approve}\n"
    )
    first, second = script.turns
    ((one,), (two,)), ((three,), (four,)) = first.steps, second.steps
    assert [call.in_script for call in (one, two, three)] == [1, 2, 3]
    assert first.answer(one).verdict is Verdict.APPROVE
    assert first.answer(two).verdict is Verdict.DENY
    assert second.answer(three).verdict is Verdict.APPROVE
    assert second.answer(four) is LEAVE


def test_numbers_go_on_from_the_calls_of_the_session_so_far(load: Load) -> None:
    script = load("turns: [{calls: [{id: c1, tool: a}], approvals: {'c1#2': approve}}]")
    (turn,) = script.turns
    call = only_call(script)
    assert turn.answer(call) is LEAVE
    assert turn.answer(call, earlier=1).verdict is Verdict.APPROVE


def test_a_star_answers_every_other_call(load: Load) -> None:
    script = load(
        "turns: [{calls: [{id: c1}, {id: c2}], approvals: {'*': {edit: {a: 1}}, c2: leave}}]"
    )
    (turn,) = script.turns
    ((one,), (two,)) = turn.steps
    assert turn.answer(one) == ScriptedAnswer(Verdict.EDIT, {"a": 1})
    assert turn.answer(two).verdict is Verdict.LEAVE


CASES = {
    "": "s.yaml: the file is empty (write a list of turns under `turns`)",
    "- user: x": "s.yaml:1: the file must be a mapping of keys to values "
    "(write a list of turns under `turns`)",
    "agent: chat": "s.yaml:1: the key `turns` is missing "
    "(write a list of turns: `- {user: hello, calls: []}`, say)",
    "turns: []": "s.yaml:1: turns: must not be empty "
    "(write a list of turns: `- {user: hello, calls: []}`, say)",
    "turns: {}": "s.yaml:1: turns: must be a list, not a mapping",
    "turns: [x]": "s.yaml:1: turns[0]: must be a mapping, not text",
    "turns: [{}]\nagnet: x": "s.yaml:2: agnet: unknown key `agnet` (did you mean `agent`?)",
    "turns: [{}]\nagent:": "s.yaml:2: agent: has no value (give it one, or remove the key)",
    "turns: [{}]\nagent: 7": "s.yaml:2: agent: must be text, not a number (put it in quotes)",
    "turns: [{}]\nprovider: opnai": "s.yaml:2: provider: `opnai` is not known here "
    "(did you mean `openai`?)",
    "turns: [{}]\nattributes: [x]": "s.yaml:2: attributes: must be a mapping, not a list",
    "turns: [{}]\nattributes: {a: .nan}": "s.yaml:2: attributes.a: must be a finite number",
    "turns: [{}]\nintent: {enabled: 'yes'}": "s.yaml:2: intent.enabled: "
    "a flag must be true or false, or null",
    "turns: [{}]\nintent:\n  disabld: []": "s.yaml:3: intent.disabld: "
    "unknown key `disabld` in the intent (did you mean `disabled`?)",
    "turns:\n- override: {overlays: {web: 1}}": "s.yaml:2: turns[0].override.overlays.web: "
    "a flag must be true or false",
    "turns: [{response: r.json}]": "s.yaml:1: turns[0].response: `response` is not supported yet",
    "turns: [{child: {tools: []}}]": "s.yaml:1: turns[0].child: `child` is not supported yet",
    "turns: [{}]\nchild: {}": "s.yaml:2: child: `child` is not supported yet",
    "turns: [{calls: [{child: {}}]}]": "s.yaml:1: turns[0].calls[0].child: "
    "`child` is not supported yet",
    "turns: [{message: x}]": "s.yaml:1: turns[0].message: unknown key `message` "
    "(known: `approvals`, `calls`, `override`, `tool_choice`, `user`)",
    "turns: [{user: 7}]": "s.yaml:1: turns[0].user: must be text, not a number (put it in quotes)",
    "turns: [{calls: {tool: a}}]": "s.yaml:1: turns[0].calls: must be a list, not a mapping",
    "turns: [{calls: [a]}]": "s.yaml:1: turns[0].calls[0]: a call must be a mapping, not text "
    "(write `{tool: NAME, arguments: {...}}`)",
    "turns: [{calls: [[]]}]": "s.yaml:1: turns[0].calls[0]: a step has at least one call "
    "(remove the empty list)",
    "turns: [{calls: [[[{tool: a}]]]}]": "s.yaml:1: turns[0].calls[0][0]: "
    "a call must be a mapping, not a list (write `{tool: NAME, arguments: {...}}`)",
    "turns: [{calls: [{tol: a}]}]": "s.yaml:1: turns[0].calls[0].tol: unknown key `tol` "
    "(did you mean `tool`?)",
    "turns: [{calls: [{id: 7, tool: a}]}]": "s.yaml:1: turns[0].calls[0].id: "
    "must be text, not a number (put it in quotes)",
    "turns: [{calls: [{id: '', tool: a}]}]": "s.yaml:1: turns[0].calls[0].id: "
    "must not be empty (or leave it out)",
    "turns: [{calls: [{id: c1}], approvals: {c2: deny}}]": "s.yaml:1: turns[0].approvals.c2: "
    "this turn has no call `c2` (known: `*`, `c1`)",
    "turns: [{calls: [{id: c1}], approvals: {c1: yes}}]": "s.yaml:1: turns[0].approvals.c1: "
    "this is no answer (write `approve`, `deny`, `leave` or `{edit: {...}}`)",
    "turns: [{calls: [{id: c1}], approvals: {c1: {edit: [1]}}}]": "s.yaml:1: "
    "turns[0].approvals.c1: this is no answer "
    "(write `approve`, `deny`, `leave` or `{edit: {...}}`)",
}


@pytest.mark.parametrize("text", CASES)
def test_each_malformed_file_has_its_message(load: Load, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert str(caught.value) == CASES[text]


def test_all_faults_are_told_at_once(load: Load) -> None:
    with pytest.raises(ConfigError) as caught:
        load("turns:\n- calls: [x]\n  approvals: {q: deny}\n- override: 7\n")
    assert [line.split(":")[1] for line in str(caught.value).split("\n")] == ["2", "3", "4"]


def test_made_up_ids_do_not_repeat(load: Load) -> None:
    script = load("turns: [{calls: [{tool: a}]}, {calls: [{id: call_2}, {tool: a}]}]")
    ids = [call.call_id for turn in script.turns for step in turn.steps for call in step]
    assert ids == ["call_1", "call_2", "call_3"]


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        load_script(tmp_path / "nope.yaml")
