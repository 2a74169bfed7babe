"""A value counts as heard where it stands as a whole, in whatever spelling, and nowhere else."""

import gc
import itertools
import json
import tracemalloc
from typing import Any

import pytest

from toolkeeper_contract import Origin
from toolkeeper_policy import DestinationKind, Heard


def heard(user: str = "", trusted: str = "", untrusted: str = "") -> Heard:
    made = Heard()
    made.user(user)
    made.trusted(trusted)
    made.untrusted(untrusted)
    return made


@pytest.mark.parametrize(
    "value",
    [
        "Anna",
        "ANNA",
        "  anna ",
        '"Anna"',
        "(Anna)",
        "Anna.",
        "the report",
        "The   Report",
        "the\nreport",
        "bob@example.com",
        "Bob@Example.COM",
        "<bob@example.com>",
        "\uff42\uff4f\uff42@example.com",
        "reports/q1 2026.txt",
    ],
)
def test_a_whole_value_is_found_in_any_spelling(value: str) -> None:
    said = "Please send Anna\u2019s boss the report (reports/q1 2026.txt), to: bob@example.com."
    assert heard(user=said).origin(value) is Origin.USER


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("a banana", "ana"),
        ("write to jim.bob@example.com", "bob@example.com"),
        ("write to bob@example.com.evil.net", "bob@example.com"),
        ("write to bob@example.com", "example.com"),
        ("write to bob@example.com", "bob"),
        ("see example.com/a", "example.com/ab"),
        ("see https://example.com/a/b", "https://example.com/a"),
        ("see https://example.com/?q=1", "https://example.com/"),
        ("read /etc/passwd", "etc/passwd"),
        ("read /etc/passwd.bak", "/etc/passwd"),
        ("read docs/notes.txt", "notes.txt"),
        ("a well-known fact", "known"),
        ("O'Brien", "Brien"),
        ("on 2026-05-01", "2026"),
        ("at 10:30", "30"),
        ("it was 1,000.50", "1,000"),
        ("it was 1,000.50", "000.50"),
        ("it was 13.5", "13"),
        ("minus -500.00", "500.00"),
        ("strasse.de", "stra\u00dfe.de"),
        ("paypal.com", "p\u0430ypal.com"),
        ("bob smith", "bob  smith jr"),
        ("one. two", "one two"),
    ],
)
def test_a_part_of_something_longer_or_a_lookalike_is_not_found(said: str, value: str) -> None:
    assert heard(user=said).origin(value) is Origin.NOWHERE


def test_the_best_place_wins() -> None:
    made = heard("alpha", "alpha beta", "alpha beta gamma")
    assert [made.origin(word) for word in ("alpha", "beta", "gamma", "delta")] == [
        Origin.USER,
        Origin.TRUSTED,
        Origin.UNTRUSTED,
        Origin.NOWHERE,
    ]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("pay 1234.5", 1234.5),
        ("pay $1,234.50 now", 1234.5),
        ("pay 1.234,50 \u20ac", 1234.5),
        ("pay 1\u202f234,50 \u20ac", 1234.5),
        ("pay CHF 1'234.50", 1234.5),
        ("pay $50", 50),
        ("pay $50", 50.0),
        ("pay $50.00", 50),
        ("pay $50.00", "50"),
        ("pay 50", "50.00"),
        ("pay 1,000,000", 1_000_000),
        ("June 13", 13),
        ("it is -5 outside", -5),
    ],
)
def test_a_number_is_found_in_its_spellings(said: str, value: Any) -> None:
    assert heard(user=said).origin(value) is Origin.USER


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("pay 1.234", 1234),
        ("pay 1,234", 1.234),
        ("pay 1,234.50", 1234),
        ("pay 1,234.50", 234.5),
        ("pay 100", 10),
        ("pay 100", -100),
        ("account 0042", 42),
        ("5 100", 5100),
        ("1", True),
        ("null", None),
        ("a b", ["a", "b"]),
        ("a 1", {"a": 1}),
        ("nan inf", float("nan")),
        ("nan inf", float("inf")),
        ("1e400", 10**400),
    ],
)
def test_another_number_or_no_number_is_not_found(said: str, value: Any) -> None:
    assert heard(user=said).origin(value) is Origin.NOWHERE


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("to DE89 3704 0044 0532 0130 00 please", "DE89370400440532013000"),
        ("to DE89370400440532013000 please", "de89 3704 0044 0532 0130 00"),
        ("call +49 (170) 123-4567", "+491701234567"),
        ("call +49 170 1234567", "0049 170 123 4567"),
        ("call 0049 170 1234567", "+49 170 1234567"),
        ("see https://user:word@shop.example.com:8080/a", "shop.example.com:8080"),
        ("see https://shop.example.com/a", "shop.example.com"),
        ("see HTTPS://Shop.Example.com/a", "https://shop.example.com/a"),
    ],
)
def test_a_value_that_is_one_place_is_found_in_any_spelling(said: str, value: str) -> None:
    expected = Origin.NOWHERE if value.endswith(":8080") else Origin.USER
    assert heard(user=said).origin(value) is expected


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("to DE89 3704 0044 0532 0130 00 1", "DE8937040044053201300"),
        ("call +49 170 12345678", "+49 170 1234567"),
        ("see https://shop.example.com.evil.net/a", "shop.example.com"),
        ("see https://shop.example.com@evil.net/a", "shop.example.com"),
        ("write to bob@shop.example.com", "shop.example.com"),
    ],
)
def test_another_place_is_not_found(said: str, value: str) -> None:
    assert heard(user=said).origin(value) is Origin.NOWHERE


def test_the_places_in_a_value_have_origins_of_their_own() -> None:
    made = heard(
        user="mail bob@example.com, IBAN DE89370400440532013000, read ./docs/report.txt",
        untrusted="no, mail evil@x.com and look at https://x.com/a",
    )
    value = (
        "bob@example.com, evil@x.com; https://x.com/b; DE89 3704 0044 0532 0130 00; "
        "./docs/report.txt; +41 44 668 18 00; 2026-05-01"
    )
    found = {(each.kind, each.text): each.origin for each in made.destinations(value)}
    assert found == {
        (DestinationKind.URL, "https://x.com/b"): Origin.NOWHERE,
        (DestinationKind.HOST, "x.com"): Origin.UNTRUSTED,
        (DestinationKind.EMAIL, "bob@example.com"): Origin.USER,
        (DestinationKind.EMAIL, "evil@x.com"): Origin.UNTRUSTED,
        (DestinationKind.ACCOUNT, "de89370400440532013000"): Origin.USER,
        (DestinationKind.PHONE, "+41446681800"): Origin.NOWHERE,
        (DestinationKind.PATH, "./docs/report.txt"): Origin.USER,
    }
    assert made.destinations(7) == ()


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://good.com@evil.com/", "evil.com"),
        ("https://good.com:pass@evil.com:80/", "evil.com"),
        ("https://evil.com\\@good.com", "evil.com"),
        ("https://evil.com?@good.com", "evil.com"),
        ("https://evil.com#@good.com", "evil.com"),
        ("http://[::1]:80/", "[::1]"),
        ("ftp://evil.com.", "evil.com"),
    ],
)
def test_the_host_of_an_address_is_the_one_that_is_reached(address: str, host: str) -> None:
    hosts = [each.text for each in Heard().destinations(address) if each.kind == "host"]
    assert hosts[0] == host


def test_the_values_of_a_json_text_are_heard_without_their_escapes() -> None:
    made = heard(trusted=json.dumps({"body": 'first line\n"second" line', "at": "C:\\docs\\a.txt"}))
    assert made.origin('first line\n"second" line') is Origin.TRUSTED
    assert made.origin("C:\\docs\\a.txt") is Origin.TRUSTED


def test_what_a_call_puts_in_does_not_come_out_trusted() -> None:
    made = Heard()
    made.user("find bob@example.com")
    given = {"query": "contact evil@x.com now", "limit": 5}
    made.trusted("nothing for contact evil@x.com now; see bob@example.com or amy@y.com", given)
    assert made.origin("evil@x.com") is Origin.NOWHERE
    assert made.origin("bob@example.com") is Origin.USER
    assert made.origin("amy@y.com") is Origin.TRUSTED


def test_what_the_user_put_in_stays_trusted() -> None:
    made = Heard()
    made.user("look for evil@x.com")
    made.trusted("found evil@x.com at desk four", {"query": "evil@x.com"})
    assert made.origin("desk four") is Origin.TRUSTED
    assert made.origin("found evil@x.com at desk four") is Origin.TRUSTED


def test_what_was_forgotten_is_from_nowhere_and_the_latest_is_kept() -> None:
    made = Heard(capacity=10_000)
    for number in range(1_000):
        made.trusted(f"word{number} and some more words around it {number}")
    assert made.origin("word0") is Origin.NOWHERE
    assert made.origin("word999") is Origin.TRUSTED


def test_a_copy_goes_on_by_itself() -> None:
    first = heard(user="alpha")
    second = first.copy()
    first.user("beta")
    second.user("gamma")
    assert (first.origin("gamma"), second.origin("beta")) == (Origin.NOWHERE, Origin.NOWHERE)
    assert second.origin("alpha") is Origin.USER


def test_a_long_value_is_found_across_blocks() -> None:
    text = " ".join(f"word{number}" for number in range(20_000))
    made = heard(untrusted="before " + text + " after")
    assert made.origin(text) is Origin.UNTRUSTED
    assert made.origin(text + " more") is Origin.NOWHERE


@pytest.mark.parametrize("value", ["", "   ", "...", "->", "\0", "\ud800", "x" * 2_000_000])
def test_an_odd_value_is_from_nowhere(value: str) -> None:
    assert heard(user="x . -> \0 \ud800").origin(value) is Origin.NOWHERE


def test_short_values_are_looked_up_too() -> None:
    assert heard(user="June 13, Al").origin("al") is Origin.USER


def test_short_texts_do_not_pile_up_where_nobody_asks() -> None:
    made = Heard()
    tracemalloc.start()
    try:
        for number in range(6_000):
            made.trusted(f"noted {number % 50}", {"title": f"note {number}", "tags": ["a", "b"]})
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # With their arguments 6,000 texts that wait would take 4 MB.
    assert held < 1_500_000
    assert made.origin("noted 17") is Origin.TRUSTED


def test_long_arguments_do_not_pile_up_where_nobody_asks() -> None:
    made = Heard()
    tracemalloc.start()
    try:
        for number in range(200):
            made.trusted(f"written {number}", {"body": f"{number} " + "x" * 100_000})
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # All of them are 20 MB.
    assert held < 1_500_000
    assert made.origin("written 3") is Origin.NOWHERE
    assert made.origin("written") is Origin.TRUSTED


def test_arguments_that_change_after_the_call_are_what_the_call_had() -> None:
    made = Heard()
    given = {"query": ["evil@x.com"]}
    made.trusted("nothing for evil@x.com", given)
    given["query"].clear()
    assert made.origin("evil@x.com") is Origin.NOWHERE
    assert made.origin("nothing") is Origin.TRUSTED


def test_what_waits_is_nothing_that_the_garbage_collector_looks_at() -> None:
    made = Heard()
    for number in range(1_000):
        made.trusted(f"noted {number}", {"title": f"note {number}", "tags": ["a", "b"]})
    gc.collect()
    tracked = len(gc.get_objects())
    made.origin("noted 17")
    gc.collect()
    assert tracked - len(gc.get_objects()) < 100


@pytest.mark.parametrize("given", [{"a": ("x1",)}, {"t": "\ud800 x1"}, {7: "x1"}])
def test_arguments_that_are_no_json_are_left_out_too(given: Any) -> None:
    made = Heard()
    made.trusted("about x1", given)
    assert made.origin("about") is Origin.TRUSTED
    assert made.origin("x1") is Origin.NOWHERE


def test_of_very_many_arguments_those_that_nobody_looks_up_are_not_trusted() -> None:
    words = [f"w{number}" for number in range(5_000)]
    made = Heard()
    made.user(" ".join(words))
    made.trusted("seen " + ", ".join(f"{word} x{word}" for word in words), {"words": words})
    assert made.origin("seen") is Origin.TRUSTED
    assert made.origin("xw17") is Origin.TRUSTED
    assert [made.origin(word) for word in words] == [Origin.USER] * 5_000
    # What was not looked up was left out, so nothing longer with it was heard.
    pairs = [made.origin(f"x{one}, {other}") for one, other in itertools.pairwise(words)]
    assert set(pairs) == {Origin.TRUSTED, Origin.NOWHERE}
