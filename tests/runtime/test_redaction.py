"""What is a secret in a value, and what is not."""

from typing import Any

import pytest

from toolkeeper.runtime.redaction import MASK, Redactor
from toolkeeper.runtime.secret_key import SECRET_WORDS, SecretKeys, words

REDACTOR = Redactor()


@pytest.mark.parametrize(
    "key",
    [
        *SECRET_WORDS,
        "MCP_API_KEY",
        "x-api-key",
        "X-Api-Key",
        "dbPassword",
        "DBPassword",
        "PASSWORD2",
        "db.password",
        "dbpassword",
        "accessToken",
        "access_token",
        "accesstoken",
        "Authorization",
        "Proxy-Authorization",
        "Set-Cookie",
        "aws_secret_access_key",
        "privateKeyPem",
        "client secret",
        "oauth2Token",
    ],
)
def test_keys_match_by_words_in_any_case_and_separator(key: str) -> None:
    assert REDACTOR.redact({key: "x"}) == ({key: MASK}, (f"/{key}",))


@pytest.mark.parametrize(
    "key",
    [
        "max_tokens",
        "tokenizer",
        "token_count",
        "nextPageToken",
        "page_token",
        "author",
        "monkey",
        "keyboard",
        "key",
        "secretary",
        "session",
        "name",
        "authority",
        "passwordPolicy",
        "compass",
    ],
)
def test_words_that_only_look_alike_are_left(key: str) -> None:
    assert REDACTOR.redact({key: "x"}) == ({key: "x"}, ())


def test_words_are_split_at_case_separators_and_digits() -> None:
    assert words("MCPApiKey") == ("mcp", "api", "key")
    assert words("x-api_key.v2") == ("x", "api", "key", "v", "2")
    assert words("пароль_базы") == ("пароль", "базы")
    assert words("--") == ()


def test_the_operators_words_are_added() -> None:
    redactor = Redactor(["customer number", "page token", "пароль"])
    value = {"customerNumber": "7", "page_token": "x", "ПАРОЛЬ": "y", "number": "7"}
    assert redactor.redact(value)[1] == ("/customerNumber", "/page_token", "/ПАРОЛЬ")


@pytest.mark.parametrize(
    ("value", "masked", "pointers"),
    [
        (
            {"headers": {"Authorization": "Bearer t0k"}},
            {"headers": {"Authorization": MASK}},
            ("/headers/Authorization",),
        ),
        ([{"a": [{"password": "x"}]}], [{"a": [{"password": MASK}]}], ("/0/a/0/password",)),
        ({"pin": 1, "otp": 123456}, {"pin": 1, "otp": MASK}, ("/otp",)),
        (
            {"credentials": {"user": "ana", "keys": ["a", 1, None]}},
            {"credentials": {"user": MASK, "keys": [MASK, MASK, None]}},
            ("/credentials/user", "/credentials/keys/0", "/credentials/keys/1"),
        ),
        ({"password": None, "token": True, "secret": ""}, None, ()),
        ({"a/b~c": {"token": "x"}}, {"a/b~c": {"token": MASK}}, ("/a~1b~0c/token",)),
        (
            [{"name": "X-Api-Key", "value": "v"}, {"name": "Accept", "value": "v"}],
            [{"name": "X-Api-Key", "value": MASK}, {"name": "Accept", "value": "v"}],
            ("/0/value",),
        ),
        (["login", "--token", "abc", "--yes"], ["login", "--token", MASK, "--yes"], ("/2",)),
        ({"cmd": "x password=abc"}, {"cmd": f"x password={MASK}"}, ("/cmd",)),
        ({"s": '{"password":"x"}'}, {"s": f'{{"password":"{MASK}"}}'}, ("/s",)),
        ("Bearer abc.def", f"Bearer {MASK}", ("",)),
        (7, None, ()),
    ],
)
def test_values_are_masked_wherever_they_stand(
    value: Any, masked: Any, pointers: tuple[str, ...]
) -> None:
    expected = value if masked is None else masked
    assert REDACTOR.redact(value) == (expected, pointers)


def test_a_schema_that_describes_a_secret_stays_readable() -> None:
    schema = {
        "type": "object",
        "properties": {
            "password": {"type": "string", "description": "the password", "default": "hunter2"},
            "token": {"$ref": "#/$defs/token"},
        },
    }
    masked, pointers = REDACTOR.redact(schema)
    assert pointers == ("/properties/password/default",)
    assert masked["properties"]["password"]["description"] == "the password"
    assert masked["properties"]["token"] == {"$ref": "#/$defs/token"}


def test_a_schema_can_name_further_places() -> None:
    value = {"pin": "1234", "users": [{"code": "a"}, {"code": "b"}], "a/b": 1}
    masked, pointers = REDACTOR.redact(value, ("/pin", "/users/*/code", "/a~1b"))
    assert masked == {"pin": MASK, "users": [{"code": MASK}, {"code": MASK}], "a/b": MASK}
    assert pointers == ("/pin", "/users/0/code", "/users/1/code", "/a~1b")


def test_a_secret_that_is_itself_a_key_is_masked() -> None:
    value = {"https://a:b@host/": 1, "https://c:d@host/": 2}
    masked, _ = REDACTOR.redact(value)
    assert masked == {f"https://{MASK}@host/": 1, f"https://{MASK}@host/#2": 2}


def test_what_was_given_is_not_changed() -> None:
    value = {"a": [{"password": "x"}]}
    REDACTOR.redact(value)
    assert value == {"a": [{"password": "x"}]}


def test_what_lies_too_deep_to_be_looked_at_is_masked_whole() -> None:
    value: Any = "plain"
    for _ in range(400):
        value = [value]
    masked, pointers = REDACTOR.redact(value)
    assert len(pointers) == 1
    assert "plain" not in str(masked)


def test_patterns_mask_all_that_they_match() -> None:
    redactor = Redactor(patterns=["ORD-[0-9]{6}", "(?i)secret santa"])
    assert redactor.redact({"note": "é ORD-123456 by SECRET Santa"}) == (
        {"note": f"é {MASK} by {MASK}"},
        ("/note",),
    )


def test_known_secrets_are_masked_wherever_they_stand() -> None:
    redactor = Redactor(secrets=["qwertyuiop", "qwertyuiop-long", "short", "redacted"])
    value = {"echo": ["it is qwertyuiop-long or qwertyuiop"], "other": "short redacted"}
    assert redactor.redact(value) == (
        {"echo": [f"it is {MASK} or {MASK}"], "other": "short redacted"},
        ("/echo/0",),
    )


def test_patterns_look_at_numbers_too() -> None:
    redactor = Redactor(patterns=["[0-9]{16}"])
    assert redactor.redact({"card": 4111111111111111, "n": 7, "on": True}) == (
        {"card": MASK, "n": 7, "on": True},
        ("/card",),
    )
    assert redactor.redact_text('{"card":4111111111111111}') == (f'{{"card":"{MASK}"}}', 1)


def test_a_pattern_over_half_a_pair_still_works() -> None:
    assert Redactor(patterns=["x[0-9]"]).redact_text("\ud800 x1") == (f"\ud800 {MASK}", 1)


@pytest.mark.parametrize("pattern", ["(a", "(?=a)", "x*", "a" * 2001])
def test_a_pattern_that_cannot_run_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="the pattern"):
        Redactor(patterns=[pattern])


def test_every_built_in_word_is_found_in_text_too() -> None:
    keys = SecretKeys()
    missed = [word for word in SECRET_WORDS if not keys.may_stand_in(f"the {word}=x")]
    assert missed == []


def test_a_text_that_begins_like_a_flag_is_no_flag() -> None:
    redactor = Redactor()
    once, _ = redactor.redact(["--Bearer =", 0])
    assert redactor.redact(once) == (once, ())
    assert redactor.redact(["--token", 7])[0] == ["--token", "[redacted]"]
