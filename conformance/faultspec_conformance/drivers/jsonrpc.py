"""JSON-RPC 2.0: what is sent and heard, whatever carries it; and the carrier that is HTTP."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from faultspec.exchange.model import Headers, Request, Response
from faultspec_conformance.drivers import TIMEOUT, Driver, Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver

_HEADERS: Headers = (
    ("Content-Type", "application/json"),
    ("Accept", "application/json"),
    ("User-Agent", "faultspec-conform"),
)


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent: a request, a notification, a batch, or none of these. ``method`` names it, in reports too.

    ``ids``: those that answers to it may carry; ``due``: whether an answer is. ``harmless``: it changes nothing.
    ``headers``: those of the caller, for carriers that have any.
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
    """What came back: the answer, its body empty where none came; ``between``, the messages that came before it unasked, and
    how many more came that were not kept.
    """

    response: Response
    between: tuple[bytes, ...] = ()
    unkept: int = 0


class Peer(Driver):
    """A way to one JSON-RPC service. ``hears``: what the service says unasked is heard."""

    hears = False

    def linger(self, seconds: float) -> tuple[bytes, ...]:
        """What the service says unasked within so many seconds; it is not asked for anything."""
        return ()

    def say(self, message: Message) -> ReceivedMessage | NoAnswer:
        """Send a message and wait for its answer, or, where none is due, for a moment of silence."""
        refused = self.refuses(message.request, writes=not message.harmless)
        return self.exchanged(message) if refused is None else refused

    def exchanged(self, message: Message) -> ReceivedMessage | NoAnswer:
        """`say`, past the door."""
        raise NotImplementedError


class Remote(Peer):
    """JSON-RPC over HTTP: every message is the body of a POST. The status is kept as the header ``:status``."""

    def __init__(
        self,
        url: str,
        limits: Limits,
        *,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(limits, timeout=timeout, clock=clock, pause=pause)
        parts = urlsplit(url)
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._http = HttpDriver(
            f"{parts.scheme}://{parts.netloc}", limits, timeout=timeout, clock=clock, pause=pause
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def listens(self) -> bool:
        """Whether anybody takes connections."""
        return self._http.listens()

    def exchanged(self, message: Message) -> ReceivedMessage | NoAnswer:
        """POST the message."""
        fields = {name.lower(): (name, value) for name, value in (*_HEADERS, *message.headers)}
        answer = self._http.carry(Request("POST", self._path, tuple(fields.values()), message.body))
        if isinstance(answer, NoAnswer):
            return NoAnswer(message.request, answer.kind, answer.reason)
        headers = ((":status", str(answer.status)), *answer.headers)
        return ReceivedMessage(Response(None, headers, answer.body, answer.elapsed))
