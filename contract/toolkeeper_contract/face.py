"""When does a package load the names that it shows?

`__getattr__` and `__dir__` of a package, by which each name is loaded when it is first asked for:

__getattr__, __dir__ = face(__name__, {"toolkeeper_policy.rule": ("Rule", "Place")})

Who imports one name of a package then loads the module that holds it and what that needs, and not
the whole package with every library behind it (adr/0024).
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def face(
    package: str, places: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What `package` defines as its `__getattr__` and `__dir__`, for the names of these modules."""
    homes = {name: module for module, names in places.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module `{package}` has no attribute `{name}`")
        found = getattr(import_module(homes[name]), name)
        # The next one who asks does not come here again.
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return find, names
