"""Spans and metrics of governed calls, in the GenAI conventions of OpenTelemetry.

Needs the extra `otel`. Either the program's own providers, or a collector:
telemetry = Telemetry()
telemetry = open_telemetry("http://localhost:4318")
"""

from toolkeeper_telemetry.call_span import CallSpan
from toolkeeper_telemetry.collector import open_telemetry
from toolkeeper_telemetry.instruments import Instruments
from toolkeeper_telemetry.telemetry import Telemetry

__all__ = ["CallSpan", "Instruments", "Telemetry", "open_telemetry"]
