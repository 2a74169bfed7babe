"""How near does the token estimator come to o200k_base on what goes on the wire?

    python bench/tokens.py [--data ../shared/data]

Prints Markdown: for every catalog, provider wrapper, index line and language the true tokens, how
far the total is off, the worst single undercount and the worst overcount. Half of the servers of
the live catalog were used to fit the weights; `live, held out` is the other half. A quarter of
livemcp and bfcl-nonlive was used too, nothing of the rest. Needs `pip install bpe-openai`.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpe_openai

from toolkeeper_contract import (
    Classification,
    SideEffect,
    SourceKind,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_index import index_line
from toolkeeper_planner.tokens import estimate

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "tests" / "planner" / "data" / "multilingual-tools.json"
WORST_CASE = Classification(SideEffect.NETWORK_WRITE, frozenset(), "worst_case")
EMPTY = {"properties": {}, "type": "object"}

Raw = dict[str, Any]
WRAPPERS: dict[str, Callable[[str, str, Any], Raw]] = {
    "openai": lambda n, d, s: {
        "type": "function",
        "function": {"name": n, "description": d, "parameters": s},
    },
    "openai-responses": lambda n, d, s: {
        "type": "function",
        "name": n,
        "description": d,
        "parameters": s,
    },
    "anthropic": lambda n, d, s: {"name": n, "description": d, "input_schema": s},
    "gemini": lambda n, d, s: {"name": n, "description": d, "parametersJsonSchema": s},
    "mcp": lambda n, d, s: {"name": n, "description": d, "inputSchema": s},
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `off`, `under` and `over` are shares of the true count."""

    name: str
    texts: int
    true: int
    off: float
    under: float
    over: float
    beyond: int

    def __str__(self) -> str:
        return (
            f"| {self.name} | {self.texts:,} | {self.true:,} | {self.off:+.1%} "
            f"| {self.under:+.1%} | {self.over:+.1%} | {self.beyond} |"
        )


HEAD = (
    "| texts | count | o200k_base | total | worst under | worst over | under by > 10 % |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def measure(name: str, texts: Iterable[str], count: Callable[[str], int]) -> Row:
    """The row for some texts, none of them empty."""
    pairs = [(count(text), estimate(text)) for text in texts]
    shares = [guess / true - 1 for true, guess in pairs]
    true = sum(one for one, _ in pairs)
    off = sum(guess for _, guess in pairs) / true - 1
    beyond = sum(share < -0.1 for share in shares)
    return Row(name, len(pairs), true, off, min(shares), max(shares), beyond)


def definition(raw: Raw, provider: str = "mcp") -> str:
    """A definition as it stands in a request: compact, keys sorted, not escaped to ASCII."""
    name, about = raw["name"], raw.get("description") or ""
    wrapped = WRAPPERS[provider](name, about, raw.get("inputSchema") or EMPTY)
    return json.dumps(wrapped, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def line(raw: Raw) -> str:
    """The line of the deferred index; empty where discovery would refuse the name."""
    made = ToolDefinition(
        name=raw["name"],
        title=None,
        description=raw.get("description") or "",
        input_schema=raw.get("inputSchema") or EMPTY,
    )
    identity = ToolIdentity(SourceKind.MCP, str(raw["server"]), raw["name"])
    try:
        return index_line(Tool.of(identity, made, WORST_CASE))
    except ValueError:
        return ""


def sample_line(raw: Raw) -> str:
    """A line in the form of the index, also for names that no tool of ours could have."""
    schema = raw["inputSchema"]
    names = [n if n in schema["required"] else f"{n}?" for n in schema["properties"]]
    return f"mcp.office.{raw['name']}({', '.join(names)}) - {raw['description']}"


def catalogs(data: Path) -> Iterator[tuple[str, list[Raw]]]:
    """The catalogs of the data folder that hold tools, the held-out half of the live one apart."""
    for file in sorted(data.glob("catalog-*.json")):
        tools = json.loads(file.read_text("utf-8"))
        if isinstance(tools, list):
            name = file.stem.removeprefix("catalog-")
            yield name, tools
            if name == "live":
                yield "live, held out", [t for t in tools if is_held_out(t["server"])]
    attacks = data / "security-asb.json"
    if attacks.exists():
        content = json.loads(attacks.read_text("utf-8"))
        yield (
            "security-asb",
            [
                {
                    "server": "asb",
                    "name": t.get("Attacker Tool") or t["Tool Name"],
                    "description": t["Description"],
                }
                for t in (*content["attack_tools"], *content["normal_tools"])
            ],
        )


def is_held_out(server: str) -> bool:
    """Half of the live servers, those that `token_tables.py` does not read."""
    return hashlib.md5(server.encode()).digest()[0] % 2 == 1


def languages() -> dict[str, list[Raw]]:
    """The multilingual samples, by script and (where a script has several) by language."""
    groups = json.loads(SAMPLES.read_text("utf-8"))["groups"]
    found: dict[str, list[Raw]] = {}
    for group in groups:
        found.setdefault(group["script"], []).extend(group["tools"])
    for group in groups:
        if len(found[group["script"]]) > len(group["tools"]):
            found[f"{group['script']}: {group['language']}"] = group["tools"]
    return dict(sorted(found.items()))


def measure_speed(data: Path) -> str:
    """How long all live definitions take, with no piece remembered and again."""
    said = ""
    for name, tools in catalogs(data):
        if name != "live":
            continue
        texts = [definition(tool) for tool in tools]
        for state in ("cold", "warm"):
            began = time.perf_counter()
            total = sum(map(estimate, texts))
            spent = time.perf_counter() - began
            said += f"\n{len(texts):,} definitions, {total:,} tokens, {state}: {spent:.3f} s\n"
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description="accuracy and speed of the token estimator")
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data")
    data = parser.parse_args().data
    encoding = bpe_openai.get_encoding("o200k_base")

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    speed = measure_speed(data)  # first, while nothing is remembered
    live: list[Raw] = []
    print(f"Definitions (MCP form)\n\n{HEAD}")
    for name, tools in catalogs(data):
        print(measure(name, map(definition, tools), count))
        live = tools if name == "live" else live
    print(f"\nIndex lines\n\n{HEAD}")
    for name, tools in catalogs(data):
        print(measure(name, filter(None, map(line, tools)), count))
    if live:
        print(f"\nDefinitions of the live catalog by provider\n\n{HEAD}")
        for provider in WRAPPERS:
            print(measure(provider, (definition(t, provider) for t in live), count))
    for title, text in (("Definitions", definition), ("Index lines", sample_line)):
        print(f"\n{title} by script and language\n\n{HEAD}")
        for name, tools in languages().items():
            print(measure(name, map(text, tools), count))
    print(speed)


if __name__ == "__main__":
    main()
