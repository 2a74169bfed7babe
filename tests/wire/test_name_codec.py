"""Which wire names do tools get, and what do they stand for?"""

import re

import pytest

from toolkeeper_contract import SourceKind, ToolIdentity
from toolkeeper_wire import MCP_NAMES, PROVIDER_NAMES, NameCodec

LEGAL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def ours(name: str) -> ToolIdentity:
    return ToolIdentity(SourceKind.FUNCTION, "functions", name)


def mcp(server: str, name: str) -> ToolIdentity:
    return ToolIdentity(SourceKind.MCP, server, name)


CONTROL = ToolIdentity(SourceKind.CONTROL, "control", "tool.call")


@pytest.mark.parametrize(
    ("tool", "wire"),
    [
        (ours("schedule.update"), "schedule_update"),
        (ours("add_note"), "add_note"),
        (ours("a-b.c"), "a-b_c"),
        (CONTROL, "tool_call"),
        (mcp("git", "git_status"), "mcp__git__git_status"),
        (mcp("git", "status"), "mcp__git__status"),
        (ToolIdentity(SourceKind.DEVICE, "phone", "ring"), "device__phone__ring"),
    ],
)
def test_a_plain_name_is_readable(tool: ToolIdentity, wire: str) -> None:
    codec = NameCodec.of([tool])
    assert codec.wire(tool.canonical_name) == wire
    assert codec.canonical(wire) == tool.canonical_name


@pytest.mark.parametrize(
    "tool",
    [
        mcp("acme_developer_platform_connector", "search_all_product_documentation_pages"),
        ours("a" * 65),
        ours("2fa.check"),
        ours("_private"),
        mcp("kb", "search.a"),
        mcp("kb__x", "a"),
        mcp("kb_", "a"),
        mcp("kb", "_a"),
        mcp("kb", "a_0123456789abcdef"),
        mcp("s" * 64, "t" * 128),
    ],
)
def test_what_is_long_or_ambiguous_gets_a_prefix_and_a_hash(tool: ToolIdentity) -> None:
    wire = PROVIDER_NAMES.name(tool)
    assert LEGAL.fullmatch(wire)
    assert re.search(r"_[0-9a-f]{16}$", wire)
    assert NameCodec.of([tool]).wire(tool.canonical_name) == wire


def test_long_names_with_one_beginning_stay_apart() -> None:
    tools = [mcp("server", f"{'x' * 100}{end}") for end in ("a", "b")]
    codec = NameCodec.of(tools)
    assert len(set(codec.names().values())) == 2


def test_tools_of_one_server_that_differ_in_separators_stay_apart() -> None:
    tools = [mcp("kb", name) for name in ("search-a", "search_a", "search.a", "Search_a")]
    codec = NameCodec.of(tools)
    assert {codec.canonical(wire) for wire in codec.names().values()} == {
        tool.canonical_name for tool in tools
    }
    assert codec.wire("mcp.kb.search_a") == "mcp__kb__search_a"


def test_servers_whose_joined_names_look_alike_stay_apart() -> None:
    tools = [mcp("a", "b__c"), mcp("a__b", "c"), mcp("a_", "_b__c"), mcp("a", "_b")]
    assert len(set(NameCodec.of(tools).names().values())) == len(tools)


def test_of_two_configured_tools_that_clash_the_unchanged_one_keeps_its_name() -> None:
    tools = [ours("schedule.update"), ours("schedule_update")]
    for order in (tools, tools[::-1]):
        codec = NameCodec.of(order)
        assert codec.wire("schedule_update") == "schedule_update"
        assert codec.wire("schedule.update") == PROVIDER_NAMES.alias(tools[0])


def test_a_discovered_tool_never_takes_a_configured_tools_name() -> None:
    own = ours("mcp__git__push")
    codec = NameCodec.of([mcp("git", "push"), own])
    assert codec.canonical("mcp__git__push") == "mcp__git__push"
    assert codec.wire("mcp.git.push") == PROVIDER_NAMES.alias(mcp("git", "push"))


def test_a_server_cannot_claim_a_control_tool() -> None:
    tools = [mcp("news", "tool.call"), mcp("news", "tool_call"), CONTROL]
    codec = NameCodec.of(tools)
    assert codec.canonical("tool_call") == "tool.call"


def test_a_name_of_another_tools_alias_cannot_be_claimed() -> None:
    victim = mcp("kb", "search.a")
    raw = PROVIDER_NAMES.alias(victim).removeprefix("mcp__kb__")
    thief = mcp("kb", raw)
    codec = NameCodec.of([victim, thief])
    assert codec.wire(victim.canonical_name) == PROVIDER_NAMES.alias(victim)
    assert codec.wire(thief.canonical_name) != PROVIDER_NAMES.alias(victim)


def test_a_configured_name_that_equals_an_alias_wins_and_the_alias_grows() -> None:
    victim = mcp("kb", "search.a")
    own = ours(PROVIDER_NAMES.alias(victim))
    codec = NameCodec.of([victim, own])
    assert codec.canonical(own.raw_name) == own.canonical_name
    assert codec.wire(victim.canonical_name) == PROVIDER_NAMES.alias(victim, 24)


def test_decoding_is_exact_and_case_sensitive() -> None:
    codec = NameCodec.of([ours("schedule.update")])
    for near in ("Schedule_update", "schedule.update", "schedule_updat", "schedule_update ", ""):
        assert codec.canonical(near) is None
    with pytest.raises(KeyError):
        codec.wire("schedule_update")


def test_the_table_only_grows() -> None:
    first = NameCodec.of([ours("a.b")])
    second = first.extended([ours("a_b"), ours("a.b")])
    assert second.wire("a.b") == "a_b"
    assert second.wire("a_b") == PROVIDER_NAMES.alias(ours("a_b"))
    assert first.extended([ours("a.b")]) is first
    assert first.names() == {"a.b": "a_b"}


def test_mcp_keeps_canonical_names_with_their_dots() -> None:
    tools = [ours("schedule.update"), mcp("git", "status"), mcp("s" * 64, "t" * 128), CONTROL]
    codec = NameCodec.of(tools, MCP_NAMES)
    assert codec.wire("schedule.update") == "schedule.update"
    assert codec.wire("tool.call") == "tool.call"
    assert codec.wire("mcp.git.status") == "mcp.git.status"
    long = codec.wire(tools[2].canonical_name)
    assert len(long) <= 128
    assert codec.canonical(long) == tools[2].canonical_name
