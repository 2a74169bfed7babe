"""What does a call do to the world, and who says so?"""

from dataclasses import dataclass
from enum import StrEnum


class SideEffect(StrEnum):
    """The class of a call, from harmless to dear."""

    NONE = "none"
    WORKSPACE_READ = "workspace_read"
    NETWORK_READ = "network_read"
    WORKSPACE_WRITE = "workspace_write"
    NETWORK_WRITE = "network_write"
    MESSAGE_SEND = "message_send"
    CODE_EXECUTION = "code_execution"
    FINANCIAL = "financial"

    @property
    def reads(self) -> bool:
        """Whether calls of this class leave the world as it was; such tools rank first."""
        return self in _READS


_READS = frozenset({SideEffect.NONE, SideEffect.WORKSPACE_READ, SideEffect.NETWORK_READ})


class Flag(StrEnum):
    """What the class alone does not say."""

    DESTRUCTIVE = "destructive"
    IDEMPOTENT = "idempotent"
    OPEN_WORLD = "open_world"
    PRIVATE = "private"
    """Reads something that its owner would not publish."""


@dataclass(frozen=True, slots=True)
class Classification:
    """Side effect and flags of a tool; one value feeds ranking, policy and approval alike.

    `classified_by` names the source: `rule` (the operator's), `declaration` (ours), `annotations`
    (of a trusted server), `annotation_conflict`, or `worst_case`.
    `trusted_result` says whether a result may be read as ours rather than as somebody else's words.
    `destination` and `payload` name the arguments by which a call can carry data out; where both
    are empty, every text and number counts. `operands` are JSON pointers of arguments that name
    files of this machine, whose content an approval covers as well.
    """

    side_effect: SideEffect
    flags: frozenset[Flag]
    classified_by: str
    trusted_result: bool = False
    destination: tuple[str, ...] = ()
    payload: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()


CONTROL = Classification(SideEffect.NONE, frozenset(), "control", trusted_result=True)
"""Control tools do nothing themselves; `tool.call` is decided as the tool it names."""
