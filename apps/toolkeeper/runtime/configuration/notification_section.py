"""What are the addresses of the file, once its variables are replaced?"""

from toolkeeper.runtime.configuration.field_type import shown
from toolkeeper.runtime.configuration.file_model import ConfigurationFile, WebhookFile
from toolkeeper.runtime.configuration.file_text import Documents
from toolkeeper.runtime.configuration.notification import Telemetry, Webhook
from toolkeeper.runtime.configuration.substitution import Substitution
from toolkeeper.runtime.configuration.web_address import host_of, is_web_address
from toolkeeper_contract import EVENTS, ConfigError, Path, did_you_mean

LONGEST_ATTEMPT = 600.0
"""Seconds; a delivery is held for some of these."""


def webhooks(
    file: ConfigurationFile,
    documents: Documents,
    substitution: Substitution,
    errors: list[ConfigError],
) -> tuple[Webhook, ...]:
    """Everybody who is told of events; what is wrong with them is added to `errors`."""
    found: list[Webhook] = []
    for index, section in enumerate(file.notifications):
        at: Path = ("notifications", index)
        webhook = _webhook(section, at, documents, substitution, errors)
        if webhook.name in [other.name for other in found]:
            errors.append(
                documents.error(
                    at,
                    f"there are two notifications by the name {shown(webhook.name)}",
                    "give one of them a `name` of its own",
                )
            )
        found.append(webhook)
    return tuple(found)


def telemetry(
    file: ConfigurationFile,
    documents: Documents,
    substitution: Substitution,
    errors: list[ConfigError],
) -> Telemetry | None:
    """Where measurements go; None when the file says nothing of it."""
    section = file.telemetry
    if section is None:
        return None
    at: Path = ("telemetry", "otlp")
    url = _address(section.otlp, at, documents, substitution, errors, "http://localhost:4318")
    headers = substitution.texts(section.headers, ("telemetry", "headers"))
    for name, value in headers.items():
        if not (value.isprintable() and value.isascii() and name.isascii() and name.isprintable()):
            errors.append(
                documents.error(
                    ("telemetry", "headers", name),
                    "this header cannot be sent",
                    "write plain characters without line breaks; look at the variables in it",
                )
            )
    return Telemetry(url, headers, section.service, section.interval)


def _webhook(
    section: WebhookFile,
    at: Path,
    documents: Documents,
    substitution: Substitution,
    errors: list[ConfigError],
) -> Webhook:
    url = _address(
        section.webhook, (*at, "webhook"), documents, substitution, errors, "https://host/path"
    )
    for index, event in enumerate(section.events):
        if event not in EVENTS:
            errors.append(
                documents.error(
                    (*at, "events", index),
                    f"there is no event {shown(event)}",
                    did_you_mean(event, sorted(EVENTS)),
                )
            )
    if section.timeout > LONGEST_ATTEMPT:
        errors.append(
            documents.error(
                (*at, "timeout"),
                f"an attempt cannot take {section.timeout:g} seconds",
                f"{LONGEST_ATTEMPT:g} at most; a sink answers as soon as it has the event",
            )
        )
    return Webhook(
        name=section.name or host_of(url),
        url=url,
        secret=_secret(section, (*at, "secret"), documents, substitution, errors),
        events=tuple(dict.fromkeys(section.events)),
        timeout=section.timeout,
        give_up_after=section.give_up_after,
    )


def _secret(
    section: WebhookFile,
    at: Path,
    documents: Documents,
    substitution: Substitution,
    errors: list[ConfigError],
) -> str:
    # On first use: most configurations notify nobody.
    from toolkeeper_sinks.signature import SigningSecret

    secret = substitution.text(section.secret, at)
    if substitution.failed(at):
        return secret
    substitution.secrets.add(secret)
    try:
        SigningSecret.of(secret)
    except ValueError as fault:
        errors.append(
            documents.error(
                at,
                f"this secret cannot sign: {fault}",
                "make one with `python -c 'import secrets; print(secrets.token_hex(32))'`",
            )
        )
    return secret


def _address(
    written: str,
    at: Path,
    documents: Documents,
    substitution: Substitution,
    errors: list[ConfigError],
    example: str,
) -> str:
    url = substitution.text(written, at)
    # The address may hold a secret, so the error does not quote it.
    if not substitution.failed(at) and not is_web_address(url):
        errors.append(
            documents.error(at, "this is not the address of a server", f"write `{example}`, say")
        )
    return url
