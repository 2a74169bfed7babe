"""What of a result is kept aside, when the model reads only a part of it?"""

from dataclasses import dataclass

from toolkeeper_contract.draft import drafted


@drafted
@dataclass(frozen=True, slots=True)
class KeptResult:
    """The full redacted text of a cut result, or a part of it that does not read as text.

    `text` is packed by the pipeline: the text with its source, or for a part that is no text its
    source alone. `data` are the bytes of such a part and `mime_type` what they were said to be.
    """

    text: str
    data: bytes | None = None
    mime_type: str | None = None
