"""How does a model read the answer to its search?"""

from toolkeeper_contract import TOOL_CALL, Tool
from toolkeeper_index.answer import SearchAnswer, SearchFailure
from toolkeeper_index.cleaning import json_text
from toolkeeper_index.definition_text import cleaned_definition_text, cleaned_schema
from toolkeeper_index.envelope import closing, encoded, opening

_FAILURES = {
    SearchFailure.EMPTY_QUERY: "the query is empty: say in a few words what the tool should do",
    SearchFailure.QUERY_NOT_TEXT: "the query is not a text: give one string of a few words",
    SearchFailure.LIMIT_INVALID: "the limit is not a whole number of at least 1",
    SearchFailure.SELECT_INVALID: "`select` is not a short list of exact tool names",
    SearchFailure.NO_MATCH: "no tool matches: nothing here does what the query asks for",
}
_REPRINTED = (SearchFailure.EMPTY_QUERY, SearchFailure.NO_MATCH)


def render_answer(
    answer: SearchAnswer, *, token: str, index: str = "", call_name: str | None = TOOL_CALL
) -> str:
    """The text of a search's result.

    Full definitions (`name`, `description`, `parameters`), one JSON object a line in rank order;
    those of foreign tools stand inside envelopes. A failure says why; where nothing answered, the
    index region `index` is printed again. `call_name` is the provider's name for `tool.call`, None
    where it is not offered.
    """
    if answer.failure is not None:
        message = _FAILURES.get(answer.failure) or _unknown(answer.unknown)
        if index and answer.failure in _REPRINTED:
            return f"{message}\n\n{index}"
        return message
    count = len(answer.tools)
    them = "it" if count == 1 else "they"
    way = "by name" if call_name is None else f"by {call_name} or by name"
    lines = [f"{count} tool{'' if count == 1 else 's'} found; {them} can be called at once, {way}:"]
    inside: str | None = None
    for tool in answer.tools:
        source = tool.identity.source if tool.foreign else None
        if source != inside:
            if inside is not None:
                lines.append(closing(token))
            if source is not None:
                lines.append(opening(token, source))
            inside = source
        lines.append(definition_line(tool))
    if inside is not None:
        lines.append(closing(token))
    return "\n".join(lines)


def definition_line(tool: Tool) -> str:
    """A tool's full definition as one line of JSON, encoded where its words are foreign."""
    definition = tool.definition
    text = json_text(
        {
            "name": tool.name,
            "description": cleaned_definition_text(definition.description),
            "parameters": cleaned_schema(definition.input_schema),
        }
    )
    return encoded(text) if tool.foreign else text


def _unknown(positions: tuple[int, ...]) -> str:
    places = ", ".join(str(position) for position in positions)
    which = "name" if len(positions) == 1 else "names"
    return (
        f"unknown {which} in `select` at position {places}: give names exactly as the index or an "
        "earlier search shows them"
    )
