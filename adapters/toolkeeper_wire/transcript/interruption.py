"""Which results does a conversation lack after a crash, and how are they written?

A call without a result stays a call: the model has made it, and nobody knows whether it ran. It is
never dropped and never run again by itself; the model reads that its outcome is unknown.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from toolkeeper_wire.format import WireResult
from toolkeeper_wire.provider import format_for
from toolkeeper_wire.transcript.chat_reader import LEGACY, OWN
from toolkeeper_wire.transcript.reader import read_transcript
from toolkeeper_wire.transcript.responses_reader import CUSTOM_CALL
from toolkeeper_wire.transcript.transcript import CallSeen, Transcript

INTERRUPTED = (
    "interrupted, outcome unknown: the call may or may not have taken effect; "
    "check before you call it again"
)
"""What the model reads instead of the result that was lost."""

_ANYWHERE = ("openai-responses",)


def interrupted_results(
    transcript: Transcript,
    provider: str,
    *,
    text: str = INTERRUPTED,
    of: Callable[[CallSeen], bool] | None = None,
) -> list[dict[str, Any]]:
    """The messages to append so that every call has a result, in the provider's form.

    Only for calls whose result may still follow: with most providers those of the last step, as
    long as nothing else has been said since (`with_interrupted` serves the others). `of` picks
    calls; a parked one, say, has a placeholder of its own.
    """
    first = 0 if format_for(provider).name in _ANYWHERE else transcript.open_from
    return _written(_lost(transcript.calls[first:], of), provider, text)


def with_interrupted(
    messages: Sequence[Any],
    provider: str,
    *,
    text: str = INTERRUPTED,
    of: Callable[[CallSeen], bool] | None = None,
) -> list[Any]:
    """The messages, the very same objects, with each lost result behind the step it belongs to.

    For a conversation that went on without them: a provider refuses it wherever one is missing.
    """
    missing: dict[int, list[CallSeen]] = {}
    for call in _lost(read_transcript(messages, provider).calls, of):
        missing.setdefault(call.end, []).append(call)
    completed: list[Any] = []
    for index, message in enumerate(messages):
        completed.append(message)
        completed += _written(missing.get(index, ()), provider, text)
    return completed


def _lost(calls: Iterable[CallSeen], of: Callable[[CallSeen], bool] | None) -> list[CallSeen]:
    return [call for call in calls if not call.answered and (of is None or of(call))]


def _written(calls: Sequence[CallSeen], provider: str, text: str) -> list[dict[str, Any]]:
    """One message or several, each kind of call as its result is written."""
    messages: list[dict[str, Any]] = []
    own = [{"id": c.call_id, "text": text, "is_error": True} for c in calls if c.kind == OWN]
    if own:
        messages.append({"role": "tool", "results": own})
    # A gateway's own conversations are kept in our form; MCP has no messages of this kind.
    form = format_for("generic" if provider == "mcp" else provider)
    messages += form.results(
        [
            WireResult(call.call_id, call.wire_name, text, is_error=True)
            for call in calls
            if call.kind not in (OWN, LEGACY, CUSTOM_CALL)
        ]
    )
    for call in calls:
        if call.kind == LEGACY:
            messages.append({"role": "function", "name": call.wire_name, "content": text})
        elif call.kind == CUSTOM_CALL:
            messages.append(
                {"type": "custom_tool_call_output", "call_id": call.call_id, "output": text}
            )
    return messages
