"""What do the turns of a recorded session come to, and what is wrong with them?"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from toolkeeper.runtime.configuration.field_type import kind_of, shown
from toolkeeper.runtime.configuration.file_text import Documents
from toolkeeper.runtime.configuration.problem import unknown_key
from toolkeeper.runtime.response_file import read_response
from toolkeeper.runtime.script_file import ChildFile, TurnFile
from toolkeeper.runtime.scripted import (
    EVERY_CALL,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedChild,
    ScriptedResponse,
    ScriptedTurn,
    Step,
    Verdict,
)
from toolkeeper_contract import ConfigError, Json, Path, did_you_mean
from toolkeeper_pipeline import checked_key
from toolkeeper_planner import parse_intent

_CALL_KEYS = ("id", "tool", "arguments", "idempotency_key")
_OF_A_TURN = ("response", "child", "approvals")


@dataclass(slots=True)
class Reading:
    """Reads turns and calls, and gathers what is wrong with them in `errors`.

    `taken` are the call ids that are written somewhere; ids are made up for the other calls.
    """

    documents: Documents
    taken: frozenset[str]
    errors: list[ConfigError] = field(default_factory=list)
    _made: int = 0

    def turns(self, turns: Sequence[TurnFile], at: Path) -> tuple[ScriptedTurn, ...]:
        """The turns under `at`, with their children's."""
        return tuple(self._turn(turn, (*at, "turns", index)) for index, turn in enumerate(turns))

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

    def _turn(self, turn: TurnFile, path: Path) -> ScriptedTurn:
        self.check_intent(turn.override, (*path, "override"))
        steps: tuple[Step, ...] = self._steps(turn, path)
        if turn.response is not None:
            if turn.calls:
                self._fault(
                    (*path, "response"),
                    "a turn has `calls` or a `response`, and this has both",
                    "the response holds the calls; remove one of the two",
                )
            steps = self._responses(turn.response, (*path, "response"))
        scripted = ScriptedTurn(
            user=turn.user,
            override=turn.override,
            tool_choice=turn.tool_choice,
            steps=steps,
            approvals=self._approvals(turn.approvals, (*path, "approvals")),
            child=None if turn.child is None else self._child(turn.child, (*path, "child")),
            path=path,
        )
        if turn.response is None:
            # Which calls a response holds is the provider's format to say, later.
            ids = [call.call_id for step in steps if isinstance(step, tuple) for call in step]
            error = unknown_answer(scripted, ids, self.documents)
            if error is not None:
                self.errors.append(error)
        return scripted

    def _child(self, child: ChildFile, path: Path) -> ScriptedChild:
        tools = None if child.tools is None else tuple(child.tools)
        return ScriptedChild(tools, child.agent, self.turns(child.turns, path), path)

    def _steps(self, turn: TurnFile, path: Path) -> tuple[tuple[ScriptedCall, ...], ...]:
        steps = []
        for index, item in enumerate(turn.calls):
            at = (*path, "calls", index)
            if isinstance(item, list):
                if not item:
                    self._fault(at, "a step has at least one call", "remove the empty list")
                found = [self._call(entry, (*at, place)) for place, entry in enumerate(item)]
            else:
                found = [self._call(item, at)]
            steps.append(tuple(call for call in found if call is not None))
        return tuple(steps)

    def _call(self, value: Any, path: Path) -> ScriptedCall | None:
        if not isinstance(value, dict):
            self._fault(
                path,
                f"a call must be a mapping, not {kind_of(value)}",
                "write `{tool: NAME, arguments: {...}}`",
            )
            return None
        for key in value:
            if key in _OF_A_TURN:
                self._fault(
                    (*path, key), f"`{key}` is no part of a call", "it stands beside `calls`"
                )
            elif key not in _CALL_KEYS:
                self.errors.append(unknown_key(self.documents, (*path, key), _CALL_KEYS))
        return ScriptedCall(
            self._call_id(value, path),
            value.get("tool"),
            _arguments(value),
            self._key(value, path),
        )

    def _key(self, value: dict[str, Any], path: Path) -> str | None:
        try:
            return checked_key(value.get("idempotency_key"))
        except ConfigError as error:
            self._fault((*path, "idempotency_key"), error.message, error.hint)
            return None

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

    def _responses(self, value: Any, path: Path) -> tuple[ScriptedResponse, ...]:
        names = value if isinstance(value, list) else [value]
        if not names:
            self._fault(path, "must not be empty", "name a file, or remove the key")
        found = []
        for index, name in enumerate(names):
            at = (*path, index) if isinstance(value, list) else path
            if not isinstance(name, str) or not name or "\x00" in name:
                self._fault(
                    at,
                    "must be the name of a file",
                    "the file holds one response of the provider as json",
                )
                continue
            file = self.documents.folder(at) / name
            if not file.is_file():
                near = did_you_mean(file.name, [other.name for other in file.parent.glob("*.json")])
                self._fault(
                    at, f"there is no file {shown(name)}", near or "it is looked for beside this"
                )
                continue
            try:
                told = FilePath(self.documents.document(at).file).parent / name
                found.append(ScriptedResponse(read_response(file, str(told)), str(told), at))
            except ConfigError as error:
                self.errors.append(error)
        return tuple(found)

    def _approvals(self, answers: Mapping[str, Any], path: Path) -> dict[str, ScriptedAnswer]:
        found = {}
        for key, value in answers.items():
            answer = _answer(value)
            if answer is None:
                self._fault(
                    (*path, key),
                    "this is no answer",
                    "write `approve`, `deny`, `leave` or `{edit: {...}}`",
                )
            else:
                found[key] = answer
        return found

    def _fault(self, path: Path, message: str, hint: str | None = None) -> None:
        self.errors.append(self.documents.error(path, message, hint))


def unknown_answer(
    turn: ScriptedTurn, ids: Collection[str], documents: Documents
) -> ConfigError | None:
    """The error for an answer that is about none of the turn's calls, whose ids these are."""
    key = turn.unknown_answer(ids)
    if key is None:
        return None
    return documents.error(
        (*turn.path, "approvals", key),
        f"this turn has no call {shown(key)}",
        did_you_mean(key, [*ids, EVERY_CALL]),
    )


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
