"""What does a YAML document say, and on which line does it say it?

Stricter than YAML: no duplicate keys, only string keys, no dates or other surprises beyond JSON's
types, and limits of size, depth and expansion (ten lines of aliases can stand for a billion nodes).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from toolkeeper_contract.errors import Code, ConfigError

MAX_CHARACTERS = 2_000_000
MAX_DEPTH = 64
MAX_NODES = 200_000


Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document: `value` is made of JSON types, `lines` maps each path to its line."""

    file: str
    value: Any
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int | None:
        """The 1-based line of `path`, or of the nearest ancestor that has one."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path)

    def error(
        self,
        path: Path,
        message: str,
        hint: str | None = None,
        *,
        code: Code = Code.CONFIG_INVALID,
    ) -> ConfigError:
        """An error that names this file, the line of `path` and its key."""
        return ConfigError(
            message, hint, code=code, file=self.file, line=self.line(path), key=key_text(path)
        )


def key_text(path: Path) -> str | None:
    """`agents.chat.tools[2]` for a path; None for the document itself."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or None


def parse_document(text: str, file: str, *, code: Code = Code.CONFIG_INVALID) -> Document:
    """The document in `text`; raises ConfigError with `file` and a line for anything else."""
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(
            f"the document is larger than {MAX_CHARACTERS:,} characters",
            "split it into several files",
            code=code,
            file=file,
        )
    lines: dict[Path, int] = {}
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = None if node is None else _value(node, (), lines)
    except _Fault as fault:
        raise ConfigError(
            fault.message, fault.hint, code=code, file=file, line=fault.line
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ConfigError(
            f"this is not valid yaml: {error.problem or error.context}",
            "check the indentation, quotes and colons around this line",
            code=code,
            file=file,
            line=mark.line + 1 if mark else None,
        ) from None
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", None) or "unreadable characters"
        raise ConfigError(
            f"this is not valid yaml: {reason}", "save it as utf-8 text", code=code, file=file
        ) from None
    except RecursionError:
        raise ConfigError(
            f"the document is nested deeper than {MAX_DEPTH} levels", code=code, file=file
        ) from None
    return Document(file, value, lines)


class _Fault(Exception):
    def __init__(self, message: str, line: int, hint: str | None = None) -> None:
        self.message = message
        self.line = line
        self.hint = hint


def _value(node: yaml.Node, path: Path, lines: dict[Path, int]) -> Any:
    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    if len(lines) > MAX_NODES:
        raise _Fault(
            f"the document has more than {MAX_NODES:,} values once its aliases are written out",
            line,
            "use fewer aliases, or split it into several files",
        )
    if len(path) > MAX_DEPTH:
        raise _Fault(f"the document is nested deeper than {MAX_DEPTH} levels", line)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, lines)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, index), lines) for index, item in enumerate(node.value)]
    return _scalar(node, line)


def _mapping(node: yaml.MappingNode, path: Path, lines: dict[Path, int]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != "tag:yaml.org,2002:str":
            raise _Fault("a key must be a string", line, "put the key in quotes")
        key = key_node.value
        if key in result:
            raise _Fault(f"the key `{key}` stands here twice", line, "remove one of the two")
        lines[(*path, key)] = line
        result[key] = _value(value_node, (*path, key), lines)
    return result


def _scalar(node: yaml.Node, line: int) -> Any:
    if not isinstance(node, yaml.ScalarNode):
        raise _Fault(f"the tag `{node.tag}` is not allowed", line, "use plain values")
    constructor = yaml.SafeLoader("")
    if node.tag == "tag:yaml.org,2002:str":
        return node.value
    if node.tag == "tag:yaml.org,2002:null":
        return None
    if node.tag == "tag:yaml.org,2002:bool":
        return constructor.construct_yaml_bool(node)
    if node.tag == "tag:yaml.org,2002:timestamp":
        return node.value
    try:
        if node.tag == "tag:yaml.org,2002:int":
            return constructor.construct_yaml_int(node)
        if node.tag == "tag:yaml.org,2002:float":
            return constructor.construct_yaml_float(node)
    except ValueError:
        raise _Fault(f"`{node.value}` is not a number", line, "put it in quotes") from None
    raise _Fault(f"the tag `{node.tag}` is not allowed", line, "use plain values")
