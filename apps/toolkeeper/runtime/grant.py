"""What do those who delegated a session still give it?

A delegated session has what its parent's turn pinned, less what was switched off for the parent
since.
"""

from collections.abc import Callable, Iterable, Mapping

from toolkeeper.runtime.configuration import Agent
from toolkeeper.runtime.lineage import Delegator
from toolkeeper.runtime.profile import profile_of
from toolkeeper.runtime.toggles import Toggles
from toolkeeper_contract import Registry


def bound_by(
    delegators: Iterable[Delegator],
    agent: Callable[[str], Agent],
    registry: Callable[[], Registry],
) -> frozenset[str] | None:
    """The names that are enabled for every one of `delegators`; None for all."""
    bound: frozenset[str] | None = None
    for above in delegators:
        toggles = Toggles(
            above.plan,
            profile_of(agent(above.record.agent)),
            registry,
            above.intent,
            above.record.granted,
        )
        allowed = toggles.allowed()
        if allowed is not None:
            bound = allowed if bound is None else bound & allowed
    return bound


def still_granted(
    granted: Mapping[str, str] | None, bound: frozenset[str] | None
) -> Mapping[str, str] | None:
    """`granted` (name -> fingerprint) within `bound`; None for a session that nobody delegated."""
    if granted is None or bound is None:
        return granted
    return {name: fingerprint for name, fingerprint in granted.items() if name in bound}
