"""Signals that end a command: Ctrl-C, a stopped CI job (SIGTERM), a closed terminal (SIGHUP)."""

import os
import signal
import time
from collections.abc import Callable
from types import FrameType

SAME = 0.1
"""Seconds in which several signals are one: `timeout` signals a command and then its group."""

INTERRUPTED = 130
"""The exit code of an interrupted command: 128 + SIGINT."""

SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""The signals that interrupt. Windows has no SIGHUP."""

Handler = Callable[[int, FrameType | None], object]


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
            os._exit(INTERRUPTED)


def end_by_interrupt() -> None:
    """Let these signals interrupt the process."""
    handle_signals(Interruption())


def handle_signals(handler: Handler) -> None:
    """Handle these signals, but for those that the process ignores, as under nohup."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
