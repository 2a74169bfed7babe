"""Who is told of which events, and where do measurements go?"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Webhook:
    """One address that is told of events; `secret` signs what is sent to it.

    `name` tells its outbox from others' and stays the same over restarts. `timeout` and
    `give_up_after` are in seconds: of one attempt, and of an event's age.
    """

    name: str
    url: str = field(repr=False)
    secret: str = field(repr=False)
    events: tuple[str, ...]
    timeout: float = 10.0
    give_up_after: float = 259_200.0


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Where spans and metrics go: the base address of a collector that takes OTLP over HTTP.

    `interval` is in seconds: how often metrics are sent. `service` is the resource's name.
    """

    otlp: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    service: str = "toolkeeper"
    interval: float = 60.0
