"""B99: a tokeniser that knows ASCII only turns a Chinese or Russian query into nothing.

Right: words of any script, runs of CJK as bigrams and single characters, and with no word left at
all an exact or partial name.
"""

from typing import Any

import pytest

from toolkeeper import tool

DESCRIBED = {
    "desk.one": "請求書を作成して顧客に送ります。",
    "desk.two": "会議の予定を一覧表示します。",
    "desk.three": "Отправляет письмо получателю.",
    "desk.four": "أرسل رسالة إلى شخص ما",
    "desk.five": "고객에게 청구서를 보냅니다",
    "desk.six": "ग्राहक को चालान भेजें",
    "desk.seven": "Στέλνει ένα μήνυμα ταχυδρομείου.",
    "desk.eight": "Sends 🎉 to everybody.",
    "desk.nine": "Größe eines Straßenzugs messen.",
}


def desk(name: str, description: str) -> Any:
    def work() -> str:
        return "done"

    work.__doc__ = description
    return tool(work, name=name, side_effect="workspace_read")


MORE = tuple(desk(name, description) for name, description in DESCRIBED.items())


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("請求書", "desk.one"),
        ("請求書を作成", "desk.one"),
        ("予定", "desk.two"),
        ("письмо", "desk.three"),
        ("ОТПРАВЛЯЕТ ПИСЬМО", "desk.three"),
        ("رسالة", "desk.four"),
        ("청구서", "desk.five"),
        ("चालान", "desk.six"),
        ("μήνυμα", "desk.seven"),
        ("🎉", "desk.eight"),
        ("straßenzugs größe", "desk.nine"),
        ("STRASSENZUGS", "desk.nine"),
        ("desk.four", "desk.four"),
    ],
)
def test_a_query_in_its_own_script_finds_the_tool(shop: Any, query: str, name: str) -> None:
    row = shop.one("tool.search", {"query": query}, more=MORE, deferred_tools=("desk.*",))
    assert not row.is_error, row.result
    assert row.result.splitlines()[1].startswith(f'{{"description":"{DESCRIBED[name]}'), row.result


@pytest.mark.parametrize("query", ["🧨", "...", "¿?", "\u200b", "量子色力学", "квантовая"])
def test_what_nothing_answers_is_an_error_result(shop: Any, query: str) -> None:
    row = shop.one("tool.search", {"query": query}, more=MORE, deferred_tools=("desk.*",))
    assert (row.outcome, row.is_error) == ("completed", True)
    assert "desk.one" in row.result
