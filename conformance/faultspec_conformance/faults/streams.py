"""The fault server on standard streams: a command that a client starts in place of its server."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from faultspec_conformance.drivers import Framing
from faultspec_conformance.drivers.framing import (
    Garbled,
    frame_message,
    parse_message,
    read_messages,
)
from faultspec_conformance.faults.calls import CallServer, MessageAnswer
from faultspec_conformance.faults.script import Fault

#: Text that is not a message.
_GARBAGE = b"garbage: this line is not a message\n"

#: Late answers that wait at the same time. Further ones are sent at once.
_WAITING = 100


class StreamServer:
    """Answers the messages of a stream until it ends. ``log``: gets a line for each call."""

    def __init__(
        self,
        server: CallServer,
        streams: tuple[IO[bytes], IO[bytes]],
        framing: Framing,
        log: Callable[[str], None],
    ) -> None:
        self._server = server
        self._input, self._output = streams
        self._framing: Framing = framing
        self._log = log
        self._writing = threading.Lock()
        self._waiting: list[threading.Timer] = []

    def run(self) -> bool:
        """Answer until the input ends or a fault closes the stream. Returns whether the input could
        be read to that point.
        """
        try:
            for message in read_messages(self._input, self._framing):
                if isinstance(message, Garbled):
                    self._log(f"the input cannot be read: {message}")
                    return False
                if self._framing == "content-length" and _is_exit(message):
                    return True
                answer = self._server.answer(message)
                for called in answer.calls:
                    self._log(str(called))
                if answer.fault is not None and answer.fault.malformed == "close":
                    break
                self._send(answer)
        except BrokenPipeError:
            pass  # the client has closed the stream
        finally:
            for timer in self._waiting:
                timer.cancel()
        return True

    def _send(self, answer: MessageAnswer) -> None:
        delay = answer.fault.delay if answer.fault is not None else 0.0
        self._waiting = [timer for timer in self._waiting if timer.is_alive()]
        if not delay or len(self._waiting) >= _WAITING:
            self._write(answer)
            return
        timer = threading.Timer(delay, self._write_late, (answer,))
        timer.daemon = True
        self._waiting.append(timer)
        timer.start()

    def _write_late(self, answer: MessageAnswer) -> None:
        with suppress(OSError, ValueError):  # the client has closed the stream
            self._write(answer)

    def _write(self, answer: MessageAnswer) -> None:
        with self._writing:
            self._output.write(frame_answer(answer.body, answer.fault, self._framing))
            self._output.flush()


def _is_exit(message: bytes) -> bool:
    """Whether a message is the notification that ends a language server (LSP 3.17)."""
    value = parse_message(message)
    return isinstance(value, dict) and value.get("method") == "exit" and "id" not in value


def frame_answer(body: bytes | None, fault: Fault | None, framing: Framing) -> bytes:
    """The bytes of an answer on a stream, with what is wrong with it."""
    malformed = fault.malformed if fault is not None else None
    if body is None or malformed == "never":
        return b""
    if malformed == "cut":  # framed as it is, so that the next answer can be read
        body = body[: len(body) // 2]
    framed = frame_message(body, framing)
    if malformed == "media-type" and framing == "content-length":
        return b"Content-Type: text/html; charset=utf-8\r\n" + framed
    if malformed == "garbage":
        return _GARBAGE + framed
    return framed * 2 if malformed == "twice" else framed
