"""Can a recorded session be played at all?

Asked before anything of it is: what cannot work leaves no store, no row and no half of a session.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.profile import agent_named
from toolkeeper.runtime.script_reading import unknown_answer
from toolkeeper.runtime.scripted import (
    ABSENT,
    Script,
    ScriptedResponse,
    ScriptedTurn,
)
from toolkeeper_contract import ConfigError
from toolkeeper_wire import Format, format_for

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper


async def rehearse(keeper: "Toolkeeper", script: Script, *, session_id: str | None = None) -> None:
    """Plans what the turns of `script` would see, and reads its responses. Writes nothing.

    ConfigError, with the script's file and line where it is to blame, when a new session of it
    (or the session `session_id`) cannot begin, when a tool cannot be forced, when a child names an
    unknown agent, and when a response is none of the session's provider.
    """
    if session_id is None and script.agent is None:
        raise script.placed(ConfigError("the script names no agent", "write `agent: NAME`"), ())
    # What an explicit null clears must not count any more: an empty object follows the agent.
    intent = None if script.intent is ABSENT else {} if script.intent is None else script.intent
    about: dict[str, Any] = {
        "session_id": session_id,
        "agent": script.agent,
        "user": script.user,
        "provider": script.provider,
        "model": script.model,
        "endpoint": script.endpoint,
        # A resumed session has attributes of its own, a new one none.
        "attributes": script.attributes or ({} if session_id is None else None),
    }
    sight = await keeper.sight(**about, intent=intent)
    for turn in script.turns:
        if turn.tool_choice is None:
            continue
        wanted = intent if turn.override is None else turn.override
        try:
            await keeper.sight(**about, intent=wanted, tool_choice=turn.tool_choice)
        except ConfigError as error:
            raise script.placed(error, (*turn.path, "tool_choice")) from None
    format = format_for(sight.plan.provider)
    for turn in script.every_turn():
        _check_child(keeper, script, turn)
        _check_responses(script, turn, format)


def _check_child(keeper: "Toolkeeper", script: Script, turn: ScriptedTurn) -> None:
    child = turn.child
    if child is None or child.agent is None:
        return
    if child.agent not in keeper.configuration.agents:
        try:
            agent_named(keeper.configuration, child.agent)
        except ConfigError as error:
            told = ConfigError(error.message, error.hint)
            raise script.placed(told, (*child.path, "agent")) from None


def _check_responses(script: Script, turn: ScriptedTurn, format: Format) -> None:
    responses = [step for step in turn.steps if isinstance(step, ScriptedResponse)]
    if not responses:
        return
    ids = [call_id for response in responses for call_id in _ids(script, response, format)]
    error = unknown_answer(turn, ids, script.documents)
    if error is not None:
        raise error


def _ids(script: Script, response: ScriptedResponse, format: Format) -> Iterator[str]:
    try:
        for call in format.calls(response.body):
            yield call.call_id
    except ConfigError as error:
        raise ConfigError(error.message, error.hint, code=error.code, file=response.file) from None
