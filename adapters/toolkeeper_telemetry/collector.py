"""How do measurements get to a collector?"""

from collections.abc import Mapping
from contextlib import suppress

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from toolkeeper_telemetry.telemetry import Telemetry

_TIMEOUT = 5.0
"""Seconds for one request; a collector that hangs must not keep a command from ending."""


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
    resource = Resource.create({"service.name": service})
    tracing = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracing.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(f"{root}/v1/traces", headers=sent, timeout=_TIMEOUT))
    )
    reader = PeriodicExportingMetricReader(
        OTLPMetricExporter(f"{root}/v1/metrics", headers=sent, timeout=_TIMEOUT),
        export_interval_millis=interval * 1000,
        export_timeout_millis=_TIMEOUT * 1000,
    )
    metering = MeterProvider([reader], resource=resource, shutdown_on_exit=False)

    def shut_down() -> None:
        # What cannot be sent is lost: measurements are no part of what is promised.
        for provider in (tracing, metering):
            with suppress(Exception):
                provider.shutdown()

    return Telemetry(tracing, metering, shut_down=shut_down)
