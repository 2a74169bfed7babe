"""Where in the configuration's files stands what turned out to be wrong only later?

Whether a tool exists is known when its source was listed, long after the file was read; whoever
wrote the name is told its file and line all the same.
"""

import re
from pathlib import Path as FilePath

from toolkeeper.runtime.configuration.inclusion import read_documents
from toolkeeper_contract import ConfigError, Path

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def placed(error: ConfigError, file: str, start: Path) -> ConfigError:
    """`error` with the file and line of the key that it names below `start`.

    `file` is the main file. An error that has its place already stays as it is, and so does one of
    a configuration that no file was read for.
    """
    if error.file is not None or not FilePath(file).is_file():
        return error
    try:
        documents = read_documents(FilePath(file))
    except ConfigError:
        return error
    path = (*start, *_below(error.key or "", start))
    return documents.error(path, error.message, error.hint, code=error.code)


def _below(key: str, start: Path) -> Path:
    prefix = ".".join(str(part) for part in start)
    if not key.startswith(prefix):
        return ()
    return tuple(name or int(number) for name, number in _STEP.findall(key.removeprefix(prefix)))
