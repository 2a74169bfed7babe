"""How does what a session has read tighten what the rules allow?

Untrusted text may have talked the model into a call. So in a tainted session whatever changes,
sends, executes or pays is at least asked; in one that has read private data too, so are reads of
the open world, which could carry those data out. The overlay never relaxes anything.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolkeeper_contract import Decision, Effect, Flag, Origin, Question, SideEffect
from toolkeeper_policy.condition_names import Needs
from toolkeeper_policy.section import quoted

TAINT = "@taint"
TAINT_PRIVATE = "@taint.private"
"""How the overlay's questions are named in a decision; no rule's id has an `@`."""

TAINTED = "tainted"
PRIVATE = "private"

MAX_ORIGINS = 64
"""How many values' origins a decision keeps; values that are not positive come first."""

_SHORTEST = 4
_DOES = {
    SideEffect.WORKSPACE_WRITE: "change something",
    SideEffect.NETWORK_WRITE: "change something",
    SideEffect.MESSAGE_SEND: "send something",
    SideEffect.CODE_EXECUTION: "execute code",
    SideEffect.FINANCIAL: "pay",
}
_SEEN = {
    Origin.USER: "stands in the user's own words",
    Origin.TRUSTED: "stands in a trusted result",
    Origin.UNTRUSTED: "was seen in untrusted text only",
    Origin.NOWHERE: "was seen nowhere",
}


def taint_of(question: Question) -> tuple[str, ...]:
    """What the session has read, in the words that decisions keep."""
    if not question.tainted and not question.private:
        return ()
    return (TAINTED,) * question.tainted + (PRIVATE,) * question.private


def tightened(decision: Decision, question: Question, mode: str, *, excused: bool) -> Decision:
    """`decision` under the overlay's `mode`, with what the session has read on it.

    `excused` says that the deciding rule stands whatever the session has read.
    """
    taint = taint_of(question)
    if not taint:
        return decision
    why = None if mode == "off" else _danger(question)
    if why is None or decision.effect is Effect.DENY:
        return replace(decision, taint=taint)
    if decision.effect is Effect.ASK:
        if mode == "provenance" and _all_positive(question):
            return replace(decision, taint=taint)
        # Asked already; but an answer that was for the rules' questions is none to this one.
        asked_by = (*decision.asked_by, _name(question))
        return replace(decision, taint=taint, asked_by=asked_by)
    if excused:
        return _passed(decision, taint, f"{why}, and the rule stands despite that")
    if mode != "provenance":
        return _asked(decision, taint, why, question)
    values = dict(origins(question))
    seen = {**decision.origins, **_shown(values)}
    doubtful = [pointer for pointer, (_, positive) in values.items() if not positive]
    if values and not doubtful:
        fine = f"{why}, but all that it names is the user's own or from trusted results"
        return _passed(decision, taint, fine, seen)
    doubt = _doubt(doubtful, values) if doubtful else "nothing in it shows that the user wants it"
    return _asked(decision, taint, f"{why}, and {doubt}", question, seen)


def _name(question: Question) -> str:
    """How what the overlay asks about this call is named among the questions."""
    return TAINT_PRIVATE if question.classification.side_effect.reads else TAINT


def _all_positive(question: Question) -> bool:
    found = [positive for _, (_, positive) in origins(question)]
    return bool(found) and all(found)


def _doubt(doubtful: Sequence[str], values: Mapping[str, tuple[Origin, bool]]) -> str:
    """The first value that is not positive, and why it is not; values are never quoted."""
    origin, _ = values[doubtful[0]]
    seen = "is a number, or too short to be sure of" if origin.positive else _SEEN[origin]
    more = f", like {len(doubtful) - 1} more" if len(doubtful) > 1 else ""
    return f"the value at {quoted(doubtful[0])} {seen}{more}"


def origins(question: Question) -> Iterator[tuple[str, tuple[Origin, bool]]]:
    """Each value that names a destination or a payload: its JSON pointer, where it was seen, and
    whether that is positively the user's or trusted.

    Those are the arguments that the classification lists, and without a list every text and
    number at any depth. Numbers and texts under four characters are never positive: too many
    places hold them by chance.
    """
    classification = question.classification
    listed = (*classification.destination, *classification.payload)
    arguments = question.arguments
    names = [name for name in dict.fromkeys(listed) if name in arguments] if listed else arguments
    for name in names:
        for pointer, value in leaves(arguments[name], _pointer("", name)):
            origin = _origin(value, question)
            positive = origin.positive and isinstance(value, str) and _length(value) >= _SHORTEST
            yield pointer, (origin, positive)


def origins_asked_for(needs: Needs, question: Question) -> dict[str, str]:
    """Where the values were seen that conditions with `origin(...)` look at."""
    arguments = question.arguments
    read = sorted(field for root, field in needs.paths if root == "args")
    names = arguments if "args" in needs.wholes else [name for name in read if name in arguments]
    found: dict[str, str] = {}
    for name in names:
        for pointer, value in leaves(arguments[name], _pointer("", name)):
            if len(found) == MAX_ORIGINS:
                return found
            found[pointer] = _origin(value, question).value
    return found


def leaves(value: Any, pointer: str) -> Iterator[tuple[str, str | int | float]]:
    """The texts and numbers in `value`, which stands at `pointer`, with their JSON pointers."""
    waiting = [(pointer, value)]
    while waiting:
        at, item = waiting.pop()
        if isinstance(item, Mapping):
            waiting.extend((_pointer(at, key), item[key]) for key in reversed(list(item)))
        elif isinstance(item, list | tuple):
            waiting.extend((_pointer(at, index), item[index]) for index in range(len(item))[::-1])
        elif isinstance(item, str | int | float) and not isinstance(item, bool):
            yield at, item


def _danger(question: Question) -> str | None:
    """What the overlay is there to stop about this call, or None."""
    classification = question.classification
    if not question.tainted:
        return None
    if not classification.side_effect.reads:
        does = _DOES[classification.side_effect]
        return f"the session has read untrusted text, and this call would {does}"
    if question.private and Flag.OPEN_WORLD in classification.flags:
        return (
            "the session has read untrusted text and private data, and this call could carry "
            "data out"
        )
    return None


def _passed(
    decision: Decision,
    taint: tuple[str, ...],
    reason: str,
    seen: Mapping[str, str] | None = None,
) -> Decision:
    return replace(
        decision,
        taint=taint,
        reasons=(*decision.reasons, reason),
        origins=decision.origins if seen is None else seen,
    )


def _asked(
    decision: Decision,
    taint: tuple[str, ...],
    reason: str,
    question: Question,
    seen: Mapping[str, str] | None = None,
) -> Decision:
    asked = _passed(decision, taint, reason, seen)
    return replace(asked, effect=Effect.ASK, asked_by=(_name(question),))


def _origin(value: Any, question: Question) -> Origin:
    if question.provenance is None:
        return Origin.NOWHERE
    try:
        origin = question.provenance.origin(value)
    except Exception:
        # INVARIANT: not knowing where a value comes from never makes it positive.
        return Origin.NOWHERE
    return origin if isinstance(origin, Origin) else Origin.NOWHERE


def _length(text: str) -> int:
    """How many characters of `text` say something; counting stops when there are enough."""
    length = 0
    for char in text:
        if not char.isspace() and unicodedata.category(char) not in ("Cf", "Cc", "Mn"):
            length += 1
            if length == _SHORTEST:
                break
    return length


def _shown(values: Mapping[str, tuple[Origin, bool]]) -> dict[str, str]:
    ranked = sorted(values.items(), key=lambda item: item[1][1])
    return {pointer: origin.value for pointer, (origin, _) in ranked[:MAX_ORIGINS]}


def _pointer(parent: str, key: str | int) -> str:
    return f"{parent}/{str(key).replace('~', '~0').replace('/', '~1')}"
