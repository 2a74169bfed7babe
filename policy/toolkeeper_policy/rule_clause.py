"""What do the clauses of a rule say, besides its selectors and its effect?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from toolkeeper_contract import Effect, Scope, did_you_mean
from toolkeeper_policy.answering import takes_answers
from toolkeeper_policy.condition import CelCondition, compile_condition
from toolkeeper_policy.condition_token import ConditionFault
from toolkeeper_policy.rule import Scalar
from toolkeeper_policy.section import Section, kind, quoted

_ATTRIBUTES = 32
_ATTRIBUTE_CHARACTERS = 256
_TIMESTAMP = "write a date, `2026-12-31`, or a moment with its zone, `2026-12-31T18:00:00Z`"


@dataclass(frozen=True, slots=True)
class Zone:
    """The zone of a document: its dates end and its times of day are read there."""

    name: str
    tz: tzinfo


UTC_ZONE = Zone("UTC", UTC)


def zone_of(top: Section) -> Zone:
    """The `zone` that a document states, UTC where it states none."""
    if "zone" not in top.body:
        return UTC_ZONE
    name = top.body["zone"]
    if not isinstance(name, str):
        top.fail(f"`zone` must be a name, not {kind(name)}", "write `zone: Europe/Zurich`", "zone")
    if name.upper() == "UTC":
        return UTC_ZONE
    try:
        return Zone(name, ZoneInfo(name))
    except Exception:
        hint = did_you_mean(name, available_timezones()) or "write `zone: Europe/Zurich`"
        top.fail(f"{quoted(name)} is not a known time zone", hint, "zone")


def condition_of(section: Section, zone: Zone) -> CelCondition | None:
    """What the rule says `when`, compiled; None where it says nothing."""
    if "when" not in section.body:
        return None
    text = section.body["when"]
    if not isinstance(text, str):
        section.fail(
            f"{section.subject}: `when` must be a condition, not {kind(text)}",
            "put the condition in quotes",
            "when",
        )
    try:
        return compile_condition(text, zone.name, zone.tz)
    except ConditionFault as fault:
        section.fail(f"{section.subject}: {fault.message}", fault.hint, "when")


def expiry_of(section: Section, zone: Zone) -> datetime | None:
    """From when on the rule says nothing: a moment, or the end of a day in the document's zone."""
    if "expires" not in section.body:
        return None
    value = section.body["expires"]
    if not isinstance(value, str):
        section.fail(
            f"{section.subject}: `expires` must be a date, not {kind(value)}", _TIMESTAMP, "expires"
        )
    try:
        if len(value) == len("2026-12-31"):
            # The day that is written is the last one on which the rule holds.
            day = date.fromisoformat(value) + timedelta(days=1)
            return datetime.combine(day, time(), zone.tz)
        moment = datetime.fromisoformat(value)
    except (ValueError, OverflowError):
        section.fail(f"{section.subject}: {quoted(value)} is not a date", _TIMESTAMP, "expires")
    if moment.tzinfo is None:
        section.fail(
            f"{section.subject}: {quoted(value)} does not say its zone", _TIMESTAMP, "expires"
        )
    return moment


def attributes_of(section: Section) -> Mapping[str, tuple[Scalar, ...]]:
    """The values that the session's attributes must have, by name."""
    if "attributes" not in section.body:
        return {}
    value = section.body["attributes"]
    if not isinstance(value, dict):
        section.fail(
            f"{section.subject}: `attributes` must be a mapping, not {kind(value)}",
            'write `attributes: {website: "*"}`',
            "attributes",
        )
    if not 0 < len(value) <= _ATTRIBUTES:
        section.fail(
            f"{section.subject}: `attributes` must name 1 to {_ATTRIBUTES} attributes",
            "leave `attributes` out to match every session",
            "attributes",
        )
    return {name: _options(section, name, wanted) for name, wanted in value.items()}


def despite_taint_of(section: Section, effect: Effect) -> bool:
    """Whether the rule stands whatever the session has read; for allow rules only."""
    value = section.body.get("despite_taint", False)
    if not isinstance(value, bool):
        section.fail(
            f"{section.subject}: `despite_taint` must be true or false, not {kind(value)}",
            None,
            "despite_taint",
        )
    if value and effect is not Effect.ALLOW:
        section.fail(
            f"{section.subject}: `despite_taint` works in rules that allow, not in one that "
            f"says {effect.value}",
            "the trust overlay only tightens what is allowed; leave it out",
            "despite_taint",
        )
    return value


def approval_scope_of(section: Section, effect: Effect) -> Scope | None:
    """The widest scope in which the rule's question may be answered; None: that of the class."""
    if "approval_scope" not in section.body:
        return None
    _check_asks(section, "approval_scope", effect)
    return Scope(section.choice("approval_scope", [scope.value for scope in Scope]))


def exclude_requester_of(section: Section, effect: Effect) -> bool:
    """Whether the session's own user may not answer what the rule asks."""
    value = section.body.get("exclude_requester", False)
    if not isinstance(value, bool):
        section.fail(
            f"{section.subject}: `exclude_requester` must be true or false, not {kind(value)}",
            None,
            "exclude_requester",
        )
    if value:
        _check_asks(section, "exclude_requester", effect)
    return value


def _check_asks(section: Section, key: str, effect: Effect) -> None:
    if not takes_answers(effect):
        section.fail(
            f"{section.subject}: `{key}` is about answers, and a rule that denies asks nobody",
            "leave it out",
            key,
        )


def _options(section: Section, name: str, wanted: Any) -> tuple[Scalar, ...]:
    options = wanted if isinstance(wanted, list) else [wanted]
    if not options:
        section.fail(
            f"{section.subject}: the attribute {quoted(name)} has no values to match",
            'write `"*"` to match any value',
            "attributes",
            name,
        )
    for option in options:
        if not isinstance(option, str | int | float | bool) or option == "":
            section.fail(
                f"{section.subject}: the attribute {quoted(name)} must have a value, "
                f"not {kind(option)}",
                'write a text, a number, true or false, a list of them, or `"*"` for any value',
                "attributes",
                name,
            )
        if isinstance(option, str) and (
            len(option) > _ATTRIBUTE_CHARACTERS or option.count("*") > 8
        ):
            # Every star lets the matcher try again, so their number is bounded.
            section.fail(
                f"{section.subject}: the attribute {quoted(name)} has too large a pattern",
                f"use up to {_ATTRIBUTE_CHARACTERS} characters and 8 stars",
                "attributes",
                name,
            )
    return tuple(options)
