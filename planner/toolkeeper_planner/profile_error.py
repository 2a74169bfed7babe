"""How is a fault in an agent's configuration told?"""

from toolkeeper_contract import Code, ConfigError, key_text
from toolkeeper_planner.agent import AgentProfile


def profile_error(
    agent: AgentProfile,
    path: tuple[str | int, ...],
    message: str,
    hint: str | None,
    *,
    code: Code = Code.CONFIG_INVALID,
) -> ConfigError:
    """The error about `agents.<name>` and the keys and positions of `path` below it."""
    return ConfigError(message, hint, code=code, key=key_text(("agents", agent.name, *path)))
