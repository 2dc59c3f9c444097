"""JSON-RPC over the standard streams of a process, which the driver starts and ends.

A line is a message, or a message has a header with its ``Content-Length`` (as in the Language
Server Protocol). Unprompted messages are kept for the next answer. Late answers are dropped.
"""

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Self, Unpack

from faultspec.exchange.body import has_too_many_values
from faultspec.exchange.model import Response
from faultspec.language.values import shorten
from faultspec_conformance.drivers import BODY_LIMIT, SILENCE, Framing, Limits, NoAnswer, Timing
from faultspec_conformance.drivers.jsonrpc import Message, Peer, ReceivedMessage
from faultspec_conformance.drivers.processes import keep_end

#: Seconds for a process to end after its input was closed, and again after SIGTERM; and the same
#: once the time of the run is spent.
_GRACE = 1.0
_LAST = 0.2

#: Unprompted messages that are kept with an answer, within the bytes of a body. More of them show
#: nothing new.
_KEPT = 50

#: Messages that are read ahead; then the process has to wait.
_WAITING = 1000

#: Bytes of messages that are read ahead.
_WAITING_BYTES = 16 * 1024 * 1024

#: Seconds between two looks at them.
_PAUSE = 0.02

#: Refusals that wait to be written. A process that reads nothing gets no more of them.
_OUTGOING = 1000

#: Characters of an id that a refusal repeats: ids are short, and refusals wait in memory.
_LONGEST_ID = 1000

#: Characters at the end of the standard error that a report quotes.
_QUOTED = 200

#: Bytes at the end of the standard error that are kept.
_TAIL = 4096


class _Ended:
    """The process closed its output."""


class _Garbled(str):
    """Why the rest of the output cannot be read."""


class Process(Peer):
    """A command that speaks JSON-RPC. Entering starts it in a session of its own, and may raise
    OSError.
    """

    hears = True

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits,
        *,
        framing: Framing = "lines",
        cwd: str | None = None,
        **timing: Unpack[Timing],
    ) -> None:
        super().__init__(limits, **timing)
        self.command = tuple(command)
        self.framing = framing
        self._cwd = cwd
        self._received: queue.Queue[bytes | _Ended | _Garbled] = queue.Queue(_WAITING)
        self._outgoing: queue.SimpleQueue[tuple[bytes, threading.Event] | None] = (
            queue.SimpleQueue()
        )
        self._ahead = 0
        self._ahead_changes = threading.Lock()
        self._late: set[str] = set()
        self._over: _Ended | _Garbled | None = None
        self._stderr = b""
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=self._cwd,
            start_new_session=True,  # Ctrl-C reaches only the suite, which ends the process
        )
        for run in (self._read, self._write, self._overhear):
            thread = threading.Thread(target=run, args=(self._process,), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def listens(self) -> bool:
        """Whether the process runs and its output is open."""
        return self._over is None and self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End the process: close its input, then send SIGTERM, then kill it and its children."""
        process, self._process = self._process, None
        if process is None:
            return
        self._closing.set()
        self._outgoing.put(None)
        grace = max(_LAST, min(_GRACE, self.remaining / 3))
        try:
            self._threads[1].join(grace)
            if not self._threads[1].is_alive() and process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
                _wait_for_end(process, grace)
            if process.poll() is None:
                _signal(process, signal.SIGTERM)
                _wait_for_end(process, grace)
        finally:
            _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
            process.wait()
        # A process that left the session may hold the streams open.
        last = time.monotonic() + _LAST
        for thread in self._threads:
            thread.join(max(0.0, last - time.monotonic()))
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def linger(self, seconds: float) -> tuple[bytes, ...]:
        """The requests and notifications of the process that arrive within ``seconds``."""
        deadline = time.monotonic() + min(seconds, max(self.remaining, 0.0))
        unprompted: list[bytes] = []
        while (left := deadline - time.monotonic()) > 0:
            received = self._next_message(left)
            if received is None or isinstance(received, _Ended | _Garbled):
                break
            value = _parse(received)
            if isinstance(value, dict) and "method" in value:
                self._keep(received, unprompted)
                self._decline(value)
        return tuple(unprompted)

    def transmit(self, message: Message) -> ReceivedMessage | NoAnswer:
        """Write the message, and read up to its answer."""
        began = time.monotonic()
        seconds = min(self.timeout, max(self.remaining, 0.0))
        written = threading.Event()
        self._outgoing.put((self._frame(message.body), written))
        if not written.wait(seconds):
            reason = f"the process did not read its input within {seconds:g} s"
            return NoAnswer(message.request, "timeout", reason)
        deadline = (began + seconds) if message.due else time.monotonic() + SILENCE
        unprompted: list[bytes] = []
        arrived = 0
        answer: bytes | None = None
        while answer is None and (left := deadline - time.monotonic()) > 0:
            received = self._next_message(left)
            if received is None:
                break
            if isinstance(received, _Ended | _Garbled):
                return self._explain_end(message, received)
            value = _parse(received)
            if isinstance(value, dict) and "method" in value:
                arrived += 1
                self._keep(received, unprompted)
                self._decline(value)
            elif not self._is_late(value, message):
                answer = received
        if answer is None and message.due:
            self._late |= {_id_key(id) for id in message.ids}
            more = f", and {arrived} messages that are not answers" if arrived else ""
            reason = f"no answer within {seconds:g} s{more}"
            return NoAnswer(message.request, "timeout", reason)
        if answer is not None and len(answer) > self.body_limit:
            reason = f"the answer is longer than {self.body_limit} bytes"
            return NoAnswer(message.request, "garbled", reason)
        self.received += len(answer or b"")
        response = Response(None, (), answer or b"", time.monotonic() - began)
        return ReceivedMessage(response, tuple(unprompted), arrived - len(unprompted))

    def _is_late(self, value: object, message: Message) -> bool:
        """Whether a message answers an earlier request whose time was over."""
        if isinstance(value, dict):
            id = value.get("id")
            if id in message.ids or _id_key(id) in self._late:
                return id not in message.ids
        self._late |= {_id_key(expected) for expected in message.ids}
        return False

    def _next_message(self, seconds: float) -> bytes | _Ended | _Garbled | None:
        if self._over is not None:
            return self._over
        try:
            received = self._received.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(received, _Ended | _Garbled):
            self._over = received
        else:
            with self._ahead_changes:
                self._ahead -= len(received)
        return received

    def _explain_end(self, message: Message, over: _Ended | _Garbled) -> NoAnswer:
        if isinstance(over, _Garbled):
            return NoAnswer(message.request, "garbled", str(over))
        process = self._process
        if process is not None:
            _wait_for_end(process, max(_LAST, min(_GRACE, self.remaining)))
        code = None if process is None else process.poll()
        what = "its output ended" if code is None else f"the process ended with exit code {code}"
        self._threads[2].join(max(_LAST, min(_GRACE, self.remaining)))
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        quote = f"; its last line on standard error: {shorten(lines[-1], _QUOTED)}" if lines else ""
        return NoAnswer(message.request, "closed", what + quote)

    def _keep(self, received: bytes, unprompted: list[bytes]) -> None:
        """Keep an unprompted message, if there is room for it."""
        size = sum(map(len, unprompted)) + len(received)
        if len(unprompted) < _KEPT and size <= self.body_limit:
            unprompted.append(received)
            self.received += len(received)

    def _decline(self, message: Mapping[str, object]) -> None:
        """Answer a request of the process with an error, so that it does not wait."""
        id_is_short = 0 < len(_id_key(message.get("id"))) <= _LONGEST_ID
        if "id" in message and id_is_short and self._outgoing.qsize() < _OUTGOING:
            error = {"code": -32601, "message": "the conformance suite has no methods"}
            answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode()
            self._outgoing.put((self._frame(answer), threading.Event()))

    def _frame(self, body: bytes) -> bytes:
        if self.framing == "lines":
            return body + b"\n"
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    # The threads.

    def _write(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        while (item := self._outgoing.get()) is not None:
            data, done = memoryview(item[0]), item[1]
            # A process that does not read shows by its missing answer.
            with contextlib.suppress(OSError):
                while data:
                    data = data[process.stdin.write(data) :]
            done.set()

    def _read(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        stream = os.fdopen(os.dup(process.stdout.fileno()), "rb")
        with stream, contextlib.suppress(OSError):
            for message in _lines(stream) if self.framing == "lines" else _read_headed(stream):
                self._put(message)
                if isinstance(message, _Garbled):
                    return
        self._put(_Ended())

    def _put(self, message: bytes | _Ended | _Garbled) -> None:
        if isinstance(message, bytes):
            while self._ahead > _WAITING_BYTES and not self._closing.wait(_PAUSE):
                pass
            with self._ahead_changes:
                self._ahead += len(message)
        while not self._closing.is_set():
            with contextlib.suppress(queue.Full):
                self._received.put(message, timeout=0.1)
                return

    def _overhear(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := process.stderr.read(_TAIL):
                self._stderr = keep_end(self._stderr + chunk, _TAIL)


def _lines(stream: IO[bytes]) -> Iterator[bytes | _Garbled]:
    while line := stream.readline(BODY_LIMIT + 1):
        if len(line) > BODY_LIMIT:
            yield _Garbled(f"a line is longer than {BODY_LIMIT} bytes")
            return
        if line.strip():
            yield line.rstrip(b"\r\n")


def _read_headed(stream: IO[bytes]) -> Iterator[bytes | _Garbled]:
    size = None
    while line := stream.readline(_TAIL):
        if line.strip():
            found = re.fullmatch(rb"content-length:\s*(\d{1,15})\s*", line, re.IGNORECASE)
            size = int(found[1]) if found else size
            if b":" not in line:
                came = shorten(line.decode("utf-8", "replace"), 40)
                yield _Garbled(f"a header was expected where `{came}` came")
                return
            continue
        if size is None or size > BODY_LIMIT:
            yield _Garbled(
                "a message has no Content-Length" if size is None else f"a message has {size} bytes"
            )
            return
        body = stream.read(size)
        if len(body) < size:
            yield _Garbled(f"a message of {size} bytes broke off after {len(body)}")
            return
        yield body
        size = None


def _parse(body: bytes) -> object:
    """The value of a message; None if it cannot be read, or has more values than are judged."""
    if has_too_many_values(body):
        return None
    with contextlib.suppress(ValueError, RecursionError):
        value: object = json.loads(body)
        return value
    return None


def _id_key(identifier: object) -> str:
    """An id as the key of a set, in which 1 differs from true and from "1"; empty for any other
    value.
    """
    return "" if isinstance(identifier, list | dict) else json.dumps(identifier)


def _wait_for_end(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    """Send a signal to every process of the session that is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, number)
