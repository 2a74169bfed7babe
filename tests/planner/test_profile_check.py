from dataclasses import replace
from typing import Any

import pytest

from toolkeeper_contract import Caps, Code, ConfigError, RefusedTool, SourceState, SourceStatus
from toolkeeper_planner import check_profile


@pytest.fixture
def registry(make: Any) -> Any:
    return make.registry(
        "notes.read",
        "notes.write",
        "mcp.git.git_log",
        "mcp.git.git_status",
        unavailable=["crm"],
        refused=[RefusedTool("git", "broken", "bad schema")],
    )


def error(agent: Any, registry: Any, pricing: Any = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        check_profile(agent, registry, pricing)
    return caught.value


def test_a_sensible_agent_passes(make: Any, registry: Any) -> None:
    check_profile(
        make.agent(
            "notes.read",
            "notes.read",
            "mcp.git.git_log",
            servers=("git", "crm"),
            always_defined=("notes.write",),
            deferred_tools=("mcp.git.git_status", "mcp.*", "nothing.like.*", "*"),
        ),
        registry,
        make.Prices(),
    )


@pytest.mark.parametrize("key", ["tools", "always_defined", "deferred_tools"])
def test_an_unknown_tool_gets_the_nearest_name(make: Any, registry: Any, key: str) -> None:
    agent = replace(make.agent(), **{key: ("notes.read", "mcp.git.git_lgo")})
    caught = error(agent, registry)
    assert caught.message == "unknown tool `mcp.git.git_lgo`"
    assert caught.hint == "did you mean `mcp.git.git_log`?"
    assert caught.key == f"agents.chat.{key}[1]"
    assert caught.code is Code.CONFIG_INVALID


@pytest.mark.parametrize("name", ["Notes.Read", "mcp.gti.git_log", "mcp.crm", "crm.find", "notes"])
def test_case_and_a_wrong_server_do_not_pass_as_another_tool(
    make: Any, registry: Any, name: str
) -> None:
    assert error(make.agent(name), registry).message == f"unknown tool `{name}`"


@pytest.mark.parametrize("key", ["tools", "always_defined", "deferred_tools"])
@pytest.mark.parametrize("name", ["mcp.crm.find", "mcp.crm.a.b", "mcp.git.broken"])
def test_what_its_source_cannot_give_now_is_no_error(
    make: Any, registry: Any, key: str, name: str
) -> None:
    agent = replace(make.agent(), **{key: (name,)})
    check_profile(agent, registry)
    assert make.rows(make.plan(agent, registry).skipped) == {name: "source_unavailable"}


def test_a_partial_listing_excuses_a_missing_name_and_keeps_what_it_has(make: Any) -> None:
    registry = replace(
        make.registry("mcp.git.git_log"),
        sources=(SourceStatus("git", SourceState.PARTIAL, "page 3 timed out"),),
    )
    agent = make.agent("mcp.git.git_log", "mcp.git.git_show")
    check_profile(agent, registry)
    plan = make.plan(agent, registry)
    assert plan.defined == ("mcp.git.git_log",)
    assert make.rows(plan.skipped) == {"mcp.git.git_show": "source_unavailable"}


def test_a_literal_name_in_both_lists_is_an_error(make: Any, registry: Any) -> None:
    agent = make.agent(
        "notes.read",
        always_defined=("notes.read",),
        deferred_tools=("*", "notes.write", "notes.read"),
    )
    caught = error(agent, registry)
    assert "`notes.read` stands in both" in caught.message
    assert caught.key == "agents.chat.deferred_tools[2]"


@pytest.mark.parametrize("key", ["tools", "always_defined", "deferred_tools"])
@pytest.mark.parametrize("name", ["tool.call", "tool.search", "tool.result"])
def test_control_tools_stand_in_no_other_list(
    make: Any, registry: Any, key: str, name: str
) -> None:
    caught = error(replace(make.agent(), **{key: (name,)}), registry)
    assert "is a control tool" in caught.message
    assert caught.key == f"agents.chat.{key}[0]"


@pytest.mark.parametrize("name", ["notes.[rw]*", "notes.rea?", "", "no tes.*", "nötes.*", "a\nb"])
def test_a_character_that_no_name_can_have_is_an_error(make: Any, registry: Any, name: str) -> None:
    caught = error(make.agent(deferred_tools=(name,)), registry)
    assert "no tool name can have" in caught.message


@pytest.mark.parametrize("key", ["tools", "always_defined"])
def test_only_deferrals_take_globs(make: Any, registry: Any, key: str) -> None:
    caught = error(replace(make.agent(), **{key: ("notes.*",)}), registry)
    assert "exact names" in caught.message


def test_an_unknown_control_tool_has_a_code_of_its_own(make: Any, registry: Any) -> None:
    caught = error(make.agent(control_tools=("tool.call", "tool.find")), registry)
    assert caught.code is Code.CONTROL_TOOL_UNAVAILABLE
    assert caught.key == "agents.chat.control_tools[1]"


def test_an_unknown_server_gets_the_nearest_one(make: Any, registry: Any) -> None:
    caught = error(make.agent(servers=("gitt",)), registry)
    assert (caught.message, caught.hint) == ("unknown server `gitt`", "did you mean `git`?")


def test_functions_are_no_server(make: Any, registry: Any) -> None:
    assert error(make.agent(servers=("functions",)), registry).message.startswith("unknown server")


def test_an_unknown_way_to_disclose_is_an_error(make: Any, registry: Any) -> None:
    caught = error(make.agent(disclosure="indx"), registry)
    assert caught.hint == "did you mean `index`?"
    assert caught.key == "agents.chat.disclosure"


def test_more_always_defined_than_the_caps_hold_is_an_error(make: Any, registry: Any) -> None:
    agent = make.agent(always_defined=("notes.read", "notes.write"))
    by_count = error(replace(agent, caps=Caps(definitions=1)), registry)
    assert by_count.key == "agents.chat.always_defined"
    by_tokens = replace(agent, caps=Caps(definition_tokens=199))
    check_profile(by_tokens, registry)
    assert "200 tokens" in error(by_tokens, registry, make.Prices()).message
