"""Where do the tables of the token estimator come from?

They are made from the real vocabulary (`bpe-openai`) and from texts that show which words matter:
word frequencies of forty languages (PyPI `wordfreq`), the translations of Django and the tool
catalogs in the data folder (of the live catalog only the half of its servers that accuracy is not
judged on). Needs `pip install bpe-openai numpy wordfreq django`. Two steps, since the
second uses what the first wrote:

    python bench/token_tables.py vocabulary --data ../shared/data
    python bench/token_tables.py weights --data ../shared/data

Then `ruff format planner`.
"""

import argparse
import base64
import hashlib
import json
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpe_openai
import django
import numpy as np
import wordfreq

from toolkeeper_planner import tokens

PLANNER = Path(tokens.__file__).parent
ENCODING = bpe_openai.get_encoding("o200k_base")
MAJOR = frozenset(
    [
        "es",
        "de",
        "fr",
        "pt",
        "it",
        "ru",
        "ar",
        "fa",
        "he",
        "hi",
        "ta",
        "el",
        "ko",
        "pl",
        "tr",
        "vi",
        "id",
        "nl",
        "cs",
        "uk",
        "th",
        "zh",
        "ja",
    ]
)
# the languages whose commonest words are on the list of words
LISTED = ("es", "pt", "fr", "de", "it", "nl", "id", "vi", "pl", "tr", "sv", "ru", "uk", "ar", "fa")
LISTED += ("el", "he")
SLOTS = 16033
ALPHABET = "".join(chr(code) for code in range(33, 127) if chr(code) not in '"\\')
SCALE = 32


def count(text: str) -> int:
    return len(ENCODING.encode_ordinary(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["vocabulary", "weights"])
    parser.add_argument("--data", type=Path, required=True)
    arguments = parser.parse_args()
    (write_vocabulary if arguments.step == "vocabulary" else write_weights)(arguments.data)


# texts


def is_training(server: str) -> bool:
    """Half of the live servers; the other half is for judging."""
    return hashlib.md5(server.encode()).digest()[0] % 2 == 0


def definitions(data: Path) -> Iterator[tuple[dict[str, Any], float]]:
    for tool in json.loads((data / "catalog-live.json").read_text("utf-8")):
        if is_training(tool["server"]):
            yield tool, 1.0
    for name in ("livemcp", "bfcl-nonlive"):
        yield from (
            (t, 3.0) for t in json.loads((data / f"catalog-{name}.json").read_text("utf-8"))[::4]
        )


def as_text(tool: dict[str, Any]) -> str:
    kept = {key: tool.get(key) for key in ("name", "description", "inputSchema")}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def translations() -> Iterator[tuple[str, str]]:
    """The translated texts of Django, with their language."""
    root = Path(django.__file__).parent
    for file in sorted(root.glob("**/LC_MESSAGES/*.po")):
        language = file.parts[-3]
        if language.startswith("en"):
            continue
        found = re.findall(r'msgstr(?:\[\d\])?((?:\s*"(?:[^"\\]|\\.)*")+)', file.read_text("utf-8"))
        texts = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', one)) for one in found]
        kept = [t.replace("\\n", "\n").replace('\\"', '"') for t in texts if t]
        yield language, "\n".join(kept)


def weighted_pieces(data: Path) -> Counter[str]:
    """Words with the character before them, and how much each matters."""
    pieces: Counter[str] = Counter()

    def put(text: str, weight: float) -> None:
        for piece in tokens.PIECES.findall(text):
            if piece[0] != "\\" and tokens.WORD.fullmatch(piece):
                pieces[piece] += weight  # type: ignore[assignment]

    rng = random.Random(1)
    for tool, weight in definitions(data):
        put(as_text(tool), weight)
        properties = (tool.get("inputSchema") or {}).get("properties") or {}
        put(f"mcp.{tool.get('server')}.{tool['name']}({', '.join(properties)})", 4 * weight)
    for language, text in translations():
        put(text, 3 if language.split("_")[0] in MAJOR else 0.7)
    for language in sorted(wordfreq.available_languages()):
        put_words(language, put, rng)
    for _ in range(400):
        put(base64.b64encode(rng.randbytes(60)).decode(), 1)
        put(f"{rng.randbytes(16).hex()} {rng.randbytes(16).hex()}", 1)
    put_noise(put, rng)
    return pieces


def put_noise(put: Any, rng: random.Random) -> None:
    """Letters drawn at random: what keys, ids and rare names look like, in several scripts."""
    latin = "abcdefghijklmnopqrstuvwxyz"
    for _ in range(6000):
        put(" " + "".join(rng.choices(latin, k=rng.randint(3, 14))), 4)
        put(" " + "".join(rng.choices("etaoinshrdlucmfwypvbgkjqxz", k=rng.randint(3, 40))), 2)
        put("".join(rng.choices(latin, k=rng.randint(3, 8))).capitalize(), 2)
    for _ in range(2000):
        put(" " + "".join(rng.choices(latin.upper(), k=rng.randint(3, 14))), 2)
    blocks = [(0x391, 0x3C9), (0x400, 0x45F), (0x5D0, 0x5EA), (0x620, 0x64A), (0xAC00, 0xD7A3)]
    for first, last in blocks:
        for _ in range(700):
            put("".join(chr(rng.randint(first, last)) for _ in range(rng.randint(3, 12))), 2)


def put_words(language: str, put: Any, rng: random.Random) -> None:
    frequencies = wordfreq.get_frequency_dict(language)
    if language in ("zh", "ja"):  # written without spaces: words in a row
        words = [word for word in list(frequencies)[:20000] if not word.isascii()]
        chances = [frequencies[word] ** 0.85 for word in words]
        for _ in range(4000):
            put("".join(rng.choices(words, chances, k=rng.randint(3, 8))), 1)
        return
    top = 40000 if language == "en" else 12000 if language in MAJOR else 5000
    scale = 3e5 if language == "en" else 1e5 if language in MAJOR else 3e4
    for word in list(frequencies)[:top]:
        if word.isascii() and not word.replace("'", "").isalpha():
            continue
        weight = min(frequencies[word] * scale, 60)
        forms = {" " + word: 1.0, " " + word.capitalize(): 0.1}
        if language == "en":
            forms |= {word: 0.3, "_" + word: 0.3, word.capitalize(): 0.3, "-" + word: 0.1}
            forms |= {" " + word.capitalize(): 0.3, "/" + word: 0.1, word.upper(): 0.05}
        for form, share in forms.items():
            put(form, weight * share)


# step one: what is known by heart


def write_vocabulary(data: Path) -> None:
    lines = [
        '"""Which words, characters and runs of punctuation are cheap on the wire?',
        "",
        "Made by `bench/token_tables.py`; not edited by hand.",
        '"""',
        "",
        "# ruff: noqa: E501, RUF001, SIM905",
        "",
        "from typing import Final",
        "",
        "# words that are one token in lower case and capitalised, alone and after a space; then",
        "# the commonest words of other languages that are one token after a space",
        *assignment(
            "WORDS",
            " ".join(common_words(data)),
            "frozenset[str]",
            "frozenset((",
            ').split(" "))',
            " ",
        ),
    ]
    about_runs = "runs of punctuation that are one token; a middle dot is a leading space"
    lines += ["", f"# {about_runs}"]
    runs = " ".join(run.replace(" ", "·") for run in common_runs(data))
    lines += ["PUNCTUATION: Final = tuple(", '    run.replace("·", " ")', "    for run in ("]
    lines += [*assignment("", runs, "", "", "", " ")[1:-1], "    ).split()", ")"]
    single = [
        chr(c) for c in range(0x80, 0x20000) if not 0xD800 <= c < 0xE000 and count(chr(c)) == 1
    ]
    lead = re.compile(tokens._LEAD)
    sets = {
        "SYMBOLS": [c for c in single if lead.fullmatch(c) and unicodedata.category(c)[0] in "PSN"],
        "HAN_SIMPLE": [c for c in single if "\u4e00" <= c <= "\u9fff" and is_simple(c)],
        "HAN_OTHER": [c for c in single if "\u4e00" <= c <= "\u9fff" and not is_simple(c)],
        "HANGUL": [c for c in single if "\uac00" <= c <= "\ud7a3"],
    }
    about = {
        "SYMBOLS": "symbols that are one token",
        "HAN_SIMPLE": "Han characters that are one token and are used in simplified writing",
        "HAN_OTHER": "Han characters that are one token, of traditional and Japanese writing",
        "HANGUL": "Hangul syllables that are one token",
    }
    for name, characters in sets.items():
        lines += ["", f"# {about[name]}"]
        lines += assignment(name, "".join(characters), "frozenset[str]", "frozenset(", ")", "")
    (PLANNER / "vocabulary.py").write_text("\n".join(lines) + "\n", "utf-8")


def is_simple(character: str) -> bool:
    try:
        character.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def common_words(data: Path) -> list[str]:
    scores: Counter[str] = Counter()
    for tool, weight in definitions(data):
        for piece in set(tokens.PIECES.findall(as_text(tool))):
            word = tokens.WORD.fullmatch(piece)
            if word and word[2].isascii():
                scores[word[2].lower()] += weight  # type: ignore[assignment]
    english = wordfreq.get_frequency_dict("en")
    rank = {
        w: scores[w] ** 0.7 + min(english.get(w, 0) * 1e5, 60) ** 0.5
        for w in {*scores, *list(english)[:8000]}
    }
    ordered = sorted(rank, key=lambda w: (-rank[w] * (1 + len(w) / 12), w))
    cheap = [
        w
        for w in ordered
        if len(w) > 1
        and w.isascii()
        and w.isalpha()
        and all(count(form) == 1 for form in (w, " " + w, w.capitalize(), " " + w.capitalize()))
    ]
    chosen = set(cheap[:1800])
    translated: dict[str, Counter[str]] = {}
    for language, text in translations():
        found = translated.setdefault(language.split("_")[0], Counter())
        found.update(
            p.lower() for p in tokens.PIECES.findall(text) if p[0] == " " and p[1:].isalpha()
        )
    for language in LISTED:
        frequencies = wordfreq.get_frequency_dict(language)
        wanted: Counter[str] = Counter()
        for word in list(frequencies)[:3000]:
            wanted[word] += (frequencies[word] * 1e4) ** 0.6  # type: ignore[assignment]
        total = sum(translated.get(language, Counter()).values()) or 1
        for piece, times in translated.get(language, Counter()).items():
            wanted[piece.strip()] += (times / total * 1e4) ** 0.6  # type: ignore[assignment]
        ordered = sorted(wanted, key=lambda w: (-wanted[w] * (1 + len(w) / 12), w))
        fit = [
            w
            for w in ordered
            if len(w) > 2 and w.isalpha() and count(" " + w) == 1 and w not in chosen
        ]
        chosen.update(fit[:70])
    return sorted(chosen)


def common_runs(data: Path) -> list[str]:
    used: Counter[str] = Counter()
    marks = re.compile(r" ?[!-/:-@\[-`{-~]+")
    for tool, weight in definitions(data):
        for run in marks.findall(as_text(tool)):
            for token in ENCODING.encode_ordinary(run) if len(run) > 1 else ():
                used[ENCODING.decode([token])] += weight  # type: ignore[assignment]
    everyday = [
        "->",
        "=>",
        "::",
        "&&",
        "||",
        "==",
        "!=",
        "<=",
        ">=",
        "//",
        "/*",
        "*/",
        "()",
        "[]",
        "{}",
        "...",
        "```",
        "--",
    ]
    chosen = [run for run, _ in used.most_common() if len(run) > 1][:230]
    chosen += [run for run in everyday if count(run) == 1]
    return sorted(set(chosen))


# step two: what the rest costs


def write_weights(data: Path) -> None:
    pieces = weighted_pieces(data)
    prefixes = prefix_weights(pieces)
    hard = [p for p in sorted(pieces) if not is_common_piece(p)]
    names, weights = fit(hard, pieces)
    named = {name: float(weights[at]) for name, at in names.items()}
    letters = {n: v for n, v in named.items() if len(n) == 1}
    style = {
        n: round(v, 2)
        for n, v in named.items()
        if (len(n) > 1 and not n.startswith("sign ")) or n in SIGNS
    }
    kept = sorted(letters)
    margins = script_margins(names, weights)
    lines = [
        '"""What do the parts of an uncommon word add to its price?',
        "",
        "Weights in tokens, fitted to the real vocabulary by `bench/token_tables.py`; never",
        "edited by hand.",
        '"""',
        "",
        "# ruff: noqa: RUF001",
        "",
        "from typing import Final",
        "",
        "# a weight is one character: its place here, from the middle, in 1/32 token",
        *assignment("_LEVELS", ALPHABET, "", "(", ")", ""),
        f"_MIDDLE: Final = {len(ALPHABET) // 2}",
        f"_WEIGHTS: Final = {{one: (at - _MIDDLE) / {SCALE} for at, one in enumerate(_LEVELS)}}",
        "",
        "# script, case, length and first sign of a word",
        "STYLES: Final[dict[str, float]] = {",
        *[f"    {quoted(name)}: {value}," for name, value in sorted(style.items())],
        "}",
        "",
        "# what an estimate of a script's words is multiplied by to lean to the dear side",
        "MARGINS: Final[dict[str, float]] = {",
        *[f"    {quoted(name)}: {value}," for name, value in sorted(margins.items())],
        "}",
        "",
        "# a common word behind a sign that is not a space",
        "PREFIXES: Final[dict[str, float]] = {",
        *[f"    {quoted(name)}: {value}," for name, value in sorted(prefixes.items())],
        "}",
        "",
        "# letters of all scripts but ASCII and Han",
        *assignment("_LETTERS", "".join(kept), "", "(", ")", ""),
        *assignment("_LETTER_WEIGHTS", "".join(level(letters[k]) for k in kept), "", "(", ")", ""),
        "LETTERS: Final[dict[str, float]] = {",
        "    letter: _WEIGHTS[level]",
        "    for letter, level in zip(_LETTERS, _LETTER_WEIGHTS, strict=True)",
        "}",
        "",
        "# runs of three letters, by slot",
        *assignment(
            "_FRAGMENTS", "".join(level(float(w)) for w in weights[:SLOTS]), "", "(", ")", ""
        ),
        "FRAGMENTS: Final[tuple[float, ...]] = tuple(map(_WEIGHTS.__getitem__, _FRAGMENTS))",
    ]
    (PLANNER / "weights.py").write_text("\n".join(lines) + "\n", "utf-8")


SIGNS = frozenset(f"sign {sign}" for sign in "-./_:=<(@'[{\\#,?+>|")


def is_common_piece(piece: str) -> bool:
    word = tokens.WORD.fullmatch(piece)
    return word is not None and not word[3] and tokens.is_common(word[2])


def prefix_weights(pieces: Counter[str]) -> dict[str, float]:
    cost: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for piece, weight in pieces.items():
        if is_common_piece(piece) and not piece[0].isalpha() and piece[0] != " ":
            cost[piece[0]] += (count(piece) - 1) * weight**0.5  # type: ignore[assignment]
            seen[piece[0]] += weight**0.5  # type: ignore[assignment]
    return {sign: round(cost[sign] / seen[sign], 2) for sign in seen if seen[sign] > 30}


LEAN = 1.15
# how words of tools differ from Django's, by script
LEANS = {"latin": 1.12, "han": 1.13, "block 23": 1.1, "block 28": 1.18, "block 33": 1.2}
# a script with less text than this to judge by is given the mean margin
ENOUGH = 500


def script_margins(names: dict[str, int], weights: Any) -> dict[str, float]:
    """True over estimated excess in running text, by script, times how far it leans."""
    true: Counter[str] = Counter()
    estimated: Counter[str] = Counter()
    for _, text in translations():
        for piece, times in Counter(tokens.PIECES.findall(text)).items():
            word = tokens.WORD.fullmatch(piece)
            if word is None or piece[0] == "\\" or is_common_piece(piece):
                continue
            named, slots = features(piece)
            total = sum(weights[names[name]] for name in named if name in names)
            total += sum(weights[slot] for slot in slots)
            script = tokens.script_of(word[2][0])
            true[script] += (count(piece) - 1) * times
            estimated[script] += max(total, 0) * times  # type: ignore[assignment]
    return {
        s: round(LEANS.get(s, LEAN) * true[s] / estimated[s], 2) for s in true if true[s] > ENOUGH
    }


def features(piece: str) -> tuple[list[str], list[int]]:
    word = tokens.WORD.fullmatch(piece)
    assert word is not None
    lead, body, short_form = word.groups()
    named = list(tokens.styles(lead, body, short_form))
    named += [tokens.letter_class(c) or c for c in body.lower() if c > "\x7f"]
    return named, list(tokens.slots(lead, body))


def fit(pieces: list[str], importance: Counter[str]) -> tuple[dict[str, int], Any]:
    """Weights w that make 1 + max(0, sum of w over a piece's features) its count (Adam)."""
    target = np.array([count(piece) - 1 for piece in pieces], float)
    weight = np.array([importance[piece] for piece in pieces], float)
    found = [features(piece) for piece in pieces]
    seen = Counter(name for named, _ in found for name in set(named))
    names = {
        name: SLOTS + at for at, name in enumerate(n for n, c in sorted(seen.items()) if c >= 4)
    }
    columns = [[names[n] for n in named if n in names] + slots for named, slots in found]
    rows = np.repeat(np.arange(len(pieces)), [len(c) for c in columns])
    flat = np.concatenate([np.array(c, dtype=np.int64) for c in columns])
    size = SLOTS + len(names)
    w, first, second = np.zeros(size), np.zeros(size), np.zeros(size)
    share = np.minimum(weight, 300) ** 0.55 / np.maximum(target, 1) ** 0.5
    share /= share.sum()
    steps = 500
    for step in range(1, steps + 1):
        z = np.bincount(rows, w[flat], len(pieces))
        error = (np.maximum(z, 0) - target) * share
        error[(z < 0) & (target == 0)] = 0
        slope = np.bincount(flat, error[rows], size) + 0.05 * w / len(pieces)
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope * slope
        rate = 0.05 if step < steps * 0.7 else 0.01
        w -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-10)
    return names, w


# writing


def level(value: float) -> str:
    at = round(value * SCALE) + len(ALPHABET) // 2
    return ALPHABET[min(max(at, 0), len(ALPHABET) - 1)]


def quoted(text: str) -> str:
    return (
        json.dumps(text, ensure_ascii=False)
        if '"' not in text or "'" in text
        else f"'{text}'".replace("\\", "\\\\")
    )


def assignment(name: str, text: str, kind: str, before: str, after: str, split: str) -> list[str]:
    """`name` as one long string over several lines, none wider than 98 columns."""
    rows, row = [], ""
    parts = text.split(split) if split else list(text)
    for at, part in enumerate(parts):
        piece = part + (split if at + 1 < len(parts) else "")
        if sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in row + piece) > 93:
            rows.append(row)
            row = ""
        row += piece
    rows.append(row)
    annotation = f": Final[{kind}]" if kind else ": Final"
    shown = ["    " + quoted(row) for row in rows]
    return [f"{name}{annotation} = {before}", *shown, after]


if __name__ == "__main__":
    main()
