"""How long does it take to say where the values of a call come from?

    python bench/provenance.py

A session with 1 MB of results, half of them trusted, and a call with 20 arguments of the kinds that
calls have: addresses, amounts, accounts, titles, bodies copied from a result, bodies of known words
in an order that was never heard. Prints medians, the best and the worst of many rounds in
milliseconds, the time to index what was heard, and what the index takes.
"""

import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence

from toolkeeper_policy import Heard

ROUNDS = 300
RESULT = 25_000
RESULTS = 40
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Words:
    """Text with the frequencies that words have: a few are everywhere, most are rare."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = [
            "".join(self._random.choices(LETTERS, k=self._random.randint(2, 9)))
            for _ in range(20_000)
        ]
        self._weights = [1 / rank for rank in range(1, len(self._words) + 1)]

    def text(self, length: int) -> str:
        """About `length` characters, with an address, a date or an amount now and then."""
        parts: list[str] = []
        size = 0
        while size < length:
            parts += self._random.choices(self._words, self._weights, k=12)
            parts.append(self._named())
            size += sum(map(len, parts[-13:])) + 13
        return " ".join(parts)[:length]

    def words(self, count: int) -> str:
        """Known words in an order of their own."""
        return " ".join(self._random.choices(self._words, self._weights, k=count))

    def _named(self) -> str:
        number = self._random.randint(1, 99_999)
        return self._random.choice(
            [f"user{number}@example.com", f"2026-05-{number % 28 + 1:02}", f"${number:,}.50,"]
        )


def arguments(words: Words, results: list[str]) -> list[object]:
    """Twenty values: some were heard, some were not."""
    made: list[object] = []
    for number in range(5):
        result = results[7 * number]
        start = result.index(" ", 1_000) + 1
        made += [
            result[start : result.index(" ", start + 2_000)],
            f"user{number * 1_009}@example.com",
            number * 311 + 0.5,
            words.words(300 if number % 2 else 3),
        ]
    return made


def milliseconds(act: Callable[[], object]) -> float:
    """How long `act` takes."""
    began = time.perf_counter_ns()
    act()
    return (time.perf_counter_ns() - began) / 1_000_000


def first_time(made: Heard, asked: Sequence[object]) -> float:
    """How long the origins of a call take that was never asked before; a copy remembers none."""
    copy = made.copy()
    return milliseconds(lambda: [copy.origin(value) for value in asked])


def heard(results: list[str]) -> Heard:
    """A session that was told `results`, every other one trusted."""
    made = Heard()
    made.user("please sort my mail, write to user0@example.com and pay $311.50")
    for number, result in enumerate(results):
        (made.trusted if number % 2 else made.untrusted)(result)
    return made


def main() -> None:
    """Prints the table."""
    words = Words(7)
    results = [words.text(RESULT) for _ in range(RESULTS)]
    asked = arguments(words, results)
    tracemalloc.start()
    measured = heard(results)
    before = tracemalloc.get_traced_memory()[0]
    measured.origin("anything")
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    made = heard(results)
    index = milliseconds(lambda: made.origin("anything"))
    origins = [first_time(made, asked) for _ in range(ROUNDS)]
    again = [milliseconds(lambda: [made.origin(value) for value in asked]) for _ in range(ROUNDS)]
    places = [milliseconds(lambda: [made.destinations(v) for v in asked]) for _ in range(50)]
    more = []
    for _ in range(20):
        made.untrusted(words.text(RESULT))
        more.append(milliseconds(lambda: [made.origin(value) for value in asked]))

    size = sum(map(len, results))
    print(f"{size:,} characters heard in {RESULTS} results; a call with {len(asked)} values")
    print(f"{'index all of it, once':<44}{index:>9.2f} ms")
    print(f"{'index memory':<44}{grown / 1_000_000:>9.2f} MB")
    for name, times in (
        ("origins of the call", origins),
        ("the same call again", again),
        ("places named in the call", places),
        (f"origins after another {RESULT:,} characters", more),
    ):
        told = f"best {min(times):.2f}, worst {max(times):.2f}"
        print(f"{name:<44}{statistics.median(times):>9.2f} ms   {told}")


if __name__ == "__main__":
    main()
