"""Which tools exist now?"""

from collections.abc import Mapping
from dataclasses import dataclass

from toolkeeper_contract.tool import RefusedTool, SourceStatus, Tool


@dataclass(frozen=True, slots=True)
class Registry:
    """A snapshot of everything that was discovered.

    `tools` are by canonical name; their order means nothing. `refused` are the ones that discovery
    turned away. `sources` has one entry for each configured source, sorted by name.
    `quarantined` names tools that are listed but not callable until an operator accepts them.
    """

    tools: Mapping[str, Tool]
    refused: tuple[RefusedTool, ...] = ()
    sources: tuple[SourceStatus, ...] = ()
    quarantined: frozenset[str] = frozenset()
