"""What is said of a call in spans and metrics, and what is not?

Names, ids, codes and sizes. Never an argument, a result or an error's words, at no setting. A name
that no plan of the session has is the model's own text, and stands as OTHER.
"""

from typing import Final

from toolkeeper_contract import Ending, Invocation

# The names of the conventions, which are in development: spelled here, because the constants of
# the `opentelemetry-semantic-conventions` package are marked as deprecated since they moved.
OPERATION: Final = "gen_ai.operation.name"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION: Final = "gen_ai.conversation.id"
ERROR_TYPE: Final = "error.type"

EXECUTE_TOOL: Final = "execute_tool"
FUNCTION: Final = "function"
"""A tool that is run on the client's side, which for a model is what we are."""

OTHER: Final = "_OTHER"
TOOL_ERROR: Final = "tool_error"
"""The tool ran, and by its own account it failed; MCP's convention calls it so too."""

CANCELLED: Final = "cancelled"

OUTCOME: Final = "toolkeeper.outcome"
CODE: Final = "toolkeeper.code"
EFFECT: Final = "toolkeeper.decision.effect"
STATE: Final = "toolkeeper.state"
INVOCATION: Final = "toolkeeper.invocation.id"
RESUMED: Final = "toolkeeper.resumed"

_LONGEST_ID = 128


def call_id(text: str) -> str:
    """A provider's id as a span takes it; one that is endless is cut."""
    return text[:_LONGEST_ID]


def error_type(row: Invocation) -> str | None:
    """Why the call gave no good result; None when it did, or is waiting for an answer."""
    if row.code is not None:
        return row.code.value
    if row.is_error and row.outcome is not Ending.SUSPENDED:
        return TOOL_ERROR
    return None


def of_row(row: Invocation) -> dict[str, str | bool | int | tuple[str, ...]]:
    """What a span says of a call that has come to its end, or waits; only what is known."""
    decision = row.decision
    said = {
        INVOCATION: row.invocation_id,
        "toolkeeper.advertised_as": row.advertised_as.value,
        OUTCOME: row.outcome.value if row.outcome else row.state.value,
        CODE: row.code.value if row.code else None,
        EFFECT: decision.effect.value if decision else None,
        "toolkeeper.decision.rules": tuple(decision.rules) if decision else (),
        "toolkeeper.policy.revision": decision.revision if decision else None,
        "toolkeeper.approval.id": row.approval_id,
        "toolkeeper.grant.id": row.grant_id,
        "toolkeeper.side_effect": row.side_effect,
        "toolkeeper.attempts": row.attempts,
        "toolkeeper.result.bytes": row.bytes,
        "toolkeeper.result.truncated": row.truncated,
    }
    return {key: value for key, value in said.items() if value not in (None, ())}
