"""For whom, and for what, is a plan made?"""

from typing import Annotated

import typer

from toolkeeper.cli.option import PROVIDERS

User = Annotated[str | None, typer.Option(metavar="NAME", help="On whose behalf (default: local).")]
Provider = Annotated[
    str | None,
    typer.Option(metavar="NAME", help=f"One of {', '.join(PROVIDERS)} (default: generic)."),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The provider's model; with it a provider may search on its side."
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Where the provider is asked (default: its own address)."),
]
Intent = Annotated[str | None, typer.Option(metavar="JSON", help="What the user toggled.")]
Attributes = Annotated[
    str | None, typer.Option(metavar="JSON", help="Session attributes, an object.")
]
