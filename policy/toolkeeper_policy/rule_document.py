"""Which rules, defaults and taint mode does one YAML document state?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from toolkeeper_contract import (
    Code,
    ConfigError,
    Document,
    Effect,
    Flag,
    Path,
    SideEffect,
    did_you_mean,
    is_server_id,
    parse_document,
)
from toolkeeper_policy.rule import Place, Rule
from toolkeeper_policy.rule_clause import (
    Zone,
    approval_scope_of,
    attributes_of,
    condition_of,
    despite_taint_of,
    exclude_requester_of,
    expiry_of,
    zone_of,
)
from toolkeeper_policy.section import Section, kind, pattern_problem, quoted

_E = TypeVar("_E", SideEffect, Flag)

VERSION = 1
TAINT_MODES = ("ask", "provenance", "off")

DOCUMENT_KEYS = ("version", "packs", "zone", "defaults", "taint", "rules", "hardline")
SELECTORS = (
    "tools", "sources", "side_effects", "flags", "agents", "users", "scopes", "attributes", "when"
)  # fmt: skip
RULE_KEYS = (
    "id", *SELECTORS, "effect", "approvers", "approval_scope", "exclude_requester", "expires",
    "despite_taint",
)  # fmt: skip
_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-")
_ID_LENGTH = 128
_CODE = Code.POLICY_INVALID


@dataclass(frozen=True, slots=True)
class RuleDocument:
    """What one document states; `defaults` has only the classes that it names.

    `packs` are the packs that it builds on, each with its line.
    """

    defaults: Mapping[SideEffect, Effect]
    taint: str | None
    rules: tuple[Rule, ...]
    hardline: tuple[Rule, ...]
    packs: tuple[tuple[str, int | None], ...] = ()


def read_rules(text: str, file: str) -> RuleDocument:
    """The document in `text`; raises ConfigError for the first thing that may not stand there."""
    try:
        document = parse_document(text, file, code=_CODE)
    except ConfigError as error:
        # What is wrong with the whole of a document is wrong from its first line on.
        error.line = error.line or 1
        raise
    if document.value is None:
        raise document.error(
            (), "the policy document is empty", "write at least `version: 1`", code=_CODE
        )
    top = Section.of(document, (), document.value, subject="the policy document", code=_CODE)
    top.only(DOCUMENT_KEYS)
    _check_version(top)
    zone = zone_of(top)
    packs = top.texts("packs", _pack_problem)
    return RuleDocument(
        defaults=_defaults(top),
        taint=_taint(top),
        rules=_rules(top, "rules", zone),
        hardline=_rules(top, "hardline", zone),
        packs=tuple((name, document.line(("packs", at))) for at, name in enumerate(packs)),
    )


def _check_version(top: Section) -> None:
    version = top.body.get("version", VERSION)
    if isinstance(version, bool) or version != VERSION or not isinstance(version, int):
        shown = quoted(str(version)) if isinstance(version, str | int | float) else kind(version)
        top.fail(
            f"the policy version must be {VERSION}, not {shown}", "write `version: 1`", "version"
        )


def _defaults(top: Section) -> dict[SideEffect, Effect]:
    value = top.body.get("defaults")
    if value is None:
        return {}
    section = Section.of(top.document, ("defaults",), value, subject="`defaults`", code=_CODE)
    section.only([side_effect.value for side_effect in SideEffect])
    return {
        SideEffect(key): Effect(section.option(effect, _values(Effect), "effect", key))
        for key, effect in section.body.items()
    }


def _taint(top: Section) -> str | None:
    if "taint" not in top.body:
        return None
    value = top.body["taint"]
    if value is False:
        # YAML 1.1 reads a bare `off` as false.
        value = "off"
    return top.option(value, TAINT_MODES, "taint", "taint")


def _rules(top: Section, part: str, zone: Zone) -> tuple[Rule, ...]:
    value = top.body.get(part)
    if value is None:
        return ()
    if not isinstance(value, list):
        top.fail(
            f"`{part}` must be a list of rules, not {kind(value)}", "start each with `-`", part
        )
    return tuple(
        _rule(top.document, (part, position), item, zone, hardline=part == "hardline")
        for position, item in enumerate(value)
    )


def _rule(document: Document, path: Path, value: Any, zone: Zone, *, hardline: bool) -> Rule:
    section = Section.of(document, path, value, subject="a rule", code=_CODE)
    rule_id = _rule_id(section)
    section = section.named(f"rule `{rule_id}`")
    section.only(RULE_KEYS)
    if not any(key in section.body for key in SELECTORS):
        section.fail(
            f"{section.subject} does not say which calls it is for",
            "add a selector: " + ", ".join(f"`{key}`" for key in SELECTORS),
        )
    if hardline and "expires" in section.body:
        section.fail(
            f"{section.subject}: a hardline rule holds for good and cannot expire",
            "move it to `rules`, or leave `expires` out",
            "expires",
        )
    effect = _effect(section, hardline=hardline)
    return Rule(
        id=rule_id,
        effect=effect,
        tools=section.texts("tools", _tool_problem),
        sources=section.texts("sources", _source_problem),
        side_effects=frozenset(_choices(section, "side_effects", SideEffect, "side effect")),
        flags=frozenset(_choices(section, "flags", Flag, "flag")),
        agents=frozenset(section.texts("agents", _name_problem)),
        users=frozenset(section.texts("users", _name_problem)),
        scopes=frozenset(section.texts("scopes", _name_problem)),
        attributes=attributes_of(section),
        approvers=section.texts("approvers", _name_problem),
        condition=condition_of(section, zone),
        expires=expiry_of(section, zone),
        despite_taint=despite_taint_of(section, effect),
        approval_scope=approval_scope_of(section, effect),
        exclude_requester=exclude_requester_of(section, effect),
        place=Place(document.file, document.line(path)),
    )


def _rule_id(section: Section) -> str:
    if "id" not in section.body:
        section.fail("a rule has no id", "add `id:`, a name that decisions can cite")
    value = section.body["id"]
    if not isinstance(value, str) or not value:
        section.fail(f"a rule's id must be a string, not {kind(value)}", "put it in quotes", "id")
    if len(value) > _ID_LENGTH or not _ID_CHARACTERS.issuperset(value):
        section.fail(
            f"{quoted(value)} is not a usable rule id",
            f"use up to {_ID_LENGTH} letters, digits, `_`, `.`, `:`, `/` and `-`",
            "id",
        )
    return value


def _effect(section: Section, *, hardline: bool) -> Effect:
    if "effect" not in section.body:
        section.fail(f"{section.subject} has no effect", "add `effect:` allow, ask or deny")
    effect = Effect(section.choice("effect", _values(Effect)))
    if hardline and effect is not Effect.DENY:
        section.fail(
            f"{section.subject}: a hardline rule can only deny, not {effect.value}",
            "write `effect: deny`, or move it to `rules`",
            "effect",
        )
    return effect


def _choices(section: Section, key: str, options: type[_E], what: str) -> list[_E]:
    known = _values(options)

    def problem(text: str) -> tuple[str, str | None] | None:
        if text in known:
            return None
        return f"{quoted(text)} is not a known {what}", did_you_mean(text, known)

    return [options(text) for text in section.texts(key, problem)]


def _values(options: type[Effect] | type[SideEffect] | type[Flag]) -> list[str]:
    return [option.value for option in options]


def _tool_problem(pattern: str) -> tuple[str, str | None] | None:
    return pattern_problem(
        pattern,
        "and no policy is about those",
        "name the real tool: a call through `tool.call` is decided as the tool that it calls",
    )


def _source_problem(name: str) -> tuple[str, str | None] | None:
    if is_server_id(name):
        return None
    return (
        f"{quoted(name)} cannot be a source",
        "write a server's id, or `functions`; wildcards work in `tools` only",
    )


def _pack_problem(name: str) -> tuple[str, str | None] | None:
    if name.isprintable() and name == name.strip():
        return None
    return f"{quoted(name)} has characters that no pack's name has", "remove them"


def _name_problem(name: str) -> tuple[str, str | None] | None:
    # Taken literally, a star would name nobody, and a deny rule would quietly do nothing.
    if "*" in name:
        return (
            f"{quoted(name)} has a wildcard, which works in `tools` only",
            "list the names, or leave the selector out to mean everyone",
        )
    if not name.isprintable() or name != name.strip():
        return (f"{quoted(name)} has characters that no name has", "remove them")
    return None
