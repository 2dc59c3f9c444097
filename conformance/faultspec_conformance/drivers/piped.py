"""A process with pipes to its standard streams, whose messages threads read and write."""

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from faultspec.language.values import shorten
from faultspec_conformance.drivers import Framing
from faultspec_conformance.drivers.framing import Garbled, Stray, frame_message, read_messages
from faultspec_conformance.drivers.processes import (
    KeptOutput,
    LeftProcess,
    find_left,
    keep_beginning,
    keep_end,
)

#: Seconds for a process to end after its input was closed, and again after SIGTERM; and the same
#: once the time of the run is spent.
GRACE = 1.0
LAST = 0.2

#: Messages that are read ahead; then the process has to wait.
_WAITING = 1000

#: Bytes of messages that are read ahead.
_WAITING_BYTES = 16 * 1024 * 1024

#: Outputs between the messages that are kept, and bytes of each: enough to find what prints them.
_KEPT_STRAYS, _LONGEST_STRAY = 5, 2000

#: Seconds between two looks at them.
_PAUSE = 0.02

#: Characters at the end of the standard error that a report quotes.
_QUOTED = 200

#: Bytes at the end of the standard error that are kept.
_TAIL = 4096


class Ended:
    """The process closed its output."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended by itself. ``code``: its exit code; None: it runs. ``left``: the programs
    that it has started and that run.
    """

    code: int | None
    left: tuple[str, ...]


class PipedProcess:
    """A running command in a session of its own. Creating it may raise OSError. A variable of its
    environment marks what it starts.

    ``stray``: the first outputs besides the messages; ``strays``: how many there are. ``output``
    keeps the end of all that is not a message.
    """

    def __init__(
        self, command: Sequence[str], framing: Framing, cwd: str | None, output: KeptOutput
    ) -> None:
        self._output = output
        self.stray: tuple[bytes, ...] = ()
        self.strays = 0
        self._framing = framing
        self._received: queue.Queue[bytes | Ended | Garbled] = queue.Queue(_WAITING)
        self._outgoing: queue.SimpleQueue[tuple[bytes, threading.Event] | None] = (
            queue.SimpleQueue()
        )
        self._ahead = 0
        self._ahead_changes = threading.Lock()
        self._over: Ended | Garbled | None = None
        self._stderr = b""
        self._closing = threading.Event()
        name, value = "FAULTSPEC_PROCESS", uuid.uuid4().hex
        self._mark = f"{name}={value}"
        self._process = subprocess.Popen(
            command,
            env={**os.environ, name: value},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd,
            start_new_session=True,  # Ctrl-C reaches only the suite, which ends the process
        )
        self._reader, self._writer, self._listener = (
            threading.Thread(target=run, daemon=True)
            for run in (self._read, self._write, self._overhear)
        )
        for thread in (self._reader, self._writer, self._listener):
            thread.start()

    @property
    def runs(self) -> bool:
        """Whether the process runs and its output is open."""
        return self._over is None and self._process.poll() is None

    @property
    def unsent(self) -> int:
        """The messages that wait to be written."""
        return self._outgoing.qsize()

    def write(self, message: bytes) -> threading.Event:
        """Write a message. The event is set once it is written, or cannot be."""
        written = threading.Event()
        self._outgoing.put((frame_message(message, self._framing), written))
        return written

    def next_message(self, seconds: float) -> bytes | Ended | Garbled | None:
        """The next message; None if none comes in time."""
        if self._over is not None:
            return self._over
        try:
            received = self._received.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(received, Ended | Garbled):
            self._over = received
        else:
            with self._ahead_changes:
                self._ahead -= len(received)
        return received

    def give_up(self, reason: str) -> Garbled:
        """Read no more messages. ``reason``: why they cannot be read."""
        self._over = Garbled(reason)
        return self._over

    def finish(self, seconds: float) -> Ending:
        """Wait for the process to end by itself."""
        self._wait_for_end(seconds)
        code = self._process.poll()
        left = () if code is None else self._find_left()
        return Ending(code, tuple(sorted(one.name for one in left)))

    def describe_end(self, seconds: float) -> str:
        """Why no message can come any more: how the process ended, with the last line of its
        standard error, or why its output cannot be read. ``seconds``: for it to end.
        """
        if isinstance(self._over, Garbled):
            return str(self._over)
        self._wait_for_end(seconds)
        self._listener.join(seconds)
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        code = self._process.poll()
        what = "its output ended" if code is None else f"the process ended with exit code {code}"
        if not lines:
            return what
        return f"{what}; its last line on standard error: {shorten(lines[-1], _QUOTED)}"

    def close(self, grace: float) -> None:
        """End the process: close its input, then send SIGTERM, then kill it and its children.

        ``grace``: seconds for each. One that was ended is left alone: its number may be that of
        another process.
        """
        if self._closing.is_set():
            return
        self._closing.set()
        self._outgoing.put(None)
        process = self._process
        try:
            self._writer.join(grace)
            if not self._writer.is_alive() and process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
                self._wait_for_end(grace)
            if process.poll() is None:
                self._signal(signal.SIGTERM)
                self._wait_for_end(grace)
        finally:
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            process.wait()
            for left in self._find_left():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(left.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        # A process that left the session may hold the streams open.
        last = time.monotonic() + LAST
        for thread in (self._reader, self._writer, self._listener):
            thread.join(max(0.0, last - time.monotonic()))
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _find_left(self) -> tuple[LeftProcess, ...]:
        return find_left(self._process.pid, self._mark)

    def _wait_for_end(self, seconds: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def _signal(self, number: int) -> None:
        """Send a signal to every process of the session that is left."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "nt":
                self._process.kill()
            else:
                os.killpg(self._process.pid, number)

    # The threads.

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        while (item := self._outgoing.get()) is not None:
            data, done = memoryview(item[0]), item[1]
            # A process that does not read shows by its missing answer.
            with contextlib.suppress(OSError):
                while data:
                    data = data[stdin.write(data) :]
            done.set()

    def _read(self) -> None:
        assert self._process.stdout is not None
        stream = os.fdopen(os.dup(self._process.stdout.fileno()), "rb")
        with stream, contextlib.suppress(OSError):
            for message in read_messages(stream, self._framing):
                if isinstance(message, Stray):
                    self._note_stray(message)
                    continue
                self._put(message)
                if isinstance(message, Garbled):
                    return
        self._put(Ended())

    def _note_stray(self, output: bytes) -> None:
        self.strays += 1
        self._output.add(output + b"\n")
        if len(self.stray) < _KEPT_STRAYS:
            self.stray = (*self.stray, keep_beginning(output, _LONGEST_STRAY))

    def _put(self, message: bytes | Ended | Garbled) -> None:
        if isinstance(message, bytes):
            while self._ahead > _WAITING_BYTES and not self._closing.wait(_PAUSE):
                pass
            with self._ahead_changes:
                self._ahead += len(message)
        while not self._closing.is_set():
            with contextlib.suppress(queue.Full):
                self._received.put(message, timeout=0.1)
                return

    def _overhear(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := self._process.stderr.read(_TAIL):
                self._stderr = keep_end(self._stderr + chunk, _TAIL)
                self._output.add(chunk)
