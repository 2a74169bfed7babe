"""Who outside the ledger is told of its events: webhooks with signed bodies.

sink = WebhookSink("https://ops.example/hook", secret, events=["approval.asked"])
verify_signature(body, headers, secret, now=time.time())
"""

from toolkeeper_sinks.courier import Courier, Log, Round
from toolkeeper_sinks.schedule import Schedule
from toolkeeper_sinks.signature import NotSigned, SigningSecret, signed_headers, verify_signature
from toolkeeper_sinks.webhook import WebhookSink, message_id

__all__ = [
    "Courier",
    "Log",
    "NotSigned",
    "Round",
    "Schedule",
    "SigningSecret",
    "WebhookSink",
    "message_id",
    "signed_headers",
    "verify_signature",
]
