"""Which plan does a word on the command line mean?"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkeeper.cli.reading import ledger_to_read
from toolkeeper_contract import ConfigError, Plan

_DIGEST = re.compile("[0-9a-f]{1,64}")
_WHAT = (
    "name a stored plan by the beginning of its digest, a file with a plan, or a configuration file"
)


@dataclass(frozen=True, slots=True)
class PlanFinder:
    """Finds plans: stored ones in the ledger, those in files, and those of configurations.

    `config` and `store` say which ledger. `wanted` are what a configuration is planned for:
    `agent` (None where it has only one), `user`, `provider`, `intent`, `attributes`, `model`,
    `endpoint`.
    """

    config: Path
    store: str | None
    wanted: dict[str, Any]

    async def find(self, word: str) -> Plan:
        """The plan that `word` means; a file goes before a digest. ConfigError when none is."""
        path = Path(word)
        if _is_file(path):
            return await self._of_file(path)
        if _DIGEST.fullmatch(word):
            return await self._stored(word)
        raise ConfigError(f"there is no file `{word}`, and it is no digest of a plan", _WHAT)

    async def _of_file(self, path: Path) -> Plan:
        from toolkeeper.cli.plan_file import read_plan
        from toolkeeper.runtime import Toolkeeper
        from toolkeeper.runtime.configuration import read_text

        plan = read_plan(read_text(path), str(path))
        if plan is not None:
            return plan
        keeper = Toolkeeper.from_config(path)
        try:
            wanted = self.wanted
            if wanted["agent"] is None:
                wanted = {**wanted, "agent": _only(keeper.configuration.agents, path)}
            return (await keeper.sight(**wanted)).plan
        finally:
            await keeper.close()

    async def _stored(self, word: str) -> Plan:
        async with ledger_to_read(self.config, self.store) as ledger:
            exact = await ledger.plan(word)
            if exact is not None:
                return exact
            turns = await ledger.planned_turns()
        found = {turn.plan.digest: turn.plan for turn in turns if turn.plan.digest.startswith(word)}
        if not found:
            raise ConfigError(
                f"no stored plan's digest begins with `{word}`",
                "`toolkeeper audit plans` lists them",
            )
        if len(found) > 1:
            raise ConfigError(
                f"the digests of {len(found)} stored plans begin with `{word}`",
                "write more of the one you mean: "
                + ", ".join(f"`{digest[: len(word) + 8]}`" for digest in sorted(found)[:5]),
            )
        return found.popitem()[1]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _only(agents: Any, path: Path) -> str:
    if len(agents) != 1:
        raise ConfigError(
            "the configuration has several agents",
            "name one with `--agent`: " + ", ".join(f"`{name}`" for name in agents),
            file=str(path),
        )
    return str(next(iter(agents)))
