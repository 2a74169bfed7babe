"""Which JSON stands in a text, how deep does it go, and how is it written anew?"""

import json

from toolkeeper_contract import Json

MAX_DEPTH = 300
"""Levels of nesting that are looked at; what lies deeper is masked whole."""


def parsed(text: str) -> Json:
    """The object or list that a text is the JSON of; None where it is none."""
    if not _may_be_json(text):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def rewritten(value: Json, text: str) -> str:
    """`value` as JSON in the manner of `text`: in lines or in one, with spaces or without."""
    if "\n" in text.strip():
        return json.dumps(value, ensure_ascii=False, indent=2)
    separators = (", ", ": ") if '": ' in text else (",", ":")
    return json.dumps(value, ensure_ascii=False, separators=separators)


def is_deep(text: str, above: int) -> bool:
    """Whether in what a text holds as JSON something may be out of sight of a look at the text.

    It lies too deep, with `above` levels over the text, or it is not spelled out.
    """
    if not _may_be_json(text):
        return False
    if not spelled_out(text):
        return True
    if _openings(text) < (MAX_DEPTH - above) // 2:
        return False
    value = parsed(text)
    return value is not None and not is_shallow(value, text, above)


def spelled_out(text: str) -> bool:
    """Whether all letters and slashes of a JSON text stand in it as they are, at every level."""
    return "\\u" not in text and "\\/" not in text


def is_shallow(value: Json, text: str, above: int) -> bool:
    """Whether nothing in a value, and in the JSON that its texts hold, is too deep to be seen.

    `text` is the JSON of the value; `above` levels lie over it. True is sure, False is not.
    """
    # What opens within a text may add a level for the text itself.
    room = (MAX_DEPTH - above) // 2
    openings = _openings(text)
    if openings < room:
        return True
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(room // 2):
        if not level:
            # What opens in none of the containers opens in the texts.
            return openings < room // 2
        openings -= len(level)
        level = [
            item
            for each in level
            for item in (each.values() if isinstance(each, dict) else each)
            if isinstance(item, dict | list)
        ]
    return False


def _openings(text: str) -> int:
    return text.count("[") + text.count("{")


def _may_be_json(text: str) -> bool:
    return text[:64].lstrip().startswith(("{", "["))
