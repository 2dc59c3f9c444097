"""Signals that end a command: Ctrl-C, a stopped CI job (SIGTERM), a closed terminal (SIGHUP)."""

import os
import signal
import time
from types import FrameType

SAME = 0.1
"""Seconds in which several signals are one: `timeout` signals a command and then its group."""

#: The exit code of a process that SIGINT ended: 128 + 2.
_EXIT = 130


class Interruption:
    """Raises KeyboardInterrupt at the first signal, and ends the process at a later one."""

    def __init__(self) -> None:
        self._first: float | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        now = time.monotonic()
        if self._first is None:
            self._first = now
            raise KeyboardInterrupt
        if now - self._first > SAME:
            os._exit(_EXIT)


def end_by_interrupt() -> None:
    """Let these signals interrupt the process, but for those that it ignores, as under nohup."""
    handler = Interruption()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
