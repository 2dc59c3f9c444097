"""The lock of an output folder: one compile at a time writes to it.

The lock is that of the operating system on a file in the staging folder, so that the end of a
process releases it, however it ends.
"""

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from faultspec.diagnostics.model import Diagnostic
from faultspec.targets import TargetError

try:
    import fcntl
except ImportError:  # Windows has no flock: compiles of one folder are not kept apart there
    fcntl = None  # type: ignore[assignment]

#: The staging folder in an output folder. It is there only while a compile writes.
STAGING = ".faultspec-compile"

#: Longer than a compile of 10,000 codes takes on a loaded machine.
_WAIT_SECONDS = 120.0
_PAUSE_SECONDS = 0.05

_LOCK = "lock"

Notify = Callable[[str], None]
"""Receives a sentence for people."""


class FolderLock:
    """The exclusive use of one output folder, which is made if it is missing.

    It can be released at any moment, also while it is acquired: the time of a compile may be up.
    ``is_held``: it is acquired.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.staging = folder / STAGING
        self.made: list[Path] = []
        self._file: int | None = None
        self.is_held = False

    def acquire(self, notify: Notify) -> None:
        """Wait for the lock. Raises TargetError and OSError."""
        deadline = time.monotonic() + _WAIT_SECONDS
        waits = False
        while not self._try():
            if not waits:
                notify(f"{self.folder}: waiting for another compile")
                waits = True
            if time.monotonic() > deadline:
                self.remove_made()
                raise TargetError(
                    Diagnostic(
                        "folder-locked",
                        "another compile is writing to this folder",
                        str(self.folder),
                        hint="wait until it ends, or end it",
                    )
                )
            time.sleep(_PAUSE_SECONDS)
        self.is_held = True

    def _try(self) -> bool:
        """Lock the file; False if another process has it or has just removed it."""
        try:
            self.made += make_parent(self.staging)
            with suppress(FileExistsError):
                self.staging.mkdir()
            if not stat.S_ISDIR(os.lstat(self.staging).st_mode):
                raise TargetError(
                    Diagnostic(
                        "not-a-file",
                        "this is not the folder that a compile makes",
                        str(self.staging),
                        hint="remove it",
                    )
                )
            path = self.staging / _LOCK
            # O_NONBLOCK: a pipe of this name is opened without waiting.
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            self._file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
        except FileNotFoundError:
            return False
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(self._file), os.lstat(path)):
                return True
        except (BlockingIOError, FileNotFoundError):
            pass
        self._close()
        return False

    def release(self, *, keep: bool) -> None:
        """Let others use the folder. ``keep``: the staging folder stays for the next start."""
        if self.is_held and not keep:
            with suppress(OSError):
                (self.staging / _LOCK).unlink(missing_ok=True)
                self.staging.rmdir()
            self.remove_made()
        self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def remove_made(self) -> None:
        """Remove the folders that were made for the lock, as far as they are empty."""
        for folder in reversed(self.made):
            with suppress(OSError):
                folder.rmdir()


def make_parent(path: Path) -> list[Path]:
    """Make the missing folders above ``path``, and return them, outermost first."""
    missing = []
    folder = path.parent
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    path.parent.mkdir(parents=True, exist_ok=True)
    return missing[::-1]
