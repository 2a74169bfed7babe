"""What does an editor have to know to help with a policy document?"""

from typing import Any

from toolkeeper_contract import Effect, Flag, Scope, SideEffect
from toolkeeper_policy.condition_token import MAX_CHARACTERS
from toolkeeper_policy.pack import pack_names
from toolkeeper_policy.rule_document import SELECTORS, TAINT_MODES

_EFFECTS = [effect.value for effect in Effect]
_SIDE_EFFECTS = [side_effect.value for side_effect in SideEffect]
_FLAGS = [flag.value for flag in Flag]


def policy_json_schema() -> dict[str, Any]:
    """A JSON Schema (2020-12) of policy documents.

    It knows the shape and the closed sets of words. What a document says about tools, and whether
    a condition can be read, only `load_policy` and `check_policy` can tell.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolkeeper policy",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "version": {"const": 1},
            "packs": {
                **_names("packs that this document builds on: shipped ones, or files beside it"),
                "items": {"anyOf": [{"enum": list(pack_names())}, {"pattern": "\\.ya?ml$"}]},
            },
            "zone": {
                "type": "string",
                "description": "time zone of dates and times of day, UTC by default",
                "examples": ["Europe/Zurich"],
            },
            "defaults": {
                "type": ["object", "null"],
                "description": "what holds for a class of calls that no rule matches",
                "additionalProperties": False,
                "properties": {name: {"enum": _EFFECTS} for name in _SIDE_EFFECTS},
            },
            "taint": {
                "description": "how what the session has read tightens what is allowed",
                # A bare `off` is false in YAML.
                "enum": [*TAINT_MODES, False],
            },
            "rules": {"type": ["array", "null"], "items": _rule(_EFFECTS, hardline=False)},
            "hardline": {"type": ["array", "null"], "items": _rule(["deny"], hardline=True)},
        },
    }


def _rule(effects: list[str], *, hardline: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9_.:/-]{1,128}$",
            "description": "the name under which decisions cite this rule",
        },
        "effect": {"enum": effects},
        "tools": _names("canonical names, or globs where a * is written"),
        "sources": _names("server ids, or `functions`"),
        "side_effects": {**_names("classes of calls"), "items": {"enum": _SIDE_EFFECTS}},
        "flags": {**_names("the call has one of these"), "items": {"enum": _FLAGS}},
        "agents": _names("names of agents"),
        "users": _names("names of users"),
        "scopes": _names("the user holds one of these"),
        "attributes": {
            "type": "object",
            "minProperties": 1,
            "description": 'attributes of the session; "*" is any value',
            "additionalProperties": {
                "anyOf": [_SCALAR, {"type": "array", "minItems": 1, "items": _SCALAR}]
            },
        },
        "when": {
            "type": "string",
            "maxLength": MAX_CHARACTERS,
            "description": "a condition in CEL over args, tool, principal, agent, session, call",
        },
        "approvers": _names("who may answer when this rule asks"),
    }
    if not hardline:
        properties["expires"] = {
            "type": "string",
            "description": "the last day on which the rule holds, or a moment with its zone",
        }
        properties["despite_taint"] = {
            "type": "boolean",
            "description": "for allow rules: holds whatever the session has read",
        }
        properties["approval_scope"] = {
            "enum": [scope.value for scope in Scope],
            "description": "the widest scope in which what this rule asks may be answered",
        }
        properties["exclude_requester"] = {
            "type": "boolean",
            "description": "the session's own user may not answer what this rule asks",
        }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "effect"],
        "anyOf": [{"required": [selector]} for selector in SELECTORS],
        "properties": properties,
    }


_SCALAR = {"type": ["string", "number", "boolean"]}


def _names(description: str) -> dict[str, Any]:
    return {
        "type": "array",
        "minItems": 1,
        "items": {"type": "string", "minLength": 1},
        "description": description,
    }
