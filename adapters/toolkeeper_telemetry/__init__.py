"""Spans and metrics of governed calls, in the GenAI conventions of OpenTelemetry.

Needs the extra `otel`. Either the program's own providers, or a collector:
telemetry = Telemetry()
telemetry = open_telemetry("http://localhost:4318")
"""

from typing import TYPE_CHECKING

from toolkeeper_contract.face import face

if TYPE_CHECKING:
    from toolkeeper_telemetry.call_span import CallSpan
    from toolkeeper_telemetry.collector import open_telemetry
    from toolkeeper_telemetry.instruments import Instruments
    from toolkeeper_telemetry.telemetry import Telemetry
else:
    __getattr__, __dir__ = face(
        __name__,
        {
            "toolkeeper_telemetry.call_span": ("CallSpan",),
            "toolkeeper_telemetry.collector": ("open_telemetry",),
            "toolkeeper_telemetry.instruments": ("Instruments",),
            "toolkeeper_telemetry.telemetry": ("Telemetry",),
        },
    )

__all__ = ["CallSpan", "Instruments", "Telemetry", "open_telemetry"]
