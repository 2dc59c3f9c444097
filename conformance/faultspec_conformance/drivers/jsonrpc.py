"""JSON-RPC 2.0: the messages, whatever transports them, and the transport over HTTP."""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Unpack
from urllib.parse import urlsplit

from faultspec.exchange.model import Headers, Request, Response
from faultspec_conformance.drivers import Driver, Limits, NoAnswer, Timing, report_ignored
from faultspec_conformance.drivers.http import HttpDriver

_HEADERS: Headers = (
    ("Content-Type", "application/json"),
    ("Accept", "application/json"),
    ("User-Agent", "faultspec-conform"),
)


#: Messages that are under way at the same time. Recipes have fewer.
_POSTED = 50

#: Seconds that a service has to read a message before the next one is sent on another connection:
#: these at least, and a few times as long as the fastest answer took.
_ARRIVAL, _LONGEST_ARRIVAL, _TIMES_FASTER = 0.05, 0.5, 3.0


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send: a request, a notification, a batch, or none of these. ``method`` is its
    name in reports.

    ``ids``: the ids that its answers may have. ``due``: whether an answer must come. ``harmless``:
    it changes nothing. ``headers``: those of the caller, for transports with headers. ``patience``:
    seconds after which the service is asked whether it answers at all; None: as long as the driver
    waits.
    """

    method: str
    body: bytes
    ids: tuple[object, ...] = ()
    due: bool = True
    harmless: bool = False
    headers: Headers = ()
    patience: float | None = None

    @property
    def request(self) -> Request:
        """The message as the request of an exchange."""
        return Request("POST", self.method, self.headers, self.body)


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """The answer; its body is empty if none came. ``between``: unprompted messages that came before
    it.

    ``unkept``: how many more of those came and were dropped.
    """

    response: Response
    between: tuple[bytes, ...] = ()
    unkept: int = 0


class Peer(Driver):
    """A connection to one JSON-RPC service. ``hears``: whether unprompted messages of the service
    arrive.
    """

    hears = False

    def linger(self, seconds: float) -> tuple[bytes, ...]:
        """The unprompted messages that arrive within ``seconds``."""
        return ()

    def send(self, message: Message, ping: Message | None = None) -> ReceivedMessage | NoAnswer:
        """Send a message. Wait for its answer, or for a moment of silence if none is due.

        ``ping``: a request that the service has answered before. It is sent if no answer comes; if
        it alone is answered, the service has `ignored` the message.
        """
        refused = self.admit(message.request, writes=not message.harmless)
        if refused is not None:
            return refused
        return self._confirm(message, self.transmit(message), ping)

    def _confirm(
        self, message: Message, received: ReceivedMessage | NoAnswer, ping: Message | None
    ) -> ReceivedMessage | NoAnswer:
        """The received message; after a silence, the result of asking again."""
        if ping is None or not isinstance(received, NoAnswer) or received.kind != "timeout":
            return received
        with self.log_as("confirm"):
            if self.admit(ping.request, writes=False) is not None:
                return received
        return self.ask_again(message, received, ping)

    def post(self, message: Message) -> NoAnswer | None:
        """Send a message whose answer `collect` waits for."""
        refused = self.admit(message.request, writes=not message.harmless)
        return refused or self.begin(message)

    def collect(self, message: Message, ping: Message | None = None) -> ReceivedMessage | NoAnswer:
        """Wait for the answer to a posted message. ``ping``: as of `send`."""
        return self._confirm(message, self.receive_posted(message), ping)

    def transmit(self, message: Message) -> ReceivedMessage | NoAnswer:
        """Send an admitted message, as `send` does."""
        raise NotImplementedError

    def ask_again(
        self, message: Message, silence: NoAnswer, ping: Message
    ) -> ReceivedMessage | NoAnswer:
        """Send an admitted ``ping`` after a silence. Returns the answer to ``message``, if that
        comes first.
        """
        raise NotImplementedError

    def begin(self, message: Message) -> NoAnswer | None:
        """Send an admitted message, as `post` does."""
        raise NotImplementedError

    def receive_posted(self, message: Message) -> ReceivedMessage | NoAnswer:
        """The answer to a posted message, as `collect` returns it."""
        raise NotImplementedError


class Remote(Peer):
    """JSON-RPC over HTTP. Every message is the body of a POST. The header ``:status`` holds the
    status.
    """

    def __init__(self, url: str, limits: Limits, **timing: Unpack[Timing]) -> None:
        super().__init__(limits, **timing)
        parts = urlsplit(url)
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._timing = timing
        self._http = HttpDriver(self._base, limits, **timing)
        self._posted: dict[Message, Future[ReceivedMessage | NoAnswer]] = {}
        self._threads = ThreadPoolExecutor(_POSTED)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def listens(self) -> bool:
        """Whether the service accepts connections."""
        return self._http.listens()

    def transmit(self, message: Message) -> ReceivedMessage | NoAnswer:
        """POST the message."""
        return self._post(self._http, message)

    def ask_again(
        self, message: Message, silence: NoAnswer, ping: Message
    ) -> ReceivedMessage | NoAnswer:
        """POST the ping."""
        answer = self.transmit(ping)
        return silence if isinstance(answer, NoAnswer) else report_ignored(silence)

    def begin(self, message: Message) -> None:
        """POST the message on a connection of its own. Return when it has arrived, so that the next
        message does not overtake it, or was answered.
        """
        limits = replace(self.limits, seconds=max(self.remaining, 0.0))
        http = HttpDriver(self._base, limits, **self._timing)
        posted = self._threads.submit(self._post_alone, http, message)
        self._posted[message] = posted
        posted.add_done_callback(lambda _: http.written.set())
        http.written.wait(self.answer_timeout)
        arrival = min(_LONGEST_ARRIVAL, _TIMES_FASTER * (self.fastest or 0.0))
        wait((posted,), max(_ARRIVAL, arrival))

    def receive_posted(self, message: Message) -> ReceivedMessage | NoAnswer:
        """The answer to a posted message."""
        return self._posted.pop(message).result()

    def _post_alone(self, http: HttpDriver, message: Message) -> ReceivedMessage | NoAnswer:
        with http:
            return self._post(http, message)

    def _post(self, http: HttpDriver, message: Message) -> ReceivedMessage | NoAnswer:
        fields = {name.lower(): (name, value) for name, value in (*_HEADERS, *message.headers)}
        request = Request("POST", self._path, tuple(fields.values()), message.body)
        http.timeout = self.timeout if message.patience is None else message.patience
        answer = http.transmit(request)
        if isinstance(answer, NoAnswer):
            return NoAnswer(message.request, answer.kind, answer.reason)
        if answer.cut is not None:
            return NoAnswer(message.request, "garbled", f"the body of the answer {answer.cut}")
        if message.due and not answer.body:
            reason = f"the answer is empty (HTTP status {answer.status})"
            return NoAnswer(message.request, "ignored", reason)
        if answer.body:
            self.note_answer(answer.elapsed)
        headers = ((":status", str(answer.status)), *answer.headers)
        return ReceivedMessage(Response(None, headers, answer.body, answer.elapsed))
