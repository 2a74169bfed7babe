"""Calls are traced and counted in the conventions, and nothing of what they carry is told."""

import asyncio
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from toolkeeper import Toolkeeper, resume_all, tool
from toolkeeper.runtime.configuration import Telemetry as Configured
from toolkeeper.testing import keeper_of
from toolkeeper_contract import ApprovalState
from toolkeeper_telemetry import Telemetry

CANARY = "canary-of-an-argument"
RESULT = "canary-of-a-result"


@tool(name="notes.read", side_effect="workspace_read")
def read(title: str) -> str:
    """Read a note."""
    return RESULT


@tool(name="notes.add", side_effect="workspace_write")
def add(title: str) -> str:
    """Add a note."""
    return RESULT


@tool(name="notes.break", side_effect="workspace_read")
def break_(title: str) -> str:
    """Raise."""
    raise RuntimeError(f"words of a library about {title}")


@tool(name="notes.loud", side_effect="workspace_read")
async def loud(title: str) -> str:
    """Trace something of its own."""
    from opentelemetry import trace

    current = trace.get_current_span()
    return json.dumps({"inside": f"{current.get_span_context().span_id:016x}"})


class Eye:
    """Providers of a program's own, in memory."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracing = TracerProvider()
        self.tracing.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.metering = MeterProvider([self.reader])
        self.telemetry = Telemetry(self.tracing, self.metering)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def points(self, name: str) -> dict[tuple[tuple[str, Any], ...], Any]:
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        return {
            tuple(sorted(point.attributes.items())): getattr(point, "value", None)
            or getattr(point, "count", 0)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        }

    def close(self) -> None:
        self.tracing.shutdown()
        self.metering.shutdown()


def shop(eye: Eye, **more: Any) -> Toolkeeper:
    made = keeper_of([read, add, break_, loud], **more)
    return Toolkeeper(
        made.configuration,
        policy=made.policy,
        ledger=made._given[0],
        sealer=made._given[1],
        clock=made.clock,
        ids=made.ids,
        telemetry=eye.telemetry,
    )


def with_tools(keeper: Toolkeeper) -> Toolkeeper:
    for each in (read, add, break_, loud):
        keeper.add(each)
    return keeper


def ran(*calls: tuple[Any, Any], then: Callable[..., Any] | None = None, **more: Any) -> Eye:
    """Runs the calls, one after another; then whatever a test wants, on the open keeper."""
    eye = Eye()

    async def main() -> None:
        async with with_tools(shop(eye, **more)) as keeper:
            session = await keeper.open_session(agent="chat", user="ana")
            turn = await session.begin_turn("hello")
            for number, (name, arguments) in enumerate(calls):
                await turn.call(turn.read(f"c{number}", name, arguments))
            if then is not None:
                await then(keeper, turn, eye)

    asyncio.run(main())
    eye.close()
    return eye


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_call_is_a_span_in_the_conventions() -> None:
    (span,) = ran(("notes.read", {"title": CANARY})).spans
    assert span.name == "execute_tool notes.read"
    said = attributes(span)
    assert {key: said[key] for key in sorted(said) if key.startswith("gen_ai.")} == {
        "gen_ai.agent.name": "chat",
        "gen_ai.conversation.id": "ses_0001",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.id": "c0",
        "gen_ai.tool.name": "notes.read",
        "gen_ai.tool.type": "function",
    }
    assert said["toolkeeper.outcome"] == "completed"
    assert said["toolkeeper.decision.effect"] == "allow"
    assert said["toolkeeper.advertised_as"] == "definition"
    assert "error.type" not in said
    assert span.status.status_code is StatusCode.UNSET


def test_a_wrapped_call_bears_the_name_of_the_tool_that_it_reached() -> None:
    wrapped = {"name": "notes.read", "arguments": {"title": CANARY}}
    (span,) = ran(("tool.call", wrapped), deferred_tools=("notes.read",)).spans
    assert span.name == "execute_tool notes.read"
    assert attributes(span)["toolkeeper.advertised_as"] == "tool.call"


def test_no_span_and_no_metric_holds_an_argument_a_result_or_a_librarys_words() -> None:
    eye = ran(
        ("notes.read", {"title": CANARY}),
        ("notes.add", {"title": CANARY}),
        ("notes.break", {"title": CANARY}),
        ("notes.read", {"wrong": CANARY}),
        ("notes.read", CANARY),
        (CANARY, {"title": CANARY}),
    )
    told = "".join(span.to_json() for span in eye.spans) + str(eye.points("toolkeeper.calls"))
    assert CANARY not in told
    assert RESULT not in told
    assert "words of a library" not in told
    assert [span.events for span in eye.spans] == [()] * 6


def test_a_name_that_no_plan_has_is_the_models_text_and_is_not_told() -> None:
    eye = ran(("no.such.tool", {}), ("notes.read", {"title": "x"}))
    assert [span.name for span in eye.spans] == [
        "execute_tool _OTHER",
        "execute_tool notes.read",
    ]
    assert attributes(eye.spans[0])["error.type"] == "tool.not_found.not_offered"


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (("notes.break", {"title": "x"}), "tool.failed"),
        (("notes.read", {"wrong": 1}), "tool.arguments_invalid"),
    ],
)
def test_a_call_that_gave_no_result_says_why_by_its_code(call: Any, fault: str) -> None:
    (span,) = ran(call).spans
    assert attributes(span)["error.type"] == fault
    assert attributes(span)["toolkeeper.code"] == fault
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is None


def test_a_parked_call_is_no_error_and_its_resumption_is_linked_to_it() -> None:
    async def then(keeper: Toolkeeper, turn: Any, eye: Eye) -> None:
        (asked,) = await keeper.ledger.approvals(pending_only=True)
        await keeper.desk().answer(asked.approval_id, ApprovalState.APPROVED, by="ana")
        await resume_all(keeper)

    eye = ran(("notes.add", {"title": "x"}), then=then)
    parked, resumed = eye.spans
    assert "error.type" not in attributes(parked)
    assert attributes(parked)["toolkeeper.outcome"] == "suspended"
    assert attributes(resumed)["toolkeeper.outcome"] == "completed"
    assert attributes(resumed)["toolkeeper.resumed"] is True
    for key in ("toolkeeper.invocation.id", "toolkeeper.approval.id", "gen_ai.tool.call.id"):
        assert attributes(parked)[key] == attributes(resumed)[key]
    assert [link.context for link in resumed.links] == [parked.get_span_context()]
    assert eye.points("toolkeeper.decisions") == {(("toolkeeper.decision.effect", "ask"),): 1}


def test_the_callers_span_is_the_parent_and_what_a_tool_traces_stands_below() -> None:
    inside: list[str] = []

    async def then(keeper: Toolkeeper, turn: Any, eye: Eye) -> None:
        with eye.tracing.get_tracer("program").start_as_current_span("a step"):
            outcomes = await turn.call_all(
                [
                    turn.read("a", "notes.loud", {"title": "x"}),
                    turn.read("b", "notes.loud", {"title": "x"}),
                ]
            )
            inside.extend(json.loads(each.row.result)["inside"] for each in outcomes)

    eye = ran(then=then)
    *calls, step = eye.spans
    assert step.name == "a step"
    assert step.context is not None
    assert [call.parent.span_id for call in calls if call.parent] == [step.context.span_id] * 2
    assert {f"{call.context.span_id:016x}" for call in calls if call.context} == set(inside)


def test_a_cancelled_turn_says_so() -> None:
    started = asyncio.Event()

    @tool(name="notes.wait", side_effect="workspace_read")
    async def wait() -> str:
        """Wait for ever."""
        started.set()
        await asyncio.sleep(3600)
        return ""

    eye = Eye()

    async def main() -> None:
        made = keeper_of([wait])
        keeper = Toolkeeper(
            made.configuration,
            policy=made.policy,
            ledger=made._given[0],
            sealer=made._given[1],
            clock=made.clock,
            ids=made.ids,
            telemetry=eye.telemetry,
        )
        keeper.add(wait)
        async with keeper:
            session = await keeper.open_session(agent="chat", user="ana")
            turn = await session.begin_turn("hello")
            call = asyncio.create_task(turn.call(turn.read("a", "notes.wait", {})))
            async with asyncio.timeout(60):
                await started.wait()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)

    asyncio.run(main())
    (span,) = eye.spans
    assert span.status.status_code is StatusCode.ERROR
    assert attributes(span)["error.type"] in ("cancelled", "tool.failed")


def test_calls_are_counted_by_outcome_tool_and_code_and_timed() -> None:
    eye = ran(
        ("notes.read", {"title": "x"}),
        ("notes.read", {"title": "x"}),
        ("notes.break", {"title": "x"}),
        ("made.up", {}),
    )
    assert eye.points("toolkeeper.calls") == {
        (("gen_ai.tool.name", "notes.read"), ("toolkeeper.outcome", "completed")): 2,
        (
            ("gen_ai.tool.name", "notes.break"),
            ("toolkeeper.code", "tool.failed"),
            ("toolkeeper.outcome", "failed"),
        ): 1,
        (
            ("gen_ai.tool.name", "_OTHER"),
            ("toolkeeper.code", "tool.not_found.not_offered"),
            ("toolkeeper.outcome", "refused"),
        ): 1,
    }
    assert sum(eye.points("gen_ai.execute_tool.duration").values()) == 4


def test_what_waits_is_shown_with_its_age() -> None:
    shown: dict[str, Any] = {}

    async def then(keeper: Any, turn: Any, eye: Eye) -> None:
        keeper.clock.advance(minutes=5)
        await keeper.lookout._look(keeper.ledger)
        for name in ("pending", "oldest_age"):
            shown[name] = eye.points(f"toolkeeper.approvals.{name}")
        shown["open"] = eye.points("toolkeeper.calls.open")
        shown["undelivered"] = eye.points("toolkeeper.deliveries.undelivered")

    ran(("notes.add", {"title": "x"}), then=then)
    assert shown["pending"] == {(): 1}
    assert shown["oldest_age"] == {(): 300.0}
    assert shown["open"][("toolkeeper.state", "parked"),] == 1
    assert shown["undelivered"] == {(): 0}


def test_the_writers_queue_is_shown_where_there_is_one() -> None:
    eye = Eye()
    assert eye.points("toolkeeper.writer.queue") == {}
    eye.telemetry.watch_queue(lambda: 7)
    assert eye.points("toolkeeper.writer.queue") == {(): 7}


def test_reaped_leases_are_counted() -> None:
    from toolkeeper_contract import Event

    eye = Eye()
    eye.telemetry.reaped(
        [Event("lease.reaped", {"retryable": True}), Event("approval.expired", {})]
    )
    eye.telemetry.reaped([Event("lease.reaped", {"retryable": False})])
    assert eye.points("toolkeeper.leases.reaped") == {
        (("toolkeeper.state", "retryable"),): 1,
        (("toolkeeper.state", "unknown_outcome"),): 1,
    }


def test_nothing_of_opentelemetry_is_loaded_where_nobody_asked_for_it() -> None:
    import subprocess
    import sys

    script = (
        "import asyncio, sys\n"
        "from toolkeeper.testing import keeper_of\n"
        "from toolkeeper import tool\n"
        "@tool(name='a.b', side_effect='none')\n"
        "def f() -> str:\n"
        "    'Do.'\n"
        "    return ''\n"
        "async def main():\n"
        "    async with keeper_of([f]) as keeper:\n"
        "        session = await keeper.open_session(agent='chat', user='ana')\n"
        "        turn = await session.begin_turn('x')\n"
        "        await turn.call(turn.read('c', 'a.b', {}))\n"
        "asyncio.run(main())\n"
        "print([m for m in sys.modules if m.split('.')[0] in "
        "('opentelemetry', 'httpx2', 'toolkeeper_telemetry', 'toolkeeper_sinks')])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


# a collector


def sent(url: str, **more: Any) -> Any:
    """Runs two calls of a keeper whose configuration names the collector."""
    made = keeper_of([read, add])
    configuration = made.configuration
    object.__setattr__(configuration, "telemetry", Configured(url, **more))
    keeper = Toolkeeper(
        configuration,
        policy=made.policy,
        ledger=made._given[0],
        sealer=made._given[1],
        clock=made.clock,
        ids=made.ids,
    )
    keeper.add(read)
    keeper.add(add)

    async def main() -> None:
        async with keeper:
            session = await keeper.open_session(agent="chat", user="ana")
            turn = await session.begin_turn("hello")
            await turn.call(turn.read("c0", "notes.read", {"title": CANARY}))
            await turn.call(turn.read("c1", "notes.add", {"title": CANARY}))

    asyncio.run(main())


def test_a_collector_receives_spans_and_metrics_when_the_keeper_closes(received: Any) -> None:
    sent(received.url, headers={"x-team": "blue"}, service="office")
    span = received.span("execute_tool notes.read")
    assert span["scope"] == "toolkeeper"
    assert span["resource"]["service.name"] == "office"
    assert span["attributes"]["toolkeeper.outcome"] == "completed"
    assert received.points("toolkeeper.approvals.pending")[0]["value"] in (0, 1)
    counted = {
        (point["attributes"]["gen_ai.tool.name"], point["attributes"]["toolkeeper.outcome"]): point[
            "value"
        ]
        for point in received.points("toolkeeper.calls")
    }
    assert counted == {("notes.read", "completed"): 1, ("notes.add", "suspended"): 1}
    received.end()
    assert all(each["headers"]["x-team"] == "blue" for each in received.requests)
    assert CANARY not in json.dumps(received.requests)


def test_a_collector_that_others_wrote_takes_it_all(rotel: str, received: Any) -> None:
    sent(rotel)
    assert received.span("execute_tool notes.add")["attributes"]["toolkeeper.approval.id"]
    assert received.points("gen_ai.execute_tool.duration")
    assert received.points("toolkeeper.decisions")


@pytest.mark.parametrize("gone", ["not there", "silent"])
def test_a_collector_that_does_not_answer_keeps_nobody_from_working_or_closing(
    gone: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if gone == "silent":
            silent.listen()
        port = silent.getsockname()[1]
        sent(f"http://127.0.0.1:{port}/secret-in-the-path", headers={"x-key": "secret-header"})
    assert caplog.records
    told = caplog.text + "".join(capfd.readouterr())
    for canary in (CANARY, RESULT, "secret-in-the-path", "secret-header"):
        assert canary not in told
