"""Which configuration did a plan see?"""

from dataclasses import asdict

from toolkeeper.runtime.configuration.agent import Agent
from toolkeeper_contract import digest


def agent_revision(agent: Agent) -> str:
    """The digest (64 hex digits) of everything in `agent` that can change its plan.

    Limits, approvers and the way to re-plan are left out: they change calls, not what is seen, and
    a plan made before they changed is still the plan.
    """
    return digest(
        {
            "name": agent.name,
            "tools": list(agent.tools),
            "servers": list(agent.servers),
            "toolsets": {name: list(tools) for name, tools in agent.toolsets.items()},
            "overlays": {name: list(tools) for name, tools in agent.overlays.items()},
            "deferred_tools": list(agent.deferred_tools),
            "always_defined": list(agent.always_defined),
            "pin": [{"when": dict(pin.when), "tools": list(pin.tools)} for pin in agent.pin],
            "control_tools": list(agent.control_tools),
            "disclosure": agent.disclosure,
            "listing": agent.listing,
            "search": asdict(agent.search),
            "caps": asdict(agent.caps),
        }
    )
