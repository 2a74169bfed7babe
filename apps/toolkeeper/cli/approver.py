"""How is an approver asked for their secret?"""

import os
import sys
from getpass import getpass

VARIABLE = "TOOLKEEPER_APPROVER_SECRET"


def secret_of(name: str) -> str | None:
    """The secret from the environment, else typed on the terminal; None without either."""
    return os.environ.get(VARIABLE) or ask(f"secret of {name}: ")


def ask(prompt: str) -> str | None:
    """What is typed on the terminal, unseen; None where there is none."""
    if not sys.stdin.isatty():
        return None
    return getpass(prompt)
