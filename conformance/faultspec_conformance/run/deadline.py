"""The deadline of a run: it interrupts the suite itself, as Ctrl-C does.

The driver ends waiting for the service. A deadline also ends computing: judging, reading a
document, a search with a regular expression, in which Python looks for signals too.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

#: Seconds beyond the limit. A request that began in time ends first, and is recorded.
_GRACE = 0.4

#: Seconds until it interrupts again, if code of a library has swallowed the first interruption.
_AGAIN = 1.0


class DeadlineReached(KeyboardInterrupt):
    """The time of the run is spent. Code that ends by Ctrl-C ends by it."""


class ResultLate(RuntimeError):
    """The result of a run was not there soon after its limit of seconds. A program that calls a run
    goes on, as after any error.
    """


class RunDeadline:
    """Raises DeadlineReached in the block if it has not ended ``seconds`` after the construction.

    Only the main thread of a system with signals can be interrupted. Elsewhere it does nothing.
    """

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds + _GRACE
        self._armed = False
        self._before: object = None
        self._timer = 0.0, 0.0
        self._entered = 0.0

    def __enter__(self) -> Self:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and hasattr(signal, "setitimer"):
            self._entered = time.monotonic()
            self._armed = True
            self._before = signal.signal(signal.SIGALRM, self._interrupt)
            left = max(0.001, self._at - self._entered)
            self._timer = signal.setitimer(signal.ITIMER_REAL, left, _AGAIN)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._armed:
            return
        self._armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before or signal.SIG_DFL)  # type: ignore[arg-type]  # it came from there
        delay, interval = self._timer
        if delay:  # the timer of another program, such as a runner of tests
            passed = time.monotonic() - self._entered
            signal.setitimer(signal.ITIMER_REAL, max(0.001, delay - passed), interval)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._armed:
            raise DeadlineReached


@contextmanager
def require_result(deadline: RunDeadline) -> Iterator[None]:
    """Raise ResultLate if the block has not ended at the deadline."""
    try:
        with deadline:
            yield
    except DeadlineReached as late:
        raise ResultLate("the result took too long after the limit of seconds") from late
