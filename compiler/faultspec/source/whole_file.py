"""Writing a file whole or not at all."""

import errno
import os
import select
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_whole(path: Path, content: bytes, mode: int | None = None) -> None:
    """Replace the content of a file, or create it; an interruption leaves the old content.

    ``mode``: the most permissive mode of the file; None keeps that of an existing file. A
    link stays a link. What is not a regular file, such as a pipe, is written in place and keeps its
    mode; a pipe that nobody reads is an error. Raises OSError.
    """
    real = Path(os.path.realpath(path))
    if os.path.exists(real) and not os.path.isfile(real):
        _write_in_place(real, content)
        return
    with _new_file_beside(real, content, 0o666 if mode is None else mode) as beside:
        if mode is None and real.exists():
            shutil.copymode(real, beside)
        beside.replace(real)


def create_whole(path: Path, content: bytes) -> None:
    """Create a file whole or not at all. Raises OSError: FileExistsError if it exists."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    with _new_file_beside(path, content, 0o666) as beside:
        try:
            os.link(beside, path)
        except FileExistsError:
            raise
        except OSError:  # some file systems have no hard links
            beside.rename(path)


@contextmanager
def _new_file_beside(path: Path, content: bytes, mode: int) -> Iterator[Path]:
    """A new file in the folder of ``path``. It is removed at the end, unless it was moved."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(beside, _NEW, mode), "wb") as file:
            file.write(content)
        yield beside
    finally:
        beside.unlink(missing_ok=True)


#: Seconds for which a pipe may be full. Its reader is a process on this machine.
_PATIENCE = 10


def _write_in_place(path: Path, content: bytes) -> None:
    """Write to a pipe or a device. Raises OSError, also if nobody reads the pipe."""
    waits = hasattr(os, "O_NONBLOCK")  # not on Windows, which has no pipes among its files
    file = os.open(path, os.O_WRONLY | (os.O_NONBLOCK if waits else 0))
    try:
        left = memoryview(content)
        while left:
            if waits and not select.select([], [file], [], _PATIENCE)[1]:
                raise TimeoutError(errno.ETIMEDOUT, "nobody reads it", str(path))
            left = left[os.write(file, left) :]
    finally:
        os.close(file)
