"""Stage 4: may this run call a tool of that name, and is it still the one that was pinned?

Against the run's pins only, exact and case-sensitive; then live, because what was taken away since
the turn began must not run.
"""

from toolkeeper_contract import CONTROL_TOOLS, TOOL_CALL, AdvertisedAs, Code, Tool
from toolkeeper_index import plan_control
from toolkeeper_pipeline import message
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Recorded, Resolved, ShapeFault, Stop


def resolve(recorded: Recorded, run: Run, rim: Rim) -> Resolved:
    """The pinned tool. Stops with not_offered, withdrawn, pin mismatch or a missing scope."""
    if not recorded.named:
        assert isinstance(recorded.arguments, ShapeFault)
        raise Stop(recorded.arguments.code, recorded.arguments.text)
    name = recorded.tool_name
    if name in CONTROL_TOOLS or name in run.plan.controls:
        return Resolved(recorded, _control(recorded, run))
    pinned = run.plan.pins.get(name)
    registry = rim.registry()
    if pinned is None:
        if name in registry.quarantined and name in run.formerly:
            # Nothing leaks: this session has known the tool, before its definition changed.
            raise Stop(Code.PIN_MISMATCH, message.PIN_MISMATCH, tool=registry.tools.get(name))
        raise Stop(Code.NOT_OFFERED, message.NOT_AVAILABLE)
    tool = registry.tools.get(name)
    if tool is None or not run.enabled(name):
        raise Stop(Code.WITHDRAWN, message.NOT_AVAILABLE, tool=tool)
    if tool.fingerprint != pinned or name in registry.quarantined:
        raise Stop(Code.PIN_MISMATCH, message.PIN_MISMATCH, tool=tool)
    if not run.principal.scopes.issuperset(tool.scopes):
        raise Stop(Code.DENIED_SCOPE, message.DENIED_SCOPE, tool=tool)
    return Resolved(recorded, tool)


def _control(recorded: Recorded, run: Run) -> Tool:
    # A control tool inside `tool.call` is a hardline: it would be a second way round every rule.
    inside = recorded.advertised_as is AdvertisedAs.TOOL_CALL
    name = recorded.tool_name
    if inside or name not in run.plan.controls or name == TOOL_CALL:
        raise Stop(Code.NOT_OFFERED, message.NOT_AVAILABLE)
    return plan_control(run.plan, name)
