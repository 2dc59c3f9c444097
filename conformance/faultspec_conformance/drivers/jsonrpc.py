"""JSON-RPC 2.0: the messages, whatever transports them, and the transport over HTTP."""

from dataclasses import dataclass
from typing import Unpack
from urllib.parse import urlsplit

from faultspec.exchange.model import Headers, Request, Response
from faultspec_conformance.drivers import Driver, Limits, NoAnswer, Timing
from faultspec_conformance.drivers.http import HttpDriver

_HEADERS: Headers = (
    ("Content-Type", "application/json"),
    ("Accept", "application/json"),
    ("User-Agent", "faultspec-conform"),
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send: a request, a notification, a batch, or none of these. ``method`` is its
    name in reports.

    ``ids``: the ids that its answers may have. ``due``: whether an answer must come. ``harmless``:
    it changes nothing. ``headers``: those of the caller, for transports with headers.
    """

    method: str
    body: bytes
    ids: tuple[object, ...] = ()
    due: bool = True
    harmless: bool = False
    headers: Headers = ()

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

    def send(self, message: Message) -> ReceivedMessage | NoAnswer:
        """Send a message. Wait for its answer, or for a moment of silence if none is due."""
        return self.admit(message.request, writes=not message.harmless) or self.transmit(message)

    def transmit(self, message: Message) -> ReceivedMessage | NoAnswer:
        """Send an admitted message, as `send` does."""
        raise NotImplementedError


class Remote(Peer):
    """JSON-RPC over HTTP. Every message is the body of a POST. The header ``:status`` holds the
    status.
    """

    def __init__(self, url: str, limits: Limits, **timing: Unpack[Timing]) -> None:
        super().__init__(limits, **timing)
        parts = urlsplit(url)
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._http = HttpDriver(f"{parts.scheme}://{parts.netloc}", limits, **timing)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def listens(self) -> bool:
        """Whether the service accepts connections."""
        return self._http.listens()

    def transmit(self, message: Message) -> ReceivedMessage | NoAnswer:
        """POST the message."""
        fields = {name.lower(): (name, value) for name, value in (*_HEADERS, *message.headers)}
        request = Request("POST", self._path, tuple(fields.values()), message.body)
        answer = self._http.transmit(request)
        if isinstance(answer, NoAnswer):
            return NoAnswer(message.request, answer.kind, answer.reason)
        if answer.cut is not None:
            return NoAnswer(message.request, "garbled", f"the body of the answer {answer.cut}")
        headers = ((":status", str(answer.status)), *answer.headers)
        return ReceivedMessage(Response(None, headers, answer.body, answer.elapsed))
