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
    ScriptedResponse,
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
    (step,) = script.turns[0].steps
    assert isinstance(step, tuple)
    (call,) = step
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
        (ScriptedCall("c1", "tool.call", wrapped),),
        (ScriptedCall("c2", "a", "{}"), ScriptedCall("call_1", "b", {})),
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
    (turn,) = load(
        "turns: [{calls: [{id: c1}, {id: c1}], approvals: {c1: approve, 'c1#2': deny}}]"
    ).turns
    assert turn.answer("c1", in_session=1, in_turn=1).verdict is Verdict.APPROVE
    assert turn.answer("c1", in_session=2, in_turn=2).verdict is Verdict.DENY
    assert turn.answer("c1", in_session=3, in_turn=3) is LEAVE


def test_a_plain_id_is_the_first_of_its_turn_wherever_that_stands_in_the_session(
    load: Load,
) -> None:
    (turn,) = load("turns: [{calls: [{id: c1}], approvals: {c1: approve, 'c1#7': deny}}]").turns
    assert turn.answer("c1", in_session=3, in_turn=1).verdict is Verdict.APPROVE
    assert turn.answer("c1", in_session=7, in_turn=1).verdict is Verdict.DENY


def test_a_star_answers_every_other_call(load: Load) -> None:
    (turn,) = load(
        "turns: [{calls: [{id: c1}, {id: c2}], approvals: {'*': {edit: {a: 1}}, c2: leave}}]"
    ).turns
    edit = ScriptedAnswer(Verdict.EDIT, {"a": 1})
    assert turn.answer("c1", in_session=1, in_turn=1) == edit
    assert turn.answer("c2", in_session=1, in_turn=1).verdict is Verdict.LEAVE


def test_a_response_is_a_step_that_only_its_provider_can_read(load: Load) -> None:
    Path("r.json").write_text('{"content": []}')
    Path("q.json").write_text('{"content": [1]}')
    script = load("turns: [{response: r.json, approvals: {x: deny}}, {response: [q.json, r.json]}]")
    one, two = script.turns
    assert one.steps == (ScriptedResponse({"content": []}, "r.json", ("turns", 0, "response")),)
    assert [step.file for step in two.steps if isinstance(step, ScriptedResponse)] == [
        "q.json",
        "r.json",
    ]


def test_a_response_is_looked_for_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("{}")
    (tmp_path / "s.yaml").write_text("turns: [{response: r.json}]")
    (step,) = load_script(tmp_path / "s.yaml").turns[0].steps
    assert isinstance(step, ScriptedResponse)
    assert step.file == str(tmp_path / "r.json")


def test_children_have_turns_of_their_own_and_may_have_children(load: Load) -> None:
    script = load(
        "turns:\n- child:\n    tools: [a]\n    turns:\n"
        "    - {user: x, calls: [{id: c1}], child: {agent: b, turns: [{child: }]}}\n"
        "- {user: y}\n"
    )
    child = script.turns[0].child
    assert child is not None
    assert (child.tools, child.agent) == (("a",), None)
    grandchild = child.turns[0].child
    assert grandchild is not None
    assert (grandchild.tools, grandchild.agent) == (None, "b")
    assert [turn.user for turn in script.every_turn()] == ["", "x", "", "y"]


def test_a_session_may_name_its_model_and_endpoint(load: Load) -> None:
    script = load("model: m-1\nendpoint: https://e.example\nturns: [{}]")
    assert (script.model, script.endpoint) == ("m-1", "https://e.example")
    assert load("turns: [{}]").model is None


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
    "turns: [{response: x.txt}]": "s.yaml:1: turns[0].response: there is no file `x.txt` "
    "(known: `array.json`, `cut.json`, `good.json`, `nan.json`)",
    "turns: [{response: god.json}]": "s.yaml:1: turns[0].response: there is no file `god.json` "
    "(did you mean `good.json`?)",
    "turns: [{response: [good.json, 7]}]": "s.yaml:1: turns[0].response[1]: "
    "must be the name of a file (the file holds one response of the provider as json)",
    "turns: [{response: []}]": "s.yaml:1: turns[0].response: must not be empty "
    "(name a file, or remove the key)",
    "turns: [{response: cut.json}]": "cut.json:3: this is not valid json "
    "(keep the provider's response as it came)",
    "turns: [{response: nan.json}]": "nan.json: this json cannot be read "
    "(keep the provider's response as it came)",
    "turns: [{response: array.json}]": "array.json: a response is a json object, and this is none "
    "(keep the provider's response as it came)",
    "turns:\n- calls: [{tool: a}]\n  response: good.json": "s.yaml:3: turns[0].response: "
    "a turn has `calls` or a `response`, and this has both "
    "(the response holds the calls; remove one of the two)",
    "turns: [{child: {tools: []}}]": "s.yaml:1: turns[0].child: the key `turns` is missing "
    "(write a list of turns: `- {user: hello, calls: []}`, say)",
    "turns: [{child: {turns: [{}], tools: [7]}}]": "s.yaml:1: turns[0].child.tools[0]: "
    "must be text, not a number (put it in quotes)",
    "turns: [{child: {turns: [{}], user: ana}}]": "s.yaml:1: turns[0].child.user: "
    "unknown key `user` (known: `agent`, `tools`, `turns`)",
    "turns: [{child: {agent: , turns: [{}]}}]": "s.yaml:1: turns[0].child.agent: has no value "
    "(give it one, or remove the key)",
    "turns:\n- child:\n    turns:\n    - calls: [x]": "s.yaml:4: "
    "turns[0].child.turns[0].calls[0]: a call must be a mapping, not text "
    "(write `{tool: NAME, arguments: {...}}`)",
    "turns: [{}]\nchild: {}": "s.yaml:2: child: unknown key `child` (known: `agent`, `attributes`, "
    "`endpoint`, `intent`, `model`, `provider`, `turns`, `user`)",
    "turns: [{calls: [{child: {}}]}]": "s.yaml:1: turns[0].calls[0].child: "
    "`child` is no part of a call (it stands beside `calls`)",
    "turns: [{message: x}]": "s.yaml:1: turns[0].message: unknown key `message` "
    "(known: `approvals`, `calls`, `child`, `override`, `response`, `tool_choice`, `user`)",
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
    Path("good.json").write_text("{}")
    Path("cut.json").write_text('{\n"content": [\n')
    Path("nan.json").write_text('{"x": NaN}')
    Path("array.json").write_text("[]")
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert str(caught.value) == CASES[text]


def test_all_faults_are_told_at_once(load: Load) -> None:
    with pytest.raises(ConfigError) as caught:
        load("turns:\n- calls: [x]\n  approvals: {q: deny}\n- override: 7\n")
    assert [line.split(":")[1] for line in str(caught.value).split("\n")] == ["2", "3", "4"]


def test_made_up_ids_do_not_repeat(load: Load) -> None:
    script = load("turns: [{calls: [{tool: a}]}, {calls: [{id: call_2}, {tool: a}]}]")
    steps = [step for turn in script.turns for step in turn.steps if isinstance(step, tuple)]
    ids = [call.call_id for step in steps for call in step]
    assert ids == ["call_1", "call_2", "call_3"]


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        load_script(tmp_path / "nope.yaml")
