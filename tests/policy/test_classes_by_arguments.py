"""A call's class may hang on its arguments; a tool as such is never taken for less than dearest."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkeeper_contract import (
    Classification,
    Declaration,
    Flag,
    SideEffect,
    SourceKind,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_policy import CallClasses, ClassificationRule, classify

HTTP = ToolIdentity(SourceKind.FUNCTION, "functions", "http.request")
CRM = ToolIdentity(SourceKind.MCP, "crm", "request")
RANK = list(SideEffect)


def definition(name: str = "http.request") -> ToolDefinition:
    return ToolDefinition(name, None, "Requests.", {"type": "object"})


def rule(**fields: Any) -> ClassificationRule:
    return ClassificationRule(tools=("*",), **fields)


READS = rule(arguments={"method": ("GET", "HEAD")}, side_effect=SideEffect.NETWORK_READ)
WIPES = rule(arguments={"method": ("DELETE",)}, side_effect=SideEffect.FINANCIAL, destructive=True)
WRITES = rule(side_effect=SideEffect.NETWORK_WRITE, destructive=False)


def classes(*rules: ClassificationRule, identity: ToolIdentity = HTTP, **more: Any) -> CallClasses:
    return CallClasses(identity, definition(), rules=rules, **more)


def side_effect(found: CallClasses, **arguments: Any) -> str:
    return found.of(arguments).side_effect.value


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"method": "GET"}, "network_read"),
        ({"method": "HEAD", "url": "x"}, "network_read"),
        ({"method": "POST"}, "network_write"),
        ({"method": "get"}, "network_write"),
        ({"method": " GET"}, "network_write"),
        ({"method": ["GET"]}, "network_write"),
        ({"method": None}, "network_write"),
        ({}, "network_write"),
        ({"Method": "GET"}, "network_write"),
        ({"method": "DELETE"}, "financial"),
    ],
)
def test_a_call_has_the_class_of_its_arguments(arguments: Any, expected: str) -> None:
    found = classes(WRITES, READS, WIPES)
    assert found.look_at_arguments
    assert side_effect(found, **arguments) == expected


@pytest.mark.parametrize(
    ("value", "given", "same"),
    [
        (1, 1, True),
        (1, 1.0, True),
        (1, True, False),
        (True, True, True),
        (True, 1, False),
        (False, 0, False),
        ("1", 1, False),
        ("true", True, False),
    ],
)
def test_values_are_compared_as_what_they_are(value: Any, given: Any, same: bool) -> None:
    dry = rule(arguments={"dry": (value,)}, side_effect=SideEffect.NONE)
    assert (side_effect(classes(WRITES, dry), dry=given) == "none") is same


def test_every_named_argument_has_to_be_met() -> None:
    both = rule(arguments={"a": (1,), "b": ("x", "y")}, side_effect=SideEffect.NONE)
    found = classes(WRITES, both)
    assert side_effect(found, a=1, b="y") == "none"
    assert side_effect(found, a=1) == side_effect(found, a=1, b="z") == "network_write"


def test_the_tool_itself_has_the_dearest_of_its_calls_classes() -> None:
    assert classes(WRITES, READS).dearest.side_effect is SideEffect.NETWORK_WRITE
    dearest = classes(WRITES, READS, WIPES).dearest
    assert dearest.side_effect is SideEffect.FINANCIAL
    assert Flag.DESTRUCTIVE in dearest.flags
    cheap = rule(side_effect=SideEffect.NETWORK_READ)
    assert classes(cheap, WIPES).dearest.side_effect is SideEffect.FINANCIAL


def test_without_such_rules_nothing_is_different() -> None:
    found = classes(WRITES)
    assert not found.look_at_arguments
    plain = classify(HTTP, definition(), rules=(WRITES,))
    assert found.dearest == found.of({"method": "GET"}) == plain
    assert found.possible == (plain,)


def test_what_was_not_accepted_is_not_lowered_by_arguments_either() -> None:
    accepted = classes(READS, identity=CRM)
    assert side_effect(accepted, method="GET") == "network_read"
    new = classes(READS, WIPES, identity=CRM, accepted=False)
    assert side_effect(new, method="GET") == "network_write"
    assert side_effect(new, method="DELETE") == "financial"


def test_destination_and_payload_are_the_operators_word_on_what_was_accepted() -> None:
    mail = rule(destination=("to", "cc"), payload=("body",))
    found = classify(CRM, definition(), rules=(mail,))
    assert (found.destination, found.payload) == (("to", "cc"), ("body",))
    new = classify(CRM, definition(), rules=(mail,), accepted=False)
    assert (new.destination, new.payload) == ((), ())
    ours = classify(HTTP, definition(), declaration=Declaration(SideEffect.NONE), rules=(mail,))
    assert ours.destination == ("to", "cc")


VALUES = st.sampled_from(["GET", "HEAD", "DELETE", "x", 1, True])
RULES = st.builds(
    rule,
    arguments=st.dictionaries(
        st.sampled_from(["method", "dry"]), st.lists(VALUES, min_size=1).map(tuple), max_size=2
    ),
    side_effect=st.sampled_from([None, *SideEffect]),
    destructive=st.sampled_from([None, True, False]),
    private=st.sampled_from([None, True, False]),
    result=st.sampled_from([None, "trusted", "untrusted"]),
)


@given(
    rules=st.lists(RULES, max_size=3),
    identity=st.sampled_from([HTTP, CRM]),
    accepted=st.booleans(),
    arguments=st.dictionaries(st.sampled_from(["method", "dry"]), VALUES),
)
def test_unaccepted_tools_are_never_cheaper_than_the_worst_case(
    rules: list[ClassificationRule], identity: ToolIdentity, accepted: bool, arguments: Any
) -> None:
    found = CallClasses(identity, definition(), accepted=accepted, rules=tuple(rules))
    call: Classification = found.of(arguments)
    if identity is CRM and not accepted:
        assert RANK.index(call.side_effect) >= RANK.index(SideEffect.NETWORK_WRITE)
        assert {Flag.DESTRUCTIVE, Flag.OPEN_WORLD} <= call.flags
        assert not call.trusted_result
    # Where at most one of the rules looks at arguments, the dearest is known beforehand.
    if sum(bool(each.arguments) for each in rules) <= 1:
        assert call in found.possible
    assert RANK.index(found.dearest.side_effect) == max(
        RANK.index(each.side_effect) for each in found.possible
    )


def test_every_combination_of_three_rules_is_within_the_dearest() -> None:
    lowering = [
        rule(arguments={name: (True,)}, side_effect=effect)
        for name, effect in zip(
            "abc", (SideEffect.NONE, SideEffect.NETWORK_READ, None), strict=True
        )
        if effect is not None
    ]
    found = classes(WRITES, *lowering)
    for values in product((True, False), repeat=3):
        call = found.of(dict(zip("abc", values, strict=True)))
        assert RANK.index(call.side_effect) <= RANK.index(found.dearest.side_effect)
