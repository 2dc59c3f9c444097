"""JSON-RPC over the standard streams of a process that is started here, and that is gone when the driver is closed.

A line is a message, or a message has a header with its ``Content-Length`` (as in the Language Server Protocol). What the
peer says unasked is kept for the next answer; what it says too late is dropped.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Self

from faultspec.exchange.model import Response
from faultspec_conformance.drivers import BODY_LIMIT, SILENCE, TIMEOUT, Framing, Limits, NoAnswer
from faultspec_conformance.drivers.jsonrpc import Message, Peer, ReceivedMessage

#: Seconds for a process to end by itself once its input has ended, and then once it was asked to.
_GRACE = 1.0

#: Messages that a peer says unasked and that are kept with an answer; a flood says nothing more.
_KEPT = 50

#: Messages that wait to be read before the peer has to.
_WAITING = 1000

#: Bytes of what a process last said on its standard error that a report quotes.
_QUOTED = 200

#: Bytes that are kept of it.
_TAIL = 4096


class _Ended:
    """The peer closed its output."""


class _Garbled(str):
    """Why nothing after this can be read."""


class Process(Peer):
    """A command that speaks JSON-RPC. Entering starts it, in a session of its own; raises OSError where it cannot be."""

    hears = True

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits,
        *,
        framing: Framing = "lines",
        cwd: str | None = None,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(limits, timeout=timeout, clock=clock, pause=pause)
        self.command = tuple(command)
        self.framing = framing
        self._cwd = cwd
        self._heard: queue.Queue[bytes | _Ended | _Garbled] = queue.Queue(_WAITING)
        self._outgoing: queue.SimpleQueue[tuple[bytes, threading.Event] | None] = (
            queue.SimpleQueue()
        )
        self._late: set[str] = set()
        self._over: _Ended | _Garbled | None = None
        self._last_words = b""
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
            start_new_session=True,  # a terminal's Ctrl-C is for the suite, which ends the whole session itself
        )
        for run in (self._read, self._write, self._overhear):
            thread = threading.Thread(target=run, args=(self._process,), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def listens(self) -> bool:
        """Whether the process is there, and its output open."""
        return self._over is None and self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End the process: by the end of its input, then by asking it to, then whatever it and its children say."""
        process, self._process = self._process, None
        if process is None:
            return
        self._closing.set()
        self._outgoing.put(None)
        try:
            self._threads[1].join(_GRACE)
            if not self._threads[1].is_alive() and process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
                _gone(process)
            if process.poll() is None:
                _signal(process, signal.SIGTERM)
                _gone(process)
        finally:
            _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
            process.wait()
        for thread in self._threads:
            thread.join(_GRACE)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def linger(self, seconds: float) -> tuple[bytes, ...]:
        """The messages that come within so many seconds and are no answers."""
        deadline, heard = time.monotonic() + min(seconds, max(self.remaining, 0.0)), []
        while (left := deadline - time.monotonic()) > 0:
            each = self._next(left)
            if each is None or isinstance(each, _Ended | _Garbled):
                break
            said = _value(each)
            if isinstance(said, dict) and "method" in said:
                heard.append(each)
                self._decline(said)
        return tuple(heard)

    def exchanged(self, message: Message) -> ReceivedMessage | NoAnswer:
        """Write the message, and read until its answer."""
        began = time.monotonic()
        patience = min(self.timeout, max(self.remaining, 0.0))
        written = threading.Event()
        self._outgoing.put((self._framed(message.body), written))
        if not written.wait(patience):
            return NoAnswer(
                message.request,
                "timeout",
                f"the process did not read its input within {patience:g} s",
            )
        deadline = (began + patience) if message.due else time.monotonic() + SILENCE
        between: list[bytes] = []
        unasked = 0
        while (left := deadline - time.monotonic()) > 0:
            heard = self._next(left)
            if heard is None:
                break
            if isinstance(heard, _Ended | _Garbled):
                return self._no_more(message, heard)
            said = _value(heard)
            if isinstance(said, dict) and "method" in said:
                unasked += 1
                if len(between) < _KEPT:
                    between.append(heard)
                self._decline(said)
            elif (
                isinstance(said, dict)
                and _known(said.get("id")) in self._late
                and said.get("id") not in message.ids
            ):
                continue
            else:
                if not (isinstance(said, dict) and said.get("id") in message.ids):
                    self._late |= {_known(each) for each in message.ids}
                answer = Response(None, (), heard, time.monotonic() - began)
                return ReceivedMessage(answer, tuple(between), unasked - len(between))
        if not message.due:
            return ReceivedMessage(
                Response(None, (), b"", time.monotonic() - began),
                tuple(between),
                unasked - len(between),
            )
        self._late |= {_known(each) for each in message.ids}
        more = f", and {unasked} messages that are none" if unasked else ""
        return NoAnswer(message.request, "timeout", f"no answer within {patience:g} s{more}")

    def _next(self, seconds: float) -> bytes | _Ended | _Garbled | None:
        if self._over is not None:
            return self._over
        try:
            heard = self._heard.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(heard, _Ended | _Garbled):
            self._over = heard
        return heard

    def _no_more(self, message: Message, over: _Ended | _Garbled) -> NoAnswer:
        if isinstance(over, _Garbled):
            return NoAnswer(message.request, "garbled", str(over))
        process = self._process
        if process is not None:
            _gone(process)
        code = None if process is None else process.poll()
        what = "its output ended" if code is None else f"the process ended with exit code {code}"
        self._threads[2].join(_GRACE)
        words = self._last_words.decode("utf-8", "replace").strip().splitlines()
        said = f"; its last words: {words[-1][:_QUOTED]}" if words else ""
        return NoAnswer(message.request, "closed", what + said)

    def _decline(self, said: Mapping[str, object]) -> None:
        """Answer a request of the peer's, so that it does not wait for us."""
        if "id" in said:
            error = {"code": -32601, "message": "the conformance suite has no methods"}
            answer = json.dumps({"jsonrpc": "2.0", "id": said["id"], "error": error}).encode()
            self._outgoing.put((self._framed(answer), threading.Event()))

    def _framed(self, body: bytes) -> bytes:
        if self.framing == "lines":
            return body + b"\n"
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    # ---- the threads

    def _write(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        while (item := self._outgoing.get()) is not None:
            data, done = memoryview(item[0]), item[1]
            with contextlib.suppress(
                OSError
            ):  # that nobody reads shows where the answer is waited for
                while data:
                    data = data[process.stdin.write(data) :]
            done.set()

    def _read(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        stream = os.fdopen(os.dup(process.stdout.fileno()), "rb")
        with stream, contextlib.suppress(OSError):
            for message in _lines(stream) if self.framing == "lines" else _headed(stream):
                self._put(message)
                if isinstance(message, _Garbled):
                    return
        self._put(_Ended())

    def _put(self, message: bytes | _Ended | _Garbled) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(queue.Full):
                self._heard.put(message, timeout=0.1)
                return

    def _overhear(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := process.stderr.read(_TAIL):
                self._last_words = (self._last_words + chunk)[-_TAIL:]


def _lines(stream: IO[bytes]) -> Iterator[bytes | _Garbled]:
    while line := stream.readline(BODY_LIMIT + 1):
        if len(line) > BODY_LIMIT:
            yield _Garbled(f"a line is longer than {BODY_LIMIT} bytes")
            return
        if line.strip():
            yield line.rstrip(b"\r\n")


def _headed(stream: IO[bytes]) -> Iterator[bytes | _Garbled]:
    size = None
    while line := stream.readline(_TAIL):
        if line.strip():
            found = re.fullmatch(rb"content-length:\s*(\d{1,15})\s*", line, re.IGNORECASE)
            size = int(found[1]) if found else size
            if b":" not in line:
                yield _Garbled(f"a header was expected where {line[:40]!r} came")
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


def _value(body: bytes) -> object:
    with contextlib.suppress(ValueError, RecursionError):
        value: object = json.loads(body)
        return value
    return None


def _known(identifier: object) -> str:
    """An id as a member of a set: 1 is neither true nor "1"."""
    return json.dumps(identifier)


def _gone(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    """Send a signal to every process of the session that there still is."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, number)
