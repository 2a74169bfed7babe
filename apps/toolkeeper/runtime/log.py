"""What do the program's logs look like, and what never stands in them?

The command's logs go to standard error, one event a line as `key=value`. The library is silent
until the program around it sets up logging; it never writes to standard output. Logs carry names,
sizes and codes, never argument values; whatever slips in is redacted and made visible before it is
written.
"""

import logging
import sys
from collections.abc import Callable, MutableMapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from toolkeeper.runtime.on_loading import OnLoading
from toolkeeper_contract import ConfigError, did_you_mean
from toolkeeper_index import visible

if TYPE_CHECKING:
    import structlog

    from toolkeeper.runtime.redaction import Redactor

LEVELS = ("debug", "info", "warning", "error")

_FIRST = ("timestamp", "level", "event")
_LONGEST = 2_000
"""Characters of one value that a log line shows."""


class Log:
    """Where a module of ours logs; `name` is the module's.

    To structlog where the program has configured it, else to Python's own logging under `name`.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def info(self, event: str, **values: Any) -> None:
        self._write("info", event, values)

    def warning(self, event: str, **values: Any) -> None:
        self._write("warning", event, values)

    def error(self, event: str, **values: Any) -> None:
        self._write("error", event, values)

    def _write(self, level: str, event: str, values: dict[str, Any]) -> None:
        set_up_logging()
        # Whoever has configured it has loaded it.
        structlog = sys.modules.get("structlog")
        if structlog is not None and structlog.is_configured():
            # Left alone, structlog would print to standard output.
            getattr(structlog.get_logger(self._name), level)(event, **values)
            return
        logger, number = (
            logging.getLogger(self._name),
            logging.getLevelNamesMapping()[level.upper()],
        )
        if logger.isEnabledFor(number):
            cleaner, line = _writer()
            cleaned = cleaner(logger, level, {"event": event, **values})
            logger.log(number, "%s", line(logger, level, _logfmt_keys(logger, level, cleaned)))


_awaited: Callable[[], None] | None = None
"""What sets up logging, from `prepare_logging` to `set_up_logging`."""


def prepare_logging(level: str = "warning") -> None:
    """Like `configure_logging`, but not before something is logged, or a tool loads structlog.

    Most commands log nothing, and what writes a log takes long to load (adr/0024).
    """
    global _awaited
    number = _number(level)
    if "structlog" in sys.modules:
        configure_logging(level)
        return
    _awaited = partial(configure_logging, level)
    _LOADED.wait()
    root = logging.getLogger()
    root.handlers[:] = [_FirstRecord()]
    root.setLevel(max(number, logging.WARNING))


def set_up_logging() -> None:
    """Does what was prepared; nothing where nothing was."""
    global _awaited
    if _awaited is not None:
        configure, _awaited = _awaited, None
        configure()


_LOADED = OnLoading("structlog", set_up_logging)


class _FirstRecord(logging.Handler):
    """Sets up logging, and hands the record on to what writes it."""

    def emit(self, record: logging.LogRecord) -> None:
        set_up_logging()
        for handler in logging.getLogger().handlers:
            if handler is not self:
                handler.handle(record)


def _number(level: str) -> int:
    if level not in LEVELS:
        raise ConfigError(f"`{level}` is not a log level", did_you_mean(level, LEVELS))
    return logging.getLevelNamesMapping()[level.upper()]


def configure_logging(level: str = "warning", redactor: "Redactor | None" = None) -> None:
    """Sends the logs of this program and of its libraries to standard error.

    `level` is one of LEVELS; ConfigError for another. Libraries are held at `warning` at least:
    at a lower level some of them write whole messages, arguments included.
    """
    global _awaited
    number = _number(level)
    _awaited = None
    import structlog

    from toolkeeper.runtime.redaction import Redactor

    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_traceback,
        Cleaner(redactor or Redactor()),
    ]
    render = structlog.processors.LogfmtRenderer(
        key_order=_FIRST, drop_missing=True, bool_as_flag=False
    )
    structlog.configure(
        processors=[*processors, _logfmt_keys, render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *processors],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _logfmt_keys,
                render,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(number, logging.WARNING))


class Cleaner:
    """A structlog processor: redacts every value, then makes hidden characters visible."""

    def __init__(self, redactor: "Redactor") -> None:
        self._redactor = redactor

    def __call__(
        self, logger: Any, method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        shown, _ = self._redactor.redact({key: _plain(value) for key, value in event.items()})
        for key, value in shown.items():
            event[key] = _line(value) if isinstance(value, str) else value
        return event


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return str(value)


def _line(text: str) -> str:
    text = visible(text).replace("\n", "\\n").replace("\t", " ")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def _logfmt_keys(
    logger: Any, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    # The renderer refuses keys with spaces; a log line is never a reason to fail.
    return {key.replace(" ", "_"): value for key, value in event.items()}


def _without_traceback(
    logger: Any, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """The exception's type instead of its words: libraries quote argument values in theirs."""
    info = event.pop("exc_info", None)
    error = info if isinstance(info, BaseException) else sys.exc_info()[1] if info else None
    if isinstance(info, tuple):
        error = info[1]
    if error is not None:
        event["exception"] = type(error).__name__
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is not None:
            code = trace.tb_frame.f_code
            event["at"] = f"{code.co_filename}:{trace.tb_lineno}"
    event.pop("stack_info", None)
    return event


@cache
def _writer() -> "tuple[Cleaner, structlog.processors.LogfmtRenderer]":
    """What makes a line for Python's own logging."""
    import structlog

    from toolkeeper.runtime.redaction import Redactor

    line = structlog.processors.LogfmtRenderer(
        key_order=("event",), drop_missing=True, bool_as_flag=False
    )
    return Cleaner(Redactor()), line


# Python would print warnings that nobody wants on standard error.
logging.getLogger("toolkeeper").addHandler(logging.NullHandler())
