from typing import Any

from toolkeeper_contract import Tool
from toolkeeper_index import index_line
from toolkeeper_planner import Prices


class TwoForms:
    """A short and a long way to write a definition; counts how often it is asked."""

    name = "two"

    def __init__(self) -> None:
        self.asked = 0

    def texts(self, tool: Tool) -> tuple[str, ...]:
        self.asked += 1
        return (tool.name, tool.name * 3, tool.name * 2)


def test_the_dearest_of_several_forms_counts(make: Any) -> None:
    assert Prices(TwoForms(), len).definition(make.tool("abcd")) == 12


def test_an_index_line_costs_exactly_its_text(make: Any) -> None:
    tool = make.tool("mcp.git.log")
    assert Prices(TwoForms(), len).index_line(tool) == len(index_line(tool))


def test_a_price_is_worked_out_once_for_each_fingerprint(make: Any) -> None:
    form = TwoForms()
    prices = Prices(form, len)
    prices.prepare([make.tool("abcd")])
    assert form.asked == 1
    assert [prices.definition(make.tool("abcd")) for _ in range(3)] == [12] * 3
    assert form.asked == 1


def test_equal_definitions_under_two_names_are_priced_apart(make: Any) -> None:
    prices = Prices(TwoForms(), len)
    short, long = make.tool("mcp.a.x"), make.tool("mcp.much_longer.x")
    assert short.fingerprint == long.fingerprint
    assert prices.definition(short) < prices.definition(long)
    assert prices.index_line(short) < prices.index_line(long)


def test_text_is_priced_by_the_same_estimator() -> None:
    assert Prices(TwoForms(), len).text("abc") == 3
