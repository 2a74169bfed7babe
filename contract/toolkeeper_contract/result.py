"""What of a result is kept aside, when the model reads only a part of it?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeptResult:
    """The full redacted text of a cut result, or a part of it that does not read as text.

    `text` is the text (packed with its source, as the pipeline has it); for binary parts it is
    empty, `data` are their bytes and `mime_type` what the source said they are.
    """

    text: str
    data: bytes | None = None
    mime_type: str | None = None
