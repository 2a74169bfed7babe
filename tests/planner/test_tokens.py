"""Is the token estimate what the design asks: never short, and at most 15 % too dear?"""

import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkeeper_contract import (
    Classification,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_index import index_line
from toolkeeper_planner.tokens import PIECES, estimate

SAMPLES = Path(__file__).parent / "data" / "multilingual-tools.json"
DATA = Path(__file__).parents[3] / "shared" / "data"
CLASS = Classification(SideEffect.NETWORK_WRITE, frozenset(), "declaration")
EMPTY = {"properties": {}, "type": "object"}
WRAPPERS: dict[str, Callable[[str, str, Any], dict[str, Any]]] = {
    "openai": lambda n, d, s: {
        "type": "function",
        "function": {"name": n, "description": d, "parameters": s},
    },
    "anthropic": lambda n, d, s: {"name": n, "description": d, "input_schema": s},
    "gemini": lambda n, d, s: {"name": n, "description": d, "parametersJsonSchema": s},
    "mcp": lambda n, d, s: {"name": n, "description": d, "inputSchema": s},
}


def definition(raw: dict[str, Any], provider: str = "mcp") -> str:
    name, about = raw["name"], raw.get("description") or ""
    wrapped = WRAPPERS[provider](name, about, raw.get("inputSchema") or EMPTY)
    return json.dumps(wrapped, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def catalog_line(raw: dict[str, Any]) -> str:
    """The line of the deferred index; empty where discovery would refuse the name."""
    made = ToolDefinition(
        name=raw["name"],
        title=None,
        description=raw.get("description") or "",
        input_schema=raw.get("inputSchema") or EMPTY,
    )
    identity = ToolIdentity(SourceKind.MCP, str(raw["server"]), raw["name"])
    try:
        return index_line(Tool.of(identity, made, CLASS))
    except ValueError:
        return ""


def sample_line(raw: dict[str, Any]) -> str:
    """A line in the form of the index, also for names that no tool of ours could have."""
    schema = raw["inputSchema"]
    names = [n if n in schema["required"] else f"{n}?" for n in schema["properties"]]
    return f"mcp.office.{raw['name']}({', '.join(names)}) - {raw['description']}"


def samples() -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = json.loads(SAMPLES.read_text("utf-8"))["groups"]
    return groups


def counts() -> Iterator[tuple[str, str, int, int]]:
    """Script, kind, recorded true tokens and estimate of each multilingual sample."""
    for group in samples():
        for tool in group["tools"]:
            for kind, text in (("definition", definition(tool)), ("line", sample_line(tool))):
                yield group["script"], kind, tool["tokens"][kind], estimate(text)


@pytest.fixture(scope="module")
def count() -> Callable[[str], int]:
    bpe_openai = pytest.importorskip("bpe_openai", reason="the real tokenizer is not installed")
    encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))


def catalog(name: str) -> list[dict[str, Any]]:
    file = DATA / f"catalog-{name}.json"
    if not file.exists():
        pytest.skip(f"the catalog {name} is not here")
    tools: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return tools


def check(texts: list[str], count: Callable[[str], int], short: int = 0) -> None:
    """The totals' rule, and at most `short` texts undercounted by more than 10 %."""
    pairs = [(count(text), estimate(text), text) for text in texts if text]
    true = sum(one for one, _, _ in pairs)
    assert true <= sum(guess for _, guess, _ in pairs) <= 1.15 * true
    under = [(one, guess, text) for one, guess, text in pairs if guess < 0.9 * one]
    assert len(under) <= short, under[:3]


def test_there_are_at_least_six_scripts() -> None:
    assert len({group["script"] for group in samples()}) >= 12


def test_in_every_script_the_total_is_between_the_truth_and_15_percent_above() -> None:
    true: dict[tuple[str, str], int] = defaultdict(int)
    guess: dict[tuple[str, str], int] = defaultdict(int)
    for script, kind, one, other in counts():
        true[script, kind] += one
        guess[script, kind] += other
    off = {key: guess[key] / true[key] - 1 for key in true}
    assert {key: share for key, share in off.items() if not 0 <= share <= 0.15} == {}


def test_no_sample_in_any_language_is_undercounted_by_more_than_10_percent() -> None:
    assert [row for row in counts() if row[3] < 0.9 * row[2]] == []


def test_the_recorded_counts_are_those_of_the_real_tokenizer(count: Callable[[str], int]) -> None:
    for group in samples():
        for tool in group["tools"]:
            assert tool["tokens"] == {
                "definition": count(definition(tool)),
                "line": count(sample_line(tool)),
            }


@pytest.mark.parametrize("name", ["live", "github", "livemcp"])
def test_the_definitions_of_a_real_catalog_are_priced_right(
    name: str, count: Callable[[str], int]
) -> None:
    check([definition(tool) for tool in catalog(name)], count)


@pytest.mark.parametrize("name", ["live", "github", "livemcp"])
def test_the_index_lines_of_a_real_catalog_are_priced_right(
    name: str, count: Callable[[str], int]
) -> None:
    check([catalog_line(tool) for tool in catalog(name)], count)


@pytest.mark.parametrize("name", ["sealtools", "metatool", "metatool-multi", "bfcl-nonlive"])
def test_catalogs_that_were_held_back_are_priced_right_too(
    name: str, count: Callable[[str], int]
) -> None:
    tools = catalog(name)
    check([definition(tool) for tool in tools], count)
    # one line in a thousand may hold nothing but rare words
    check([catalog_line(tool) for tool in tools], count, short=len(tools) // 1000)


@pytest.mark.parametrize("provider", sorted(WRAPPERS))
def test_every_wrapper_is_priced_right(provider: str, count: Callable[[str], int]) -> None:
    check([definition(tool, provider) for tool in catalog("github")], count)


def _noise() -> dict[str, str]:
    rng = random.Random(7)
    hexadecimal = "0123456789abcdef"
    base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    signs = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    return {
        "base64": "".join(rng.choices(base64, k=800)),
        "hex": "".join(rng.choices(hexadecimal, k=800)),
        "upper hex": "".join(rng.choices(hexadecimal.upper(), k=800)),
        "uuids": " ".join(
            "-".join("".join(rng.choices(hexadecimal, k=n)) for n in (8, 4, 4, 4, 12))
            for _ in range(20)
        ),
        "digits": "".join(rng.choices("0123456789", k=800)),
        "numbers": ",".join(str(rng.randint(0, 10 ** rng.randint(1, 9))) for _ in range(100)),
        "nesting": '{"a":[' * 60 + "]}" * 60,
        "punctuation": "".join(rng.choices(signs, k=500)),
        "escapes": "".join(f"\\u{rng.randint(0, 0xFFFF):04x}" for _ in range(100)),
        "upper case": "".join(rng.choices("ACDEFGHIKLMNPQRSTVWY", k=400)),
        "one letter": "a" * 500,
        "spaces": " " * 500,
        "newlines": "\n" * 500,
        "han": "".join(chr(rng.randint(0x4E00, 0x9FFF)) for _ in range(300)),
        "emoji": "".join(chr(rng.randint(0x1F300, 0x1FAFF)) for _ in range(300)),
        "family": "👩‍👩‍👧‍👦" * 40,
        "plane 0": "".join(chr(rng.randint(0x80, 0xD7FF)) for _ in range(300)),
        "any plane": "".join(chr(rng.randint(0xE000, 0x10FFFF)) for _ in range(300)),
        "accents": "e\u0301\u0302" * 100,
    }


@pytest.mark.parametrize("kind", sorted(_noise()))
def test_noise_is_not_undercounted(kind: str, count: Callable[[str], int]) -> None:
    text = _noise()[kind]
    assert estimate(text) >= 0.9 * count(text)


def test_chinese_is_not_priced_like_english() -> None:
    text = "根据关键词搜索文档并返回每个文档的摘要。" * 20
    assert estimate(text) > len(text) * 0.5


def test_an_empty_text_costs_nothing() -> None:
    assert estimate("") == 0


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(), max_size=200))
def test_pieces_are_the_whole_text_and_every_text_has_a_price(text: str) -> None:
    assert "".join(PIECES.findall(text)) == text
    assert 0 <= estimate(text) <= 2 + 1.5 * len(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=100), st.text(max_size=100))
def test_two_texts_together_cost_about_what_they_cost_alone(one: str, other: str) -> None:
    apart, together = estimate(one) + estimate(other), estimate(one + other)
    assert together <= apart * 1.5 + 12


def test_a_lone_surrogate_has_a_price() -> None:
    assert estimate("a\ud800b" * 3) > 3


@pytest.mark.parametrize("unit", ["a", "A", " ", "漢", "'", "\\", "aA", "\n ", "\u0301", "😀"])
def test_a_huge_text_of_one_kind_is_priced(unit: str) -> None:
    text = unit * (5_000_000 // len(unit))
    assert estimate(text) > 1_000_000


def test_the_price_does_not_depend_on_what_was_priced_before_or_on_the_process() -> None:
    text = definition(samples()[0]["tools"][0])
    before = estimate(text)
    for number in range(70_000):
        estimate(f"word{number:x}q")
    assert estimate(text) == before
    code = "import sys; from toolkeeper_planner.tokens import estimate\n"
    code += "print(estimate(sys.argv[1]))"
    other = subprocess.run(
        [sys.executable, "-c", code, text],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "77", "PYTHONPATH": ":".join(sys.path), "PYTHONUTF8": "1"},
    )
    assert int(other.stdout) == before
