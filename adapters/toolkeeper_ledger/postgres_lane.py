"""How do the two commits of a call go to a server from the caller's own event loop?

Works that can be done in one message each gather while others are at the server, and go as one
transaction: on one of two connections, so that while the server writes one group to its disk the
callers of the other go on. What fails here, or is not heard of, is done by the writer's thread,
which knows why.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from psycopg.errors import error_from_result
from psycopg.pq import DiagnosticField
from psycopg.pq.abc import PGresult

from toolkeeper_ledger.calls import Claim, Settle
from toolkeeper_ledger.chain import Head
from toolkeeper_ledger.fault import unavailable
from toolkeeper_ledger.group import Order
from toolkeeper_ledger.postgres_calls import Message, message_of
from toolkeeper_ledger.postgres_fault import fault_of
from toolkeeper_ledger.postgres_shortcut import once_more
from toolkeeper_ledger.postgres_text import in_bytes
from toolkeeper_ledger.postgres_wire import Batch, Statement, Wire

_SMALLEST_SHARE, _LARGEST_GROUP = 4, 64


@dataclass(frozen=True, slots=True, eq=False)
class _Load:
    """A caller's order, and what is sent for it."""

    order: Order[Any]
    message: Message
    statement: Statement


class Lane:
    """`heads` is where sessions were left; `hand_over` takes an order that is not done here."""

    def __init__(
        self,
        wires: Sequence[Wire],
        heads: dict[str, Head],
        hand_over: Callable[[Order[Any]], None],
    ) -> None:
        self._free = list(wires)
        self._share = len(wires)
        self._heads = heads
        self._hand_over = hand_over
        self._waiting: list[_Load] = []
        # Where sessions will be left when all that was taken is done.
        self._ahead: dict[str, Head] = {}
        # Sessions of which something is on its way: no second connection may overtake it.
        self._flying: Counter[str] = Counter()
        self._is_due = False

    @property
    def queued(self) -> int:
        return len(self._waiting)

    def take(self, order: Order[Any], work: Claim | Settle) -> bool:
        """Whether it goes here: not where nothing is known of the session, or it does not fit."""
        session_id = work.row.session_id
        head = self._ahead.get(session_id) or self._heads.get(session_id)
        if head is None:
            return False
        try:
            message = message_of(work, head)
            if message is None:
                return False
            statement = (message.text, in_bytes(message.values))
        except UnicodeEncodeError:
            return False
        self._ahead[session_id] = message.head
        self._waiting.append(_Load(order, message, statement))
        if not self._is_due and self._free:
            # Whoever comes in the same round of the loop goes with it.
            self._is_due = True
            order.loop.call_soon(self._send)
        return True

    def forget(self, order: Order[Any]) -> bool:
        """Takes back what has not been sent."""
        for load in self._waiting:
            if load.order is order:
                self._waiting.remove(load)
                self._ahead.pop(load.message.head.session_id, None)
                return True
        return False

    def give_up(self) -> None:
        """The connection is lost: what has not been sent is done elsewhere."""
        waiting, self._waiting = self._waiting, []
        self._ahead.clear()
        for load in waiting:
            self._hand_over(load.order)

    def _send(self) -> None:
        self._is_due = False
        while self._free:
            group = self._next()
            if not group:
                return
            for load in group:
                load.order.begun = True
                self._flying[_session(load)] += 1
            # Everybody takes sessions in one order, so that no two groups wait for each other; what
            # belongs to one session stays as it came.
            ordered = sorted(group, key=_session)
            wire = self._free.pop()
            wire.send([load.statement for load in ordered], partial(self._heard, wire, group))

    def _next(self) -> list[_Load]:
        """Takes what goes now: one connection's share, and what else is of the same sessions."""
        most = -(-(len(self._waiting) + self._flying.total()) // self._share)
        most = min(max(most, _SMALLEST_SHARE), _LARGEST_GROUP)
        group: list[_Load] = []
        rest: list[_Load] = []
        names: set[str] = set()
        for load in self._waiting:
            name = _session(load)
            if load.order.answer.done():
                # Cancelled, and about to take it back.
                self._ahead.pop(name, None)
                continue
            limit = _LARGEST_GROUP if name in names else most
            if name not in self._flying and len(group) < limit:
                group.append(load)
                names.add(name)
            else:
                rest.append(load)
        self._waiting = rest
        return group

    def _heard(self, wire: Wire, group: Sequence[_Load], batch: Batch) -> None:
        if not batch.lost:
            self._free.append(wire)
        done = not batch.lost and batch.error is None
        for load in group:
            after = load.message.head
            name = after.session_id
            self._flying[name] -= 1
            if not self._flying[name]:
                del self._flying[name]
            if not done:
                self._heads.pop(name, None)
                self._ahead.pop(name, None)
                continue
            known = self._heads.get(name)
            if known is None or known.seq < after.seq:
                self._heads[name] = after
            if self._ahead.get(name) is after:
                del self._ahead[name]
        for load in group:
            order = load.order
            if done:
                order.value = load.message.answer
                order.deliver()
            elif len(group) == 1 and batch.error is not None and _has_waited(batch.error):
                order.error = unavailable(fault_of(error_from_result(batch.error)))
                order.deliver()
            else:
                if batch.lost:
                    order.work = once_more(order.work)
                self._hand_over(order)
        # Before any of the callers goes on: that is only when this round of the loop is over.
        if self._waiting and not batch.lost:
            self._send()


def _has_waited(error: PGresult) -> bool:
    """Whether it has waited for a lock already, which must not be done twice."""
    return error.error_field(DiagnosticField.SQLSTATE) == b"55P03"


def _session(load: _Load) -> str:
    return load.message.head.session_id
