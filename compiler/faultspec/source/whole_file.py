"""Writing a file whole or not at all."""

import errno
import os
import re
import select
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where files of killed processes stay
    fcntl = None  # type: ignore[assignment]

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

#: The end of the names of new files, which no other program gives.
_MARK = ".faultspec-new"


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
    """A new file in the folder of ``path``, locked. It is removed at the end, unless it was moved.
    Those of processes that were killed are removed first.
    """
    for old in _abandoned_files(path):
        old.unlink(missing_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}{_MARK}")
    try:
        with os.fdopen(os.open(beside, _NEW, mode), "wb") as file:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with _naming(path):
                file.write(content)
                file.flush()
            if fcntl is None:
                file.close()  # Windows moves no file that is open
            yield beside
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors of writing, such as that of a full disk, name ``path``: the system names none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _abandoned_files(path: Path) -> Iterator[Path]:
    """The files beside ``path`` that processes have left. Each has our name and our owner, its
    process does not run, and nobody has locked it, in another container either.
    """
    name = re.compile(rf"\.{re.escape(path.name)}\.([1-9][0-9]{{0,9}}){re.escape(_MARK)}")
    if fcntl is None:
        return
    for entry in os.scandir(path.parent):
        found = name.fullmatch(entry.name)
        if found is not None and not _runs(int(found[1])) and _is_free(entry.path):
            yield Path(entry.path)


def _runs(process: int) -> bool:
    """Whether another process has this number."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _is_free(path: str) -> bool:
    """Whether a path is a regular file of this user that nobody has locked."""
    assert fcntl is not None
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return False
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


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
            with _naming(path):
                left = left[os.write(file, left) :]
    finally:
        os.close(file)
