"""A file that a service appends records to, read from where a run began."""

import os
import stat
from pathlib import Path

#: Bytes that a run reads of one file. A record has a kilobyte or two.
_MOST = 16 * 1024 * 1024


class SinkFile:
    """The lines that are appended to a file. A file that is replaced or cut is read from its
    beginning; one that is not a regular file is never read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: int | None = None
        self._offset = 0
        self._left = _MOST
        known = self._stat()
        if known is not None:
            self._file, self._offset = known.st_ino, known.st_size

    def read_appended(self) -> bytes:
        """The whole lines since the last call."""
        known = self._stat()
        if known is None or self._left <= 0:
            return b""
        if known.st_ino != self._file or known.st_size < self._offset:
            self._file, self._offset = known.st_ino, 0
        try:
            with Path(self.path).open("rb") as stream:
                stream.seek(self._offset)
                text = stream.read(self._left)
        except OSError:
            return b""
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        self._left -= len(whole)
        return whole

    def _stat(self) -> os.stat_result | None:
        """The properties of the file, if it is a regular one."""
        try:
            found = Path(self.path).stat()
        except OSError:
            return None
        return found if stat.S_ISREG(found.st_mode) else None
