"""Which heads of a ledger were kept elsewhere?"""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkeeper.cli.given_text import given_text
from toolkeeper_contract import ConfigError

if TYPE_CHECKING:
    from toolkeeper_ledger import Head

_HASH = re.compile("[0-9a-f]{64}")


def read_heads(file: Path) -> "list[Head]":
    """The heads in a file of JSON Lines as `audit head --json` prints them; `-` is standard input.

    Several outputs may stand in one file, one after the other. ConfigError names the line.
    """
    heads = []
    for number, line in enumerate(given_text(file).split("\n"), start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            head = _head(value)
            if head is None:
                raise ConfigError(
                    f"line {number} is no head",
                    "write what `toolkeeper audit head --json` prints, a head a line",
                    file=str(file),
                    line=number,
                )
            heads.append(head)
    if not heads:
        raise ConfigError(
            f"the file `{file}` has no head in it",
            "fill it with `toolkeeper audit head --json`",
        )
    return heads


def _head(value: Any) -> "Head | None":
    from toolkeeper_ledger import Head

    if not isinstance(value, dict):
        return None
    session_id, seq, hash = (value.get(key) for key in ("session_id", "seq", "hash"))
    if not isinstance(session_id, str) or type(seq) is not int or seq < 0:
        return None
    if not isinstance(hash, str) or not _HASH.fullmatch(hash):
        return None
    return Head(session_id, seq, hash)
