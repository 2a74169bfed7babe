"""Which words a search sees."""

import pytest

from toolkeeper_index.stemming import stem
from toolkeeper_index.words import words


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("createInvoice", {"creat", "invoic", "createinvoice"}),
        ("create_invoice", {"creat", "invoic", "createinvoice"}),
        ("create-invoice", {"creat", "invoic", "createinvoice"}),
        ("XMLParser", {"xml", "parser", "xmlparser"}),
        ("getURL2", {"get", "url", "2", "geturl2"}),
        ("appTableRecord_search", {"app", "tabl", "record", "search", "apptablerecordsearch"}),
        ("mcp.gmail.send", {"mcp", "gmail", "send", "mcpgmailsend"}),
        ("URL", {"url"}),
    ],
)
def test_identifiers_are_split_before_case_is_folded(identifier: str, expected: set[str]) -> None:
    assert set(words(identifier)) == expected


def test_words_of_any_script_count() -> None:
    assert words("Погода") == ["погода"]
    assert words("ελληνικά") == ["ελληνικά"]
    assert words("मौसम की जानकारी") == ["मौसम", "की", "जानकारी"]


def test_unspaced_scripts_give_characters_and_pairs() -> None:
    assert words("天気予報") == ["天", "気", "予", "報", "天気", "気予", "予報"]
    assert "อา" in words("อากาศ")
    assert {"github", "git", "hub", "仓库"} <= set(words("GitHub仓库"))


def test_width_and_accents_make_no_difference() -> None:
    assert words("ｃａｆé") == words("cafe")


def test_words_that_say_nothing_are_left_out() -> None:
    assert words("Can you please send it to me?") == ["send"]


def test_marks_and_pictures_are_no_words() -> None:
    assert words("🎉 !!! -- __ ...") == []


def test_a_giant_run_is_no_word() -> None:
    assert words("x" * 200_000) == []


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed"),
        ("agreed", "agre"), ("plastered", "plaster"), ("motoring", "motor"), ("sing", "sing"),
        ("conflated", "conflat"), ("troubled", "troubl"), ("sized", "size"), ("hopping", "hop"),
        ("falling", "fall"), ("hissing", "hiss"), ("failing", "fail"), ("filing", "file"),
        ("happy", "happi"), ("sky", "sky"), ("relational", "relat"), ("conditional", "condit"),
        ("digitizer", "digit"), ("vietnamization", "vietnam"), ("operator", "oper"),
        ("hopefulness", "hope"), ("formaliti", "formal"), ("triplicate", "triplic"),
        ("electrical", "electr"), ("goodness", "good"), ("revival", "reviv"),
        ("allowance", "allow"), ("replacement", "replac"), ("adoption", "adopt"),
        ("probate", "probat"), ("rate", "rate"), ("cease", "ceas"), ("controll", "control"),
        ("roll", "roll"), ("geturl2", "geturl2"), ("погода", "погода"), ("is", "is"),
    ],
)  # fmt: skip
def test_stems_are_those_of_the_published_algorithm(word: str, expected: str) -> None:
    assert stem(word) == expected
