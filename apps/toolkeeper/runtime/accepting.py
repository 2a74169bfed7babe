"""How are definitions accepted: a server's first listing by itself, later ones by an operator?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.acceptance import FIRST_LISTING, Acceptance, Standing
from toolkeeper.runtime.assembly import open_store_to_read
from toolkeeper.runtime.configuration import Configuration
from toolkeeper.runtime.definition_change import change
from toolkeeper.runtime.discovery import Discovery
from toolkeeper.runtime.drift import accepted_by
from toolkeeper_contract import (
    Clock,
    Code,
    ConfigError,
    Ledger,
    Registry,
    RunError,
    SourceState,
    Tool,
    did_you_mean,
    is_literal,
    is_pattern,
    matches,
)

if TYPE_CHECKING:
    from toolkeeper.runtime.keeper import Toolkeeper

OPERATOR = "operator"

SHORTEST_PREFIX = 12
"""Digits of a fingerprint that are enough to name a definition: as many as are shown."""

_FINGERPRINT = re.compile(f"[0-9a-fA-F]{{{SHORTEST_PREFIX},64}}")


async def acceptance_now(
    ledger: Ledger | None, configuration: Configuration, clock: Clock
) -> Acceptance:
    """What is accepted by now; nothing where there is no store yet. Writes nothing.

    A store that cannot be read is an error and never "nothing yet".
    """
    if ledger is not None:
        return Acceptance.of(await ledger.accepted_tools())
    from toolkeeper_ledger import is_there

    if not is_there(configuration.store):
        return Acceptance.of(())
    ledger = open_store_to_read(configuration, clock=clock)
    try:
        return Acceptance.of(await ledger.accepted_tools())
    finally:
        await ledger.close()


async def keep_first_listings(
    ledger: Ledger, discovery: Discovery, names: frozenset[str], clock: Clock
) -> bool:
    """Accepts what servers of `names` list for the first time; says whether there was any.

    Another process may have been the first meanwhile: then its listing stands, and this one is
    held against it.
    """
    tools = discovery.first_listings(names)
    if not tools:
        return False
    await ledger.accept(
        accepted_by(FIRST_LISTING, tools, clock.now()),
        definitions=[tool.definition for tool in tools],
        first=True,
    )
    discovery.know(Acceptance.of(await ledger.accepted_tools()))
    return True


@dataclass(frozen=True, slots=True)
class Accepted:
    """What an operator's word changed about one tool; `standing` is how it stood before."""

    tool: Tool
    standing: Standing
    was: str | None
    diff: dict[str, Any]

    def account(self) -> dict[str, Any]:
        """The keys that `tools accept` prints."""
        return {
            "name": self.tool.name,
            "source": self.tool.identity.source,
            "fingerprint": self.tool.fingerprint,
            "was": self.was,
            "state": self.standing.value,
            "diff": self.diff,
        }


async def accept_tools(
    keeper: "Toolkeeper",
    wanted: Sequence[str],
    *,
    by: str = OPERATOR,
    fingerprint: str | None = None,
) -> list[Accepted]:
    """Accepts the tools that these names or written globs mean, as they are listed now.

    One entry for each, by name; what was accepted already is among them and stays as it is.
    ConfigError, and nothing is accepted, where one of `wanted` means no listed tool.
    `fingerprint` is the beginning of what the operator looked at, for one tool:
    RunError(tool_pin_mismatch), and nothing is accepted, when it is listed otherwise by now.
    """
    if fingerprint is not None:
        _check_prefix(fingerprint, wanted)
    if not by.strip():
        raise ConfigError("the name of who accepts is empty", "name one with `--as`")
    registry = await keeper.everything()
    named = _named(registry, wanted)
    if fingerprint is not None:
        _check_fingerprint(named[0], fingerprint)
    await keeper.open()
    ledger, discovery = keeper.ledger, keeper.discovery
    # A server that was never seen shows its first listing: that stands as a whole.
    sources = frozenset(tool.identity.source for tool in named)
    await keep_first_listings(ledger, discovery, sources, keeper.clock)
    acceptance = Acceptance.of(await ledger.accepted_tools())
    done = []
    for tool in named:
        standing = discovery.standing(tool)
        known = acceptance.accepted.get(tool.name)
        was = known.fingerprint if known else None
        diff = {}
        if standing is not Standing.ACCEPTED:
            before = await ledger.accepted_definition(was) if was else None
            diff = change(before, tool.definition)
        done.append(Accepted(tool, standing, was, diff))
    new = [each.tool for each in done if each.standing is not Standing.ACCEPTED]
    await ledger.accept(
        accepted_by(by, new, keeper.clock.now()), definitions=[tool.definition for tool in new]
    )
    return done


def _check_prefix(fingerprint: str, wanted: Sequence[str]) -> None:
    if len(wanted) != 1 or not is_literal(wanted[0]):
        raise ConfigError(
            "a fingerprint is one tool's: name that one only",
            "without `--fingerprint` several can be accepted as they are listed now",
        )
    if not _FINGERPRINT.fullmatch(fingerprint):
        raise ConfigError(
            f"`{fingerprint}` is no fingerprint: {SHORTEST_PREFIX} to 64 digits of 0-9 and a-f",
            "`toolkeeper tools` shows them",
        )


def _check_fingerprint(tool: Tool, fingerprint: str) -> None:
    if not tool.fingerprint.startswith(fingerprint.lower()):
        raise RunError(
            Code.PIN_MISMATCH,
            f"`{tool.name}` is listed otherwise by now: its fingerprint is "
            f"{tool.fingerprint[: len(fingerprint)]}, not {fingerprint.lower()}",
            "nothing was accepted; look at it again with `toolkeeper tools`",
        )


def _named(registry: Registry, wanted: Sequence[str]) -> list[Tool]:
    found: dict[str, Tool] = {}
    for name in wanted:
        if not is_pattern(name):
            raise ConfigError(
                f"`{name}` has a character that no tool name can have",
                "`toolkeeper tools` shows the names; the only wildcard is `*`",
            )
        meant = {each: tool for each, tool in registry.tools.items() if matches(name, each)}
        if not meant:
            raise _unknown(registry, name)
        found.update(meant)
    return [found[name] for name in sorted(found)]


def _unknown(registry: Registry, name: str) -> ConfigError:
    for status in registry.sources:
        if status.state is not SourceState.OK and name.startswith(f"mcp.{status.name}."):
            return ConfigError(
                f"`{name}` cannot be looked at: the source `{status.name}` is {status.state.value}",
                status.reason,
            )
    for refused in registry.refused:
        if name == f"mcp.{refused.source}.{refused.name}":
            return ConfigError(f"the tool `{name}` was refused at discovery", refused.reason)
    if not is_literal(name):
        return ConfigError(f"no tool matches `{name}`", "`toolkeeper tools` shows the names")
    return ConfigError(f"there is no tool `{name}`", did_you_mean(name, registry.tools))
