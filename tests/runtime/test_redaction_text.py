"""What is a secret in a text, and what is left of the text."""

import json

import pytest

from toolkeeper.runtime.redaction import MASK, Redactor

REDACTOR = Redactor()

MASKED = [
    ("MCP_API_KEY=abc123 next", "MCP_API_KEY=[redacted] next"),
    ("x-api-key: foo", "x-api-key: [redacted]"),
    ("key=1 dbPassword=hunter2; user=x", "key=1 dbPassword=[redacted]; user=x"),
    ("?access_token=abc&page=2", "?access_token=[redacted]&page=2"),
    ("Server=x;Password=abc;User=y", "Server=x;Password=[redacted];User=y"),
    ("DB_PASSWORD=a;b,c\nX=1", "DB_PASSWORD=[redacted]\nX=1"),
    ("export TOKEN=abc", "export TOKEN=[redacted]"),
    ("password: correct horse battery\nuser: x", "password: [redacted]\nuser: x"),
    ("{password: hunter2, user: x}", "{password: [redacted], user: x}"),
    ("passwords: [a, b]", "passwords: [redacted]"),
    ("API key: sk123", "API key: [redacted]"),
    ("Authorization: Bearer t0k\nHost: h", "Authorization: [redacted]\nHost: h"),
    ("curl -H 'Authorization: Basic x' https://h", "curl -H 'Authorization: [redacted]' https://h"),
    ("Cookie: a=b; c=d\nHost: h", "Cookie: [redacted]\nHost: h"),
    ("--token abc --password=def", "--token [redacted] --password=[redacted]"),
    ('--token "a b" c', '--token "[redacted]" c'),
    ("os.environ['API_TOKEN'] = 'v'", "os.environ['API_TOKEN'] = '[redacted]'"),
    ('password := "x"', 'password := "[redacted]"'),
    ("password => 'x'", "password => '[redacted]'"),
    ('say {"dbPassword": "hun\\"ter"} end', 'say {"dbPassword": "[redacted]"} end'),
    ('{\\"password\\": \\"hunter2\\"}', '{\\"password\\": \\"[redacted]\\"}'),
    ("{'token': 'x', 'n': 1}", "{'token': '[redacted]', 'n': 1}"),
    ('cut off: {"password": "hunt', 'cut off: {"password": "[redacted]'),
    ("<password>hunter2</password>", "<password>[redacted]</password>"),
    ("<ns:apiKey id='1'>a</ns:apiKey>", "<ns:apiKey id='1'>[redacted]</ns:apiKey>"),
    ("postgres://ana:hunter2@db/x", "postgres://[redacted]@db/x"),
    ("https://u:p@ss@host/", "https://[redacted]@host/"),
    ("https://abc123@github.com/x", "https://[redacted]@github.com/x"),
    ("sent Bearer abc.def.ghi", "sent Bearer [redacted]"),
    ("Basic YW5hOmh1bnRlcjI=", "Basic [redacted]"),
    ("is sk-ant-" + "a1" * 12 + " ok", "is [redacted] ok"),
    ("ghp_" + "a1" * 18, "[redacted]"),
    ("github_pat_" + "a1" * 20, "[redacted]"),
    ("AKIAABCDEFGHIJKLMNOP", "[redacted]"),
    ("xoxb-123456789012-abc", "[redacted]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_def.", "[redacted]."),
    (
        "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nb",
        "a\n[redacted]\nb",
    ),
    ("-----BEGIN PRIVATE KEY-----\nMIIabc", "[redacted]"),
]

LEFT = [
    "max_tokens: 4096, token_count=3",
    "nextPageToken: abc",
    "monkey=3 author=me tokenizer: x",
    "def login(token: str, password: str = None) -> bool:",
    "the bearer received it",
    "Basic authentication is a scheme",
    "Bearer token",
    "ssh://git@github.com/x and git@github.com:x/y.git",
    "mail ana@example.com",
    "https://host:8080/path?x=1",
    "follow this link to reset your password: https://h.example/reset?id=7",
    "password=",
    'password: ""',
    "password: ********",
    "a password is needed",
    '{"password": null, "token": true}',
    "task-1234567890123456 is done",
]


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_secrets_are_masked_in_text(text: str, expected: str) -> None:
    masked, count = REDACTOR.redact_text(text)
    assert masked == expected
    assert count > 0


@pytest.mark.parametrize("text", LEFT)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert REDACTOR.redact_text(text) == (text, 0)


@pytest.mark.parametrize("text", [text for text, _ in MASKED] + LEFT)
def test_masking_twice_changes_nothing_more(text: str) -> None:
    once, _ = REDACTOR.redact_text(text)
    assert REDACTOR.redact_text(once) == (once, 0)


def test_a_letter_that_only_looks_like_one_of_a_token_ends_it() -> None:
    text = "Basic YW5hOmh1bnRlcjI=\u212a and Bearer a1b2c3d4\u017f"
    assert REDACTOR.redact_text(text) == ("Basic [redacted]\u212a and Bearer [redacted]\u017f", 2)


def test_json_stays_json_with_its_other_values() -> None:
    text = '{\n  "token": 12345,\n  "n": [1.0, 12345678901234567890],\n  "k": {"secret": ["x"]}\n}'
    masked, count = REDACTOR.redact_text(text)
    assert count == 2
    assert "\n" in masked
    assert json.loads(masked) == {
        "token": MASK,
        "n": [1.0, 12345678901234567890],
        "k": {"secret": [MASK]},
    }


def test_json_without_secrets_keeps_its_bytes() -> None:
    text = '{"b" :1.50,\n\t"a":[ ]}'
    assert REDACTOR.redact_text(text) == (text, 0)


def test_compact_json_stays_compact() -> None:
    assert REDACTOR.redact_text('{"token":"x","é":1}') == ('{"token":"[redacted]","é":1}', 1)


@pytest.mark.parametrize(
    "piece",
    ["a", "\\", "-", "[", "://", "password=x ", 'password=" ', "password:\n", "eyJaaaaaaaa.",
     "-----BEGIN PRIVATE KEY-----", "api key ", "<a ", "<token>", "sk-", "password: ", "Bearer "],
)  # fmt: skip
def test_a_long_text_of_anything_comes_to_an_end(piece: str) -> None:
    redactor = Redactor(patterns=["(x+x+)+y"])
    masked, _ = redactor.redact_text(piece * (1_000_000 // len(piece)) + "</")
    assert masked.endswith(("</", MASK))
