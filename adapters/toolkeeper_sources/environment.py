"""What of our environment may a server's process see?"""

import os
from collections.abc import Mapping

from toolkeeper_contract import ConfigError

INHERITED = frozenset(
    {
        "HOME",
        "LANG",
        "LANGUAGE",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TMPDIR",
        "TZ",
        "USER",
        # the same for Windows, where programs do not start without them
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATHEXT",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
    }
)
"""Everything else of the parent's environment stays with the parent."""

_OURS = "TOOLKEEPER_"


def child_environment(
    configured: Mapping[str, str], parent: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of a server's process: a few ordinary variables, and the configured ones.

    Raises ConfigError for a configured variable that begins with `TOOLKEEPER_`: those hold secrets
    (an approver's) that no tool's process may read.
    """
    for name in configured:
        if name.upper().startswith(_OURS):
            raise ConfigError(
                f"the variable `{name}` cannot be handed to a server",
                "names that begin with `TOOLKEEPER_` are kept from every tool; rename it",
            )
    source = os.environ if parent is None else parent
    inherited = {
        name: value
        for name, value in source.items()
        if name.upper() in INHERITED or name.upper().startswith("LC_")
    }
    return {**inherited, **configured}
