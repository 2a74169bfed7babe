"""What holds for every value and text that is redacted."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper.runtime.redaction import MASK, Redactor

REDACTOR = Redactor(["customer number"], ["ORD-[0-9]{3}"])

_KEYS = st.sampled_from(
    ["password", "dbPassword", "token", "a", "name", "value", "headers", "type", "x-api-key", ""]
)
_TEXTS = st.one_of(
    st.text(max_size=20),
    st.lists(
        st.sampled_from(
            ["password", "=", ": ", '"', "\\", "\n", "token", MASK, "{", "}", "[", "]", "://", "@",
             "Bearer ", "a1b2c3d4", "ORD-123", "--", "<", ">", "</", "'", ",", " ", "sk-", "key"]
        ),
        max_size=14,
    ).map("".join),
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
def test_masking_a_text_twice_changes_nothing_more(text: str) -> None:
    once, _ = REDACTOR.redact_text(text)
    assert REDACTOR.redact_text(once) == (once, 0)


@settings(max_examples=200, deadline=None)
@given(_VALUES)
def test_masking_a_value_twice_changes_nothing_more(value: Any) -> None:
    once, _ = REDACTOR.redact(value)
    assert REDACTOR.redact(once) == (once, ())


@settings(max_examples=200, deadline=None)
@given(_VALUES)
def test_every_pointer_leads_to_what_was_masked(value: Any) -> None:
    masked, pointers = REDACTOR.redact(value)
    assert bool(pointers) == (masked != value)
    for pointer in pointers:
        here: Any = masked
        for part in pointer.split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            here = here[int(part)] if isinstance(here, list) else here[part]
        assert MASK in here


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "password", "n"]), st.text(max_size=9)), st.booleans())
def test_json_text_is_masked_as_the_value_is(value: dict[str, str], spaced: bool) -> None:
    text = json.dumps(value, separators=(", ", ": ") if spaced else (",", ":"))
    masked, _ = REDACTOR.redact_text(text)
    assert json.loads(masked) == REDACTOR.redact(value)[0]
