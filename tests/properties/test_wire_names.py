"""Invariants of wire names: legal, one to one, stable in any order, only growing."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import SourceKind, ToolIdentity
from toolkeeper_wire import MCP_NAMES, PROVIDER_NAMES, NameCodec, NameForm

PROVIDER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
MCP = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,127}")

# Few letters, so that names clash; some long, so that they do not fit.
tool_names = st.text("ab_.-1", min_size=1, max_size=6) | st.text("xY.", min_size=50, max_size=128)
server_ids = st.text("ab_-", min_size=1, max_size=4) | st.text("s_", min_size=60, max_size=64)
identities = st.one_of(
    st.builds(ToolIdentity, st.just(SourceKind.FUNCTION), st.just("functions"), tool_names),
    st.builds(
        ToolIdentity, st.sampled_from([SourceKind.MCP, SourceKind.DEVICE]), server_ids, tool_names
    ),
    st.just(ToolIdentity(SourceKind.CONTROL, "control", "tool.call")),
)
rosters = st.lists(identities, max_size=12, unique_by=lambda tool: tool.canonical_name)
forms = [(PROVIDER_NAMES, PROVIDER), (MCP_NAMES, MCP)]


@pytest.mark.parametrize(("form", "legal"), forms)
@settings(max_examples=150)
@given(tools=rosters)
def test_names_are_legal_unique_and_come_back(
    form: NameForm, legal: re.Pattern[str], tools: list[ToolIdentity]
) -> None:
    codec = NameCodec.of(tools, form)
    wires = [codec.wire(tool.canonical_name) for tool in tools]
    assert len(set(wires)) == len(tools)
    for tool, wire in zip(tools, wires, strict=True):
        assert legal.fullmatch(wire)
        assert codec.canonical(wire) == tool.canonical_name


@settings(max_examples=100)
@given(rosters, st.randoms(use_true_random=False))
def test_the_order_of_the_tools_does_not_matter(tools: list[ToolIdentity], random: Any) -> None:
    shuffled = list(tools)
    random.shuffle(shuffled)
    assert NameCodec.of(tools).names() == NameCodec.of(shuffled).names()


@settings(max_examples=100)
@given(rosters, rosters)
def test_a_table_that_grows_changes_nothing_that_was_in_it(
    before: list[ToolIdentity], more: list[ToolIdentity]
) -> None:
    first = NameCodec.of(before)
    second = first.extended(more)
    assert first.names().items() <= second.names().items()
    names = [tool.canonical_name for tool in (*before, *more)]
    assert set(second.names()) == set(names)
    assert len(set(second.names().values())) == len(set(names))


@settings(max_examples=150)
@given(rosters)
def test_a_discovered_tools_name_does_not_depend_on_other_servers(
    tools: list[ToolIdentity],
) -> None:
    discovered = [tool for tool in tools if tool.kind in (SourceKind.MCP, SourceKind.DEVICE)]
    codec = NameCodec.of(discovered)
    for tool in discovered:
        assert codec.wire(tool.canonical_name) == PROVIDER_NAMES.name(tool)
