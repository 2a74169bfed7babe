"""What holds for every test."""

import os

from hypothesis import settings

# On a checkout that decides about a change the examples are the same in every run, so that a new
# fault is found by a developer, who can mend it, and not by a build of something else.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")
