"""B101: letters are folded before camel case is split, so that it never is.

Right: split first, then fold, and keep the whole token too; an exact full or base name comes first.
"""

from typing import Any

import pytest

from toolkeeper import tool

NAMES = [
    "appTableRecord_search",
    "XMLParser",
    "getURL2",
    "addPerson",
    "add-invoice-line",
    "billing.createInvoice",
    "HTTPServerStatus",
    "table",
]


def made(name: str) -> Any:
    @tool(name=name, side_effect="workspace_read")
    def work() -> str:
        """Does it."""
        return "done"

    return work


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("table record", "appTableRecord_search"),
        ("record", "appTableRecord_search"),
        ("apptablerecord_search", "appTableRecord_search"),
        ("xml", "XMLParser"),
        ("parser", "XMLParser"),
        ("xmlparser", "XMLParser"),
        ("url", "getURL2"),
        ("getURL2", "getURL2"),
        ("get url 2", "getURL2"),
        ("addPerson", "addPerson"),
        ("person", "addPerson"),
        ("add_person", "addPerson"),
        ("invoice line", "add-invoice-line"),
        ("create invoice", "billing.createInvoice"),
        ("createInvoice", "billing.createInvoice"),
        ("BILLING.CREATEINVOICE", "billing.createInvoice"),
        ("http server", "HTTPServerStatus"),
        ("table", "table"),
    ],
)
def test_every_part_and_the_whole_of_an_identifier_finds_it(
    shop: Any, query: str, first: str
) -> None:
    row = shop.one(
        "tool.search",
        {"query": query, "limit": 1},
        more=tuple(made(name) for name in NAMES),
        deferred_tools=tuple(NAMES),
    )
    assert not row.is_error, row.result
    assert f'"name":"{first}"' in row.result
