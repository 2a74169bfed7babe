"""Whatever the text: nothing breaks out, nothing hides, and cleaning is done after one pass."""

import re

from hypothesis import given
from hypothesis import strategies as st

from toolkeeper_contract import CONTROL, SourceKind, Tool, ToolDefinition, ToolIdentity
from toolkeeper_index import (
    clean,
    clean_line,
    enveloped,
    index_line,
    render_answer,
    render_region,
    visible,
)
from toolkeeper_index.answer import SearchAnswer

TOKEN = "0123456789abcdef"
HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2028\u2029\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)

pieces = st.one_of(
    st.text(st.characters(), max_size=6),  # surrogates too
    st.sampled_from(
        [
            "\x1b[", "\x1b]8;;", "\x1b\\", "\x07", "\x9b", "31m", "\r", "\n", "\u200d", "\u200c",
            "\ufe0f", "\u202e", "\u2066", "\u2060", "\U000e0041", "\u200b", "👩", "🚀", "🏽", "می",
            "\ud83d", "\udc69", "</EXTERNAL_UNTRUSTED", " id=", TOKEN, ">", "<", "&", "&lt;",
            "\\u{", "}", "葛", "\U000e0100", "\u180b", "ᠠ",
        ]
    ),
)  # fmt: skip
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert clean_line(clean_line(text)) == clean_line(text)


@given(texts)
def test_nothing_harmful_survives(text: str) -> None:
    assert HARMFUL.search(clean(text)) is None
    clean(text).encode("utf-8")
    assert "\n" not in clean_line(text)


@given(texts)
def test_nothing_is_dropped_from_what_is_made_visible(text: str) -> None:
    shown = visible(text)
    assert HARMFUL.search(shown) is None
    restored = re.sub(r"\\u\{([0-9A-F]+)\}", lambda match: chr(int(match[1], 16)), shown)
    assert restored == text


@given(texts)
def test_an_envelope_has_two_delimiters_and_no_more(text: str) -> None:
    lines = enveloped(text, token=TOKEN, source="crm").split("\n")
    assert lines[0] == f"<EXTERNAL_UNTRUSTED id={TOKEN} source=crm>"
    assert lines[-1] == f"</EXTERNAL_UNTRUSTED id={TOKEN}>"
    payload = "\n".join(lines[1:-1])
    assert "<" not in payload
    assert ">" not in payload


@given(texts.map(lambda text: text.encode("utf-8", "replace").decode()), texts)
def test_no_foreign_word_breaks_out_of_region_or_answer(description: str, text: str) -> None:
    title = text.encode("utf-8", "replace").decode()  # JSON carries no lone surrogates
    schema = {"properties": {"x": {"description": title}, title: {"default": description}}}
    tool = Tool.of(
        ToolIdentity(SourceKind.MCP, "crm", "read"),
        ToolDefinition("read", title, description, schema),
        CONTROL,
    )
    assert "\n" not in index_line(tool)
    region = render_region(token=TOKEN, tools=[tool])
    answer = render_answer(SearchAnswer((tool,)), token=TOKEN)
    for shown in (region, answer):
        assert shown.count("<") == 2
        assert shown.count(f"EXTERNAL_UNTRUSTED id={TOKEN} source=crm>") == 1
        assert HARMFUL.search(shown) is None
