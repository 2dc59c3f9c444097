"""Commands of the configuration: started with a few variables more, ended with everything they have started."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

#: Seconds to listen after the start; interpreters and virtual machines take some.
_STARTING = 30.0

#: Seconds to end after being asked to.
_ENDING = 5.0

_BETWEEN_KNOCKS = 0.02

#: Characters of what a command said that explain why it failed.
_SAID = 400


class StartFailed(Exception):
    """A command could not be started, or ended before it did what it is there for."""


@dataclass(frozen=True, slots=True)
class Running:
    """A command under way, and the file that has what it wrote."""

    process: "subprocess.Popen[bytes]"
    output: IO[bytes]

    def said(self) -> str:
        """The end of what it has written, in one line."""
        descriptor = self.output.fileno()
        size = os.fstat(descriptor).st_size
        text = os.pread(descriptor, 4 * _SAID, max(0, size - 4 * _SAID)).decode("utf-8", "replace")
        return " ".join(text.split())[-_SAID:]


@contextmanager
def running(
    command: Sequence[str], environment: Mapping[str, str], folder: Path
) -> Iterator[Running]:
    """Run a command in a process group of its own, which is gone when the block is left. Raises Failed if it can't be started."""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise StartFailed(f"`{command[0]}` cannot be started: {error.strerror}") from None
        try:
            yield Running(process, output)
        finally:
            _end(process)


def listening(started: Running, url: str) -> None:
    """Wait until somebody takes connections at a URL. Raises Failed when the command ends before, or nobody does in time."""
    parts = urlsplit(url)
    address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    deadline = time.monotonic() + _STARTING
    while True:
        with suppress(OSError):
            socket.create_connection(address, timeout=1).close()
            return
        ended = started.process.poll()
        if ended is not None:
            raise StartFailed(
                f"the command ended with {ended} before it listened at {url}: {started.said()}"
            )
        if time.monotonic() > deadline:
            raise StartFailed(
                f"nobody listens at {url} {_STARTING:g} s after the command was started: {started.said()}"
            )
        time.sleep(_BETWEEN_KNOCKS)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the whole group, politely first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING)
            break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # what the command started and left behind
