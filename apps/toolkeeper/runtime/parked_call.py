"""What is known at the desk of a call that waits, so that policy can be asked about it again?"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toolkeeper.runtime.configuration import Agent, Configuration
from toolkeeper.runtime.profile import trusts_source
from toolkeeper.runtime.session_facts import facts_of
from toolkeeper_contract import (
    Approval,
    Classification,
    Decision,
    Flag,
    Invocation,
    Ledger,
    Principal,
    Question,
    Sealer,
    SideEffect,
    Tool,
    ToolDefinition,
    ToolIdentity,
)
from toolkeeper_pipeline import SessionFacts
from toolkeeper_planner import source_of
from toolkeeper_policy import answerers


@dataclass(frozen=True, slots=True)
class ParkedCall:
    """The call that `asked` is about, with its session as it is now.

    `agent` is None when it is configured no longer. `trusted` says whether the tool's source is.
    """

    asked: Approval
    row: Invocation
    agent: Agent | None
    principal: Principal
    attributes: Mapping[str, Any]
    facts: SessionFacts
    trusted: bool

    @property
    def classification(self) -> Classification:
        """The class of the call as it stands on its row."""
        row = self.row
        side_effect = SideEffect(row.side_effect) if row.side_effect else SideEffect.NETWORK_WRITE
        return Classification(side_effect, frozenset(map(Flag, row.flags)), "row")

    @property
    def tool(self) -> Tool:
        """The tool as far as the question kept it: its name and its input schema."""
        identity = ToolIdentity.of_name(self.row.tool)
        definition = ToolDefinition(identity.raw_name, None, "", self.asked.input_schema)
        return Tool.of(identity, definition, self.classification)

    def question(
        self, arguments: Mapping[str, Any], classification: Classification, at: datetime
    ) -> Question:
        """The question of the call with these arguments, at this moment."""
        return Question(
            tool=self.row.tool,
            source=source_of(self.row.tool),
            classification=classification,
            agent=self.asked.binding.agent,
            principal=self.principal,
            arguments=arguments,
            attributes=self.attributes,
            trusted=self.trusted,
            tainted=self.facts.tainted,
            private=self.facts.private,
            provenance=self.facts.provenance,
            advertised_as=self.row.advertised_as.value,
            at=at,
        )

    def answerers(self, decision: Decision) -> tuple[str, ...]:
        """Who may answer what `decision` asks, as the agent is configured now."""
        return answerers(
            decision,
            self.principal.user,
            approvers=(self.agent.approvers if self.agent else None) or (),
            exclude_requester=self.agent is not None and self.agent.exclude_requester,
        )


async def parked_call(
    asked: Approval, ledger: Ledger, configuration: Configuration
) -> ParkedCall | None:
    """The call that waits for this answer; None when the ledger has none."""
    row = await ledger.invocation(asked.invocation_id)
    if row is None:
        return None
    session = await ledger.session(row.session_id)
    return ParkedCall(
        asked=asked,
        row=row,
        agent=configuration.agents.get(asked.binding.agent),
        principal=configuration.principal(asked.binding.user),
        attributes=session.attributes if session else {},
        facts=await facts_of(ledger, session) if session else SessionFacts(tainted=True),
        trusted=trusts_source(configuration, ToolIdentity.of_name(row.tool)),
    )


async def frozen_arguments(
    call: ParkedCall, ledger: Ledger, sealer: Sealer
) -> Mapping[str, Any] | None:
    """The arguments that were asked about, secrets and all; None when they are gone."""
    sealed = await ledger.sealed(call.row.invocation_id)
    if sealed is None:
        return None
    found: Mapping[str, Any] = json.loads(sealer.open(sealed, call.row.invocation_id))
    return found
