"""What does a file that was given to a verb, or standard input, say?"""

import sys
from pathlib import Path

from toolkeeper_contract import ConfigError


def given_text(file: Path) -> str:
    """The text of `file`; `-` is standard input. ConfigError when it cannot be read as UTF-8."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return data.decode("utf-8-sig")
    except OSError:
        raise ConfigError(f"the file `{file}` cannot be read", "check its path") from None
    except UnicodeDecodeError:
        raise ConfigError(f"the file `{file}` is not utf-8", "write it in utf-8") from None
