"""Signals that end a command: Ctrl-C, a stopped CI job (SIGTERM), a closed terminal (SIGHUP)."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SAME = 0.1
"""Seconds in which several signals are one: `timeout` signals a command and then its group."""

INTERRUPTED = 130
"""The exit code of an interrupted command: 128 + SIGINT."""

_LATER = 0.01
"""Seconds until an interruption that was ignored comes again."""

LONGEST_COMPUTING = 120
"""Seconds of the processor for what a command computes of a taxonomy, a document or a program of
others. The documents of the largest APIs take less than a quarter, and `lint` and `diff` of 10,000
codes three seconds.
"""

LONGEST_COMPILE = 300
"""Seconds of the processor for `compile`: 10,000 codes take 32 for all targets."""

MOST_MEMORY = 288
"""MiB of data of a command that computes of a taxonomy, a document or a program of others. With
Python and its libraries it has 300 MB. `compile` of 10,000 codes takes 155 MB, `import` of 20,000
codes 250 MB.
"""

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
    """Let these signals interrupt the process, whatever it is doing.

    Python ignores an exception in a finaliser or a callback. An interruption there comes again.
    """
    handle_signals(Interruption())
    show = sys.unraisablehook

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def interrupt_later(ignored: "sys.UnraisableHookArgs") -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt) and hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, _LATER)
        elif not issubclass(ignored.exc_type, TimeIsUp):  # a limit comes again by itself
            show(ignored)

    sys.unraisablehook = interrupt_later


def interruption_behind(error: BaseException | None) -> "KeyboardInterrupt | TimeIsUp | None":
    """The interruption that an error was made of, as Python does where a class is made."""
    while error is not None and not isinstance(error, KeyboardInterrupt | TimeIsUp):
        error = error.__cause__ or error.__context__
    return error


def handle_signals(handler: Handler) -> None:
    """Handle these signals, but for those that the process ignores, as under nohup."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


_AGAIN = 5
"""Seconds after which a block is interrupted again: Python ignores an exception in a finaliser."""


class TimeIsUp(BaseException):
    """A block has computed for so many seconds. No handler of errors takes it for one."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"this takes more than {seconds:g} seconds of the processor")
        self.seconds = seconds


@contextmanager
def limit_computing(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in the block after so many seconds of the processor, which a busy machine does
    not shorten. Only the main thread of a system with timers can be interrupted. A block within a
    block ends at the earlier limit.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not hasattr(signal, "setitimer"):
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp(seconds)

    before = signal.signal(signal.SIGVTALRM, interrupt)
    outer, _ = signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    start = os.times().user
    signal.setitimer(signal.ITIMER_VIRTUAL, min(seconds, outer or seconds), _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        if outer:
            left = outer - (os.times().user - start)
            signal.setitimer(signal.ITIMER_VIRTUAL, max(left, 0.001), _AGAIN)


@contextmanager
def limit_memory(megabytes: int) -> Iterator[None]:
    """Raise MemoryError in the block for data beyond so many MiB, if the system can tell.

    Linux counts the data alone; other systems may not bound it.
    """
    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = megabytes * 1024**2
    if before != resource.RLIM_INFINITY and before < limit:
        limit = before
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))
