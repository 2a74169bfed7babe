"""Which candidates get a definition, first-fit in rank order?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolkeeper_contract import Caps, ConfigError, Placed, Reason, Tool, key_text
from toolkeeper_planner.admission import Admitted
from toolkeeper_planner.agent import AgentProfile
from toolkeeper_planner.pricing import Pricing


@dataclass(frozen=True, slots=True)
class Filled:
    """The tools array without its order: candidates and control tools with their prices.

    `defined` are candidates in rank order; `over` is what did not fit, in rank order: the first
    `dear` of it were passed over for their price, the rest came when no slot was left. `appended`
    stand behind everything else: loaded tools in load order, then the forced one.
    """

    controls: tuple[Tool, ...]
    defined: tuple[Tool, ...]
    over: tuple[Tool, ...]
    dear: int
    prices: dict[str, int]
    tokens: int
    loaded: tuple[Tool, ...] = ()
    forced: Tool | None = None

    @property
    def appended(self) -> tuple[Tool, ...]:
        return self.loaded if self.forced is None else (*self.loaded, self.forced)


def fill(
    agent: AgentProfile,
    admitted: Admitted,
    candidates: Sequence[Tool],
    controls: Sequence[Tool],
    pricing: Pricing,
    forced: Tool | None = None,
) -> Filled:
    """Control tools first, then what must be defined, `forced`, and the rest while it fits.

    `candidates` are tools of `admitted` in rank order without `forced`, all in front included. A
    candidate that is too dear is passed over, and smaller ones after it may still be defined.
    Raises ConfigError when the control tools, or what must be defined, do not fit.
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
    must = admitted.must
    reserved = [tool for tool in candidates[: admitted.front] if tool.name in must] if must else []
    if forced is not None:
        reserved.append(forced)
    for tool in reserved:
        prices[tool.name] = price = pricing.definition(tool)
        tokens += price
        free -= 1
        if free < 0 or tokens > caps.definition_tokens:
            raise _too_many(agent, tool, tool is forced, caps, tokens, len(controls))
    defined: list[Tool] = []
    over: list[Tool] = []
    late: list[Tool] = []
    for position, tool in enumerate(candidates):
        if must and position < admitted.front and tool.name in must:
            defined.append(tool)
            continue
        if free <= 0:
            if position < admitted.front:
                late.append(tool)
                continue
            # Full: nothing after this can fit, so nothing after this needs a price.
            late += candidates[position:]
            break
        price = pricing.definition(tool)
        if tokens + price <= caps.definition_tokens:
            tokens += price
            free -= 1
            prices[tool.name] = price
            defined.append(tool)
        else:
            over.append(tool)
    return Filled(
        tuple(controls),
        tuple(defined),
        (*over, *late),
        len(over),
        prices,
        tokens,
        forced=forced,
    )


def append_loaded(
    filled: Filled,
    queue: Sequence[Tool],
    loaded: Sequence[str],
    caps: Caps,
    pricing: Pricing,
) -> tuple[Filled, Sequence[Tool], tuple[Placed, ...]]:
    """`filled` with the loaded tools of `queue` that fit, the rest of the queue, the overflow.

    `loaded` are names in load order, each once. They only take what is left of the caps, so no
    definition moves for them. The overflow's reason is the cap that was too small.
    """
    names = frozenset(loaded)
    waiting = {tool.name: tool for tool in queue if tool.name in names}
    if not waiting:
        return filled, queue, ()
    free = caps.definitions - len(filled.prices)
    tokens = filled.tokens
    prices: dict[str, int] = {}
    appended: list[Tool] = []
    overflow: list[Placed] = []
    for name in loaded:
        tool = waiting.get(name)
        if tool is None:
            continue
        if len(appended) >= free:
            overflow.append(Placed(name, Reason.DEFINITION_CAP))
            continue
        price = pricing.definition(tool)
        if tokens + price > caps.definition_tokens:
            overflow.append(Placed(name, Reason.DEFINITION_TOKENS))
            continue
        tokens += price
        prices[name] = price
        appended.append(tool)
    rest = [tool for tool in queue if tool.name not in prices]
    grown = replace(filled, loaded=tuple(appended), prices=filled.prices | prices, tokens=tokens)
    return grown, rest, tuple(overflow)


def _no_room(agent: AgentProfile, count: int, tokens: int) -> ConfigError:
    return ConfigError(
        "the caps leave no room for the control tools that this agent needs",
        f"they take {count} definitions and {tokens} definition tokens: raise the caps, or name "
        "fewer control tools",
        key=key_text(("agents", agent.name, "caps")),
    )


def _too_many(
    agent: AgentProfile, tool: Tool, forced: bool, caps: Caps, tokens: int, controls: int
) -> ConfigError:
    beside = f" beside the control tools ({controls})" if controls else ""
    limits = f"{caps.definitions} definitions and {caps.definition_tokens} definition tokens"
    if forced:
        return ConfigError(
            f"the forced tool `{tool.name}` does not fit the caps: {limits}",
            f"raise the caps or force another tool ({tokens} tokens up to this one)",
            key="tool_choice",
        )
    always = tool.name in agent.always_defined
    where = "always_defined" if always else "pin"
    return ConfigError(
        f"`{tool.name}` in {where} does not fit the caps{beside}: {limits}",
        "raise the caps or "
        + ("define fewer tools always" if always else "pin fewer tools by their names")
        + f" ({tokens} tokens up to this one)",
        key=key_text(("agents", agent.name, where)),
    )
