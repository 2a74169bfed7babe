"""With which ports does a keeper's pipeline touch the world?"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.operands import folder_of
from toolkeeper.runtime.profile import trusts_source
from toolkeeper_contract import Ledger, Registry, Sealer, Tool
from toolkeeper_pipeline import Pace, Rim, Schemas
from toolkeeper_sources import operand_digests

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper


def rim_of(keeper: "Toolkeeper", ledger: Ledger, sealer: Sealer, pace: Pace) -> Rim:
    """The keeper's ports; policy, registry and sources are asked anew for every call."""

    def registry() -> Registry:
        return keeper.discovery.registry(keeper.discovery.names)

    async def contents(
        tool: Tool, pointers: Sequence[str], arguments: Mapping[str, Any]
    ) -> Mapping[str, str]:
        folder = folder_of(keeper.configuration, tool.identity)
        return await operand_digests(pointers, arguments, folder)

    return Rim(
        ledger=ledger,
        sealer=sealer,
        clock=keeper.clock,
        ids=keeper.ids,
        redactor=keeper.redactor,
        registry=registry,
        policy=lambda: keeper.policy,
        source=lambda tool: keeper.discovery.source(tool),
        schemas=Schemas(),
        trusted=lambda tool: trusts_source(keeper.configuration, tool.identity),
        contents=contents,
        rewrite=keeper.rewriting,
        observer=keeper.lookout.observer,
        pace=pace,
    )
