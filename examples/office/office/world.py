"""What is in the world before the assistant does anything in it?

Everything is under `world/`, made anew each time: the store, and a repository with one commit and
the minutes of a meeting that nobody has committed yet.
"""

import os
import shutil
import subprocess

from office.store import WORLD, create_store

REPOSITORY = WORLD / "repository"
MINUTES = """Minutes of the board meeting, 3 December 2026

1. The budget is approved.
2. The new office is taken from March on.
"""


class NoGit(Exception):
    """The `git` program, which mcp-server-git runs, is not installed."""


def make_world() -> None:
    """Removes the old world and makes a new one. Raises NoGit."""
    if shutil.which("git") is None:
        raise NoGit
    if WORLD.exists():
        shutil.rmtree(WORLD)
    create_store()
    REPOSITORY.mkdir()
    # An empty template: no hooks of this machine.
    git("init", "--quiet", "--template=")
    git("symbolic-ref", "HEAD", "refs/heads/main")
    git("config", "user.name", "Office assistant")
    git("config", "user.email", "assistant@office.example")
    (REPOSITORY / "README.md").write_text("# Minutes of the board\n", "utf-8")
    git("add", "README.md")
    git("commit", "--quiet", "--message", "Begin the book of minutes")
    (REPOSITORY / "minutes.md").write_text(MINUTES, "utf-8")


def git(*arguments: str) -> str:
    """What git prints, run in the repository without the settings of this user or machine."""
    # A hook that starts the demo would hand down the repository that it runs for.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *arguments],
        cwd=REPOSITORY,
        env=environment,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout
