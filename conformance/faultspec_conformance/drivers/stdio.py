"""JSON-RPC over the standard streams of a process, which the driver starts and ends.

Unprompted messages are kept for the next answer, and so are answers that nobody asked for. A late
answer is dropped.
"""

import json
import time
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Self, Unpack

from faultspec.exchange.model import Response
from faultspec_conformance.drivers import (
    SILENCE,
    Framing,
    Limits,
    NoAnswer,
    Timing,
    report_ignored,
)
from faultspec_conformance.drivers.framing import Garbled, parse_message
from faultspec_conformance.drivers.jsonrpc import Message, Peer, ReceivedMessage
from faultspec_conformance.drivers.piped import GRACE, LAST, Ended, Ending, PipedProcess
from faultspec_conformance.drivers.processes import KeptOutput
from faultspec_conformance.drivers.unprompted import UnpromptedMessages

#: Seconds of one wait for requests of the process, and for those that have arrived.
_MOMENT, _AT_ONCE = 0.05, 0.002

#: Refusals that wait to be written. A process that reads nothing gets no more of them.
_OUTGOING = 1000

#: The key of an id that is null.
_NULL = "null"

#: Characters of an id that a refusal repeats: ids are short, and refusals wait in memory.
_LONGEST_ID = 1000


class Process(Peer):
    """A command that speaks JSON-RPC. Entering starts it in a session of its own, and may raise
    OSError. ``replies``: the results of the requests of the process, by method.
    """

    hears = True

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits,
        *,
        framing: Framing = "lines",
        cwd: str | None = None,
        replies: Mapping[str, object] | None = None,
        **timing: Unpack[Timing],
    ) -> None:
        super().__init__(limits, **timing)
        self.command = tuple(command)
        self.framing = framing
        self._cwd = cwd
        self._replies = dict(replies or {})
        self._process: PipedProcess | None = None
        self._output = KeptOutput()
        self._ended_strays = 0
        self._first_stray: tuple[bytes, ...] = ()
        self._forget()

    def _forget(self) -> None:
        """Forget the messages of a process that has ended."""
        self._late: set[str] = set()
        self._answered: set[str] = set()
        self._posted: list[Message] = []
        self._arrived: dict[Message, bytes] = {}
        self._unprompted = UnpromptedMessages()
        self._asked: set[str] = set()

    def __enter__(self) -> Self:
        self._process = PipedProcess(self.command, self.framing, self._cwd, self._output)
        return self

    @property
    def _running(self) -> PipedProcess:
        assert self._process is not None, "the driver was entered"
        return self._process

    def listens(self) -> bool:
        """Whether the process runs and its output is open."""
        return self._process is not None and self._process.runs

    @property
    def stray(self) -> tuple[bytes, ...]:
        """The first outputs of all processes besides their messages."""
        current = () if self._process is None else self._process.stray
        return self._first_stray or current

    @property
    def strays(self) -> int:
        """How many such outputs there are."""
        return self._ended_strays + (0 if self._process is None else self._process.strays)

    def output_text(self) -> str:
        """The end of what the processes wrote beside messages."""
        return self._output.text()

    def close(self) -> None:
        """End the process with its children."""
        process = self._process
        if process is None:
            return
        try:
            process.close(max(LAST, min(GRACE, self.remaining / 3)))
        finally:
            self._first_stray, self._ended_strays = self.stray, self.strays
            self._process = None

    def restart(self) -> None:
        """End the process, and start another one. May raise OSError."""
        self.close()
        self._forget()
        self.__enter__()

    def finish(self, seconds: float) -> Ending:
        """Wait for the process to end by itself."""
        return self._running.finish(min(seconds, max(self.remaining, 0.0)))

    def linger(self, seconds: float) -> tuple[bytes, ...]:
        """The requests and notifications of the process that arrive within ``seconds``."""
        deadline = time.monotonic() + min(seconds, max(self.remaining, 0.0))
        self._read_answer((), deadline)
        return self._unprompted.take()[0]

    def hear_requests(self, methods: Collection[str], seconds: float) -> frozenset[str]:
        """Wait until the process has sent a request of each method, and answer them. Returns the
        methods of those that came, also before.
        """
        deadline = time.monotonic() + min(seconds, max(self.remaining, 0.0))
        while not self._asked >= set(methods) and (left := deadline - time.monotonic()) > 0:
            self._read_answer((), time.monotonic() + min(left, _MOMENT))
            if not self.listens():
                break
        return frozenset(self._asked)

    def transmit(self, message: Message) -> ReceivedMessage | NoAnswer:
        """Write the message, and read up to its answer."""
        began = time.monotonic()
        seconds = min(message.patience or self.timeout, max(self.remaining, 0.0))
        unread = self._write_message(message, seconds)
        if unread is not None:
            return unread
        deadline = (began + seconds) if message.due else time.monotonic() + SILENCE
        found = self._read_answer((message,), deadline)
        return self._describe(message, found, began, seconds)

    def ask_again(
        self, message: Message, silence: NoAnswer, ping: Message
    ) -> ReceivedMessage | NoAnswer:
        """Write the ping, and read up to its answer or a late one to ``message``."""
        began = time.monotonic()
        seconds = min(self.timeout, max(self.remaining, 0.0))
        if self._write_message(ping, seconds) is not None:
            return silence
        self._late -= {_id_key(id) for id in message.ids}
        found = self._read_answer((message, ping), began + seconds)
        self._late |= {_id_key(id) for id in (*message.ids, *ping.ids)}
        if isinstance(found, tuple) and found[0] is message:
            return self._describe(message, found, began, seconds)
        if isinstance(found, tuple):
            return report_ignored(silence)
        return silence if found is None else self._explain_end(message, found)

    def begin(self, message: Message) -> NoAnswer | None:
        """Write the message."""
        self._read_answer((), time.monotonic() + _AT_ONCE)
        if message.due:
            self._posted.append(message)
        return self._write_message(message, self.answer_timeout)

    def receive_posted(self, message: Message) -> ReceivedMessage | NoAnswer:
        """The answer to a posted message."""
        began = time.monotonic()
        seconds = min(self.timeout, max(self.remaining, 0.0))
        found = self._read_answer((message,), began + seconds)
        self._posted = [posted for posted in self._posted if posted is not message]
        return self._describe(message, found, began, seconds)

    def _write_message(self, message: Message, seconds: float) -> NoAnswer | None:
        if self._running.write(message.body).wait(seconds):
            return None
        reason = f"the process did not read its input within {seconds:g} s"
        return NoAnswer(message.request, "timeout", reason)

    def _describe(
        self,
        message: Message,
        found: "_Found",
        began: float,
        seconds: float,
    ) -> ReceivedMessage | NoAnswer:
        """The answer to a message; or why there is none."""
        if isinstance(found, Garbled | Ended):
            return self._explain_end(message, found)
        self._late |= {_id_key(id) for id in message.ids}
        answer = found[1] if isinstance(found, tuple) else b""
        if found is None and message.due:
            arrived = len(self._unprompted)
            kinds = "1 message that is not an answer"
            if arrived > 1:
                kinds = f"{arrived} messages that are not answers"
            more = f", and {kinds}" if arrived else ""
            reason = f"no answer within {seconds:.3g} s{more}"
            silence = NoAnswer(message.request, "timeout", reason)
            return self.report_silence(silence, seconds)
        elapsed = time.monotonic() - began
        if len(answer) > self.body_limit:
            reason = f"the answer is longer than {self.body_limit} bytes"
            return NoAnswer(message.request, "garbled", reason)
        self.received += len(answer)
        if answer:
            self.note_answer(elapsed)
        response = Response(None, (), answer, elapsed)
        return ReceivedMessage(response, *self._unprompted.take())

    def _read_answer(self, awaited: Sequence[Message], deadline: float) -> "_Found":
        """Read up to the answer to one of the awaited messages; None if none comes in time."""
        for message in awaited:
            if message in self._arrived:
                return message, self._arrived.pop(message)
        while (left := deadline - time.monotonic()) > 0:
            received = self._running.next_message(left)
            if received is None or isinstance(received, Ended | Garbled):
                return received
            value = parse_message(received)
            if isinstance(value, dict) and "method" in value:
                self._keep(received)
                self._reply(value)
                continue
            keys = _id_keys(value)
            owner = self._find_request(keys, awaited)
            if owner is None and self._is_unasked(keys):
                self._keep(received)
            asked = self._late if owner is None else {_id_key(id) for id in owner.ids}
            self._answered |= keys & asked
            if owner is not None and owner in awaited:
                return owner, received
            if owner is not None:
                self._arrived[owner] = received
        return None

    def _is_unasked(self, keys: Set[str]) -> bool:
        """Whether an answer with these ids answers nothing, or something that had an answer. An id
        that cannot be read is null (section 5), so such an answer may belong to any message.
        """
        return bool(keys) and _NULL not in keys and keys.isdisjoint(self._late - self._answered)

    def _find_request(self, keys: Set[str], awaited: Sequence[Message]) -> Message | None:
        """The message that an answer with these ids belongs to; None if nobody waits for it any
        more.

        An answer with an unknown id belongs to the first awaited message.
        """
        for message in (*awaited, *self._posted):
            if not keys.isdisjoint(_id_key(id) for id in message.ids):
                return message
        if not keys.isdisjoint(self._late):
            return None
        return next(iter(awaited), None)

    def _explain_end(self, message: Message, over: Ended | Garbled) -> NoAnswer:
        if isinstance(over, Garbled):
            return NoAnswer(message.request, "garbled", str(over))
        reason = self._running.describe_end(max(LAST, min(GRACE, self.remaining)))
        return NoAnswer(message.request, "closed", reason)

    def _keep(self, received: bytes) -> None:
        """Keep an unprompted message, if there is room for it."""
        self.received += self._unprompted.add(received, self.body_limit)

    def _reply(self, message: Mapping[str, object]) -> None:
        """Answer a request of the process: as the configuration says, or with an error, so that it
        does not wait.
        """
        id_is_short = 0 < len(_id_key(message.get("id"))) <= _LONGEST_ID
        if "id" not in message or not id_is_short or self._running.unsent >= _OUTGOING:
            return
        outcome: dict[str, object] = {
            "error": {"code": -32601, "message": "the conformance suite has no such method"}
        }
        method = message["method"]
        if isinstance(method, str) and method in self._replies:
            self._asked.add(method)
            outcome = {"result": self._replies[method]}
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}).encode()
        self._running.write(answer)


_Found = tuple[Message, bytes] | Ended | Garbled | None
"""The answer to a message, why no more can come, or None if none came in time."""


def _id_keys(value: object) -> Set[str]:
    """The keys of the ids of an answer, or of those in a batch."""
    answers = value if isinstance(value, list) else [value]
    return {_id_key(each.get("id")) for each in answers if isinstance(each, dict)} - {""}


def _id_key(identifier: object) -> str:
    """An id as the key of a set, in which 1 differs from true and from "1"; empty for any other
    value.
    """
    return "" if isinstance(identifier, list | dict) else json.dumps(identifier)
