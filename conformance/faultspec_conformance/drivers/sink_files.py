"""A file that a service appends records to, read from where a run began."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

#: Bytes that a run reads of one file. A record has a kilobyte or two.
_MOST = 16 * 1024 * 1024

MISSING = "does not exist"
"""The problem of a file that the service has not made yet."""

#: A pipe that nobody writes to does not hold the run.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)


class SinkFile:
    """The lines that are appended to a file. It is held open, so that a file that is moved away is
    read to its end, and then the new one from its beginning; so is a file that was cut. What is not
    a regular file is never read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._left = _MOST
        self._file = _open_regular(path)
        self._offset = 0 if self._file is None else os.fstat(self._file).st_size

    def read_appended(self) -> bytes:
        """The whole lines since the last call."""
        return b"".join(self._read_files())

    @property
    def problem(self) -> str | None:
        """Why nothing can be read, in words after the name of the file; None if there is no reason
        to see.
        """
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            return MISSING
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        if not stat.S_ISREG(mode):
            return "is not a regular file"
        return None if os.access(self.path, os.R_OK) else "cannot be read"

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
        self._file = None

    def _read_files(self) -> Iterator[bytes]:
        yield self._read()
        current = _open_regular(self.path)
        if current is None:
            return
        if self._file is not None and os.path.sameopenfile(self._file, current):
            os.close(current)
            return
        self.close()
        self._file, self._offset = current, 0
        yield self._read()

    def _read(self) -> bytes:
        if self._file is None:
            return b""
        try:
            size = os.fstat(self._file).st_size
            self._offset = self._offset if size >= self._offset else 0
            text = os.pread(self._file, min(self._left, size - self._offset), self._offset)
        except OSError:
            return b""
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        self._left -= len(whole)
        return whole


def _open_regular(path: str) -> int | None:
    """The number of a regular file that was opened; None if there is none to read."""
    with suppress(OSError):
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None  # to open a pipe would be noticed at its other end
        file = os.open(path, _READ)
        if stat.S_ISREG(os.fstat(file).st_mode):
            return file
        os.close(file)
    return None
