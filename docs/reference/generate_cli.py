"""Writes `cli.md`, the reference of the command line, from the command itself.

Run it after changing a verb: `python docs/reference/generate_cli.py`. A test says when it is due.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from toolkeeper.cli.keys import ACCEPTED, EXPORTED, KEYS, TOOL
from toolkeeper.cli.main import app

TARGET = Path(__file__).with_name("cli.md")

HEAD = """\
# The command line

*Made by `docs/reference/generate_cli.py` from the command itself; change it there.*

What was asked for stands on standard output, every message on standard error. With `--json` the
output is one JSON object, or JSON Lines where it is a list; the keys below are a contract.

| exit code | means |
| --- | --- |
| 0 | done |
| 1 | refused, parked or not all done |
| 2 | usage or configuration error, or a store that cannot be used |
| 130 | interrupted |

`plan`, `plan diff`, `search`, `tools`, `schema`, `approvals list`, `approvals show`, `grants list`
and the `audit` verbs but for `audit prune` write nothing. The others open the store for writing,
bring it to this release's version, and first end what expired (`approval.expired`, `lease.reaped`).
"""


def reference() -> str:
    """The whole page."""
    parts = [HEAD]
    for path, command in _verbs(typer.main.get_command(app), ()):
        parts.append(_section(path, command))
    return "\n".join(parts)


def _verbs(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield path, command
        return
    if command.invoke_without_command:
        yield path, command
    for name in command.list_commands(None):
        yield from _verbs(children[name], (*path, name))


def _section(path: tuple[str, ...], command: Any) -> str:
    verb = " ".join(path)
    parameters = [each for each in command.params if each.name != "help"]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    options = [each for each in parameters if each.param_type_name == "option"]
    words = [each.metavar if each.required else f"[{each.metavar}]" for each in arguments]
    shown = " ".join(["toolkeeper", *path, *words, *(["[options]"] if options else [])])
    lines = [f"## `{verb}`", "", _prose(command.help), "", f"    {shown}", ""]
    if parameters:
        lines += ["| | |", "| --- | --- |"]
        lines += [f"| `{each.metavar}` | {each.help} |" for each in arguments]
        lines += [f"| `{_written(each)}` | {_told(each)} |" for each in options]
        lines.append("")
    if verb in KEYS:
        form, keys = KEYS[verb]
        lines += [f"`--json`: {form}: " + ", ".join(f"`{key}`" for key in keys) + ".", ""]
    if verb == "audit export":
        lines += [_exported(what, keys) for what, keys in EXPORTED.items()] + [""]
    if verb == "tools":
        listed = ", ".join(f"`{key}`" for key in TOOL)
        lines += [f"Each of `tools`: {listed}.", ""]
    if verb == "tools accept":
        listed = ", ".join(f"`{key}`" for key in ACCEPTED)
        lines += [f"Each of `tools`: {listed}. `state` is how it stood before.", ""]
    return "\n".join(lines)


def _exported(what: str, keys: tuple[str, ...]) -> str:
    return f"- `{what}`: " + ", ".join(f"`{key}`" for key in keys)


def _prose(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _written(option: Any) -> str:
    value = f" {option.metavar}" if option.metavar else ""
    return ", ".join(option.opts) + value


def _told(option: Any) -> str:
    need = " Required." if option.required else ""
    default = option.default
    if need or default in (None, False, True):
        return f"{option.help}{need}"
    return f"{option.help} Default: `{default}`."


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
