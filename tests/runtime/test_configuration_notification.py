"""Who is told and where measurements go, as the file says it."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from toolkeeper.runtime import Toolkeeper
from toolkeeper.runtime.configuration import Telemetry, Webhook, load_configuration
from toolkeeper_contract import ConfigError

SECRET = "a secret of the configuration's own"
HEAD = "version: 1\nagents: {chat: {}}\n"


def loaded(folder: Path, text: str, **variables: str) -> Any:
    (folder / "toolkeeper.yaml").write_text(HEAD + text)
    return load_configuration(folder / "toolkeeper.yaml", variables)


def test_nobody_is_told_and_nothing_is_measured_by_default(tmp_path: Path) -> None:
    configuration = loaded(tmp_path, "")
    assert (configuration.notifications, configuration.telemetry) == ((), None)


def test_a_webhook_has_its_defaults_and_its_variables_replaced(tmp_path: Path) -> None:
    configuration = loaded(
        tmp_path,
        'notifications: [{webhook: "${URL}", secret: "${KEY}", events: [approval.asked]}]\n',
        URL="https://ops.example:8443/hook?token=t",
        KEY=SECRET,
    )
    assert configuration.notifications == (
        Webhook(
            name="ops.example",
            url="https://ops.example:8443/hook?token=t",
            secret=SECRET,
            events=("approval.asked",),
            timeout=10.0,
            give_up_after=259_200.0,
        ),
    )


def test_a_configuration_shows_neither_secrets_nor_addresses(tmp_path: Path) -> None:
    configuration = loaded(
        tmp_path,
        "notifications: [{webhook: 'http://h/in-the-url', events: [run.began], "
        f'secret: "{SECRET}"}}]\n'
        'telemetry: {otlp: "http://h/in-the-url", headers: {x-key: in-the-header}}\n',
    )
    for canary in (SECRET, "in-the-url", "in-the-header"):
        assert canary not in repr(configuration)
    assert SECRET in configuration.secrets


def test_a_collector_has_its_defaults(tmp_path: Path) -> None:
    configuration = loaded(tmp_path, "telemetry: {otlp: 'http://localhost:4318', interval: 5s}\n")
    assert configuration.telemetry == Telemetry("http://localhost:4318", {}, "toolkeeper", 5.0)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{}", "`otlp` is missing"),
        ("{otlp: 'localhost:4318'}", "not the address of a server"),
        ("{otlp: 'http://h', headers: {x: \"a\\nb\"}}", "header cannot be sent"),
        ("{otlp: 'http://h', interval: 0}", "longer than nothing"),
        ("{oltp: 'http://h'}", "did you mean `otlp`"),
    ],
)
def test_a_collector_that_cannot_be_is_refused(tmp_path: Path, section: str, message: str) -> None:
    with pytest.raises(ConfigError) as fault:
        loaded(tmp_path, f"telemetry: {section}\n")
    assert message in str(fault.value)


def test_telemetry_without_its_extra_says_what_to_install_and_makes_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.startswith("toolkeeper_telemetry")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    keeper = Toolkeeper(loaded(tmp_path, "telemetry: {otlp: 'http://localhost:4318'}\n"))
    with pytest.raises(ConfigError, match=r"toolkeeper\[otel\]"):
        asyncio.run(keeper.open())
    assert not (tmp_path / "toolkeeper.db").exists()


def test_two_sinks_of_one_name_are_refused_when_the_keeper_is_made(tmp_path: Path) -> None:
    class Sink:
        name = "h"
        events = ("run.began",)

        async def deliver(self, event: Any) -> None: ...

    text = f'notifications: [{{webhook: "http://h/", secret: "{SECRET}", events: [run.began]}}]\n'
    with pytest.raises(ConfigError, match="two sinks by the name `h`"):
        Toolkeeper(loaded(tmp_path, text), sinks=[Sink()])


def test_an_attempt_that_would_outlast_its_hold_is_refused(tmp_path: Path) -> None:
    section = f"{{webhook: 'https://h/', secret: \"{SECRET}\", events: [run.began], timeout: 11m}}"
    with pytest.raises(ConfigError) as fault:
        loaded(tmp_path, f"notifications: [{section}]\n")
    assert "an attempt cannot take 660 seconds" in str(fault.value)
    assert ":3" in str(fault.value)
