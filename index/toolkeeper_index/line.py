"""What is the one line by which a deferred tool is known?"""

from toolkeeper_contract import Tool, is_canonical_name
from toolkeeper_index.cleaning import clean_line
from toolkeeper_index.definition_text import cut
from toolkeeper_index.envelope import encoded
from toolkeeper_index.parameter import Parameters, parameters
from toolkeeper_index.sentence import SENTENCE_CAP, first_sentence

_MAX_NAMES = 12
_MAX_CHARACTERS = 240


def index_line(tool: Tool) -> str:
    """`schedule.update(id, title?, when?) - Moves or renames an appointment.`

    Exactly the text that the index region shows and the planner prices: cleaned, on one line, and
    encoded where the words are foreign. Required parameters come first, then the optional ones
    marked `?`; a long list says how many more there are. ValueError only for a name that no tool
    can have, which discovery refuses.
    """
    if not is_canonical_name(tool.name):
        raise ValueError("the tool's name has a character that no name can have")
    signature = f"{tool.name}({_listed(parameters(tool.definition.input_schema))})"
    sentence = first_sentence(tool.definition.description)
    if not sentence and tool.definition.title:
        title = clean_line(tool.definition.title[: SENTENCE_CAP * 16])
        sentence = title if len(title) <= SENTENCE_CAP else cut(title, SENTENCE_CAP)
    line = f"{signature} - {sentence}" if sentence else signature
    return encoded(line) if tool.foreign else line


def _listed(found: Parameters) -> str:
    names = [*found.required, *(f"{name}?" for name in found.optional)]
    shown: list[str] = []
    length = 0
    for name in names[:_MAX_NAMES]:
        length += len(name) + 2
        if shown and length > _MAX_CHARACTERS:
            break
        shown.append(name)
    more = len(names) - len(shown) + found.unnamed
    if not more:
        return ", ".join(shown)
    hidden = max(0, len(found.required) - len(shown))
    required = f", {hidden} required" if hidden else ""
    return ", ".join([*shown, f"{more} more{required}"])
