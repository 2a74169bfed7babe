"""How is something done in a process of its own that may be killed at any moment?

By a fork of this process, which has imported everything and opened nothing: a worker begins in a
few milliseconds instead of most of a second.
"""

import asyncio
import gc
import json
import os
import signal
import sys
import time
import traceback

LONGEST = 60
"""Seconds after which a process is killed in any case."""


class Wrong(Exception):
    """A process did not end the way it had to."""


def forked(make):
    """Runs the coroutine that `make` gives, in a fork; its answer, as JSON carries it."""
    status, said = _run(make)
    if status != 0:
        raise Wrong(f"a process ended with status {status}:\n{said}")
    return json.loads(said)


def killed(make):
    """Runs the coroutine in a fork that has to die by SIGKILL; False when it came to its end."""
    status, said = _run(make)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    if status != 0:
        raise Wrong(f"a process ended with status {status}:\n{said}")
    return False


def killed_when(make, come):
    """Runs the coroutine in a fork, and kills it as soon as `come()` holds."""
    status, said = _run(make, come)
    if status != signal.SIGKILL:
        raise Wrong(f"a process ended with status {status} before it was killed:\n{said}")
    return True


def _run(make, come=None):
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(make, writing)
    os.close(writing)
    if come is not None:
        until = time.monotonic() + LONGEST
        while not come() and time.monotonic() < until:
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return status, said


def _be_child(make, writing):
    gc.disable()
    code = 1
    try:
        said = json.dumps(asyncio.run(make()))
        code = 0
    except BaseException:
        said = traceback.format_exc()
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        pipe.write(said)
    # Neither the parent's cleaning up nor its buffers are this process's business.
    os._exit(code)
