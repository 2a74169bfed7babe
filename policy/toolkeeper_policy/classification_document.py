"""What does the `classification` part of a configuration say?"""

from typing import Any

from toolkeeper_contract import (
    Code,
    Document,
    Path,
    SideEffect,
    is_argument_pointer,
    is_parameter_name,
    is_server_id,
)
from toolkeeper_policy.classification_rule import ClassificationRule
from toolkeeper_policy.section import Section, kind, pattern_problem, quoted

_FLAGS = ("destructive", "idempotent", "open_world", "private")
_KEYS = (
    "tools",
    "sources",
    "arguments",
    "side_effect",
    *_FLAGS,
    "result",
    "destination",
    "payload",
    "operands",
)
_RESULTS = ("trusted", "untrusted")


def read_classification(
    document: Document, path: Path, value: Any, *, code: Code = Code.CONFIG_INVALID
) -> tuple[ClassificationRule, ...]:
    """The rules in `value`, which stands at `path`; raises ConfigError with the line."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise document.error(
            path,
            f"`classification` must be a list of rules, not {kind(value)}",
            "start each with `-`",
            code=code,
        )
    return tuple(
        _rule(Section.of(document, (*path, at), item, subject="a classification rule", code=code))
        for at, item in enumerate(value)
    )


def _rule(section: Section) -> ClassificationRule:
    section.only(_KEYS)
    if "tools" not in section.body and "sources" not in section.body:
        section.fail(
            "a classification rule names no tools",
            "say which it is for with `tools` or `sources`",
        )
    flags = {key: _boolean(section, key) for key in _FLAGS if key in section.body}
    if not section.body.keys() - {"tools", "sources", "arguments"}:
        section.fail("a classification rule says nothing", "add `side_effect:` or a flag")
    side_effect = None
    if "side_effect" in section.body:
        side_effect = SideEffect(
            section.choice("side_effect", [option.value for option in SideEffect])
        )
    return ClassificationRule(
        tools=section.texts("tools", _tool_problem),
        sources=section.texts("sources", _source_problem),
        arguments=_arguments(section),
        side_effect=side_effect,
        destructive=flags.get("destructive"),
        idempotent=flags.get("idempotent"),
        open_world=flags.get("open_world"),
        private=flags.get("private"),
        result=section.choice("result", _RESULTS) if "result" in section.body else None,
        destination=section.texts("destination", _argument_problem),
        payload=section.texts("payload", _argument_problem),
        operands=section.texts("operands", _pointer_problem),
    )


def _arguments(section: Section) -> dict[str, tuple[Any, ...]]:
    given = section.body.get("arguments", {})
    if not isinstance(given, dict) or ("arguments" in section.body and not given):
        section.fail(
            f"{section.subject}: `arguments` must map names to values, not {kind(given)}",
            "write `arguments: {method: [GET, HEAD]}`",
            "arguments",
        )
    found = {}
    for name, values in given.items():
        if not is_parameter_name(name):
            section.fail(f"{quoted(name)} cannot be an argument's name", None, "arguments", name)
        listed = values if isinstance(values, list) else [values]
        if not listed or not all(isinstance(value, str | bool | int | float) for value in listed):
            section.fail(
                f"{section.subject}: the values of {quoted(name)} must be texts, numbers or "
                "booleans",
                "write `arguments: {method: [GET, HEAD]}`",
                "arguments",
                name,
            )
        found[name] = tuple(listed)
    return found


def _boolean(section: Section, key: str) -> bool:
    value = section.body[key]
    if not isinstance(value, bool):
        section.fail(
            f"{section.subject}: `{key}` must be true or false, not {kind(value)}", None, key
        )
    return value


def _tool_problem(pattern: str) -> tuple[str, str | None] | None:
    return pattern_problem(
        pattern,
        "which cannot be classified",
        "a call through it has the class of the tool that it calls",
    )


def _source_problem(name: str) -> tuple[str, str | None] | None:
    if is_server_id(name):
        return None
    return f"{quoted(name)} cannot be a source", "write a server's id, or `functions`"


def _pointer_problem(text: str) -> tuple[str, str | None] | None:
    if is_argument_pointer(text):
        return None
    return f"{quoted(text)} is no json pointer", "write `/path` for the argument `path`"


def _argument_problem(name: str) -> tuple[str, str | None] | None:
    if is_parameter_name(name):
        return None
    return f"{quoted(name)} cannot be an argument's name", None
