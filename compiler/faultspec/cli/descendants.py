"""The processes that a run leaves behind, which its supervisor ends.

On Linux a process may ask for the orphans among its descendants (`prctl(2)`,
`PR_SET_CHILD_SUBREAPER`): they become its own children, whatever session, group or environment
they gave themselves. Elsewhere they stay.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: `PR_SET_CHILD_SUBREAPER` of Linux.
_ADOPT_ORPHANS = 36

#: Seconds for processes to end by themselves after SIGTERM, and until all are gone.
_GRACE = 0.5
_MOST = 2.5

#: Seconds between two looks.
_PAUSE = 0.01


@contextmanager
def descendants_ended(seconds_left: Callable[[], float]) -> Iterator[None]:
    """End with the block whatever the children of the block left behind. Children that were there
    before stay. ``seconds_left``: how long that may take, asked at the end.
    """
    earlier = child_processes()
    adopting = _adopt_orphans(True)
    try:
        yield
    finally:
        if adopting:
            end_children(but=earlier, seconds=seconds_left())
            _adopt_orphans(False)


def end_children(*, but: frozenset[int], seconds: float, grace: float = _GRACE) -> None:
    """End the children of this process, and what they leave to it. ``seconds``: until all are gone;
    ``grace``: until those that ignore SIGTERM are killed, at most half of them.
    """
    began = time.monotonic()
    seconds = min(seconds, _MOST)
    grace = min(grace, seconds / 2)
    asked: set[int] = set()
    while (left := child_processes() - but) and time.monotonic() < began + seconds:
        late = time.monotonic() >= began + grace
        for child in left if late else left - asked:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL if late else signal.SIGTERM)
        asked |= left
        for child in left:
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
        time.sleep(_PAUSE)


def child_processes() -> frozenset[int]:
    """The children of this process; none where there is no `/proc`."""
    return frozenset(_find_children())


def _find_children() -> Iterator[int]:
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # After the name, which may contain anything: the state and the parent (proc_pid_stat).
            parent = status.read_bytes().rpartition(b")")[2].split()[1]
            if int(parent) == os.getpid():
                yield int(status.parent.name)


def _adopt_orphans(adopt: bool) -> bool:
    """Get the orphans among the descendants from now on, or not. Returns whether the system
    agreed.
    """
    if sys.platform != "linux":
        return False
    with suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, int(adopt)) == 0)
    return False
