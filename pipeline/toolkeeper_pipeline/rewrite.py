"""Which arguments does the program itself want instead of those that were sent?

All rewriting ends before validation and freezing: what is validated, decided, shown to an approver
and run are the same bytes.
"""

from collections.abc import Mapping
from typing import Any

from toolkeeper_contract import Code, SourceKind
from toolkeeper_pipeline import message
from toolkeeper_pipeline.receive import copied, unreadable
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Resolved, Stop


def rewritten(resolved: Resolved, arguments: Mapping[str, Any], run: Run, rim: Rim) -> Any:
    """The arguments to go on with. Stops where the program's own hook fails.

    A call that is taken up again was rewritten before it was frozen.
    """
    tool = resolved.tool
    again = resolved.recorded.call.parked is not None
    if rim.rewrite is None or again or tool.identity.kind is SourceKind.CONTROL:
        return arguments
    try:
        wanted = rim.rewrite(tool.name, arguments)
    except Exception:
        # What a hook was there to prevent must not happen because it broke off.
        raise Stop(Code.ARGUMENTS_INVALID, message.NOT_REWRITTEN, tool=tool) from None
    if wanted is arguments:
        return arguments
    if unreadable(wanted, run.limits) is not None:
        raise Stop(Code.ARGUMENTS_INVALID, message.NOT_REWRITTEN, tool=tool)
    # The hook may have kept it.
    return copied(dict(wanted))
