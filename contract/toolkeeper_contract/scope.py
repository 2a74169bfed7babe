"""How far does an answer reach?"""

from enum import StrEnum


class Scope(StrEnum):
    """This call, this session, or every session of user and agent."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"

    @property
    def rank(self) -> int:
        """ONCE < SESSION < ALWAYS."""
        return _RANK[self]

    def up_to(self) -> "tuple[Scope, ...]":
        """The scopes that reach as far as this one at most, the narrowest first."""
        return tuple(scope for scope in Scope if scope.rank <= self.rank)


_RANK = {Scope.ONCE: 0, Scope.SESSION: 1, Scope.ALWAYS: 2}
