"""Requests over HTTP, exactly as they are given. Nothing is added, normalised, followed or retried.

Every failure is a `NoAnswer`. The driver enforces the limits of the run, so no probe can forget
them.
"""

import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Literal, Protocol, Unpack, cast
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from faultspec.exchange.decoding import (
    DecodedContent,
    UndecodableBody,
    content_codings,
    decode_content,
)
from faultspec.exchange.model import Headers, Request, Response, has_content
from faultspec.exchange.numerals import whole_number
from faultspec_conformance.drivers import Driver, Limits, NoAnswer, Timing
from faultspec_conformance.drivers.environment import usable_environment
from faultspec_conformance.drivers.head import exchange_head, parse_answer, service_address

#: RFC 9110, 9.2.1, without TRACE, which servers refuse.
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

#: Headers and the parameter that make frameworks take another method (Rails, Express, Symfony,
#: ASP.NET).
_OVERRIDES = frozenset({"x-http-method-override", "x-http-method", "x-method-override"})
_OVERRIDE = re.compile(r"[?&;]_method=", re.IGNORECASE)

#: Media types of answers that need not end.
_ENDLESS = frozenset(
    {
        "text/event-stream",
        "application/x-ndjson",
        "application/jsonl",
        "application/json-seq",
        "multipart/x-mixed-replace",
    }
)

#: Header fields of an answer. A run keeps its answers, and each field takes 160 bytes and its text;
#: most servers and proxies allow a hundred.
_MOST_FIELDS = 1_000
_TOO_MANY_FIELDS = f"the answer has more than {_MOST_FIELDS:,} header fields"

#: Seconds for which a stream of events is read. One that is made to fail does so soon.
_STREAM = 5.0

#: Seconds beyond its own timeouts after which an answer is ended by closing the connection.
_SLACK = 0.2

#: Seconds for which a request waits for those that must arrive together with it.
_TOGETHER = 2.0

#: Seconds between attempts to connect to a service that closed a connection, and their number. A
#: process takes a moment to end, and a supervisor restarts one in less than a second.
_RECONNECT_SECONDS, _RECONNECTS = 0.1, 10


class HttpDriver(Driver):
    """One service over a persistent connection.

    ``base``: scheme, host and port. ``host``: the value of `Host`. ``transport`` carries every
    request but HEAD in place of a connection. ``written``: set once a request is written whole.
    """

    def __init__(
        self,
        base: str,
        limits: Limits,
        *,
        transport: httpx.BaseTransport | None = None,
        **timing: Unpack[Timing],
    ) -> None:
        super().__init__(limits, **timing)
        self.base = base.rstrip("/")
        parts = urlsplit(self.base)
        self.host = parts.netloc.rpartition("@")[2]
        self.written = threading.Event()
        self._open: list[NetworkStream] = []
        # A proxy in the environment serves other machines.
        self._direct = is_loopback_host(parts.hostname or "")
        with usable_environment():
            self._client = httpx.Client(
                timeout=self.timeout,
                follow_redirects=False,
                trust_env=not self._direct,
                verify=_tls_context(not self._direct),
                transport=transport,
            )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def send(self, request: Request) -> Response | NoAnswer:
        """Send one request. ``request.target`` is a path with its query, appended to the base."""
        refusal = self.admit(request, writes=_may_write(request))
        if refusal is not None:
            return refusal
        answer = self.transmit(request)
        if isinstance(answer, Response):
            self.latest.status = answer.status
        return answer

    def send_together(self, requests: Sequence[Request]) -> list[Response | NoAnswer]:
        """Send requests at the same time, over connections of their own. The answers have the order
        of the requests.

        The last byte of each body is sent after all other bytes of all bodies, so that the requests
        arrive as one.
        """
        refusals = [self.admit(request, writes=_may_write(request)) for request in requests]
        held = sum(
            bool(request.body) and refusal is None
            for request, refusal in zip(requests, refusals, strict=True)
        )
        gate = threading.Barrier(held or 1)

        def transmit(request: Request, refusal: NoAnswer | None) -> Response | NoAnswer:
            body = _HeldBody(request.body, gate) if request.body else None
            return refusal or self.transmit(request, body)

        with ThreadPoolExecutor(len(requests)) as pool:
            try:
                return list(pool.map(transmit, requests, refusals))
            except BaseException:
                self._hang_up()  # an interrupted run does not wait for answers
                raise

    def transmit(self, request: Request, body: "_HeldBody | None" = None) -> Response | NoAnswer:
        """Send an admitted request. ``body``: its body, if it is not sent at once."""
        if not request.target.startswith("/"):
            # Behind the base it would name another host, as in `@example.com`, or another port.
            return NoAnswer(request, "unsendable", "the target of the request is not a path")
        seconds = self.answer_timeout
        answer = self._transmit(request, body)
        if isinstance(answer, NoAnswer):
            return self.report_silence(answer, seconds)
        self.note_answer(answer.elapsed)
        return answer

    def _transmit(self, request: Request, body: "_HeldBody | None") -> Response | NoAnswer:
        if request.method == "HEAD" and self._direct:
            return self._transmit_head(request)
        opened: list[str] = []
        answer = self._exchange(request, opened, body)
        if isinstance(answer, NoAnswer) and answer.kind == "closed" and not opened:
            # A server may close an idle connection just when it is used. A fresh one it closes for
            # the request.
            again = self._exchange(request, opened, body)
            return answer if isinstance(again, NoAnswer) and again.kind == "refused" else again
        return answer

    def listens(self) -> bool:
        """Whether the service accepts connections, now or after a supervisor has restarted it."""
        address = service_address(self.base)
        for _ in range(_RECONNECTS):
            self._pause(_RECONNECT_SECONDS)
            try:
                socket.create_connection(address, timeout=self.answer_timeout).close()
            except ConnectionRefusedError:
                continue
            except OSError:
                return True  # unknown, for example behind a firewall
            return True
        return False

    def _exchange(
        self, request: Request, opened: list[str], body: "_HeldBody | None"
    ) -> Response | NoAnswer:
        """Send and receive. An entry for each connection that it opens is appended to
        ``opened``.
        """

        def trace(event: str, info: Mapping[str, object]) -> None:
            if event == "connection.connect_tcp.started":
                opened.append(event)
            elif event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                self._open.append(cast(NetworkStream, info["return_value"]))
            elif event.endswith(".send_request_body.complete"):
                self.written.set()

        seconds = self.answer_timeout
        late = _Alarm(seconds, self._hang_up)
        with late:
            answer = self._receive(request, body, trace, seconds)
        if late.rang and isinstance(answer, NoAnswer):
            return NoAnswer(request, "timeout", f"the answer did not end within {seconds:g} s")
        return answer

    def _hang_up(self) -> None:
        """Shut the open connections down, so that no thread waits for bytes."""
        while self._open:
            with suppress(OSError):
                stream = cast(socket.socket, self._open.pop().get_extra_info("socket"))
                stream.shutdown(socket.SHUT_RDWR)

    def _receive(
        self,
        request: Request,
        body: "_HeldBody | None",
        trace: Callable[[str, Mapping[str, object]], None],
        seconds: float,
    ) -> Response | NoAnswer:
        began = self._clock()
        try:
            fields = [(name.encode(), value.encode()) for name, value in request.headers]
            if body is not None:
                fields.append((b"Content-Length", str(len(request.body)).encode()))
            outgoing = httpx.Request(
                request.method,
                self.base + request.target,
                headers=fields,
                content=body or request.body or None,
                # The client library would repair broken percent escapes of the target.
                extensions={
                    "trace": trace,
                    "timeout": httpx.Timeout(seconds).as_dict(),
                    **({"target": request.target.encode()} if _is_broken(request) else {}),
                },
            )
            answer = self._client.send(outgoing, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            return self._classify(request, error, seconds)
        media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        is_stream = media_type in _ENDLESS
        deadline = began + (_STREAM if is_stream else seconds)
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers.raw
        )
        if len(headers) > _MOST_FIELDS:
            answer.close()
            return NoAnswer(request, "garbled", _TOO_MANY_FIELDS)
        limit, received = self.body_limit, bytearray()
        try:
            chunks = _read_body(answer, lambda: self._clock() > deadline)
            decoded = decode_content(
                _keep(chunks, received, limit), content_codings(headers), limit
            )
        except httpx.TimeoutException:
            if not is_stream:  # a stream that waits for its next event has answered
                return NoAnswer(request, "timeout", f"the answer did not end within {seconds:g} s")
            decoded = _decode_stream(received, headers, limit)
        except UndecodableBody as error:
            if not is_stream:
                return NoAnswer(request, "garbled", f"the answer broke off: {error}")
            decoded = _decode_stream(received, headers, limit)
        except httpx.TransportError as error:
            if not (is_stream and self._clock() - began >= seconds):
                return NoAnswer(request, "garbled", f"the answer broke off: {_describe(error)}")
            decoded = _decode_stream(received, headers, limit)
        finally:
            answer.close()
        missing = answer.num_bytes_downloaded < _promised_length(request, answer)
        if missing and decoded.cut is None:
            return NoAnswer(request, "timeout", f"the answer did not end within {seconds:g} s")
        self.received += len(decoded.content)
        elapsed = self._clock() - began
        return Response(
            answer.status_code, headers, decoded.content, elapsed=elapsed, cut=decoded.cut
        )

    def _classify(self, request: Request, error: Exception, seconds: float) -> NoAnswer:
        """Why a request got no answer, by the error of the client library."""
        text = _describe(error)
        kind: Literal["refused", "timeout", "unsendable", "closed", "garbled"] = "closed"
        if isinstance(error, httpx.ConnectError):
            kind, text = "refused", self._refusal(error)
        elif isinstance(error, httpx.TimeoutException):
            kind, text = "timeout", f"no answer within {seconds:g} s"
        elif isinstance(error, httpx.RemoteProtocolError):
            kind = "closed" if "disconnected" in str(error) else "garbled"
        elif isinstance(error, httpx.LocalProtocolError) or not isinstance(
            error, httpx.TransportError
        ):
            kind, text = "unsendable", f"this request cannot be written: {text}"
        else:
            text = f"the connection was closed: {text}"
        return NoAnswer(request, kind, text)

    def _refusal(self, error: Exception) -> str:
        return f"cannot connect to {without_credentials(self.base)}: {_describe(error)}"

    def _transmit_head(self, request: Request) -> Response | NoAnswer:
        began = self._clock()
        try:
            raw = exchange_head(self.base, request, self.answer_timeout, self._clock)
        except ConnectionRefusedError as error:
            return NoAnswer(request, "refused", self._refusal(error))
        except TimeoutError:
            return NoAnswer(request, "timeout", f"no answer within {self.timeout:g} s")
        except ValueError as error:
            return NoAnswer(request, "unsendable", f"this request cannot be written: {error}")
        except OSError as error:
            return NoAnswer(request, "closed", f"the connection was closed: {_describe(error)}")
        answer = parse_answer(raw)
        if answer is None:
            reason = "the answer is not an HTTP answer"
            return NoAnswer(request, "garbled" if raw else "closed", reason)
        status, headers, body = answer
        if len(headers) > _MOST_FIELDS:
            return NoAnswer(request, "garbled", _TOO_MANY_FIELDS)
        return Response(status, headers, body, self._clock() - began)


@cache
def _tls_context(from_environment: bool) -> ssl.SSLContext:
    """The context for TLS. Reading its certificates takes longer than a run of requests."""
    return httpx.create_ssl_context(trust_env=from_environment)


def without_credentials(url: str) -> str:
    """A URL for reports: without user name and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def is_loopback_host(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_broken(request: Request) -> bool:
    """Whether the target has a percent sign that begins no escape (RFC 3986, 2.1)."""
    return re.search(r"%(?![0-9A-Fa-f]{2})", request.target) is not None


def _may_write(request: Request) -> bool:
    """Whether a request may change something, by its method or by a method that it asks for
    instead.
    """
    if request.method not in SAFE_METHODS or _OVERRIDE.search(unquote(request.target)):
        return True
    # Servers that hand headers on as variables take an underscore for a hyphen (RFC 3875, 4.1.18).
    return any(name.lower().replace("_", "-") in _OVERRIDES for name, _ in request.headers)


class NetworkStream(Protocol):
    """A connection of httpcore."""

    def get_extra_info(self, info: str) -> object:
        """A property of the connection, such as its `socket`."""


@dataclass(frozen=True, slots=True)
class _HeldBody:
    """A body whose last byte waits for those of other bodies; not for ever, since one of them may
    have failed.
    """

    body: bytes
    gate: threading.Barrier

    def __iter__(self) -> Iterator[bytes]:
        yield self.body[:-1]
        with suppress(threading.BrokenBarrierError):
            self.gate.wait(_TOGETHER)
        yield self.body[-1:]


class _Alarm:
    """Calls ``ring`` from another thread if the block has not ended after ``seconds``.

    The timeouts of the client library apply to each read. A service that sends a byte now and then
    never meets them.
    """

    def __init__(self, seconds: float, ring: Callable[[], None]) -> None:
        self.rang = False
        self._ring = ring
        self._timer = threading.Timer(seconds + _SLACK, self._run)
        self._timer.daemon = True

    def _run(self) -> None:
        self.rang = True
        self._ring()

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()


def _promised_length(request: Request, answer: httpx.Response) -> int:
    """The bytes of content that an answer must have. To HEAD, or with 304, the header has those of
    another answer (RFC 9110, 8.6).
    """
    if request.method == "HEAD" or not has_content(answer.status_code):
        return 0
    return whole_number(answer.headers.get("Content-Length", "")) or 0


def _read_body(answer: httpx.Response, is_late: Callable[[], bool]) -> Iterator[bytes]:
    """The part of the body that comes in time. A stream need not end."""
    for chunk in answer.iter_raw():
        yield chunk
        if is_late():
            break


def _decode_stream(received: bytearray, headers: Headers, limit: int) -> DecodedContent:
    """The received part of a stream that did not end."""
    if content_codings(headers):
        return DecodedContent(b"", "is a compressed stream that did not end")
    return DecodedContent(bytes(received[:limit]))


def _keep(chunks: Iterator[bytes], received: bytearray, limit: int) -> Iterator[bytes]:
    """The chunks, which are also appended to ``received`` up to a limit."""
    for chunk in chunks:
        received += chunk[: limit - len(received)]
        yield chunk


def _describe(error: Exception) -> str:
    return str(error) or type(error).__name__
