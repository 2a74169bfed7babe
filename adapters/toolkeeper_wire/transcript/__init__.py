"""What a conversation says about tools, read from the forms of all providers.

transcript = read_transcript(messages, "anthropic", search_name=codec.wire("tool.search"))
"""

from typing import TYPE_CHECKING

from toolkeeper_contract.face import face

if TYPE_CHECKING:
    from toolkeeper_wire.transcript.interruption import (
        INTERRUPTED,
        interrupted_results,
        with_interrupted,
    )
    from toolkeeper_wire.transcript.note import compaction_note
    from toolkeeper_wire.transcript.reader import SEARCH_NAME, read_transcript
    from toolkeeper_wire.transcript.replay import replayable
    from toolkeeper_wire.transcript.transcript import (
        CallSeen,
        NativeFound,
        ResultSeen,
        SearchSeen,
        Transcript,
    )
else:
    __getattr__, __dir__ = face(
        __name__,
        {
            "toolkeeper_wire.transcript.interruption": (
                "INTERRUPTED",
                "interrupted_results",
                "with_interrupted",
            ),
            "toolkeeper_wire.transcript.note": ("compaction_note",),
            "toolkeeper_wire.transcript.reader": ("SEARCH_NAME", "read_transcript"),
            "toolkeeper_wire.transcript.replay": ("replayable",),
            "toolkeeper_wire.transcript.transcript": (
                "CallSeen",
                "NativeFound",
                "ResultSeen",
                "SearchSeen",
                "Transcript",
            ),
        },
    )

__all__ = [
    "INTERRUPTED",
    "SEARCH_NAME",
    "CallSeen",
    "NativeFound",
    "ResultSeen",
    "SearchSeen",
    "Transcript",
    "compaction_note",
    "interrupted_results",
    "read_transcript",
    "replayable",
    "with_interrupted",
]
