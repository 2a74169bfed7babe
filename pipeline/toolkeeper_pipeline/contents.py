"""Is what a call's arguments name still what it was when the call was asked about?

Arguments are frozen; a file that one of them names is not. Where a tool declares such operands, an
approval covers their content as well.
"""

from collections.abc import Mapping

from toolkeeper_contract import Approval
from toolkeeper_pipeline.run import Rim
from toolkeeper_pipeline.states import Decided


async def contents_of(decided: Decided, rim: Rim) -> Mapping[str, str]:
    """A digest of what each declared operand names now, by its JSON pointer."""
    pointers = decided.classification.operands
    if not pointers:
        return {}
    frozen = decided.frozen
    return await rim.contents(frozen.tool, pointers, frozen.arguments)


async def changed(approval: Approval, decided: Decided, rim: Rim) -> tuple[str, ...]:
    """The operands whose content is not the one that was approved.

    One that is declared only since, or no longer, was not approved as it is now either.
    """
    if not approval.operands and not decided.classification.operands:
        return ()
    now = await contents_of(decided, rim)
    pointers = {*now, *approval.operands}
    return tuple(sorted(p for p in pointers if now.get(p) != approval.operands.get(p)))
