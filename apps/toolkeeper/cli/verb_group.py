"""Which verbs has a group, and where is each of them?

The verbs of a command line are many and one of them is called. So a group knows their names and
where they stand, and loads one when it is called, or all of them when their help is asked for.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup


def verb_group(places: Mapping[str, str]) -> type[TyperGroup]:
    """The `cls` of a Typer with these verbs behind its own ones, in their order.

    `places` says of each where it is: `approvals:app` is the Typer in `toolkeeper.cli.approvals`,
    `call:call` the function in `toolkeeper.cli.call`.
    """

    class VerbGroup(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = _Verbs(self.commands, places)

        def list_commands(self, ctx: Any) -> list[str]:
            return list(self.commands)

    return VerbGroup


class _Verbs(MutableMapping[str, Any]):
    """Commands by their names; those of `places` are made when they are asked for."""

    def __init__(self, made: Mapping[str, Any], places: Mapping[str, str]) -> None:
        self._made = dict(made)
        self._places = places
        self._names = [*made, *places]

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _verb(name, self._places[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __setitem__(self, name: str, command: Any) -> None:
        raise TypeError("a verb is where its group says")

    def __delitem__(self, name: str) -> None:
        raise TypeError("a verb is where its group says")


def _verb(name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    found = getattr(import_module(f"toolkeeper.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        command: Any = typer.main.get_group(found)
        command.name = name
        return command
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(found)
    return typer.main.get_command(alone)
