"""The configuration file: what it says, checked and with everything it names found."""

from typing import TYPE_CHECKING

from toolkeeper_contract.face import face

if TYPE_CHECKING:
    from toolkeeper.runtime.configuration.agent import Agent, Limits, Pin, Search
    from toolkeeper.runtime.configuration.configuration import (
        ANYBODY,
        Configuration,
        Redaction,
        SchemaLimits,
    )
    from toolkeeper.runtime.configuration.file_text import read_document, read_text
    from toolkeeper.runtime.configuration.loading import load_configuration
    from toolkeeper.runtime.configuration.notification import Telemetry, Webhook
    from toolkeeper.runtime.configuration.problem import ConfigurationErrors
    from toolkeeper.runtime.configuration.revision import agent_revision
    from toolkeeper.runtime.configuration.schema import json_schema
    from toolkeeper.runtime.configuration.server import (
        Acceptance,
        Catalog,
        Command,
        Remote,
        Server,
        Trust,
    )
    from toolkeeper.runtime.configuration.store_url import DEFAULT_STORE, absolute_store
else:
    __getattr__, __dir__ = face(
        __name__,
        {
            "toolkeeper.runtime.configuration.agent": ("Agent", "Limits", "Pin", "Search"),
            "toolkeeper.runtime.configuration.configuration": (
                "ANYBODY",
                "Configuration",
                "Redaction",
                "SchemaLimits",
            ),
            "toolkeeper.runtime.configuration.file_text": ("read_document", "read_text"),
            "toolkeeper.runtime.configuration.loading": ("load_configuration",),
            "toolkeeper.runtime.configuration.notification": ("Telemetry", "Webhook"),
            "toolkeeper.runtime.configuration.problem": ("ConfigurationErrors",),
            "toolkeeper.runtime.configuration.revision": ("agent_revision",),
            "toolkeeper.runtime.configuration.schema": ("json_schema",),
            "toolkeeper.runtime.configuration.server": (
                "Acceptance",
                "Catalog",
                "Command",
                "Remote",
                "Server",
                "Trust",
            ),
            "toolkeeper.runtime.configuration.store_url": ("DEFAULT_STORE", "absolute_store"),
        },
    )

__all__ = [
    "ANYBODY",
    "DEFAULT_STORE",
    "Acceptance",
    "Agent",
    "Catalog",
    "Command",
    "Configuration",
    "ConfigurationErrors",
    "Limits",
    "Pin",
    "Redaction",
    "Remote",
    "SchemaLimits",
    "Search",
    "Server",
    "Telemetry",
    "Trust",
    "Webhook",
    "absolute_store",
    "agent_revision",
    "json_schema",
    "load_configuration",
    "read_document",
    "read_text",
]
