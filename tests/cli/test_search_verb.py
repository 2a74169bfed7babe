"""`toolkeeper search`: what `tool.search` would answer, for one query or for thousands."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolkeeper.cli.keys import KEYS

Desktop = Any

LIVE = Path(__file__).parents[3] / "shared" / "data" / "catalog-live.json"
NAMES = ("send_mail", "list_files", "add_meeting", "delete_meeting", "read_file")
SAVED = [
    {"name": "send_mail", "description": "Send an email to somebody.", "inputSchema": {}},
    {"name": "list_files", "description": "List the files of a folder.", "inputSchema": {}},
    {"name": "add_meeting", "description": "Add a meeting to the calendar.", "inputSchema": {}},
    {"name": "delete_meeting", "description": "Remove a meeting.", "inputSchema": {}},
    {"name": "read_file", "description": "Read one file.", "inputSchema": {}},
]
DEFERRING = """
version: 1
servers: {s: {catalog: saved.json}}
policy: [rules.yaml]
agents:
  chat:
    servers: [s]
    always_defined: [mcp.s.list_files]
    deferred_tools: ["*"]
    search: {limit: 2, max_limit: 3}
"""
RULES = "version: 1\nrules:\n  - {id: hidden, tools: [mcp.s.delete_meeting], effect: deny}\n"


@pytest.fixture
def deferring(desktop: Desktop) -> Desktop:
    """A desktop with five saved tools: one defined, one denied, three to be found."""
    tools = [{**tool, "inputSchema": {"type": "object"}} for tool in SAVED]
    desktop.write("saved.json", json.dumps({"tools": tools}))
    desktop.write("rules.yaml", RULES)
    desktop.write("toolkeeper.yaml", DEFERRING)
    return desktop


def search(desktop: Desktop, *words: str) -> Any:
    return desktop.toolkeeper("search", "--agent", "chat", *words)


def answers(desktop: Desktop, queries: list[Any], *words: str) -> dict[Any, list[str]]:
    text = "\n".join(json.dumps({"id": at, "query": query}) for at, query in enumerate(queries))
    desktop.write("queries.jsonl", text)
    ended = search(desktop, "--queries", "queries.jsonl", *words)
    assert (ended.code, ended.err) == (0, "")
    assert [line["id"] for line in ended.lines] == list(range(len(queries)))
    return {queries[line["id"]]: line["tools"] for line in ended.lines}


def test_one_query_is_answered_with_what_the_model_would_read(deferring: Desktop) -> None:
    ended = search(deferring, "--query", "send an email", "--json")
    assert ended.code == 0
    assert tuple(ended.line) == KEYS["search"][1]
    assert ended.line["query"] == "send an email"
    assert ended.line["tools"][0] == "mcp.s.send_mail"
    assert ended.line["is_error"] is False
    assert "<EXTERNAL_UNTRUSTED id=" in ended.line["answer"]
    shown = search(deferring, "--query", "send an email")
    assert shown.code == 0
    assert "mcp.s.send_mail" in shown.out


def test_no_answer_is_no_mistake(deferring: Desktop) -> None:
    ended = search(deferring, "--query", "quantum chromodynamics", "--json")
    assert (ended.code, ended.line["tools"], ended.line["is_error"]) == (0, [], True)
    # what the model reads then has the index again
    assert "mcp.s.send_mail" in ended.line["answer"]
    shown = search(deferring, "--query", "quantum chromodynamics")
    assert shown.code == 0
    assert "no tool matches" in shown.out


def test_many_queries_are_answered_line_by_line_in_their_order(deferring: Desktop) -> None:
    found = answers(deferring, ["mail", "quantum", "", "  ", "meeting", "mcp.s.read_file"])
    assert found == {
        "mail": ["mcp.s.send_mail"],
        "quantum": [],
        "": [],
        "  ": [],
        "meeting": ["mcp.s.add_meeting"],
        "mcp.s.read_file": ["mcp.s.read_file"],
    }


def test_a_batch_prints_the_same_with_json_and_without(deferring: Desktop) -> None:
    deferring.write("q.jsonl", '{"id": "a", "query": "mail"}\n{"id": 7, "query": "x"}\n')
    plain = search(deferring, "--queries", "q.jsonl")
    assert plain.out == search(deferring, "--queries", "q.jsonl", "--json").out
    assert plain.lines == [{"id": "a", "tools": ["mcp.s.send_mail"]}, {"id": 7, "tools": []}]


def test_defined_and_denied_tools_are_never_found(deferring: Desktop) -> None:
    found = answers(deferring, ["list files", "mcp.s.list_files", "remove a meeting", *NAMES])
    named = {name for tools in found.values() for name in tools}
    assert named == {"mcp.s.send_mail", "mcp.s.add_meeting", "mcp.s.read_file"}


def test_a_user_finds_only_what_their_scopes_let_them_see(desktop: Desktop) -> None:
    desktop.configure(
        ("deferred_tools: [mail.send]", "deferred_tools: ['*']"),
    )
    ana = search(desktop, "--query", "mail.send", "--json", "--user", "ana")
    bob = search(desktop, "--query", "mail.send", "--json", "--user", "bob")
    assert ana.line["tools"] == ["mail.send"]
    assert bob.line["tools"] == []


def test_the_agents_limits_hold(deferring: Desktop) -> None:
    many = "mail meeting file"
    assert len(answers(deferring, [many])[many]) == 2
    assert len(answers(deferring, [many], "--limit", "1")[many]) == 1
    assert len(answers(deferring, [many], "--limit", "99")[many]) == 3


def test_an_answer_holds_what_fits_a_result_alone_or_in_a_batch(deferring: Desktop) -> None:
    many = "mail meeting file"
    for size in (3000, 600, 520, 350, 200, 1):
        deferring.write("toolkeeper.yaml", f"{DEFERRING}    limits: {{result_bytes: {size}}}\n")
        alone = search(deferring, "--query", many, "--json", "--limit", "3").line["tools"]
        assert answers(deferring, [many], "--limit", "3")[many] == alone
        assert len(alone) == (3 if size == 3000 else 1 if size == 1 else len(alone))


@pytest.mark.parametrize("disclosure", ["index", "search", "native"])
@pytest.mark.parametrize("listing", ["index", "names", "none"])
def test_every_way_to_disclose_finds_the_same_tools(
    deferring: Desktop, disclosure: str, listing: str
) -> None:
    deferring.write(
        "toolkeeper.yaml",
        f"{DEFERRING}    disclosure: {disclosure}\n    listing: {listing}\n",
    )
    assert answers(deferring, ["meeting"]) == {"meeting": ["mcp.s.add_meeting"]}


def test_a_search_of_an_agent_that_defines_everything_finds_nothing(deferring: Desktop) -> None:
    text = DEFERRING.replace('    deferred_tools: ["*"]\n', "")
    deferring.write("toolkeeper.yaml", text)
    assert answers(deferring, ["mail"]) == {"mail": []}


def test_an_agent_without_a_search_is_told(deferring: Desktop) -> None:
    deferring.write("toolkeeper.yaml", f"{DEFERRING}    control_tools: [tool.call]\n")
    ended = search(deferring, "--query", "mail")
    assert (ended.code, ended.out) == (2, "")
    assert "agent `chat` does not have `tool.search`" in ended.err


def test_searching_writes_nothing(deferring: Desktop) -> None:
    deferring.write("q.jsonl", '{"id": 1, "query": "mail"}')
    before = deferring.files()
    assert search(deferring, "--queries", "q.jsonl").code == 0
    assert search(deferring, "--query", "mail").code == 0
    assert deferring.files() == before


def test_labels_blank_lines_and_line_separators_in_a_query_are_no_faults(
    deferring: Desktop,
) -> None:
    deferring.write(
        "q.jsonl",
        '\ufeff{"id": "1", "query": "mail\u2028now", "gold": ["x"]}\r\n\n \n'
        '{"query": "x", "id": 2}',
    )
    ended = search(deferring, "--queries", "q.jsonl")
    assert ended.code == 0
    assert [line["id"] for line in ended.lines] == ["1", 2]
    deferring.write("q.jsonl", "")
    assert search(deferring, "--queries", "q.jsonl").out == ""


MALFORMED = {
    "{": "this line is not valid json",
    '{"id": 1, "query": "a", "id": 2}': "this line is not valid json",
    '{"id": 1, "query": NaN}': "this line is not valid json",
    "[1]": "this line is no json object",
    '"mail"': "this line is no json object",
    '{"query": "a"}': "the key `id` is missing",
    '{"id": 1}': "the key `query` is missing",
    '{"id": true, "query": "a"}': "the `id` must be text or a whole number",
    '{"id": 1.5, "query": "a"}': "the `id` must be text or a whole number",
    '{"id": null, "query": "a"}': "the `id` must be text or a whole number",
    '{"id": 1, "query": ["a"]}': "the `query` must be text",
    '{"id": 1, "query": null}': "the `query` must be text",
    "[" * 100_000: "this line is not valid json",
}


@pytest.mark.parametrize("line", MALFORMED, ids=lambda line: str(line)[:30])
def test_a_malformed_line_is_told_before_anything_is_answered(
    deferring: Desktop, line: str
) -> None:
    (deferring.folder / "q.jsonl").write_text(f'{{"id": 1, "query": "mail"}}\n\n{line}\n')
    ended = search(deferring, "--queries", "q.jsonl", "--json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: q.jsonl:3: {MALFORMED[line]} (write ")


def test_bytes_that_are_no_text_are_told_with_their_line(deferring: Desktop) -> None:
    (deferring.folder / "q.jsonl").write_bytes(b'{"id": 1, "query": "mail"}\n\xff\xfe\n')
    ended = search(deferring, "--queries", "q.jsonl")
    assert (ended.code, ended.out) == (2, "")
    assert "q.jsonl:2: the file is not utf-8 text" in ended.err


WORDS = {
    (): "name one query with `--query`",
    ("--query", "a", "--queries", "q.jsonl"): "name one query with `--query`",
    ("--query", "a", "--limit", "0"): "`--limit`",
    ("--query", "a", "--limit", "many"): "`--limit`",
    ("--query", "a", "--provider", "opnai"): "opnai",
    ("--queries", "nope.jsonl"): "nope.jsonl: there is no such file",
}


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_what_cannot_be_meant_is_told(deferring: Desktop, words: tuple[str, ...]) -> None:
    ended = search(deferring, *words)
    assert (ended.code, ended.out) == (2, "")
    assert WORDS[words] in ended.err


@pytest.mark.skipif(not LIVE.exists(), reason="the live catalog is not here")
def test_a_batch_answers_as_single_queries_do(desktop: Desktop) -> None:
    desktop.write(
        "toolkeeper.yaml",
        f"version: 1\nservers: {{live: {{catalog: '{LIVE}'}}}}\n"
        "agents: {chat: {servers: [live], deferred_tools: ['*']}}\n",
    )
    queries = ["create an issue", "send an email", "weather tomorrow", "qwertyuiop zxcvbnm"]
    found = answers(desktop, queries)
    for query in queries[1:3]:
        assert search(desktop, "--query", query, "--json").line["tools"] == found[query]
    # One catalog for all of them: a thousand queries are the same answers over again.
    desktop.write(
        "queries.jsonl",
        "\n".join(
            json.dumps({"id": at, "query": queries[at % len(queries)]}) for at in range(1000)
        ),
    )
    ended = desktop.process("search", "--agent", "chat", "--queries", "queries.jsonl", "--json")
    assert ended.code == 0
    assert all(line["tools"] == found[queries[line["id"] % 4]] for line in ended.lines)
    assert len(ended.lines) == 1000
