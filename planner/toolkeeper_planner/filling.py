"""Which candidates get a definition, first-fit in rank order?"""

from collections.abc import Sequence
from dataclasses import dataclass

from toolkeeper_contract import Caps, ConfigError, Tool, key_text
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.pricing import Pricing


@dataclass(frozen=True, slots=True)
class Filled:
    """The tools array without its order: candidates and control tools with their prices.

    `defined` are candidates in rank order; `over` is what did not fit, in rank order: the first
    `dear` of it were passed over for their price, the rest came when no slot was left.
    """

    controls: tuple[Tool, ...]
    defined: tuple[Tool, ...]
    over: tuple[Tool, ...]
    dear: int
    prices: dict[str, int]
    tokens: int


def fill(
    agent: AgentProfile,
    candidates: Sequence[Tool],
    always: int,
    controls: Sequence[Tool],
    pricing: Pricing,
) -> Filled:
    """Control tools first, then candidates while both remaining caps hold them.

    A candidate that is too dear is passed over, and smaller ones after it may still be defined.
    Raises ConfigError when the control tools or the first `always` candidates do not fit.
    """
    caps = agent.caps
    prices: dict[str, int] = {}
    tokens = 0
    for control in controls:
        prices[control.name] = price = pricing.definition(control)
        tokens += price
    if len(controls) > caps.definitions or tokens > caps.definition_tokens:
        raise _no_room(agent, len(controls), tokens)
    free = caps.definitions - len(controls)
    defined: list[Tool] = []
    over: list[Tool] = []
    late: Sequence[Tool] = ()
    for position, tool in enumerate(candidates):
        if len(defined) >= free:
            if position < always:
                raise _too_many(agent, tool, caps, tokens, len(controls))
            # Full: nothing after this can fit, so nothing after this needs a price.
            late = candidates[position:]
            break
        price = pricing.definition(tool)
        if tokens + price <= caps.definition_tokens:
            tokens += price
            prices[tool.name] = price
            defined.append(tool)
        elif position < always:
            raise _too_many(agent, tool, caps, tokens + price, len(controls))
        else:
            over.append(tool)
    return Filled(tuple(controls), tuple(defined), (*over, *late), len(over), prices, tokens)


def _no_room(agent: AgentProfile, count: int, tokens: int) -> ConfigError:
    return ConfigError(
        "the caps leave no room for the control tools that this agent needs",
        f"they take {count} definitions and {tokens} definition tokens: raise the caps, or name "
        "fewer control tools",
        key=key_text(("agents", agent.name, "caps")),
    )


def _too_many(
    agent: AgentProfile, tool: Tool, caps: Caps, tokens: int, controls: int
) -> ConfigError:
    beside = f" beside the control tools ({controls})" if controls else ""
    return ConfigError(
        f"`{tool.name}` in always_defined does not fit the caps{beside}: {caps.definitions} "
        f"definitions and {caps.definition_tokens} definition tokens",
        f"raise the caps or define fewer tools always ({tokens} tokens up to this one)",
        key=key_text(("agents", agent.name, "always_defined")),
    )
