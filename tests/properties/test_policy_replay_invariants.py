"""Whatever was masked, a replay never says anything else than the whole call would have got."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolkeeper.runtime.configuration import Configuration
from toolkeeper.runtime.policy_replay import RecordedCall, Replay
from toolkeeper_contract import (
    AdvertisedAs,
    Classification,
    Decision,
    Effect,
    Flag,
    Invocation,
    Origin,
    Principal,
    Question,
    SessionRecord,
    SideEffect,
)
from toolkeeper_policy import Policy, compile_condition
from toolkeeper_policy.rule import Rule

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MASK = "[masked]"
NAMES = ("to", "key", "note")
CONDITIONS = (
    None,
    "args.key == 'guest'",
    "args.to.endsWith('@example.com')",
    "has(args.key) && args.key.size() > 6",
    "args.note > 3",
    "size(args) > 1",
    "origin(args.key) == 'user'",
    "origin(args.to) == 'trusted' || session.tainted",
    "'vip' in session.attributes.groups",
)
VALUES = st.sampled_from(["guest", "ana@example.com", "a secret word", "x", 4, True, ["guest"]])
CLASSES = st.sampled_from([SideEffect.NONE, SideEffect.MESSAGE_SEND, SideEffect.FINANCIAL])


class Seen:
    """Every value is from where this says."""

    def __init__(self, seen: dict[str, Origin]) -> None:
        self._seen = seen

    def origin(self, value: Any) -> Origin:
        return self._seen.get(repr(value), Origin.NOWHERE)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    def rules(prefix: str, effects: list[Effect]) -> tuple[Rule, ...]:
        return tuple(
            Rule(
                f"{prefix}{at}",
                draw(st.sampled_from(effects)),
                side_effects=frozenset(SideEffect),
                condition=compile_condition(text) if text else None,
            )
            for at, text in enumerate(draw(st.lists(st.sampled_from(CONDITIONS), max_size=3)))
        )

    return Policy(
        defaults={side_effect: draw(st.sampled_from(Effect)) for side_effect in SideEffect},
        taint=draw(st.sampled_from(["ask", "provenance", "off"])),
        rules=rules("r", list(Effect)),
        hardline=rules("h", [Effect.DENY]),
    )


@given(
    policy=policies(),
    arguments=st.dictionaries(st.sampled_from(NAMES), VALUES),
    masked=st.sets(st.sampled_from(NAMES)),
    side_effect=CLASSES,
    tainted=st.booleans(),
    data=st.data(),
)
def test_what_a_replay_decides_is_what_the_whole_call_would_have_got(
    policy: Policy,
    arguments: dict[str, Any],
    masked: set[str],
    side_effect: SideEffect,
    tainted: bool,
    data: st.DataObject,
) -> None:
    # Booleans are never masked, and lists are masked item by item.
    masked = {name for name in masked & arguments.keys() if isinstance(arguments[name], str | int)}
    masked = {name for name in masked if not isinstance(arguments[name], bool)}
    seen = {repr(value): data.draw(st.sampled_from(Origin)) for value in arguments.values()}
    whole = Question(
        tool="office.do",
        source="functions",
        classification=Classification(side_effect, frozenset({Flag.PRIVATE}), "recorded"),
        agent="chat",
        principal=Principal("ana"),
        arguments=arguments,
        tainted=tainted,
        provenance=Seen(seen),
        at=NOW,
    )
    then = Policy(taint=data.draw(st.sampled_from(["ask", "provenance", "off"]))).decide(whole)
    kept = {name: MASK if name in masked else value for name, value in arguments.items()}
    call = RecordedCall(row(kept, masked, side_effect, then), SESSION, Seen(seen))
    told = Replay(policy, CONFIGURATION).decide(call)
    now = policy.decide(whole)
    assert told.before is then.effect
    if told.decision is not None:
        assert told.decision.effect is now.effect
        assert told.decision.revision == policy.revision
    else:
        assert masked
    assert told.loosened == (then.effect is Effect.DENY and told.after == "allow")


SESSION = SessionRecord("ses_1", "chat", "ana", "generic", NOW)
CONFIGURATION = Configuration(file="t.yaml", folder=Path(), store="memory", agents={})


def row(
    arguments: dict[str, Any], masked: set[str], side_effect: SideEffect, decision: Decision
) -> Invocation:
    return Invocation(
        invocation_id="inv_1",
        session_id="ses_1",
        run_id="run_1",
        call_id="c1",
        step=1,
        position=0,
        tool="office.do",
        advertised_as=AdvertisedAs.DEFINITION,
        idempotency_key="k",
        opened_at=NOW,
        decision=decision,
        side_effect=side_effect.value,
        flags=("private",),
        arguments=arguments,
        masked=tuple(f"/{name}" for name in sorted(masked)),
    )
