"""Which input of planning is behind a change, when nothing nearer explains it?"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_contract import CONTROL_TOOLS, TOOL_SEARCH, Plan, Reason

CONFIGURATION, INTENT, REGISTRY = "configuration", "intent", "registry"

_BEHIND = {
    Reason.DISABLED.value: INTENT,
    Reason.NOT_PERMITTED.value: CONFIGURATION,
    Reason.SOURCE_UNAVAILABLE.value: REGISTRY,
    Reason.CONFIGURED.value: CONFIGURATION,
}
"""Which input is behind a plan's reason; every other reason tells itself."""


def general_cause(before: Plan, after: Plan) -> str:
    """The input that changed: `configuration`, `intent`, else `registry`."""
    if before.agent_revision != after.agent_revision or before.agent != after.agent:
        return CONFIGURATION
    return INTENT if before.intent != after.intent else REGISTRY


def absence_cause(before: Plan, after: Plan) -> str:
    """The input that changed, for a tool that one of the plans does not know at all.

    What is disabled stands on the plan: switching one tool off explains no other's absence.
    """
    cause = general_cause(before, after)
    if cause == INTENT and _selection(before.intent) == _selection(after.intent):
        return REGISTRY
    return cause


def _selection(intent: Any) -> Any:
    """What an intent chooses from all tools, before it takes some of them away."""
    if intent is None:
        return {}
    if not isinstance(intent, Mapping):
        return intent
    return {
        key: value
        for key, value in intent.items()
        if key != "disabled" and value is not None and value != {}
    }


def cause_of(reason: str, general: str) -> str:
    """What to say for a tool that a plan left out for `reason`."""
    if reason in (Reason.DISABLED.value, Reason.NOT_PERMITTED.value) and general != REGISTRY:
        # An intent may change what the agent permits to ask for, and a configuration what an
        # unchanged intent leaves out.
        return general
    return _BEHIND.get(reason, reason)


def is_search(control: str) -> bool:
    """Whether this control tool is the search; no other one can bear another name."""
    return control == TOOL_SEARCH or control not in CONTROL_TOOLS
