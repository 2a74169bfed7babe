"""Which rule packs are shipped, and what do they say?

A pack is a policy document like any other. Its text is part of the program, so that nothing has
to be read when a policy is made.
"""

from collections.abc import Mapping
from types import MappingProxyType

from toolkeeper_contract import Code, ConfigError, did_you_mean
from toolkeeper_policy.packs import (
    developer_workstation,
    lethal_trifecta,
    locked_down,
    reads_free,
)

PACKS: Mapping[str, str] = MappingProxyType(
    {
        "developer-workstation": developer_workstation.TEXT,
        "lethal-trifecta": lethal_trifecta.TEXT,
        "locked-down": locked_down.TEXT,
        "reads-free": reads_free.TEXT,
    }
)
"""The text of each shipped pack, by its name."""


def pack_names() -> tuple[str, ...]:
    """The names of the shipped packs, sorted."""
    return tuple(sorted(PACKS))


def pack_text(name: str) -> str:
    """The document of the shipped pack `name`; raises ConfigError where there is none."""
    if name not in PACKS:
        raise ConfigError(
            f"there is no policy pack `{name}`", did_you_mean(name, PACKS), code=Code.POLICY_INVALID
        )
    return PACKS[name]
