"""On whose behalf does a session act?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Principal:
    """A user and the scopes they hold; absence of a scope is never permission."""

    user: str
    scopes: frozenset[str] = frozenset()
