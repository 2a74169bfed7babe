"""What a log line looks like, and what it never holds."""

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
import structlog

from toolkeeper.runtime.log import configure_logging, prepare_logging
from toolkeeper.runtime.redaction import Redactor
from toolkeeper_contract import ConfigError


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_a_line_is_keys_and_values_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info")
    structlog.get_logger().info("call.settled", tool="notes.add", bytes=7, ok=True)
    out, err = capsys.readouterr()
    assert out == ""
    stamp, rest = err.split(" ", 1)
    assert stamp.startswith("timestamp=")
    assert rest == "level=info event=call.settled tool=notes.add bytes=7 ok=true\n"


def test_lines_below_the_level_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("warning")
    structlog.get_logger().info("call.settled")
    assert capsys.readouterr().err == ""


def test_secrets_and_hidden_characters_do_not_pass(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", Redactor(patterns=["ORD-[0-9]+"]))
    structlog.get_logger().warning(
        "server.stderr",
        text="token=hunter2 \x1b[31mred\nORD-77",
        password="hunter2",
        nested={"api_key": ["hunter2"]},
    )
    err = capsys.readouterr().err
    assert "hunter2" not in err
    assert "ORD-77" not in err
    assert "\x1b" not in err
    assert err.count("\n") == 1
    assert "\\u{1B}[31mred" in err.replace("\\\\", "\\")


def test_an_exception_is_named_and_not_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info")
    try:
        raise ValueError("hunter2 is not valid")
    except ValueError:
        structlog.get_logger().exception("call.failed")
        logging.getLogger("library").exception("it broke")
    err = capsys.readouterr().err
    assert "hunter2" not in err
    assert err.count("exception=ValueError") == 2
    assert "Traceback" not in err


def test_libraries_are_held_at_warning(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("debug")
    logging.getLogger("mcp.client").debug("sending %s", {"password": "hunter2"})
    logging.getLogger("mcp.client").warning("lost password=%s", "hunter2")
    err = capsys.readouterr().err
    assert "hunter2" not in err
    assert err.count("\n") == 1
    assert "logger=mcp.client" in err


def test_a_line_does_not_grow_without_end(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info")
    structlog.get_logger().info("x", text="y" * 100_000)
    assert len(capsys.readouterr().err) < 3_000


def test_an_odd_key_is_no_reason_to_fail(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info")
    structlog.get_logger().info("x", **{"a key": 1, "k=v": 2, 'q"': 3})
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        configure_logging("warn")
    assert str(caught.value) == "`warn` is not a log level (did you mean `warning`?)"


PREPARED = """
import logging, sys
from toolkeeper.runtime.log import Log, prepare_logging
prepare_logging("warning")
prepare_logging("warning")
assert "structlog" not in sys.modules
{then}
import structlog
assert structlog.is_configured()
assert structlog.__loader__ is structlog.__spec__.loader
assert type(structlog.__loader__).__module__ != "toolkeeper.runtime.on_loading"
assert [type(each).__name__ for each in sys.meta_path].count("OnLoading") == 0
"""


@pytest.mark.parametrize(
    "then",
    [
        "logging.getLogger('a.library').warning('token=hunter2')",
        "Log('toolkeeper.runtime.turn').warning('call.late', token='hunter2')",
        # A tool that loads it when it is called.
        "import structlog; structlog.get_logger().warning('loaded', password='hunter2')",
        "import structlog.stdlib; structlog.get_logger().warning('loaded', password='hunter2')",
    ],
)
def test_logs_that_were_prepared_are_set_up_by_the_first_record(then: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PREPARED.format(then=then)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.count("\n") == 1
    assert " level=warning event=" in done.stderr
    assert "hunter2" not in done.stderr


def test_logs_are_set_up_at_once_where_structlog_is_there_already(
    capsys: pytest.CaptureFixture[str],
) -> None:
    structlog.reset_defaults()
    prepare_logging("warning")
    structlog.get_logger().warning("loaded", password="hunter2")
    out, err = capsys.readouterr()
    assert out == ""
    assert "event=loaded" in err
    assert "hunter2" not in err
