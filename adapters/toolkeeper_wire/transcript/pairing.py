"""Which result belongs to which call, when ids are missing or used twice?

A result answers a call of the newest step that still waits for its id, the earliest of that step
first. So two calls under one id in one step are told apart by their order, and a call that never
got its result (the process died) does not take the one of a later call with the same id.
"""

from collections import deque
from dataclasses import dataclass, field

from toolkeeper_wire.transcript.transcript import CallSeen, NativeFound, ResultSeen


@dataclass(slots=True)
class _Call:
    call_id: str
    occurrence: int
    wire_name: str
    index: int
    step: int
    kind: str
    answered: bool = False


@dataclass(slots=True)
class _Waiting:
    """Calls of one step under one key, the earliest first."""

    step: int
    calls: deque[int] = field(default_factory=deque)


class Pairing:
    """Collects what a reader finds, message by message, and pairs as it goes; linear in all."""

    def __init__(self) -> None:
        self.native: list[NativeFound] = []
        self.texts: list[str] = []
        self.turns: list[int] = []
        self._calls: list[_Call] = []
        self._results: list[ResultSeen] = []
        self._seen: dict[str, int] = {}
        self._waiting: dict[tuple[str, str], list[_Waiting]] = {}
        # Where each step's results end so far. A step is open while only results have come since
        # its calls, and it grows while not even those have.
        self._ends: list[int] = []
        self._grows = False
        self._open = False
        self._open_from = 0

    @property
    def results(self) -> tuple[ResultSeen, ...]:
        return tuple(self._results)

    @property
    def calls(self) -> tuple[CallSeen, ...]:
        return tuple(
            CallSeen(
                c.call_id,
                c.occurrence,
                c.wire_name,
                c.index,
                self._ends[c.step],
                c.kind,
                c.answered,
            )
            for c in self._calls
        )

    @property
    def open_from(self) -> int:
        """The position of the first call whose result can still be appended."""
        return self._open_from if self._open else len(self._calls)

    def call(
        self, index: int, call_id: str, wire_name: str, kind: str, *, by_name: bool = False
    ) -> None:
        """A call of the model's; `by_name` where a result may name its tool instead of an id."""
        place = len(self._calls)
        if not self._grows:
            self._grows = self._open = True
            self._open_from = place
            self._ends.append(index)
        self._ends[-1] = index
        occurrence = self._seen.get(call_id, 0) + 1
        self._seen[call_id] = occurrence
        self._calls.append(_Call(call_id, occurrence, wire_name, index, len(self._ends) - 1, kind))
        self._wait(("id", call_id), place)
        if by_name:
            self._wait(("name", wire_name), place)

    def result(self, index: int, call_id: str, *, wire_name: str | None = None) -> None:
        """A result; it is found by `wire_name` instead of its id where one is given."""
        self._grows = False
        if self._open:
            self._ends[-1] = index
        key = ("id", call_id) if wire_name is None else ("name", wire_name)
        place = self._take(key)
        if place is not None:
            self._calls[place].answered = True
        self._results.append(ResultSeen(call_id, index, place))

    def said(self) -> None:
        """Something by the model that is no call: among calls it belongs to their step."""
        if not self._grows:
            self._open = False

    def interposed(self) -> None:
        """Something that ends a step: no result of it can be appended any more."""
        self._grows = self._open = False

    def _wait(self, key: tuple[str, str], place: int) -> None:
        steps = self._waiting.setdefault(key, [])
        step = len(self._ends) - 1
        if not steps or steps[-1].step != step:
            steps.append(_Waiting(step))
        steps[-1].calls.append(place)

    def _take(self, key: tuple[str, str]) -> int | None:
        steps = self._waiting.get(key, [])
        while steps:
            calls = steps[-1].calls
            while calls:
                place = calls.popleft()
                # It may have been answered under its other key.
                if not self._calls[place].answered:
                    return place
            steps.pop()
        return None
