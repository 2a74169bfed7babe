"""The quick look over a value never says that nothing is there where the walk masks something."""

import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper.runtime import redaction, secret_shape
from toolkeeper.runtime.redaction import MASK, Redactor
from toolkeeper.runtime.secret_glance import SHORT, Glance
from toolkeeper.runtime.secret_key import HARMLESS_WORDS, SECRET_WORDS, SecretKeys, words
from toolkeeper.runtime.secret_shape import mask_shapes
from toolkeeper_contract import canonical_bytes

GREEK, CYRILLIC, DOTTED = "\u03a0\u0391\u03a3", "\u043f\u0430\u0440\u043e\u043b\u044c", "\u0130x"
OWN = ["customer number", "pin 2", GREEK, CYRILLIC, DOTTED, "2fa", "Mandantennummer"]
KNOWN = ["qwertyuiop", 'with "quotes"', "two\nlines", "a/b/c/d/e", "12345678", "stra\u00dfe-99"]
REDACTORS = [
    Redactor(),
    Redactor(OWN),
    Redactor(OWN[:2], secrets=["qwertyuiop", "12345678"]),
    Redactor(OWN, secrets=KNOWN),
    Redactor(patterns=["ORD-[0-9]{3}", "^[0-9]{6}$"]),
    Redactor().knowing(["abc", 'x"y']),
]

_KEY_WORDS = sorted({word for key in (*SECRET_WORDS, *HARMLESS_WORDS, *OWN) for word in words(key)})
_WORDS = st.sampled_from(_KEY_WORDS).flatmap(
    lambda word: st.sampled_from([word, word.upper(), word.title(), word.capitalize()])
)
_GLUE = st.sampled_from(
    ["", "", *' _-./2K\\"', "\n", "\t", "\\n", "\x85", *"\u00a0\u0301\u00b2\u0661\u212a\u017f"]
)
_NAMES = st.lists(st.tuples(_WORDS, _GLUE), min_size=1, max_size=4).map(
    lambda parts: "".join(word + glue for word, glue in parts)
)
_SECRETS = st.sampled_from(
    [
        "sk-abcdefghijklmnop1234", "ghp_" + "a1" * 12, "glpat-" + "x" * 20, "xoxb-1234567890-a",
        "AKIAABCDEFGHIJKLMNOP", "AIza" + "b" * 35, "eyJhbGciOiJI.eyJzdWIiOiIx.abc", "ORD-123",
        "hf_" + "c" * 32, "https://ana:hunter2@example.com/", "Bearer a1b2c3d4", "123456", MASK,
        "hooks.slack.com/services/T000/B000/xyz", "basic YWxhZGRpbjpvcGVu", "--token abc",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE", "AGE-SECRET-KEY-1" + "Q" * 55,
        "postgres://u:p@h/db", "<password>x</password>",
    ]
)  # fmt: skip
_MARKS = st.sampled_from(
    ["=", ": ", "://", "--", "</", "abc", "\ud800", "\u00e9", "\n", *":\"\\{}[]@<>', "]
)
_PIECES = st.one_of(_NAMES, _SECRETS, _MARKS, st.sampled_from(KNOWN), st.text(max_size=6))
_FLAT = st.lists(_PIECES, max_size=7).map("".join)
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _FLAT


def _nested(value: Any, ascii_only: bool, slashed: bool, spaced: bool) -> str:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1 if spaced else None)
    return text.replace("/", "\\/") if slashed else text


def _spelled(text: str) -> str:
    """The same JSON with every letter `a`, `o` and `k` as an escape."""
    for letter in "aok":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    held = (
        st.lists(inner, max_size=3)
        | st.dictionaries(_NAMES | _FLAT, inner, max_size=3)
        | st.fixed_dictionaries({"name": _NAMES, "value": inner})
    )
    booleans = st.booleans()
    return held | st.builds(_nested, held, booleans, booleans, booleans) | held.map(json.dumps)


_VALUES = st.recursive(_LEAVES, _containers, max_leaves=8)


def _slow(redactor: Redactor, call: str, *given: Any) -> Any:
    """What comes of it when nobody takes a quick look."""
    with (
        patch.object(Redactor, "_holds_nothing", return_value=False),
        patch.object(Glance, "meets", return_value=True),
        patch.object(secret_shape, "_may_hold_one", return_value=True),
    ):
        return getattr(redactor, call)(*given)


@pytest.mark.parametrize("redactor", REDACTORS)
@settings(max_examples=80, deadline=None)
@given(_VALUES)
def test_a_value_is_masked_as_without_the_quick_look(redactor: Redactor, value: Any) -> None:
    slow = _slow(redactor, "redact", value)
    assert redactor.redact(value) == slow
    try:
        text = canonical_bytes(value)
    except (TypeError, ValueError):
        return
    masked, pointers = redactor.redact(value, (), text)
    assert (masked, pointers) == slow
    assert (masked is value) == (not pointers and masked == value)


@pytest.fixture(autouse=True, scope="module", params=[0, SHORT])
def short(request: pytest.FixtureRequest) -> Iterator[None]:
    """Up to how many characters a text is looked at in another way."""
    most = request.param
    with patch.object(redaction, "SHORT", most), patch.object(secret_shape, "SHORT", most):
        yield


@pytest.mark.parametrize("redactor", REDACTORS)
@settings(max_examples=80, deadline=None)
@given(_FLAT | _VALUES.filter(lambda value: isinstance(value, str)) | _VALUES.map(json.dumps))
def test_a_text_is_masked_as_without_the_quick_look(redactor: Redactor, text: str) -> None:
    for each in (text, _spelled(text)):
        assert redactor.redact_text(each) == _slow(redactor, "redact_text", each)


@settings(max_examples=400, deadline=None)
@given(_NAMES, st.sampled_from([*OWN, "Session-ID", "M\u00fcller", "x\u0130"]))
def test_a_key_that_is_a_secrets_is_met_in_whatever_it_stands(name: str, own: str) -> None:
    keys = SecretKeys([own])
    if keys.covers(name) or keys.ends(name):
        assert keys.may_stand_in(f"x {name} y")


_SHAPES = [
    "-----BEGIN PRIVATE KEY-----", "sk-" + "a" * 16, "sk_live_" + "a" * 16, "rk_test_" + "a" * 16,
    "pk_live_" + "-" * 16, *(f"gh{kind}_" + "a" * 20 for kind in "pousr"),
    "github_pat_" + "a" * 20, *(f"gl{kind}-" + "a" * 16 for kind in ("pat", "dt", "rt")),
    *(f"xox{kind}-" + "a" * 10 for kind in "abceoprsd"), "xapp-" + "a" * 10,
    "hooks.slack.com/workflows/" + "a" * 10, "AKIA" + "A" * 16, "ASIA" + "2" * 16,
    "SG." + "a" * 16 + "." + "b" * 16, "AIza" + "a" * 35, "ya29." + "a" * 20,
    "eyJ" + "a" * 8 + "." + "b" * 8,
    *(kind + "a" * 30 for kind in ("npm_", "hf_", "pypi-")),
    *(kind + "a" * 32 for kind in ("dop_v1_", "shpat_", "shpss_")), "AGE-SECRET-KEY-1" + "A" * 50,
    "s://a@", "s://a:b@h", "s://\b:x@h", "s://\u00e9\x1b@h",
    *(f"{scheme} YTpiYTp1" for scheme in ("bearer", "Bearer", "BEARER", "basic", "Basic", "BASIC")),
]  # fmt: skip


@pytest.mark.parametrize("shape", _SHAPES)
def test_every_shape_is_met(shape: str) -> None:
    assert mask_shapes(f" {shape} ")[1] == 1
    value = {"a": [f" {shape} "], "b": json.dumps([f" {shape} "])}
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert REDACTORS[0].redact_text(text)[1] == 2
    assert REDACTORS[0].redact(value, (), canonical_bytes(value))[1] == ("/a/0", "/b")


@pytest.mark.parametrize(
    "text",
    ["task-7 and disk-free", "work_items, task_id, mark_as_done", "see https://a.example/b?c=d",
     "the time of the session, an account, a service", "mail ana@example.com or https://h/@x"],
)  # fmt: skip
def test_what_many_texts_hold_is_seen_at_once(text: str) -> None:
    assert Redactor()._holds_nothing(text)


@given(st.integers(1, 320), st.integers(0, 160), st.booleans())
@settings(max_examples=80, deadline=None)
def test_what_lies_too_deep_is_masked_as_without_the_quick_look(
    outside: int, inside: int, listed: bool
) -> None:
    inner: Any = "plain"
    for _ in range(inside):
        inner = [inner] if listed else {"a": inner}
    value: Any = json.dumps(inner)
    for _ in range(outside):
        value = [value, "b"] if listed else {"b": value}
    redactor = REDACTORS[0]
    assert redactor.redact(value) == _slow(redactor, "redact", value)
    assert redactor.redact(value, (), canonical_bytes(value)) == _slow(redactor, "redact", value)
    text = json.dumps(value)
    assert redactor.redact_text(text) == _slow(redactor, "redact_text", text)


def test_a_long_list_is_looked_at_as_a_whole() -> None:
    rows = [{"id": number, "at": [number], "note": "plain [x] {y}"} for number in range(30)]
    text = json.dumps(rows)
    with patch.object(Redactor, "_walk", side_effect=AssertionError):
        assert Redactor().redact_text(text) == (text, 0)
        assert Redactor().redact(rows, (), canonical_bytes(rows)) == (rows, ())
