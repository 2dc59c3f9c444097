"""A run in a process of its own, so that it always ends with a report.

The run ends by itself at its deadline, and writes its report. A library that computes without end
and looks for no signal, or a process that the system ends, cannot do that. Then the process that
waits here ends the run, and writes what the run had kept until then, and that it could not go on.

A signal interrupts the run, which then reports. A second one ends it at once.
"""

import ctypes
import math
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import FrameType
from typing import BinaryIO

import click

from faultspec.cli.descendants import child_processes, descendants_ended, end_children
from faultspec.cli.interruption import INTERRUPTED, SAME, SIGNALS, handle_signals

#: Seconds beyond its limit after which a run is ended, and after which nothing is left of it.
_BEYOND, _OVER = 1.7, 2.0

#: The fewest seconds for ending what a run leaves behind: a few looks at the list of processes.
_LEAST = 0.2

#: Seconds for writing the reports, once there is a result. Large ones take some on a busy machine.
_REPORTS = 10.0

#: Bytes that are read at once.
_CHUNK = 4096

#: Seconds after an interruption until the report is due. Most of it is for code of libraries that
#: looks for no signal.
_INTERRUPTED = 10.0

INTERRUPTION = "the run was interrupted"
"""The reason of a loss by a signal."""

_LATE = "the run did not end at its limit of seconds: it computes without end"

#: `PR_SET_PDEATHSIG` of Linux: the signal that a process gets when its parent ends.
_PARENT_ENDED = 1

#: The variable with which an unexpected error shows its traceback.
_DEBUG = "FAULTSPEC_DEBUG"

Announce = Callable[[str, float], None]
"""Announces an event of the work, with a number: ``deadline`` and the seconds that are left,
``process`` and the id of another one to end, ``report`` and 0 before the reports are written.
"""

Keep = Callable[[str], None]
"""Keeps a text for the report of a loss."""

Work = Callable[[Announce, Keep], int]

ReportLoss = Callable[[str, Iterable[str]], int]
"""Writes a report for a reason, with the texts that were kept. Any of them may be cut off."""


def supervise(work: Work, report_loss: ReportLoss, *, isolated: bool) -> int:
    """Do the work and return its exit code. ``report_loss`` writes a report if the work could not.

    ``isolated``: in a process of its own, if the system can fork. What that process leaves behind
    is ended.
    """
    with tempfile.TemporaryFile() as one, tempfile.TemporaryFile() as other:
        kept = _KeptTexts(one, other)
        if not isolated or not hasattr(os, "fork"):
            return _do(work, report_loss, lambda event, number: None, kept)
        clock = _Clock()
        with descendants_ended(clock.seconds_left):
            return _supervise(work, report_loss, kept, clock)


def _supervise(work: Work, report_loss: ReportLoss, kept: "_KeptTexts", clock: "_Clock") -> int:
    """Do the work in a process of its own."""
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    # A signal waits until both processes know what to do about it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    child = os.fork()
    if child == 0:
        os.close(reader)

        def interruptible(announce: Announce, keep: Keep) -> int:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return work(announce, keep)

        _run_child(interruptible, report_loss, writer, kept)
    os.close(writer)
    with suppress(OSError):
        os.setpgid(child, child)
    supervisor = _Supervisor(child, reader, clock)
    supervisor.catch_signals()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return supervisor.wait(lambda reason: report_loss(reason, kept.texts()))


class _KeptTexts:
    """The last two texts that a process kept, in files without a name.

    The process may end while it writes one. Then the other one is whole.
    """

    def __init__(self, *files: BinaryIO) -> None:
        self._files = files
        self._written = 0

    def keep(self, text: str) -> None:
        """Replace the older of the two texts. A full disk loses it."""
        file = self._files[self._written % len(self._files)]
        self._written += 1
        with suppress(OSError):
            file.seek(0)
            file.truncate()
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()

    def texts(self) -> Iterator[str]:
        """The texts, in any order."""
        for file in self._files:
            file.seek(0)
            yield file.read().decode("utf-8", "replace")


def _do(work: Work, report_loss: ReportLoss, announce: Announce, kept: _KeptTexts) -> int:
    try:
        return work(announce, kept.keep)
    except KeyboardInterrupt:
        announce("report", 0)
        return report_loss(INTERRUPTION, kept.texts())
    except Exception as error:
        if isinstance(error, click.ClickException | BrokenPipeError) or os.environ.get(
            _DEBUG, "0"
        ) not in ("", "0"):
            raise
        from faultspec_conformance.drivers.environment import UnusableEnvironment
        from faultspec_conformance.results.defects import describe_defect
        from faultspec_conformance.run.deadline import ResultLate

        announce("report", 0)
        if isinstance(error, UnusableEnvironment):
            return report_loss(f"{error.filename}: {error.strerror}", kept.texts())
        late = isinstance(error, ResultLate)
        return report_loss(_LATE if late else describe_defect(error, "the run"), kept.texts())


def _run_child(work: Work, report_loss: ReportLoss, writer: int, kept: _KeptTexts) -> None:
    """Do the work, and end the process with its exit code."""
    from faultspec.cli import finish

    # A group of its own: the terminal signals the supervisor, which passes the signal on once.
    with suppress(OSError):
        os.setpgid(0, 0)
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PARENT_ENDED, signal.SIGTERM)

    def announce(event: str, number: float) -> None:
        with suppress(OSError):
            os.write(writer, f"{event} {number}\n".encode())

    code = 2
    try:
        code = finish(lambda: _do(work, report_loss, announce, kept))
    finally:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)


class _Clock:
    """When nothing may be left of a run. ``limit``: its limit of seconds; None if it has none."""

    limit: float | None = None

    def seconds_left(self) -> float:
        """How long ending what is left may take."""
        return max(_LEAST, (self.limit or math.inf) + _OVER - time.monotonic())


class _Supervisor:
    """Waits for the process of a run, passes signals on, and ends it if it is late."""

    def __init__(self, child: int, reader: int, clock: _Clock) -> None:
        self._clock = clock
        self._child = child
        self._earlier = child_processes() - {child}
        self._reader = reader
        self._deadline: float | None = None
        self._service: int | None = None
        self._late = False
        self._interrupted: float | None = None

    def catch_signals(self) -> None:
        """Pass signals on from now on."""
        handle_signals(self._pass_on)

    def wait(self, report_loss: Callable[[str], int]) -> int:
        """The exit code of the run."""
        while self._listen():
            if self._deadline is not None and time.monotonic() >= self._deadline:
                self._late = True
                self._end()
        _, status = os.waitpid(self._child, 0)
        if os.WIFEXITED(status):
            return os.WEXITSTATUS(status)
        self._end_service()
        # They may keep the machine busy, and the report waits for it.
        end_children(but=self._earlier, seconds=_LEAST, grace=0)
        if self._late:
            reason = _LATE if self._interrupted is None else INTERRUPTION
        else:
            name = signal.Signals(os.WTERMSIG(status)).name
            reason = f"the process of the run was ended by {name}, perhaps for lack of memory"
        return report_loss(reason)

    def _listen(self) -> bool:
        """Wait for the next announcement. Returns whether the process may announce more."""
        left = 1.0
        if self._deadline is not None:
            left = min(left, max(0.0, self._deadline - time.monotonic()))
        if not select.select([self._reader], [], [], left)[0]:
            return True
        text = os.read(self._reader, _CHUNK).decode()
        for line in text.splitlines():
            event, _, number = line.partition(" ")
            if event == "deadline":
                self._clock.limit = time.monotonic() + float(number)
                deadline = self._clock.limit + _BEYOND
                self._deadline = deadline if self._interrupted is None else self._deadline
            elif event == "report":
                self._deadline = time.monotonic() + _REPORTS
            elif event == "process":
                self._service = int(float(number))
        return bool(text)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._interrupted is None:
            self._interrupted = now
            due = now + _INTERRUPTED
            self._deadline = due if self._deadline is None else min(self._deadline, due)
            with suppress(ProcessLookupError):
                os.kill(self._child, number)
        elif now - self._interrupted > SAME:
            self._end()
            self._end_service()
            end_children(but=self._earlier, seconds=self._clock.seconds_left(), grace=0)
            os._exit(INTERRUPTED)

    def _end(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child, signal.SIGKILL)

    def _end_service(self) -> None:
        if self._service is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._service, signal.SIGKILL)
