"""How is an answer written on a command line: by whom, how far, for how long, and why?"""

from datetime import timedelta
from typing import Annotated

import typer

from toolkeeper_contract import ConfigError, Scope, did_you_mean

As = Annotated[
    str | None,
    typer.Option("--as", metavar="NAME", help="Who answers, one of the call's approvers."),
]
Reason = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why; the model reads it on a no.")
]
ScopeName = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="How far the answer reaches: once, session or always. Beyond once it opens a grant.",
    ),
]
For = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="DURATION",
        help="How long the grant holds, 30m or 7d, say. Left out: 24 h for a session, else as long "
        "as the agent's `limits.grant_expiry` allows.",
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        "--condition",
        metavar="CEL",
        help="Only calls of which this holds, `args.to == 'ana@example.com'`, say. Left out: any "
        "arguments.",
    ),
]
DespiteTaint = Annotated[
    bool,
    typer.Option(
        "--despite-taint", help="The grant also holds once the session has read untrusted text."
    ),
]


def scope_option(text: str) -> Scope:
    """The scope that is named. ConfigError for a word that is none."""
    names = [scope.value for scope in Scope]
    if text not in names:
        hint = did_you_mean(text, names) or "write `once`, `session` or `always`"
        raise ConfigError(f"`{text}` is not a scope", hint)
    return Scope(text)


def duration_option(text: str | None) -> timedelta | None:
    """The duration that is written. ConfigError for what is none."""
    from toolkeeper.runtime.configuration.duration import LONGEST, seconds

    if text is None:
        return None
    found = seconds(text)
    if found is None or found > LONGEST:
        raise ConfigError(f"`{text}` is not a duration", "write `30m`, `12h` or `7d`, say")
    return timedelta(seconds=found)
