"""How do measurements get to a collector?"""

import threading
from collections.abc import Mapping
from contextlib import suppress

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from toolkeeper_telemetry.collector_session import CollectorSession
from toolkeeper_telemetry.telemetry import Telemetry

_TIMEOUT = 5.0
"""Seconds for one batch, all its attempts together."""

_PATIENCE = 2.0
"""Seconds after which closing tries no more: a command must end though its collector is gone."""


def open_telemetry(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    service: str = "toolkeeper",
    interval: float = 60.0,
) -> Telemetry:
    """Telemetry with providers of its own, which send to the collector at `url` by OTLP over HTTP.

    `url` is the base address (`http://localhost:4318`); `interval` is in seconds, for metrics. The
    environment's OTEL_RESOURCE_ATTRIBUTES are kept; the global providers are left as they are.
    """
    root = url.rstrip("/")
    sent = dict(headers or {})
    spans = _SpanExporter(
        f"{root}/v1/traces", headers=sent, timeout=_TIMEOUT, session=CollectorSession()
    )
    metrics = _MetricExporter(
        f"{root}/v1/metrics", headers=sent, timeout=_TIMEOUT, session=CollectorSession()
    )
    resource = Resource.create({"service.name": service})
    tracing = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracing.add_span_processor(BatchSpanProcessor(spans))
    reader = PeriodicExportingMetricReader(
        metrics,
        export_interval_millis=interval * 1000,
        export_timeout_millis=_TIMEOUT * 1000,
    )
    metering = MeterProvider([reader], resource=resource, shutdown_on_exit=False)

    def give_up() -> None:
        # Ends the pauses between attempts, in whatever thread they are waited for.
        spans.shutdown()
        metrics.shutdown()

    def shut_down() -> None:
        # What cannot be sent is lost: measurements are no part of what is promised.
        timer = threading.Timer(_PATIENCE, give_up)
        timer.start()
        other = threading.Thread(target=_shut_down, args=(metering,))
        other.start()
        _shut_down(tracing)
        other.join()
        timer.cancel()
        timer.join()

    return Telemetry(tracing, metering, shut_down=shut_down)


def _shut_down(provider: TracerProvider | MeterProvider) -> None:
    with suppress(Exception):
        provider.shutdown()


class _SpanExporter(OTLPSpanExporter):
    """One that may be shut down twice without a word."""

    _is_shut = False

    def shutdown(self) -> None:
        if not self._is_shut:
            self._is_shut = True
            super().shutdown()  # type: ignore[no-untyped-call]


class _MetricExporter(OTLPMetricExporter):
    """The same for metrics."""

    _is_shut = False

    def shutdown(self, timeout_millis: float = 30_000, **options: object) -> None:
        if not self._is_shut:
            self._is_shut = True
            super().shutdown(timeout_millis)
