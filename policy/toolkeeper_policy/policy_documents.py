"""What policy do several documents make together?

Each class has the strictest default that any of them states, and the strictest taint mode; rules
and hardline rules are united.
"""

from collections.abc import Sequence

from toolkeeper_contract import Effect, SideEffect, strictest
from toolkeeper_policy.policy import Policy
from toolkeeper_policy.rule_document import TAINT_MODES, read_rules


def load_policy(documents: Sequence[tuple[str, str]]) -> Policy:
    """The policy of `documents`, each a file name and its YAML text; their order never matters.

    No documents at all are the default policy. Raises ConfigError(config.policy_invalid) with
    file, line, key and the nearest valid name for the first thing that is wrong.
    """
    parsed = [read_rules(text, file) for file, text in documents]
    defaults: dict[SideEffect, Effect] = {}
    for document in parsed:
        for side_effect, effect in document.defaults.items():
            defaults[side_effect] = strictest((effect, defaults.get(side_effect, effect)))
    modes = [document.taint for document in parsed if document.taint is not None]
    return Policy(
        defaults=defaults,
        # TAINT_MODES goes from strict to lax.
        taint=min(modes, key=TAINT_MODES.index) if modes else "ask",
        rules=tuple(rule for document in parsed for rule in document.rules),
        hardline=tuple(rule for document in parsed for rule in document.hardline),
    )
