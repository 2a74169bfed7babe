"""When does a condition hold, when can that not be said, and which are refused at load?"""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from toolkeeper_contract import (
    Classification,
    ConfigError,
    Flag,
    Origin,
    Principal,
    Question,
    SideEffect,
)
from toolkeeper_policy import (
    CallView,
    CelCondition,
    ConditionFailure,
    ConditionFault,
    ViewPlan,
    compile_condition,
    load_policy,
)


class Heard:
    """What a session has heard: texts by origin."""

    def __init__(self, **texts: str) -> None:
        self._texts = texts

    def origin(self, value: Any) -> Origin:
        for name, text in self._texts.items():
            if str(value) in text:
                return Origin(name)
        return Origin.NOWHERE


def question(**fields: Any) -> Question:
    asked = Question(
        tool="mcp.mail.send",
        source="mail",
        classification=Classification(
            SideEffect.MESSAGE_SEND, frozenset({Flag.OPEN_WORLD}), "rule"
        ),
        agent="chat",
        principal=Principal("ana", frozenset({"mail", "notes"})),
        arguments={
            "to": ["a@example.com", "b@example.com"],
            "n": 7,
            "big": 2**70,
            "body": "hello",
            "$meta": {"x": None},
        },
        attributes={"website": "https://example.com"},
    )
    return replace(asked, **fields)


def ask(condition: CelCondition, asked: Question | None = None) -> bool:
    return condition.holds(CallView(asked or question(), ViewPlan(condition.needs)))


def holds(text: str, **fields: Any) -> bool:
    return ask(compile_condition(text), question(**fields))


@pytest.mark.parametrize(
    "text",
    [
        'args.to.all(a, a.endsWith("@example.com"))',
        'args.to.exists(a, a == "b@example.com") && size(args.to) == 2',
        "args.n > 6.5 && args.n == 7.0 && args.n in [1, 7]",
        "args.big > 1",
        'has(args.body) && !has(args.cc) && !("cc" in args)',
        'args["$meta"].x == null',
        'args.zz == 1 || args.body == "hello"',
        'tool.name == "mcp.mail.send" && tool.source == "mail" && tool.trust == "trusted"',
        'tool.side_effect == "message_send" && "open_world" in tool.flags',
        'principal.user == "ana" && principal.scopes.exists(s, s == "notes")',
        'agent == "chat" && agent != "work"',
        '!session.tainted && !session.private && !("tainted" in session.taint)',
        'session.attributes.website.startsWith("https://")',
        'call.advertised_as == "definition"',
        'matches(args.body, "^h.l+o$") && args.body.matches("(?i)HELLO")',
        'args.body.upperAscii() == "HELLO" && "AB".lowerAscii() == "ab"',
        '" x ".trim() == "x" && "a,b".split(",")[1] == "b" && args.body.substring(1, 3) == "el"',
        'args.to.map(a, domain(a)).all(d, d == "example.com")',
        "args.to.filter(a, a.contains('b@')).size() == 1",
        '"" in args ? false : true',
        "type(args.n) == int && type(args.body) == string",
        "args.body == '''hello''' && r'a\\d' == 'a\\\\d' && b'a' == bytes('a')",
        "{'a': [1, 2]}.a.size() == 2 || args.n == 1",
        "// a remark\nargs.n == 0x07",
        "-args.n < 0 && args.n % 2 == 1 && 1 - -1 == 2",
    ],
)
def test_a_condition_holds(text: str) -> None:
    assert holds(text) is True
    assert holds(f"!({text})") is False


def test_what_is_not_there_cannot_be_compared() -> None:
    with pytest.raises(ConditionFailure, match="missing"):
        holds("args.too == 1")


@pytest.mark.parametrize(
    "text",
    [
        'args.n < "7"',
        "args.n",
        "args.to",
        "args.body && true",
        "args.n / 0 == 1",
        "args.n + 9223372036854775807 > 0",
        "args.body.startsWith(args.n)",
        "args.n.endsWith('x')",
        "args.n.all(x, x == 1)",
        "domain(args.body + ' ' + args.body) == 'x'",
        "domain(args.n) == 'x'",
        "matches(args.n, 'x')",
        "matches(args.body, args.body + '(')",
        "int(args.body) == 1",
        "timestamp(args.body) < timestamp(args.body)",
        "session.attributes.nothing == 1",
        "call.hour == 3",
        "args.body.split('') == []",
        "args.body.substring(9) == ''",
    ],
)
def test_a_condition_that_fails_says_why_and_quotes_nothing(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(ConditionFailure) as caught:
        holds(text)
    assert "hello" not in str(caught.value)
    assert "hello" not in caplog.text


def test_origins_can_be_asked_for() -> None:
    heard = Heard(user="mail a@example.com please", untrusted="or b@example.com")
    assert holds('origin(args.to[0]) == "user"', provenance=heard)
    assert holds('origin(args.to[1]) == "untrusted"', provenance=heard)
    assert holds('origin(args.body) == "nowhere"', provenance=heard)
    # The weakest value speaks for a list; without provenance everything is from nowhere.
    assert holds('origin(args.to) == "untrusted"', provenance=heard)
    assert holds('origin(args.to[0]) == "nowhere"')
    assert holds('args.to.exists(a, origin(a) == "user")', provenance=heard)


def test_the_time_of_day_is_that_of_the_stated_zone() -> None:
    at = datetime(2026, 7, 3, 22, 30, tzinfo=UTC)
    zurich = compile_condition(
        'call.hour == 0 && call.minute == 30 && call.weekday == "saturday" && '
        'call.date == "2026-07-04" && call.time < "01:00"',
        "Europe/Zurich",
        ZoneInfo("Europe/Zurich"),
    )
    assert ask(zurich, question(at=at))
    assert ask(zurich, question(at=at.astimezone(timezone(timedelta(hours=-7)))))
    assert holds('call.weekday == "friday" && call.hour == 22', at=at)
    with pytest.raises(ConditionFailure, match="missing"):
        ask(zurich, question())


def test_conditions_in_two_zones_share_one_view() -> None:
    at = datetime(2026, 7, 3, 22, 30, tzinfo=UTC)
    here = compile_condition("call.hour == 22")
    there = compile_condition("call.hour == 0", "Europe/Zurich", ZoneInfo("Europe/Zurich"))
    view = CallView(question(at=at), ViewPlan(here.needs.union(there.needs)))
    assert here.holds(view)
    assert there.holds(view)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("ana@Example.COM", "example.com"),
        ("mailto:ana@example.com", "example.com"),
        ("https://user@example.com:8443/a@b?c#d", "example.com"),
        ("HTTP://example.com.", "example.com"),
        ("example.com", "example.com"),
        ("https://\uff45xample.com/", "example.com"),
        ("https://bücher.example", "xn--bcher-kva.example"),
        ("http://[::1]:80/", "::1"),
        ("https://good.example#@evil.example", "good.example"),
    ],
)
def test_the_domain_of_an_address(address: str, host: str) -> None:
    assert holds(f"domain(args.a) == {host!r}", arguments={"a": address})


@pytest.mark.parametrize(
    "address",
    [
        "Ana <ana@good.example>",
        "ana@evil.example,ana@good.example",
        "ana@evil.example ana@good.example",
        '"ana@evil.example"@good.example',
        "https://evil.example\\@good.example/",
        "https://a@evil.example@good.example/",
        "https://good.example%2eevil.example/",
        "https://good.example\t.evil.example/",
        "https://",
        "https://stra\u00dfe.example/",
        "a\u200db.example",
        "not an address",
        "a@b@c",
        "",
        "x" * 3000,
    ],
)
def test_what_two_readers_could_take_for_two_hosts_has_no_domain(address: str) -> None:
    with pytest.raises(ConditionFailure):
        holds('domain(args.a) != ""', arguments={"a": address})


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "empty", None),
        ("   // nothing", "empty", None),
        ("args.to ==", "ends too early", None),
        ("args.to == 1)", "unexpected `)`", None),
        ("args.to = 1", "unreadable `=`", None),
        ("args..to", "unexpected `.`", None),
        ("args.?to == 1", "unexpected `?`", None),
        ("arg.to == 1", "no variable `arg`", "`args`"),
        ("true || nothing", "no variable `nothing`", None),
        ("tool.nmae == 'x'", "no `tool.nmae`", "`name`"),
        ("session.tainded", "no `session.tainded`", "`tainted`"),
        ("session.taint == true", "`True` can never be there", None),
        ("agent.name == 'x'", "`agent` is a text", None),
        ("lenght(args.to) == 1", "no function `lenght`", None),
        ("args.to.endWith('x')", "no function `endWith`", "`endsWith`"),
        ("args.to.matches('x', 'y')", "`matches` takes 1 arguments, not 2", None),
        ("endsWith(args.to, 'x')", "called on a text", None),
        ("args.to.all(x)", "takes a variable", None),
        ("args.to.all(args, true)", "taken already", None),
        ("all(args.to, x, true)", "called on a list", None),
        ("has(args)", "asks for a field", None),
        ("args.a.matches('(?<=x)y')", "cannot be read", "re2"),
        ("matches(args.a, '(')", "cannot be read", "re2"),
        ("matches(args.a, 'a{1000}{1000}')", "cannot be read", "re2"),
        ("matches(args.a, 7)", "pattern in quotes", None),
        ("Message{a: 1} == args.a", "cannot build a `Message`", None),
        ("tool.side_effect == 'finanical'", "`finanical` can never", "`financial`"),
        ("'destructve' in tool.flags", "can never", "`destructive`"),
        ("call.weekday in ['sat', 'sunday']", "`sat` can never", None),
        ("origin(args.to) != 'usr'", "`usr` can never", "`user`"),
        ("1 + 1", "neither true nor false", None),
        ("'yes'", "neither true nor false", None),
        ("1 < 2 < 3", "can never be evaluated", None),
        ("'\\ud800' == args.a", "no character", None),
        ("(" * 100 + "true" + ")" * 100, "nested deeper", None),
        ("!" * 100 + "true", "nested deeper", None),
        ("[" * 4000, "nested deeper", None),
        ("args.a" + " && args.a" * 200, "too long a chain", None),
        ("args.a == '" + "x" * 5000 + "'", "longer than", None),
        (
            "("
            + "a*" * 99
            + "1"
            + "+1" * 30
            + "<1" * 99
            + "&&1" * 99
            + "||1" * 99
            + ")"
            + "*1" * 99
            + "<1" * 99
            + "&&1" * 99
            + "||1" * 99,
            "too long a chain",
            None,
        ),
        (
            "args.a.all(x, args.a.all(y, args.a.all(z, x == z)))",
            "nests comprehensions 3 deep",
            None,
        ),
        ("args.a.map(x, x + x + x + x + x).size() > 1", "adds too much", None),
        ("args.a" + " + args.a" * 40 + " == ''", "adds too much", None),
        (
            "[" + "1," * 400 + "1].map(x, [" + "1," * 400 + "1].map(y, x)) == args.a",
            "too long to evaluate",
            None,
        ),
    ],
)
def test_a_condition_is_refused_at_load(text: str, message: str, hint: str | None) -> None:
    with pytest.raises(ConditionFault) as caught:
        compile_condition(text)
    assert message in caught.value.message
    if hint is not None:
        assert hint in (caught.value.hint or "")


def test_a_refused_condition_is_an_error_with_its_line_and_rule() -> None:
    text = "version: 1\nrules:\n  - id: far\n    effect: deny\n    when: |\n      arg.to == 1\n"
    with pytest.raises(ConfigError, match="rule `far`: there is no variable `arg`") as caught:
        load_policy([("policy.yaml", text)])
    assert (caught.value.file, caught.value.line) == ("policy.yaml", 5)
    assert caught.value.key == "rules[0].when"


def test_two_levels_of_comprehensions_are_allowed_one_after_another_too() -> None:
    text = "args.a.all(x, args.b.exists(y, x == y)) && args.b.all(x, args.a.exists(y, x == y))"
    assert holds(text, arguments={"a": [1, 2], "b": [2, 1]})


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("args.a.all(x, args.a.exists(y, x == y))", {"a": list(range(5_000))}),
        ("args.a.map(x, x).size() > 0", {"a": list(range(5_000))}),
        ("args.a.all(x, !args.b.contains(x))", {"a": ["x"] * 5_000, "b": "y" * 500_000}),
        ("args.a.all(x, x.all(y, y > 0))", {"a": {str(key): [1] for key in range(3_000)}}),
    ],
)
def test_arguments_too_large_for_a_condition_are_a_failure_and_not_a_wait(
    text: str, arguments: Any
) -> None:
    with pytest.raises(ConditionFailure, match="too large"):
        holds(text, arguments=arguments)


def test_a_large_argument_that_a_condition_does_not_look_at_is_no_burden() -> None:
    assert holds("args.a.all(x, x > 0)", arguments={"a": [1], "b": ["x"] * 200_000})


def test_a_pattern_made_to_hang_answers_at_once() -> None:
    text = "a" * 200_000 + "!"
    assert holds('!args.a.matches("^(a+)+$")', arguments={"a": text})


def test_deep_arguments_can_be_looked_at() -> None:
    deep: Any = 1
    for _ in range(250):
        deep = {"a": deep}
    assert holds("has(args.a.a.a)", arguments=deep)


def test_a_condition_can_be_asked_in_any_thread() -> None:
    condition = compile_condition('args.to.exists(a, a == "a@example.com")')
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda _: ask(condition), range(50)))
