"""Can an agent disclose its tools as its section says, with the control tools that it has?"""

from collections.abc import Iterator

from toolkeeper.runtime.configuration.file_model import AgentFile, ConfigurationFile
from toolkeeper.runtime.configuration.file_text import Documents
from toolkeeper.runtime.configuration.tool_name_field import folded
from toolkeeper_contract import TOOL_SEARCH, Code, ConfigError, Path, is_literal


def check_disclosure(
    at: Path,
    section: AgentFile,
    file: ConfigurationFile,
    documents: Documents,
    errors: list[ConfigError],
) -> None:
    """Adds an error for a way to disclose that lacks its control tool, and for each tool that is
    called like the agent's search."""
    if TOOL_SEARCH not in section.control_tools:
        _check_search_is_there(at, section, documents, errors)
    if section.search.name != TOOL_SEARCH:
        _check_search_name(at, section, file, documents, errors)


def _check_search_is_there(
    at: Path, section: AgentFile, documents: Documents, errors: list[ConfigError]
) -> None:
    if section.disclosure == "search":
        key = "disclosure"
    elif section.disclosure == "index" and section.listing == "none":
        # Tools that are neither listed nor found would be there for nobody.
        key = "listing"
    else:
        return
    place = (*at, "control_tools")
    other = documents.document(place)
    errors.append(
        documents.error(
            (*at, key),
            f"`{getattr(section, key)}` needs `{TOOL_SEARCH}`, "
            f"which is not among the `control_tools` (`{other.file}`, line {other.line(place)})",
            "add it there",
            code=Code.CONTROL_TOOL_UNAVAILABLE,
        )
    )


def _check_search_name(
    at: Path,
    section: AgentFile,
    file: ConfigurationFile,
    documents: Documents,
    errors: list[ConfigError],
) -> None:
    name = section.search.name
    reserved = folded(name)
    place = (*at, "search", "name")
    other = documents.document(place)
    for path, tool in _named(at, section, file):
        if is_literal(tool) and folded(tool) == reserved:
            errors.append(
                documents.error(
                    path,
                    f"`{tool}` cannot stand here: `{name}` is what `{at[-1]}` calls its search "
                    f"(`{other.file}`, line {other.line(place)})",
                    "choose another name for one of the two",
                    code=Code.TOOL_NAME_RESERVED,
                )
            )


def _named(at: Path, section: AgentFile, file: ConfigurationFile) -> Iterator[tuple[Path, str]]:
    """Every tool that the agent names, itself or by a toolset or an overlay, with its place."""
    for key in ("tools", "always_defined", "deferred_tools"):
        for index, tool in enumerate(getattr(section, key)):
            yield (*at, key, index), tool
    for number, pin in enumerate(section.pin):
        for index, tool in enumerate(pin.tools):
            yield (*at, "pin", number, "tools", index), tool
    for key in ("toolsets", "overlays"):
        for name in getattr(section, key):
            for index, tool in enumerate(getattr(file, key).get(name, ())):
                yield (key, name, index), tool
