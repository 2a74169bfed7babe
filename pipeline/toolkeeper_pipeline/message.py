"""What does the model read when a call gives no result of its own?

Texts are built from codes and the run's own view. They never quote library messages, argument
values, or names of tools that this run may not know.
"""

from collections.abc import Sequence

from toolkeeper_contract import Decision, Tool
from toolkeeper_index import cleaned_schema, enveloped, json_text
from toolkeeper_pipeline.schema import Fault

NOT_AVAILABLE = "this tool is not available in this session"
"""For every tool that cannot be called, whatever the cause, so that nothing leaks."""

PIN_MISMATCH = (
    "this tool changed since this turn began, so the call was not run; "
    "it may be back in a later turn"
)
UNAVAILABLE = "this tool cannot be reached at the moment; the call was not run"
DENIED_SCOPE = "the user is not allowed to use this tool"
EXPIRED = "nobody answered the request for approval in time; the call was not run"
OUTGROWN = (
    "whoever approved this call is no longer entitled to, so it was not run; "
    "send it again to have somebody else asked"
)
NOT_REWRITTEN = "the arguments could not be prepared, so the call was not run"
NOBODY = "nobody but the one who asks could approve it, and they may not"
PARKED = (
    "this call waits for approval and has not run; its outcome will follow in a message of its own"
)
RUNNING = "this call is being run already; its outcome will follow"
FAILED = "the tool failed"
TIMEOUT = "the tool did not finish in time"
UNKNOWN_OUTCOME = (
    "the call was sent and its outcome is not known; it may have taken effect: "
    "do not repeat it, check first"
)
CANCELLED = "the turn was cancelled before this call began; it was not run"
INTERRUPTED = "the turn was cancelled while this call ran; it gave no result"
INSIDE_ITSELF = (
    "this tool is running already, and its calls may not overlap; it cannot be called from inside "
    "itself"
)
NO_RESULT = "the tool ran, but gave back something that is no result"
UNKEEPABLE = "the tool ran, but its result could not be read"
RESULT_INVALID = "the tool ran, but its result does not match its declared output schema"
RESULT_TOO_LARGE = "the tool ran, but its result is too large or too deep to be read"
AFTER_DISPATCH = frozenset(
    {UNAVAILABLE, FAILED, TIMEOUT, UNKNOWN_OUTCOME, RESULT_INVALID, RESULT_TOO_LARGE}
)
"""Our own words for calls that gave no result; any other are the tool's."""
FROZEN_UNREADABLE = "the arguments hold something that cannot be written down exactly"


def denied(decision: Decision) -> str:
    """Why policy said no, in the plain words of its own reasons."""
    return "this call was denied by policy: " + "; ".join(decision.reasons)


def content_changed(pointers: Sequence[str]) -> str:
    """Which arguments name something that is not what was approved."""
    named = ", ".join(f"`{pointer}`" for pointer in pointers)
    return (
        f"the content of what {named} names changed since this call was approved, so it was not "
        "run; send it again to have it looked at anew"
    )


def rejected(reason: str | None) -> str:
    """An operator's no, with the reason they gave for the model to read."""
    base = "this call was not approved"
    return f"{base}: {reason}" if reason else base


def invalid(tool: Tool, faults: Sequence[Fault], *, show_schema: bool, token: str) -> str:
    """What is wrong with the arguments, and the schema where the model has never seen it."""
    lines = [f"the arguments do not match the input schema of `{tool.name}`:"]
    lines += [f"- {fault.path or 'the arguments'}: {fault.expected}" for fault in faults]
    if show_schema:
        lines += ["input schema:", schema_text(tool, token)]
    return "\n".join(lines)


def unreadable(tool: Tool, text: str, *, show_schema: bool, token: str) -> str:
    """The fault of `receive`, with the schema where the model has never seen it."""
    if not show_schema:
        return text
    return f"{text}\ninput schema of `{tool.name}`:\n{schema_text(tool, token)}"


def schema_text(tool: Tool, token: str) -> str:
    """The input schema as the model reads it; somebody else's words stay in their envelope."""
    text = json_text(cleaned_schema(tool.definition.input_schema))
    return enveloped(text, token=token, source=tool.identity.source) if tool.foreign else text
