"""What is known outside of the store: which effects took place, and what the host was told?

Each line is on the disk before anything goes on, so it survives whoever wrote it.
"""

import json
import os


class Notebook:
    """A file of JSON lines, shared by every process of one scene."""

    def __init__(self, path):
        self.path = path

    def write(self, **what):
        line = (json.dumps(what) + "\n").encode()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lines(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]
