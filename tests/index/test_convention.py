"""What a model is told about tools without a definition."""

import pytest

from toolkeeper_index import Convention, control_tool, region_overhead, render_region

LOADING = Convention(loads=True, call_offered=False, search_offered=True, search_name="find")


def text(convention: Convention) -> str:
    return "\n".join(convention.lines(listed=True, searchable=2))


def test_a_loading_search_tells_to_load_first_and_names_no_bridge_that_is_not_there() -> None:
    assert "Load one with find," in text(LOADING)
    assert "tool.call" not in text(LOADING)
    assert "2 more tools are not listed here: find them with find." in text(LOADING)


def test_bare_names_say_nothing_about_marks() -> None:
    marked = "marked ?"
    assert marked in text(Convention())
    assert marked in text(LOADING)
    assert marked not in text(Convention(listing="names"))
    assert marked not in text(Convention(listing="names", loads=True, search_offered=True))


def test_bare_names_by_index_tell_where_the_parameters_are() -> None:
    assert "`select`" in text(Convention(listing="names", search_offered=True))
    assert "`select`" not in text(Convention(listing="names"))


def test_a_listing_of_nothing_says_nothing() -> None:
    for listed in (True, False):
        convention = Convention(listing="none", search_offered=True)
        assert convention.lines(listed=listed, searchable=3) == []
    assert render_region(token="0" * 16, tools=[control_tool("tool.call")], listing="none") == ""


def test_the_overhead_is_the_region_without_its_entries() -> None:
    tools = [control_tool("tool.call")]
    for listing in ("index", "names"):
        region = render_region(token="0123456789abcdef", tools=tools, listing=listing)
        overhead = region_overhead((), listing=listing)
        assert region.startswith(overhead + "\n")
        assert region[len(overhead) + 1 :].count("\n") == 0


@pytest.mark.parametrize("loads", [False, True])
def test_a_renamed_search_keeps_its_role(loads: bool) -> None:
    renamed = control_tool("find_tools", role="tool.search", loads=loads)
    plain = control_tool("tool.search", loads=loads)
    assert renamed.name == renamed.definition.name == "find_tools"
    assert renamed.definition.description == plain.definition.description
    assert renamed.definition.input_schema == plain.definition.input_schema
    assert renamed is control_tool("find_tools", role="tool.search", loads=loads)


def test_only_the_search_loads() -> None:
    assert control_tool("tool.call", loads=True) is control_tool("tool.call")
    assert control_tool("tool.search", loads=True) is not control_tool("tool.search")
    with pytest.raises(ValueError, match="no control tool"):
        control_tool("find_tools", role="tool.find")
