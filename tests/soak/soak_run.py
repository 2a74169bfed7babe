"""What is left after many workers and clients have used one store, and workers were killed?

Clients send calls over sockets, and ask again when they hear nothing. Workers are killed with
SIGKILL while calls run, and started again. At the end every number has to add up.
"""

import asyncio
import json
import random
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from soak_scene import Fate, fate_of

from toolkeeper_contract import ApprovalState, Code, State

HERE = Path(__file__).resolve().parent
CALLS_OF_A_SESSION = 100


@dataclass
class Count:
    """What came of a run; `faults` are the sums that do not add up.

    `repeats` are questions that a client asked again, `anew` those of them whose first approval had
    run out, and `refused_again` those of a tool that is not there; `unknown` are writes of unknown
    outcome.
    """

    calls: int
    sent: int = 0
    kills: int = 0
    repeats: int = 0
    anew: int = 0
    refused_again: int = 0
    seconds: float = 0.0
    outcomes: Counter = field(default_factory=Counter)
    approvals: Counter = field(default_factory=Counter)
    effects: Counter = field(default_factory=Counter)
    unknown: int = 0
    events: int = 0
    faults: list[str] = field(default_factory=list)


class _Workers:
    """The worker processes: each listens on a socket of its own, and lives again when killed."""

    def __init__(self, scene, many):
        self._scene = scene
        self._sockets = [str(scene.folder / f"w{number}") for number in range(many)]
        self._processes = [None] * many
        self._births = []
        self.many = many

    async def start(self):
        self._births = [
            asyncio.ensure_future(self._start(number)) for number in range(len(self._sockets))
        ]
        await asyncio.gather(*self._births)

    async def _start(self, number):
        Path(self._sockets[number]).unlink(missing_ok=True)
        self._processes[number] = await spawn(self._scene, "worker", self._sockets[number])
        while not Path(self._sockets[number]).exists():
            if self._processes[number].returncode is not None:
                raise RuntimeError("a worker could not start")
            await asyncio.sleep(0.01)

    async def kill(self, number):
        """Kills one and has it started again, while the others go on."""
        await self._births[number]
        self._processes[number].send_signal(signal.SIGKILL)
        await self._processes[number].wait()
        self._births[number] = asyncio.ensure_future(self._start(number))

    async def stop(self):
        await asyncio.gather(*self._births, return_exceptions=True)
        for process in self._processes:
            if process is not None and process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    def socket(self, number):
        return self._sockets[number % len(self._sockets)]


class _Client:
    """Sends its share of the calls, one after another, to whichever worker listens."""

    def __init__(self, workers, place, count):
        self._workers = workers
        self._place = place
        self._count = count
        self._line = None

    async def send(self, numbers):
        session = None
        for sent, number in enumerate(numbers):
            if sent % CALLS_OF_A_SESSION == 0:
                session = await self._ask({"op": "open"})
            await self._ask({"op": "call", "session": session, "number": number})
            self._count.sent += 1
        if self._line is not None:
            self._line[1].close()

    async def _ask(self, question):
        while True:
            try:
                if self._line is None:
                    where = self._workers.socket(self._place)
                    self._line = await asyncio.open_unix_connection(where)
                reader, writer = self._line
                writer.write(json.dumps(question).encode() + b"\n")
                answer = await reader.readline()
                if answer:
                    return json.loads(answer)
            except OSError:
                pass
            # The worker is gone, and what it did is not known: the next one is asked the same.
            if self._line is not None:
                self._line[1].close()
                self._count.repeats += 1
            self._line = None
            self._place += 1
            await asyncio.sleep(0.02)


async def spawn(scene, role, *more):
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(HERE / "soak_process.py"),
        role,
        str(scene.folder),
        scene.store,
        str(scene.lease),
        str(scene.expiry),
        *more,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )


async def soak(scene, *, calls, workers, clients, kills, seed=1):
    """Makes `calls` calls while `kills` workers die, and counts what is left."""
    count = Count(calls)
    began = time.monotonic()
    async with scene.keeper():
        pass  # the store is made once, before anybody shares it
    crew = _Workers(scene, workers)
    approver = await spawn(scene, "approver")
    try:
        await crew.start()
        await _send_all(crew, count, clients, kills, seed)
        async with scene.keeper() as keeper:
            await _come_to_rest(keeper, scene)
            answered, _ = await approver.communicate(b"\n")
            await crew.stop()
            await keeper.ledger.reap(keeper.clock.now())
            await _add_up(keeper.ledger, scene, count, Counter(json.loads(answered)))
    finally:
        await crew.stop()
        if approver.returncode is None:
            approver.kill()
            await approver.wait()
    count.seconds = time.monotonic() - began
    return count


async def _send_all(crew, count, clients, kills, seed):
    """Every client sends its share, while workers are killed."""
    shares = [range(place, count.calls, clients) for place in range(clients)]
    sending = asyncio.gather(
        *(_Client(crew, place, count).send(share) for place, share in enumerate(shares))
    )
    dice = random.Random(seed)
    for kill in range(kills):
        # Spread over the run by what was sent, not by the clock.
        while not sending.done() and count.sent < count.calls * (kill + 1) / (kills + 1):
            await asyncio.sleep(0.005)
        if sending.done():
            break
        await crew.kill(dice.randrange(crew.many))
        count.kills += 1
    await sending


async def _come_to_rest(keeper, scene):
    """Waits until nothing is left to happen: answers, expiries and the leases of the dead."""
    deadline = time.monotonic() + scene.expiry + 10 * scene.lease + 60
    while time.monotonic() < deadline:
        await keeper.ledger.reap(keeper.clock.now())
        backlog = await keeper.ledger.backlog(keeper.clock.now())
        left = (backlog.pending_approvals, backlog.parked, backlog.running, backlog.retryable)
        if not any(left):
            return
        await asyncio.sleep(0.2)


async def _add_up(ledger, scene, count, answered):
    rows = await ledger.invocations()
    approvals = await ledger.approvals(pending_only=False)
    effects = Counter(scene.effects.read_text().split("\n")[:-1])
    count.outcomes = Counter(str(row.outcome) for row in rows)
    count.approvals = Counter(str(approval.state) for approval in approvals)
    count.effects = Counter(line.split()[0] for line in effects.elements())

    def wrong(what, *values):
        count.faults.append(f"{what}: {', '.join(map(str, values))}")

    # A call that was sent is on exactly one row, whoever was asked how often; but for one that did
    # not run and may be asked for again: its tool was not there, or its approval had run out by the
    # time that its client asked once more.
    by_call = {}
    for row in rows:
        if row.state is not State.SETTLED:
            wrong("a row that is stuck", row.call_id, row.state)
        before = by_call.get(row.call_id)
        by_call[row.call_id] = row
        if before is None:
            continue
        if before.code is Code.APPROVAL_EXPIRED:
            count.anew += 1
        elif before.code is Code.NOT_OFFERED:
            count.refused_again += 1
        else:
            wrong("a second row", row.call_id, before.outcome, before.code)
    if len(by_call) != count.calls or len(rows) != count.calls + count.anew + count.refused_again:
        wrong("rows", len(rows), "calls", len(by_call), "sent", count.calls)

    for number in range(count.calls):
        row, fate = by_call.get(f"c{number}"), fate_of(number)
        if row is None:
            continue
        # What read and died was read again.
        took = effects[f"add {number}"] + effects[f"send {number}"]
        unknown = row.code is Code.FAILED_UNKNOWN_OUTCOME
        count.unknown += unknown
        if took > 1:
            wrong("an effect that happened twice", number, took)
        if effects[f"drop {number}"]:
            wrong("an effect that was forbidden", number)
        if fate in (Fate.WRITE, Fate.APPROVED):
            # An approval may run out on a slow machine; then nothing has happened.
            ended = {"completed": (1,), "failed": (0, 1), "refused": (0,)}[str(row.outcome)]
            if took not in ended or (row.outcome == "failed" and not unknown):
                wrong("a write", number, row.outcome, row.code, f"{took} effects")
        if fate in (Fate.DENIED, Fate.EXPIRED, Fate.FORBIDDEN) and (
            took or row.outcome != "refused"
        ):
            wrong("a call that was not allowed", number, row.outcome, f"{took} effects")
        if fate is Fate.READ and (row.outcome != "completed" or not effects[f"read {number}"]):
            wrong("a read", number, row.outcome, row.code)
    writes = sum(effects[line] for line in effects if line.startswith(("add ", "send ")))
    written = sum(
        row.outcome == "completed" and row.tool in ("notes.add", "mail.send") for row in rows
    )
    if not written <= writes <= written + count.unknown:
        wrong("effects", writes, "completed", written, "unknown", count.unknown)

    # Every question was answered or ran out, and every yes was spent or ran out.
    asked = sum(
        fate_of(n) in (Fate.APPROVED, Fate.DENIED, Fate.EXPIRED) for n in range(count.calls)
    )
    if len(approvals) != asked + count.anew:
        wrong("approvals", len(approvals), "asked", asked, "and asked anew", count.anew)
    ended = {ApprovalState.SPENT, ApprovalState.DENIED, ApprovalState.EXPIRED}
    if not {approval.state for approval in approvals} <= ended:
        wrong("approvals that are left", count.approvals)
    if count.approvals["denied"] != answered["denied"]:
        wrong("denied", count.approvals["denied"], "by the approver", answered["denied"])
    if count.approvals["spent"] > answered["approved"]:
        wrong("spent", count.approvals["spent"], "approved", answered["approved"])
    spent = Counter(approval.spent_by for approval in approvals if approval.spent_by)
    if any(times > 1 for times in spent.values()):
        wrong("approvals spent by one call", spent.most_common(1))

    report = await ledger.audit()
    count.events = report.events
    for finding in report.findings:
        wrong("the audit", finding)
