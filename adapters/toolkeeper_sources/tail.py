"""What did a server's process print last?"""

from collections import deque


class Tail:
    """Keeps the last `size` bytes of a stream; older ones are dropped as new ones come."""

    def __init__(self, size: int = 8192) -> None:
        self._size = size
        self._chunks: deque[bytes] = deque()
        self._length = 0

    def add(self, chunk: bytes) -> None:
        self._chunks.append(chunk[-self._size :])
        self._length += len(self._chunks[-1])
        while self._length - len(self._chunks[0]) >= self._size:
            self._length -= len(self._chunks.popleft())

    def text(self) -> str:
        """The tail as text, as it came: not redacted, not cleaned."""
        return b"".join(self._chunks)[-self._size :].decode("utf-8", "replace")
