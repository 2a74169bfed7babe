"""The search for tools: ranking, exact names, failures, and when there is no answer."""

from typing import Any

import pytest

from toolkeeper_contract import CONTROL, SourceKind, Tool, ToolDefinition, ToolIdentity
from toolkeeper_index import Catalog, SearchFailure


def tool(name: str, description: str = "", server: str | None = None, **properties: Any) -> Tool:
    kind = SourceKind.MCP if server else SourceKind.FUNCTION
    schema = {"type": "object", "properties": properties}
    return Tool.of(
        ToolIdentity(kind, server or "functions", name),
        ToolDefinition(name, None, description, schema),
        CONTROL,
    )


def found(catalog: Catalog, query: Any, **options: Any) -> list[str]:
    return [each.name for each in catalog.search(query, **options).tools]


OFFICE = Catalog(
    [
        tool("mail.send", "Send an email to somebody.", to={}, subject={}),
        tool("mail.search", "Search the mailbox.", query={}),
        tool("calendar.create", "Create an event.", start={"description": "When it begins."}),
        tool("calendar.cancel", "Cancel an event and tell everybody who was invited."),
        tool("appTableRecord_search", "Look rows up."),
        tool("XMLParser", "Reads a document."),
        tool("addPerson", "Adds somebody to the address book."),
        tool("send_message", "Send a chat message.", server="chat"),
        tool("create_invoice", "Bill a customer.", server="books", currency={"enum": ["CHF"]}),
    ]
)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_match_stands_above_every_other_tool_in_a_tiny_catalog(count: int) -> None:
    tools = [tool("mail", "send email"), tool("agenda", "list events"), tool("notes", "keep")]
    assert found(Catalog(tools[:count]), "send") == ["mail"]


def test_a_word_that_every_tool_has_still_matches() -> None:
    catalog = Catalog([tool("a", "send email"), tool("b", "send fax")])
    assert found(catalog, "send") == ["a", "b"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("table record", "appTableRecord_search"),
        ("addPerson", "addPerson"),
        ("add_person", "addPerson"),
        ("add person", "addPerson"),
        ("xml parser", "XMLParser"),
        ("calendar.cancel", "calendar.cancel"),
        ("CALENDAR.CANCEL", "calendar.cancel"),
        ("cancel", "calendar.cancel"),
        ("mcp.books.create_invoice", "mcp.books.create_invoice"),
        ("create_invoice", "mcp.books.create_invoice"),
        ("mcp__books__create-invoice", "mcp.books.create_invoice"),
        ("please use `calendar.create` to send mail", "calendar.create"),
        ("send an email", "mail.send"),
        ("cancelling events", "calendar.cancel"),
        ("subject", "mail.send"),
        ("when does it begin", "calendar.create"),
        ("CHF", "mcp.books.create_invoice"),
        ("billing customers", "mcp.books.create_invoice"),
    ],
)
def test_the_tool_that_is_meant_comes_first(query: str, first: str) -> None:
    assert found(OFFICE, query)[0] == first


def test_an_exact_full_name_stands_above_the_same_base_name_elsewhere() -> None:
    catalog = Catalog(
        [
            tool("search", "search search search", "aaa"),
            tool("search", "Finds.", "zzz"),
            tool("search_all", "search search search", "zzz"),
        ]
    )
    assert found(catalog, "mcp.zzz.search")[0] == "mcp.zzz.search"
    assert found(catalog, "search")[:2] == ["mcp.aaa.search", "mcp.zzz.search"]


@pytest.mark.parametrize(
    ("description", "query"),
    [
        ("現在の天気予報を取得します", "天気を調べる"),
        ("查询火车票余票信息", "火车票"),
        ("Показывает прогноз погоды", "прогноз погоды"),
        ("Показывает прогноз погоды", "узнать погоду"),
        ("Δείχνει τον καιρό", "καιρός"),
        ("พยากรณ์อากาศวันนี้", "อากาศ"),
        ("날씨 예보를 가져옵니다", "날씨"),
        ("मौसम की जानकारी", "मौसम"),
        ("Muestra la previsión", "prevision"),
        ("Throws a party 🎉 for you", "🎉"),
    ],
)
def test_queries_of_any_script_are_answered(description: str, query: str) -> None:
    catalog = Catalog([tool("a", "Something else."), tool("b", description), tool("c", "Third.")])
    assert found(catalog, query) == ["b"]


def test_equal_scores_are_ordered_by_name_whatever_the_input_order() -> None:
    tools = [tool(name, "the same words") for name in ("c", "a", "b")]
    assert found(Catalog(tools), "same words") == ["a", "b", "c"]
    assert found(Catalog(reversed(tools)), "same words") == ["a", "b", "c"]


def test_the_limit_is_five_by_default_and_twenty_at_most() -> None:
    catalog = Catalog(tool(f"t{n:02}", "send mail") for n in range(30))
    assert len(found(catalog, "send mail")) == 5
    assert len(found(catalog, "send mail", limit=7)) == 7
    assert len(found(catalog, "send mail", limit=1_000)) == 20
    assert len(found(catalog, "send mail", default_limit=3)) == 3
    assert len(found(catalog, "send mail", limit=9, max_limit=8)) == 8


@pytest.mark.parametrize(
    ("query", "options", "failure"),
    [
        ("", {}, SearchFailure.EMPTY_QUERY),
        (" \n\t", {}, SearchFailure.EMPTY_QUERY),
        (None, {}, SearchFailure.EMPTY_QUERY),
        (None, {"select": []}, SearchFailure.EMPTY_QUERY),
        (3, {}, SearchFailure.QUERY_NOT_TEXT),
        (["mail"], {}, SearchFailure.QUERY_NOT_TEXT),
        ({"q": "mail"}, {}, SearchFailure.QUERY_NOT_TEXT),
        (True, {}, SearchFailure.QUERY_NOT_TEXT),
        ("mail", {"limit": 0}, SearchFailure.LIMIT_INVALID),
        ("mail", {"limit": True}, SearchFailure.LIMIT_INVALID),
        ("mail", {"limit": 2.0}, SearchFailure.LIMIT_INVALID),
        ("mail", {"limit": "2"}, SearchFailure.LIMIT_INVALID),
        (None, {"select": "mail.send"}, SearchFailure.SELECT_INVALID),
        (None, {"select": [3]}, SearchFailure.SELECT_INVALID),
        (None, {"select": [f"x{n}" for n in range(21)]}, SearchFailure.SELECT_INVALID),
        (None, {"select": ["mail.send", "MAIL.SEND"]}, SearchFailure.UNKNOWN_NAME),
        ("xylophone", {}, SearchFailure.NO_MATCH),
        ("🎉", {}, SearchFailure.NO_MATCH),
        ("the", {}, SearchFailure.NO_MATCH),
        ("\ud800", {}, SearchFailure.NO_MATCH),
    ],
)
def test_every_failure_is_a_value(query: Any, options: Any, failure: SearchFailure) -> None:
    answer = OFFICE.search(query, **options)
    assert answer.failure is failure
    assert answer.is_error
    assert answer.tools == ()


def test_select_takes_exact_names_in_their_order() -> None:
    assert found(OFFICE, None, select=["mail.send", "calendar.create", "mail.send"]) == [
        "mail.send",
        "calendar.create",
    ]
    assert OFFICE.search(None, select=["mail.send", "x", "y"]).unknown == (2, 3)


def test_an_empty_catalog_answers_nothing() -> None:
    assert Catalog([]).search("mail").failure is SearchFailure.NO_MATCH
    assert Catalog([]).search(None, select=["a"]).failure is SearchFailure.UNKNOWN_NAME


def test_a_query_about_something_else_is_not_answered_by_a_shared_word() -> None:
    tools = [tool(f"order.send_{n}", f"Send order papers of kind {n}.") for n in range(5)]
    tools += [tool(f"stock.count_{n}", f"Count shelf {n}.") for n in range(35)]
    catalog = Catalog(tools)
    assert catalog.search("send gmail email").failure is SearchFailure.NO_MATCH
    assert found(catalog, "send order") != []


@pytest.mark.parametrize(
    "query",
    [
        "play chess",
        "weather in paris tomorrow",
        "book a table for two",
        "find me a good plumber",
        "Could you please tell me which wine goes well with grilled salmon?",
        "translate the menu of the day into Swahili",
        "turn off the kitchen lights and lock the front door",
        "get the football results",
        "calories of 2 bananas",
    ],
)
@pytest.mark.parametrize("described", [True, False])
def test_a_request_that_no_tool_serves_is_refused(query: str, described: bool) -> None:
    more = "Paged results in JSON, sorted by date, newest first; needs an API token with scope."
    properties = {name: {"description": "Filter by field."} for name in ("page", "sort", "cursor")}
    tools = [
        tool(
            f"{thing}.{action}",
            f"{action.title()} a {thing} of the warehouse. {more if described else ''}",
            **(properties if described else {}),
        )
        for thing in ("order", "shelf", "supplier", "pallet", "invoice")
        for action in ("create", "find", "get", "list", "send", "update", "delete", "count")
    ]
    catalog = Catalog(tools)
    assert catalog.search(query).failure is SearchFailure.NO_MATCH
    assert found(catalog, "find me the latest invoice of Müller AG")[0].startswith("invoice.")
    assert found(catalog, "list pallets")[0] == "pallet.list"
    assert found(catalog, "remove supplier")[0] == "supplier.delete"


def test_values_do_not_count_against_a_tool() -> None:
    tools = [tool("mail.send", "Send an email.", to={}, subject={}, body={})]
    tools += [tool(f"stock.count_{n}", f"Count shelf {n}.") for n in range(39)]
    query = (
        "email anna.lee@example.com and Bernd Schulz of Acme Corp the file /home/a/plan.pdf, "
        '"see you on the big day, kind regards", before 2026-05-01'
    )
    assert "mail.send" in found(Catalog(tools), query)


def test_a_rare_word_of_a_name_answers_although_its_object_is_unknown() -> None:
    tools = [tool("calendar.cancel", "Cancel an event.")]
    tools += [tool(f"stock.count_{n}", f"Count shelf {n}.") for n in range(39)]
    assert found(Catalog(tools), "cancel dentist appointment") == ["calendar.cancel"]


def test_sizes_beyond_reason_are_searched_all_the_same() -> None:
    catalog = Catalog([tool("big", "send mail " + "x " * 2_000_000, **{"y" * 200_000: {}})])
    assert found(catalog, "send mail") == ["big"]
    assert found(catalog, "send mail " * 100_000) == ["big"]


@pytest.mark.parametrize(
    ("query", "first"),
    [("remove a picture", "photos.delete"), ("modify the folder", "directory.update")],
)
def test_another_word_for_the_same_thing_is_understood(query: str, first: str) -> None:
    catalog = Catalog(
        [
            tool("photos.delete", "Deletes a photo."),
            tool("directory.update", "Changes a directory."),
            tool("clock.read", "Tells the time."),
        ]
    )
    assert found(catalog, query)[0] == first


def test_the_word_itself_stands_above_its_synonym() -> None:
    catalog = Catalog([tool("a", "delete a file"), tool("b", "remove a file")])
    assert found(catalog, "remove file") == ["b", "a"]
