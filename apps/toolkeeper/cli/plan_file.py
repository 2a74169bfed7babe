"""Is there a plan in this file, as `toolkeeper plan --json` prints one?"""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from toolkeeper_contract import ConfigError, Plan, Reason

_MARK = "defined_tool_names"
"""A key that every plan has and no configuration."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Disclosure(_Part):
    asked: str
    used: str
    reason: str | None


class _Caps(_Part):
    definitions: int
    definition_tokens: int
    index_entries: int
    index_tokens: int


class _Costs(_Part):
    definition_tokens: int
    index_tokens: int
    index_overhead_tokens: int
    tools: dict[str, int]


class _Row(_Part):
    name: str
    reason: str


class _Refused(_Row):
    source: str


class _Body(_Part):
    builder: str
    agent: str
    agent_revision: str
    provider: str
    disclosure: _Disclosure
    caps: _Caps
    costs: _Costs
    defined_tool_names: list[str]
    deferred_tool_names: list[str]
    deferred_reasons: dict[str, str]
    searchable_tool_names: list[str]
    skipped_tool_names: list[_Row]
    filtered_tool_names: list[_Row]
    refused_tools: list[_Refused]
    pins: dict[str, str]
    intent: Any
    loaded_tool_names: list[str]
    loaded_overflow: list[_Row]
    listing: str


def read_plan(text: str, file: str) -> Plan | None:
    """The plan in `text`; None when it is something else, a configuration, say.

    A line of `audit plans --json` is one too. ConfigError for several plans in one file, and for
    one that lacks something.
    """
    stripped = text.strip()
    if not stripped.startswith("{") or f'"{_MARK}"' not in stripped:
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        lines = [line for line in stripped.split("\n") if line.strip()]
        if len(lines) > 1 and all(f'"{_MARK}"' in line for line in lines):
            raise ConfigError(
                f"the file holds {len(lines)} plans", "keep one of them", file=file
            ) from None
        raise _damaged(file) from None
    if not isinstance(value, dict) or _MARK not in value:
        return None
    return _plan(value, file)


def _plan(value: dict[str, Any], file: str) -> Plan:
    try:
        body = _Body.model_validate(value).model_dump()
        for rows in ("skipped_tool_names", "filtered_tool_names", "loaded_overflow"):
            for row in body[rows]:
                Reason(row["reason"])
        plan = Plan.from_body(body)
        # What is not defined is pinned all the same: the rest of the program relies on it.
        for name in plan.searchable:
            plan.pins[name]
    except (ValidationError, ValueError, KeyError, TypeError):
        raise _damaged(file) from None
    return plan


def _damaged(file: str) -> ConfigError:
    return ConfigError(
        "this is no whole plan", "write one with `toolkeeper plan --json > FILE`", file=file
    )
