"""What are these bytes, as far as a model that reads text can be told?

A source says of a type what it likes: its word is repeated only in the form that types have, and
where the bytes themselves tell otherwise, that is said.
"""

import re

from toolkeeper_contract import Blob

UNKNOWN_TYPE = "application/octet-stream"

_TYPE = re.compile(r"[a-z0-9][a-z0-9.+_-]{0,62}/[a-z0-9][a-z0-9.+_-]{0,62}")
_RIFF = b"RIFF"

# What files of these types begin with; for the last two of a RIFF file, what stands at byte 8.
_BEGINNINGS: dict[str, tuple[bytes, ...]] = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "application/pdf": (b"%PDF-",),
    "application/zip": (b"PK\x03\x04", b"PK\x05\x06"),
    "application/gzip": (b"\x1f\x8b",),
    "audio/ogg": (b"OggS",),
    "audio/flac": (b"fLaC",),
}
_RIFF_FORMS = {"image/webp": b"WEBP", "audio/wav": b"WAVE", "audio/x-wav": b"WAVE"}


def media_type(said: str) -> str:
    """The type that a source said, in lower case and without parameters; UNKNOWN_TYPE for none."""
    name = said[:200].partition(";")[0].strip().lower()
    return name if _TYPE.fullmatch(name) else UNKNOWN_TYPE


def described(blob: Blob, more: str = "") -> str:
    """A line in place of the bytes: type, size and `more` (`handle res_1`)."""
    said = media_type(blob.mime_type)
    shown = said if _is_so(blob.data, said) else f"{UNKNOWN_TYPE}, said to be {said}"
    return f"[{shown}, {len(blob.data):,} bytes{f', {more}' if more else ''}]"


def as_text(data: bytes) -> str | None:
    """The text that the bytes are, whatever type they are said to be; None when they are none."""
    if b"\x00" in data[:4096]:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def _is_so(data: bytes, said: str) -> bool:
    """False when bytes of this type would begin differently."""
    if said in _RIFF_FORMS:
        return data[:4] == _RIFF and data[8:12] == _RIFF_FORMS[said]
    beginnings = _BEGINNINGS.get(said)
    return beginnings is None or data.startswith(beginnings)
