"""What does a recorded session's file say, and what is malformed in it?"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from toolkeeper.runtime.configuration.field_type import kind_of, shown
from toolkeeper.runtime.configuration.file_text import Documents, alone, read_document
from toolkeeper.runtime.configuration.problem import problems, raise_all, unknown_key
from toolkeeper.runtime.script_file import ScriptFile, TurnFile
from toolkeeper.runtime.scripted import (
    ABSENT,
    EVERY_CALL,
    LEAVE,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedTurn,
    Verdict,
)
from toolkeeper_contract import ConfigError, Json, Path, did_you_mean
from toolkeeper_planner import parse_intent

__all__ = [
    "ABSENT",
    "EVERY_CALL",
    "LEAVE",
    "Script",
    "ScriptedAnswer",
    "ScriptedCall",
    "ScriptedTurn",
    "Verdict",
    "load_script",
]


def load_script(path: FilePath) -> Script:
    """The recorded session at `path`.

    Raises ConfigError, or ConfigurationErrors with one error for each fault, when the file cannot
    be read or is malformed.
    """
    document = read_document(path, hint="name the file of a recorded session")
    documents = alone(document, "write a list of turns under `turns`")
    file = _parsed(documents)
    reading = _Reading(documents, _written_ids(file))
    reading.check_intent(file.intent, ("intent",))
    reading.check_finite(file.attributes, ("attributes",))
    turns = tuple(reading.turn(turn, ("turns", index)) for index, turn in enumerate(file.turns))
    raise_all(reading.errors)
    return Script(
        file=str(path),
        agent=file.agent,
        user=file.user,
        provider=file.provider,
        attributes=file.attributes,
        intent=file.intent if "intent" in file.model_fields_set else ABSENT,
        turns=turns,
    )


_LATER = ("response", "child")
_CALL_KEYS = ("id", "tool", "arguments")
_MAY_BE_NULL = ("intent", "override", "tool_choice", "calls", "approvals")


def _parsed(documents: Documents) -> ScriptFile:
    errors = list(_faults_before(documents))
    told = {error.key for error in errors}
    try:
        file = ScriptFile.model_validate(_without_nulls(documents.value))
    except ValidationError as error:
        found = problems(error, documents, ScriptFile)
        errors += [problem for problem in found if problem.key not in told]
        raise_all(errors)
        raise AssertionError("a failed validation always has an error") from None
    raise_all(errors)
    return file


def _faults_before(documents: Documents) -> Sequence[ConfigError]:
    """What pydantic could not tell as well: keys of later versions and keys without a value."""
    turns = documents.value.get("turns")
    places: list[tuple[Path, Any]] = [((), documents.value)]
    if isinstance(turns, list):
        places += [(("turns", index), turn) for index, turn in enumerate(turns)]
    errors = []
    for path, place in places:
        if not isinstance(place, dict):
            continue
        for key, value in place.items():
            if key in _LATER:
                errors.append(documents.error((*path, key), f"`{key}` is not supported yet"))
            elif value is None and key not in _MAY_BE_NULL:
                errors.append(
                    documents.error((*path, key), "has no value", "give it one, or remove the key")
                )
    return errors


def _written_ids(file: ScriptFile) -> frozenset[str]:
    entries = [
        entry
        for turn in file.turns
        for item in turn.calls
        for entry in (item if isinstance(item, list) else [item])
    ]
    ids = (entry.get("id") for entry in entries if isinstance(entry, dict))
    return frozenset(written for written in ids if isinstance(written, str))


def _without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    """The file without the nulls of turns, which mean the same as nothing."""
    turns = value.get("turns")
    if not isinstance(turns, list):
        return value
    return {
        **value,
        "turns": [
            {key: item for key, item in turn.items() if item is not None}
            if isinstance(turn, dict)
            else turn
            for turn in turns
        ],
    }


@dataclass(slots=True)
class _Reading:
    """Reads turns and calls, and gathers what is wrong with them."""

    documents: Documents
    taken: frozenset[str]
    errors: list[ConfigError] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)
    _made: int = 0

    def turn(self, turn: TurnFile, path: Path) -> ScriptedTurn:
        """A turn with its steps; the ids of its calls are counted on."""
        self.check_intent(turn.override, (*path, "override"))
        here: dict[str, int] = {}
        steps = []
        for index, item in enumerate(turn.calls):
            at = (*path, "calls", index)
            group = item if isinstance(item, list) else [item]
            if not group:
                self._fault(at, "a step has at least one call", "remove the empty list")
            steps.append(
                tuple(
                    call
                    for place, entry in enumerate(group)
                    if (
                        call := self._call(
                            entry, (*at, place) if isinstance(item, list) else at, here
                        )
                    )
                )
            )
        return ScriptedTurn(
            user=turn.user,
            override=turn.override,
            tool_choice=turn.tool_choice,
            steps=tuple(steps),
            approvals=self._approvals(turn.approvals, (*path, "approvals"), here),
        )

    def check_intent(self, value: Json, path: Path) -> None:
        """Adds an error when `value` has not the form of an intent."""
        try:
            parse_intent(value)
        except ConfigError as error:
            # `intent.overlays.web_search`: the planner's name of the place, below ours
            below = (error.key or "").split(".", 2)[1:]
            self._fault((*path, *below), error.message, error.hint)

    def check_finite(self, value: Json, path: Path) -> None:
        """Adds an error for each number that JSON cannot write."""
        for place in _not_finite(value, path):
            self._fault(place, "must be a finite number")

    def _call(self, value: Any, path: Path, here: dict[str, int]) -> ScriptedCall | None:
        if not isinstance(value, dict):
            self._fault(
                path,
                f"a call must be a mapping, not {kind_of(value)}",
                "write `{tool: NAME, arguments: {...}}`",
            )
            return None
        for key in value:
            if key in _LATER:
                self._fault((*path, key), f"`{key}` is not supported yet")
            elif key not in _CALL_KEYS:
                self.errors.append(unknown_key(self.documents, (*path, key), _CALL_KEYS))
        call_id = self._call_id(value, path)
        self._counts[call_id] = self._counts.get(call_id, 0) + 1
        here[call_id] = here.get(call_id, 0) + 1
        return ScriptedCall(
            call_id=call_id,
            tool=value.get("tool"),
            arguments=_arguments(value),
            in_script=self._counts[call_id],
            in_turn=here[call_id],
        )

    def _call_id(self, value: dict[str, Any], path: Path) -> str:
        written = value.get("id")
        if isinstance(written, str) and written:
            return written
        if "id" in value:
            message = (
                "must not be empty" if written == "" else f"must be text, not {kind_of(written)}"
            )
            hint = "put it in quotes" if isinstance(written, int | float) else "or leave it out"
            self._fault((*path, "id"), message, hint)
        while True:
            self._made += 1
            if f"call_{self._made}" not in self.taken:
                return f"call_{self._made}"

    def _approvals(
        self, answers: Mapping[str, Any], path: Path, here: Mapping[str, int]
    ) -> dict[str, ScriptedAnswer]:
        found = {}
        for key, value in answers.items():
            at = (*path, key)
            name, mark, number = key.rpartition("#")
            known = key in here or (mark and number.isdecimal() and name in here)
            if key != EVERY_CALL and not known:
                self._fault(
                    at,
                    f"this turn has no call {shown(key)}",
                    did_you_mean(key, [*here, EVERY_CALL]),
                )
            answer = _answer(value)
            if answer is None:
                self._fault(
                    at, "this is no answer", "write `approve`, `deny`, `leave` or `{edit: {...}}`"
                )
            else:
                found[key] = answer
        return found

    def _fault(self, path: Path, message: str, hint: str | None = None) -> None:
        self.errors.append(self.documents.error(path, message, hint))


def _answer(value: Any) -> ScriptedAnswer | None:
    if isinstance(value, str) and value in (Verdict.APPROVE, Verdict.DENY, Verdict.LEAVE):
        return ScriptedAnswer(Verdict(value))
    if isinstance(value, dict) and list(value) == ["edit"] and isinstance(value["edit"], dict):
        return ScriptedAnswer(Verdict.EDIT, value["edit"])
    return None


def _arguments(call: Mapping[str, Any]) -> Json:
    if "arguments" not in call:
        return {}
    arguments = call["arguments"]
    if not isinstance(arguments, str) and any(_not_finite(arguments, ())):
        # As a model would have to send it; the strict parser refuses such text.
        return json.dumps(arguments)
    return arguments


def _not_finite(value: Any, path: Path) -> Sequence[Path]:
    if isinstance(value, float):
        return [] if math.isfinite(value) else [path]
    if isinstance(value, dict):
        return [place for key, item in value.items() for place in _not_finite(item, (*path, key))]
    if isinstance(value, list):
        return [
            place for index, item in enumerate(value) for place in _not_finite(item, (*path, index))
        ]
    return []
