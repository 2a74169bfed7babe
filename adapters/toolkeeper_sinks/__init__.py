"""Who outside the ledger is told of its events: webhooks with signed bodies.

sink = WebhookSink("https://ops.example/hook", secret, events=["approval.asked"])
verify_signature(body, headers, secret, now=time.time())
"""

from typing import TYPE_CHECKING

from toolkeeper_contract.face import face

if TYPE_CHECKING:
    from toolkeeper_sinks.courier import Courier, Log, Round
    from toolkeeper_sinks.schedule import Schedule
    from toolkeeper_sinks.signature import (
        NotSigned,
        SigningSecret,
        signed_headers,
        verify_signature,
    )
    from toolkeeper_sinks.webhook import WebhookSink, message_id
else:
    __getattr__, __dir__ = face(
        __name__,
        {
            "toolkeeper_sinks.courier": ("Courier", "Log", "Round"),
            "toolkeeper_sinks.schedule": ("Schedule",),
            "toolkeeper_sinks.signature": (
                "NotSigned",
                "SigningSecret",
                "signed_headers",
                "verify_signature",
            ),
            "toolkeeper_sinks.webhook": ("WebhookSink", "message_id"),
        },
    )

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
