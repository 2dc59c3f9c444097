"""Streams of bytes that a function reads."""

import io
from collections.abc import Callable


class ByteStream(io.RawIOBase):
    """The bytes that a function reads: it takes how many at most, and returns none at the end.

    ``count``: how many were read.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self.count = 0
        self._read = read

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # narrower than any buffer, as readers call it
        """Fill the start of the buffer; return the number of bytes. Raises what the function
        raises.
        """
        content = self._read(len(buffer))
        self.count += len(content)
        buffer[: len(content)] = content
        return len(content)
