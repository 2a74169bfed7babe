"""What does a recorded session's file say, and what is malformed in it?"""

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from toolkeeper.runtime.configuration.file_text import Documents, alone, read_document
from toolkeeper.runtime.configuration.problem import problems, raise_all
from toolkeeper.runtime.script_file import ScriptFile
from toolkeeper.runtime.script_reading import Reading
from toolkeeper.runtime.scripted import (
    ABSENT,
    EVERY_CALL,
    LEAVE,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedChild,
    ScriptedResponse,
    ScriptedTurn,
    Verdict,
)
from toolkeeper_contract import Path

__all__ = [
    "ABSENT",
    "EVERY_CALL",
    "LEAVE",
    "Script",
    "ScriptedAnswer",
    "ScriptedCall",
    "ScriptedChild",
    "ScriptedResponse",
    "ScriptedTurn",
    "Verdict",
    "load_script",
]


def load_script(path: FilePath) -> Script:
    """The recorded session at `path`, with the responses that it names.

    Raises ConfigError, or ConfigurationErrors with one error for each fault, when a file cannot be
    read or is malformed.
    """
    document = read_document(path, hint="name the file of a recorded session")
    documents = alone(document, "write a list of turns under `turns`")
    file = _parsed(documents)
    reading = Reading(documents, frozenset(_written_ids(documents.value)))
    reading.check_intent(file.intent, ("intent",))
    reading.check_finite(file.attributes, ("attributes",))
    turns = reading.turns(file.turns, ())
    raise_all(reading.errors)
    return Script(
        agent=file.agent,
        user=file.user,
        provider=file.provider,
        model=file.model,
        endpoint=file.endpoint,
        attributes=file.attributes,
        intent=file.intent if "intent" in file.model_fields_set else ABSENT,
        turns=turns,
        documents=documents,
    )


_MAY_BE_NULL = ("intent", "override", "tool_choice", "calls", "response", "approvals", "child")


def _parsed(documents: Documents) -> ScriptFile:
    errors = [
        documents.error((*path, key), "has no value", "give it one, or remove the key")
        for path, place in [((), documents.value), *_places(documents.value)]
        for key, value in place.items()
        if value is None and key not in _MAY_BE_NULL
    ]
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


def _places(holder: Mapping[str, Any], at: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every turn below `holder`, and every child, as they are written."""
    turns = holder.get("turns")
    for index, turn in enumerate(turns if isinstance(turns, list) else ()):
        if isinstance(turn, dict):
            path = (*at, "turns", index)
            yield path, turn
            child = turn.get("child")
            if isinstance(child, dict):
                yield (*path, "child"), child
                yield from _places(child, (*path, "child"))


def _written_ids(holder: Mapping[str, Any]) -> Iterator[str]:
    for _, place in _places(holder):
        calls = place.get("calls")
        for item in calls if isinstance(calls, list) else ():
            for entry in item if isinstance(item, list) else [item]:
                if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                    yield entry["id"]


def _without_nulls(holder: Mapping[str, Any]) -> dict[str, Any]:
    """The file without the nulls of turns, which mean the same as nothing."""
    turns = holder.get("turns")
    if not isinstance(turns, list):
        return dict(holder)
    return {**holder, "turns": [_turn_without_nulls(turn) for turn in turns]}


def _turn_without_nulls(turn: Any) -> Any:
    if not isinstance(turn, dict):
        return turn
    kept = {key: item for key, item in turn.items() if item is not None}
    if isinstance(kept.get("child"), dict):
        kept["child"] = _without_nulls(kept["child"])
    return kept
