"""Commands of the configuration: started with additional variables, and ended with all their
children.
"""

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

from faultspec_conformance.drivers.head import service_address

#: Seconds after the start until a service must listen. Interpreters and virtual machines take some.
_STARTING = 30.0

#: Seconds for a process to end after a signal.
_ENDING = 5.0

#: Seconds between attempts to connect.
_RECONNECT_SECONDS = 0.02

#: Characters at the end of the output that explain why a command failed.
_TAIL = 400


class StartFailed(Exception):
    """A command could not be started, or ended too early."""


@dataclass(frozen=True, slots=True)
class Running:
    """A running command, and the file with its output."""

    process: "subprocess.Popen[bytes]"
    output: IO[bytes]

    def output_tail(self) -> str:
        """The end of the output, in one line."""
        descriptor = self.output.fileno()
        size = os.fstat(descriptor).st_size
        text = os.pread(descriptor, 4 * _TAIL, max(0, size - 4 * _TAIL)).decode("utf-8", "replace")
        return " ".join(text.split())[-_TAIL:]


@contextmanager
def run_process(
    command: Sequence[str], environment: Mapping[str, str], folder: Path
) -> Iterator[Running]:
    """Run a command in a process group of its own, which ends with the block. Raises
    StartFailed.
    """
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


def wait_until_listening(started: Running, url: str) -> None:
    """Wait until the command accepts connections at a URL. Raises StartFailed if it ends before, or
    takes too long.
    """
    address = service_address(url)
    deadline = time.monotonic() + _STARTING
    while True:
        with suppress(OSError):
            socket.create_connection(address, timeout=1).close()
            return
        ended = started.process.poll()
        if ended is not None:
            raise StartFailed(
                f"the command ended with {ended} before it listened at {url}: "
                f"{started.output_tail()}"
            )
        if time.monotonic() > deadline:
            raise StartFailed(
                f"the command does not listen at {url} {_STARTING:g} s after its start: "
                f"{started.output_tail()}"
            )
        time.sleep(_RECONNECT_SECONDS)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the whole group: SIGTERM first, then SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING)
            break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # children that are left
