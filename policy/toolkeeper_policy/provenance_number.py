"""In which ways does somebody write a number?

A number is looked for in its spellings: with and without marks between thousands, with a point or
a comma, with two decimals as for an amount.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

_PLAIN = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?")
_MAX_DIGITS = 40


def as_number(value: object) -> Decimal | None:
    """The number that a JSON number is, or that a text spells as a program would; else None.

    A text with a leading zero or plus is no number: it is an account, a code or a telephone.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return Decimal(value) if _PLAIN.fullmatch(value) else None
    if isinstance(value, int):
        return Decimal(value) if value.bit_length() < 4 * _MAX_DIGITS else None
    if not isinstance(value, float):
        return None
    try:
        number = Decimal(repr(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < _MAX_DIGITS else None


def spellings(number: Decimal) -> Iterator[str]:
    """The ways in which `number` is written, each once, the plainest first."""
    sign = "-" if number < 0 else ""
    whole, _, fraction = format(abs(number), "f").partition(".")
    fraction = fraction.rstrip("0")
    fractions = [fraction] if fraction else ["", "0", "00"]
    if len(fraction) == 1:
        fractions.append(fraction + "0")
    yield from dict.fromkeys(
        sign + grouped + (mark + decimals if decimals else "")
        for grouping, mark in (("", "."), ("", ","), (",", "."), (".", ","), ("'", "."), (" ", ","))
        for decimals in fractions
        for grouped in (_grouped(whole, grouping),)
        if _is_clear(grouped, grouping, mark, decimals)
    )


def _is_clear(grouped: str, grouping: str, mark: str, decimals: str) -> bool:
    """Whether this spelling has one reading: `1,234` is a thousand, `1.234` a little over one."""
    if grouping == "." and not decimals and grouped.count(".") == 1:
        return False
    if mark == "," and len(decimals) == 3 and not (grouping and grouping in grouped):
        return False
    # Two numbers may stand side by side: without decimals a space groups nothing.
    return grouping != " " or bool(decimals) or " " not in grouped


def _grouped(digits: str, mark: str) -> str:
    if not mark or len(digits) < 4:
        return digits
    first = len(digits) % 3
    groups = [digits[:first]] if first else []
    groups += [digits[at : at + 3] for at in range(first, len(digits), 3)]
    return mark.join(groups)
