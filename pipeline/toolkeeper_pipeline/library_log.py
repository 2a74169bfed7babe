"""What may the libraries that we drive say in the log?

They write whole messages, statements and rows there, at levels that somebody switches on to find
another fault: arguments and results would stand in plain text. So their records keep what is
constant (the level, the place, the template of the message, the kind of an exception), and nothing
that a call was made with.
"""

import logging
from pathlib import Path


class Withheld(logging.Filter):
    """Takes everything out of a library's record that a call may have brought in.

    `package` confines it to records that this package's own code writes, for a logger whose name
    others may use as well.
    """

    def __init__(self, package: str | None = None) -> None:
        super().__init__()
        self._package = package

    def filter(self, record: logging.LogRecord) -> bool:
        if self._package is not None and self._package not in Path(record.pathname).parts:
            return True
        # Without arguments a message may be made of anything: then only its place is told.
        template = record.msg if record.args and isinstance(record.msg, str) else ""
        told = template or "message withheld"
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        place = f"{record.module}:{record.lineno}"
        record.msg = f"{told} [{place}{f', {kind}' if kind else ''}]"
        record.args = ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def withhold(*names: str, package: str | None = None) -> None:
    """Filters the loggers of these names and all below them, as far as they exist by now.

    To be called again when more of a library may have been loaded; what is filtered stays so.
    """
    known = [name for name in logging.root.manager.loggerDict if _is_below(name, names)]
    for name in {*known, *names}:
        logger = logging.getLogger(name)
        if not any(isinstance(each, Withheld) for each in logger.filters):
            logger.addFilter(Withheld(package))


def _is_below(name: str, names: tuple[str, ...]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in names)
