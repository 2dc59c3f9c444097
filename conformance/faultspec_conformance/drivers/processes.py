"""Commands of the configuration: started with additional variables, and ended with all their
children.
"""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from faultspec.diagnostics.formats.escaping import escape_line
from faultspec_conformance.drivers.head import service_address

#: Seconds after the start until a service must listen. Interpreters and virtual machines take some.
_STARTING = 30.0

#: Seconds for a process to end after a signal, as far as the run has them, and at least.
_ENDING = 5.0
_LAST = 0.5

#: Seconds between attempts to connect.
_RECONNECT_SECONDS = 0.02

#: Seconds for a process to be gone after its connection was lost.
_NOTICE_SECONDS = 0.5

#: Bytes of one read of the output.
_CHUNK = 64 * 1024

#: Bytes of the output that are kept and searched: the log of a long run.
_SEARCHED = 4 * 1024 * 1024

#: Characters at the end of the output that explain why a command failed.
_TAIL = 400


class StartFailed(Exception):
    """A command could not be started, or ended too early. ``hint``: a remedy, if it is known."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.hint = hint


def keep_end(text: bytes, size: int) -> bytes:
    """The last ``size`` bytes. An ellipsis shows where they are cut, so that a secret that is cut
    there can be masked.
    """
    return text if len(text) <= size else "…".encode() + text[-size:]


def keep_beginning(text: bytes, size: int) -> bytes:
    """The first ``size`` bytes, with an ellipsis where they are cut, for the same reason."""
    return text if len(text) <= size else text[:size] + "…".encode()


class KeptOutput:
    """The end of what commands have written, to which their threads add. What is older than
    ``_SEARCHED`` bytes is forgotten.
    """

    def __init__(self) -> None:
        self._kept = bytearray()
        self._changes = threading.Lock()

    def add(self, chunk: bytes) -> None:
        """Append what a command has written."""
        with self._changes:
            self._kept += chunk
            if len(self._kept) > 2 * _SEARCHED:
                self._kept[:] = keep_end(bytes(self._kept), _SEARCHED)

    def text(self, size: int = _SEARCHED) -> str:
        """The last ``size`` bytes as text, with an ellipsis where it is cut."""
        with self._changes:
            return keep_end(bytes(self._kept), size).decode("utf-8", "replace")


class OutputEnd:
    """The end of what a command writes. A thread reads it, so the command never has to wait."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._kept = KeptOutput()
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def text(self, size: int = _SEARCHED) -> str:
        """The last ``size`` bytes as text, with an ellipsis where it is cut."""
        return self._kept.text(size)

    def wait(self) -> None:
        """Wait a moment for what an ended command has written last."""
        self._thread.join(_NOTICE_SECONDS)

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := stream.read(_CHUNK):
                self._kept.add(chunk)


@dataclass(frozen=True, slots=True)
class Running:
    """A running command, and the end of its output."""

    process: "subprocess.Popen[bytes]"
    output: OutputEnd

    def output_text(self) -> str:
        """The end of the output, as far as it may be searched."""
        return self.output.text()

    def output_tail(self) -> str:
        """The end of the output, in one line that no terminal obeys."""
        line = escape_line(" ".join(self.output.text(4 * _TAIL).split()))
        return line if len(line) <= _TAIL else f"…{line[-_TAIL:]}"

    def describe_end(self, *, lost: bool = False) -> str | None:
        """Return how the command ended, with the end of its output; None while it runs.

        A launcher that succeeded runs as long as the processes of its group. ``lost``: its
        connection was lost, so it may be about to end.
        """
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_NOTICE_SECONDS if lost else 0)
        number = self.process.poll()
        if number is None:
            return None
        if number == 0:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, 0)
                return None
        self.output.wait()
        how = f"ended with exit code {number}" if number >= 0 else f"was ended by signal {-number}"
        return f"the command {how}: {self.output_tail() or 'it printed nothing'}"


@contextmanager
def run_process(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, seconds: float
) -> Iterator[Running]:
    """Run a command in a process group of its own, which ends with the block. Raises
    StartFailed.

    ``seconds``: those of the run. If they are spent, a command that ignores SIGTERM is killed soon.
    """
    until = time.monotonic() + seconds
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise StartFailed(f"`{command[0]}` cannot be started: {error.strerror}") from None
    assert process.stdout is not None, "the output is a pipe"
    try:
        yield Running(process, OutputEnd(process.stdout))
    finally:
        _end(process, max(_LAST, min(_ENDING, until - time.monotonic())))


def refuse_taken_address(url: str, place: str) -> None:
    """Raise StartFailed if something listens at a URL already. ``place``: the key that starts the
    command.
    """
    with suppress(OSError):
        socket.create_connection(service_address(url), timeout=1).close()
        raise StartFailed(
            f"{place}: something answers at {url} before the command starts, and it would be "
            "judged instead",
            "stop what listens there or choose another port; without `command` the suite judges "
            "a service that runs already",
        )


def wait_until_listening(started: Running, url: str, seconds: float) -> None:
    """Wait until the command accepts connections at a URL. Raises StartFailed if it ends before, or
    takes too long. ``seconds``: those of the run.
    """
    address, patience = service_address(url), min(_STARTING, seconds)
    deadline = time.monotonic() + patience
    while True:
        listens = False
        with suppress(OSError):
            socket.create_connection(address, timeout=1).close()
            listens = True
        ended = started.describe_end()
        if ended is not None:
            raise StartFailed(f"it ended before it listened at {url}: {ended}")
        if listens:
            return
        if time.monotonic() > deadline:
            raise StartFailed(
                f"the command does not listen at {url} {patience:g} s after its start: "
                f"{started.output_tail()}"
            )
        time.sleep(_RECONNECT_SECONDS)


@dataclass(frozen=True, slots=True)
class LeftProcess:
    """A process that another one has started, and that runs. ``name``: that of its program."""

    pid: int
    name: str


def find_left(leader: int, mark: str) -> tuple[LeftProcess, ...]:
    """The running processes of the session that a process began, and those with a variable
    ``mark`` of their environment, whatever session they have begun, as Linux lists them. Elsewhere
    none. Some may be missing if there are so many that it takes too long.
    """
    found = []
    until = time.monotonic() + _LAST
    for entry in Path("/proc").glob("[0-9]*/stat"):
        if time.monotonic() > until:
            break
        with suppress(OSError, ValueError, IndexError):
            # proc(5): the name stands in parentheses; state, parent, group and session follow it.
            head, _, tail = entry.read_text().rpartition(")")
            fields = tail.split()
            is_left = int(fields[3]) == leader or _has_variable(entry.parent, mark)
            if is_left and fields[0] not in ("Z", "X") and int(entry.parent.name) != leader:
                found.append(LeftProcess(int(entry.parent.name), head.partition("(")[2]))
    return tuple(found)


def _has_variable(process: Path, mark: str) -> bool:
    """Whether the environment with which a process began has a variable, as ``NAME=value``."""
    with suppress(OSError):
        return mark.encode() in (process / "environ").read_bytes().split(b"\0")
    return False


def _end(process: "subprocess.Popen[bytes]", grace: float) -> None:
    """End the whole group: SIGTERM first, then SIGKILL."""
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, _LAST)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # children that are left
