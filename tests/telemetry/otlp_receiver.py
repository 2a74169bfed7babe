"""A receiver of OTLP over HTTP, as a process of its own: decodes what comes and prints it as JSON.

It prints its port, and then a line for each request: `{"spans": [...]}` or `{"metrics": [...]}`,
with attributes as plain mappings.
"""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces

ONE_AT_A_TIME = threading.Lock()


def plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(each) for each in value.array_value.values]
    return getattr(value, kind) if kind else None


def mapping(attributes: Any) -> dict[str, Any]:
    return {each.key: plain(each.value) for each in attributes}


def spans(body: bytes) -> list[dict[str, Any]]:
    return [
        {
            "name": span.name,
            "trace": span.trace_id.hex(),
            "id": span.span_id.hex(),
            "parent": span.parent_span_id.hex(),
            "links": [link.span_id.hex() for link in span.links],
            "kind": span.kind,
            "status": span.status.code,
            "message": span.status.message,
            "events": [event.name for event in span.events],
            "attributes": mapping(span.attributes),
            "resource": mapping(resource.resource.attributes),
            "scope": scope.scope.name,
        }
        for resource in traces.ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def points(metric: Any) -> list[dict[str, Any]]:
    kind = metric.WhichOneof("data")
    return [
        {
            "attributes": mapping(point.attributes),
            "value": point.count
            if kind == "histogram"
            else getattr(point, point.WhichOneof("value")),
        }
        for point in getattr(metric, kind).data_points
    ]


def measured(body: bytes) -> list[dict[str, Any]]:
    return [
        {"name": metric.name, "unit": metric.unit, "points": points(metric)}
        for resource in metrics.ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    ]


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        told: dict[str, Any] = {"headers": dict(self.headers)}
        if self.path.endswith("/v1/traces"):
            told["spans"] = spans(body)
            answer = traces.ExportTraceServiceResponse().SerializeToString()
        else:
            told["metrics"] = measured(body)
            answer = metrics.ExportMetricsServiceResponse().SerializeToString()
        with ONE_AT_A_TIME:
            print(json.dumps(told), flush=True)
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
