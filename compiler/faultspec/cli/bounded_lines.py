"""Standard input whose lines have a bound, for programs that hold each line whole."""

import io
import os
import sys
from typing import BinaryIO

LONGEST = 1024**2
"""Bytes of a line. The longest questions are a thousandth of it."""


class BoundedLines(io.BufferedIOBase):
    """The bytes of a stream. A longer line ends the process with exit code 2: what reads it may be
    a thread of a library, whose errors nobody gets.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._descriptor = stream.fileno()
        self._length = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def read1(self, size: int = -1) -> bytes:
        """The bytes that are there next, at most so many."""
        block = os.read(self._descriptor, size if 0 < size <= LONGEST else LONGEST)
        lines = block.split(b"\n")
        longest = max(self._length + len(lines[0]), *(len(line) for line in lines))
        if longest > LONGEST:
            _end(f"error[too-large]: a message has more than {LONGEST // 1024**2} MiB")
        self._length = len(lines[-1]) + (self._length if len(lines) == 1 else 0)
        return block

    def read(self, size: int | None = -1) -> bytes:
        """The bytes that are there next: a reader of text asks for no more than it needs."""
        return self.read1(-1 if size is None else size)


def _end(reason: str) -> None:
    sys.stderr.write(f"{reason}\n")
    sys.stderr.flush()
    os._exit(2)
