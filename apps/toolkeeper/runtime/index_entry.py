"""Which lines of a prompt region are entries of the deferred index, and what else stands there?"""

import re

CONVENTION, BOUNDARY, SEARCHABLE, TEXT = "convention", "boundary", "searchable", "text"
HEADING = "# More tools"

_ENTRY = re.compile(r"([A-Za-z0-9_.-]{1,128})(?:\(|$)")
_BOUNDARY = re.compile(r"</?EXTERNAL_UNTRUSTED id=[0-9a-f]{16}( source=\S+)?>")
_SEARCHABLE = re.compile(r"\d+ more tools? (?:is|are) not listed here: ")
_CONVENTION = (HEADING, "These tools have no definition above.", "Text inside EXTERNAL_UNTRUSTED")


def entry_name(line: str) -> str | None:
    """The tool of an index line or of a bare name in a list; None for every other line."""
    found = _ENTRY.match(line.strip("\n"))
    return found.group(1) if found else None


def line_part(line: str) -> str:
    """What a line that is no entry is: `boundary`, `searchable`, `convention`, or just `text`."""
    bare = line.strip("\n")
    if bare.startswith(_CONVENTION):
        return CONVENTION
    if _BOUNDARY.fullmatch(bare):
        return BOUNDARY
    return SEARCHABLE if _SEARCHABLE.match(bare) else TEXT


def index_entries(region: str) -> dict[str, str]:
    """The entries of a region by name, in their order."""
    lines = region.split("\n")
    return {name: line for line in lines if (name := entry_name(line)) is not None}
