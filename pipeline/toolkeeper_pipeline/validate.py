"""Stage 5: do the arguments satisfy the tool's own schema?

The original schema under its own dialect, never a provider's projection of it, and no coercion:
arguments are judged as sent, or as the program's own hooks want them.
"""

from toolkeeper_contract import Code
from toolkeeper_pipeline import message
from toolkeeper_pipeline.control import is_search
from toolkeeper_pipeline.rewrite import rewritten
from toolkeeper_pipeline.run import Rim, Run
from toolkeeper_pipeline.states import Resolved, ShapeFault, Stop, Validated


def validate(resolved: Resolved, run: Run, rim: Rim) -> Validated:
    """The arguments that satisfy the schema. Stops with arguments_invalid."""
    recorded, tool = resolved.recorded, resolved.tool
    # A model that was never shown the definition cannot guess it: the error carries the schema.
    show_schema = tool.name not in run.plan.defined
    arguments = recorded.arguments
    if isinstance(arguments, ShapeFault):
        if not arguments.empty or rim.schemas.input(tool).faults({}):
            text = message.unreadable(
                tool, arguments.text, show_schema=show_schema, token=run.token
            )
            raise Stop(Code.ARGUMENTS_INVALID, text, tool=tool)
        arguments = {}
    if is_search(tool):
        # A search judges its own arguments: each failure of it is an error result, not a refusal.
        return Validated(recorded, tool, arguments)
    arguments = rewritten(resolved, arguments, run, rim)
    faults = rim.schemas.input(tool).faults(arguments)
    if faults:
        text = message.invalid(tool, faults, show_schema=show_schema, token=run.token)
        raise Stop(Code.ARGUMENTS_INVALID, text, tool=tool)
    return Validated(recorded, tool, arguments)
