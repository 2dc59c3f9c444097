"""Requests over HTTP, exactly as they are given: nothing is added, normalised, followed or retried behind the back.

Whatever goes wrong is a `NoAnswer` value. The two budgets and the rule that nothing is written without leave are kept
here, at the only door, so that no probe can forget them.
"""

import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Literal, Protocol, cast
from urllib.parse import urlsplit, urlunsplit

import httpx

from faultspec.exchange.model import Headers, Request, Response
from faultspec_conformance.drivers import BODY_LIMIT, SILENCE, TIMEOUT, Driver, Limits, NoAnswer

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

#: Headers and the parameter by which frameworks take another method than the one sent (Rails, Express, Symfony, ASP.NET).
_OVERRIDES = frozenset({"x-http-method-override", "x-http-method", "x-method-override"})
_OVERRIDE = re.compile(r"[?&]_method=", re.IGNORECASE)

#: Seconds of a stream of events that are listened to: one that is made to fail fails soon.
_STREAM = 5.0

#: Seconds after which an answer that its own timeouts should have ended is ended by hanging up.
_SLACK = 0.2

#: Seconds for which a request waits for those that are to arrive with it.
_TOGETHER = 2.0

#: Seconds between attempts to connect to a service that hung up, and how many: a process that ends takes a moment to, and
#: one that is supervised is back in less than a second.
_BETWEEN_KNOCKS, _KNOCKS = 0.1, 10


class HttpDriver(Driver):
    """One service over a persistent connection. ``base``: scheme, host and port; ``host``: what `Host` says of it.

    ``transport`` carries every request but HEAD in place of a connection.
    """

    def __init__(
        self,
        base: str,
        limits: Limits,
        *,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(limits, timeout=timeout, clock=clock, pause=pause)
        self.base = base.rstrip("/")
        self.host = urlsplit(self.base).netloc.rpartition("@")[2]
        self._open: list[NetworkStream] = []
        # A proxy named in the environment is meant for the world outside, never for a service on this machine.
        self._direct = is_loopback(urlsplit(self.base).hostname or "")
        self._client = httpx.Client(
            timeout=timeout,
            follow_redirects=False,
            trust_env=not self._direct,
            verify=_certificates(not self._direct),
            transport=transport,
        )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def send(self, request: Request) -> Response | NoAnswer:
        """Send one request. ``request.target`` is a path with its query, appended to the base."""
        refused = self.refuses(request, writes=_may_write(request))
        return self.carry(request) if refused is None else refused

    def together(self, requests: Sequence[Request]) -> list[Response | NoAnswer]:
        """Send requests at the same time, each over a connection of its own; answers in the order of the requests.

        Each counts. All but the last byte of every body is sent before the last byte of any, so that they arrive as one.
        """
        found = [self.refuses(each, writes=_may_write(each)) for each in requests]
        waiting = sum(
            bool(each.body)
            for each, refused in zip(requests, found, strict=True)
            if refused is None
        )
        gate = threading.Barrier(waiting or 1)

        def carried(request: Request, refused: NoAnswer | None) -> Response | NoAnswer:
            return refused or self.carry(
                request, _Held(request.body, gate) if request.body else None
            )

        with ThreadPoolExecutor(len(requests)) as pool:
            try:
                return list(pool.map(carried, requests, found))
            except BaseException:
                self._hang_up()  # an interrupted run does not wait for answers
                raise

    def carry(self, request: Request, content: "_Held | None" = None) -> Response | NoAnswer:
        """`send`, for who has asked `refuses` already. ``content``: how the body is sent, where it is not sent at once."""
        if request.method == "HEAD" and self._direct:
            return self._head(request)
        opened: list[str] = []
        answer = self._exchange(request, opened, content)
        if isinstance(answer, NoAnswer) and answer.kind == "closed" and not opened:
            # A server may close an idle connection in the very moment it is used; what closes a fresh one is the request.
            again = self._exchange(request, opened, content)
            return answer if isinstance(again, NoAnswer) and again.kind == "refused" else again
        return answer

    def listens(self) -> bool:
        """Whether anybody takes connections, now or after the moment in which a supervisor starts a service again."""
        parts = urlsplit(self.base)
        address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        for _ in range(_KNOCKS):
            self._pause(_BETWEEN_KNOCKS)
            try:
                socket.create_connection(address, timeout=self.patience).close()
            except ConnectionRefusedError:
                continue
            except OSError:
                return True  # something in between, such as a firewall, so nobody can tell
            return True
        return False

    def _exchange(
        self, request: Request, opened: list[str], content: "_Held | None"
    ) -> Response | NoAnswer:
        """Send and receive; ``opened`` has the connections that were opened for it put to its end."""
        began = self._clock()

        def trace(event: str, info: Mapping[str, object]) -> None:
            if event == "connection.connect_tcp.started":
                opened.append(event)
            elif event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                self._open.append(cast(NetworkStream, info["return_value"]))

        patience = self.patience
        late = _Alarm(patience, self._hang_up)
        with late:
            answer = self._received(request, content, trace, patience, began)
        if late.rang and isinstance(answer, NoAnswer):
            return NoAnswer(request, "timeout", f"the answer did not end within {patience:g} s")
        return answer

    def _hang_up(self) -> None:
        """End what is open, so that whoever waits for bytes waits no more."""
        while self._open:
            with suppress(OSError):
                cast(socket.socket, self._open.pop().get_extra_info("socket")).shutdown(
                    socket.SHUT_RDWR
                )

    def _received(
        self,
        request: Request,
        content: "_Held | None",
        trace: Callable[[str, Mapping[str, object]], None],
        patience: float,
        began: float,
    ) -> Response | NoAnswer:
        fields = [(name.encode(), value.encode("utf-8")) for name, value in request.headers]
        if content is not None:
            fields.append((b"Content-Length", str(len(request.body)).encode()))
        try:
            outgoing = httpx.Request(
                request.method,
                self.base + request.target,
                headers=fields,
                content=content or request.body or None,
                extensions={"trace": trace, "timeout": httpx.Timeout(patience).as_dict()},
            )
            answer = self._client.send(outgoing, stream=True)
        except httpx.ConnectError as error:
            return NoAnswer(
                request, "refused", f"cannot connect to {shown(self.base)}: {_words(error)}"
            )
        except httpx.TimeoutException:
            return NoAnswer(request, "timeout", f"no answer within {patience:g} s")
        except httpx.LocalProtocolError as error:
            return NoAnswer(
                request, "unsendable", f"this request cannot be written: {_words(error)}"
            )
        except httpx.RemoteProtocolError as error:
            kind: Literal["closed", "garbled"] = (
                "closed" if "disconnected" in str(error) else "garbled"
            )
            return NoAnswer(request, kind, _words(error))
        except httpx.TransportError as error:
            return NoAnswer(request, "closed", f"the connection was closed: {_words(error)}")
        except (httpx.InvalidURL, ValueError) as error:
            return NoAnswer(
                request, "unsendable", f"this request cannot be written: {_words(error)}"
            )
        try:
            body = _bounded(
                answer, lambda: self._clock() - began > (_STREAM if _streams(answer) else patience)
            )
        except httpx.TimeoutException:
            return NoAnswer(request, "timeout", f"the answer did not end within {patience:g} s")
        except (httpx.TransportError, httpx.DecodingError) as error:
            return NoAnswer(request, "garbled", f"the answer broke off: {_words(error)}")
        finally:
            answer.close()
        length = answer.headers.get("Content-Length", "")
        if (
            len(body) < BODY_LIMIT
            and length.isdigit()
            and answer.num_bytes_downloaded < int(length)
        ):
            return NoAnswer(request, "timeout", f"the answer did not end within {patience:g} s")
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers.raw
        )
        return Response(answer.status_code, headers, body, self._clock() - began)

    def _head(self, request: Request) -> Response | NoAnswer:
        """HEAD over a connection of its own, read to its end: a client library would hide a body that must not be there."""
        began = self._clock()
        parts = urlsplit(self.base + request.target)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = parts.hostname or ""
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = [
            f"HEAD {target} HTTP/1.1",
            f"Host: {parts.netloc.rpartition('@')[2]}",
            "Connection: close",
        ]
        lines += [
            f"{name}: {value}"
            for name, value in request.headers
            if name.lower() not in ("host", "connection")
        ]
        try:
            with socket.create_connection((host, port), timeout=self.patience) as plain:
                stream = _secured(plain, host) if parts.scheme == "https" else plain
                stream.sendall("\r\n".join([*lines, "", ""]).encode())
                raw = _until_silence(stream, began + self.patience, self._clock)
        except ConnectionRefusedError as error:
            return NoAnswer(
                request, "refused", f"cannot connect to {shown(self.base)}: {_words(error)}"
            )
        except TimeoutError:
            return NoAnswer(request, "timeout", f"no answer within {self.timeout:g} s")
        except OSError as error:
            return NoAnswer(request, "closed", f"the connection was closed: {_words(error)}")
        head, separator, body = raw.partition(b"\r\n\r\n")
        parsed = _header(head) if separator else None
        if parsed is None:
            return NoAnswer(
                request, "garbled" if raw else "closed", "what came back is not an HTTP answer"
            )
        return Response(parsed[0], parsed[1], body, self._clock() - began)


@cache
def _certificates(from_environment: bool) -> ssl.SSLContext:
    """The context for TLS, whose certificates take longer to read than a run of requests takes to send."""
    return httpx.create_ssl_context(trust_env=from_environment)


def shown(address: str) -> str:
    """An address as it may be printed: without the name and the password that may stand in it."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _may_write(request: Request) -> bool:
    """Whether a request may change something: by its method, or by another one that it asks for."""
    if request.method not in SAFE_METHODS or _OVERRIDE.search(request.target):
        return True
    return any(name.lower() in _OVERRIDES for name, _ in request.headers)


class NetworkStream(Protocol):
    """A connection as httpcore has it."""

    def get_extra_info(self, info: str) -> object:
        """What is below it, such as its `socket`."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A body whose last byte waits at a gate for those of others; not for ever, since one of them may have failed."""

    body: bytes
    gate: threading.Barrier

    def __iter__(self) -> Iterator[bytes]:
        yield self.body[:-1]
        with suppress(threading.BrokenBarrierError):
            self.gate.wait(_TOGETHER)
        yield self.body[-1:]


class _Alarm:
    """Calls ``ring`` from another thread when the block has not ended after so many seconds.

    The client's own timeouts are for each read; a service that sends a byte now and then would never meet them.
    """

    def __init__(self, seconds: float, ring: Callable[[], None]) -> None:
        self.rang = False
        self._ring = ring
        self._timer = threading.Timer(seconds + _SLACK, self._rings)
        self._timer.daemon = True

    def _rings(self) -> None:
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


def _bounded(answer: httpx.Response, late: Callable[[], bool]) -> bytes:
    """As much of the body as comes in time and is worth reading; a stream need not end."""
    body = bytearray()
    for chunk in answer.iter_bytes():
        body += chunk
        if len(body) >= BODY_LIMIT or late():
            break
    return bytes(body[:BODY_LIMIT])


def _streams(answer: httpx.Response) -> bool:
    return str(answer.headers.get("Content-Type", "")).startswith("text/event-stream")


def _secured(plain: socket.socket, host: str) -> ssl.SSLSocket:
    return ssl.create_default_context().wrap_socket(plain, server_hostname=host)


def _until_silence(stream: socket.socket, deadline: float, clock: Callable[[], float]) -> bytes:
    raw = bytearray()
    while len(raw) < BODY_LIMIT:
        left = deadline - clock()
        if left <= 0:
            if b"\r\n\r\n" in raw:
                break
            raise TimeoutError
        stream.settimeout(min(left, SILENCE) if b"\r\n\r\n" in raw else left)
        try:
            chunk = stream.recv(65536)
        except TimeoutError:
            if b"\r\n\r\n" in raw:
                break
            raise
        if not chunk:
            break
        raw += chunk
    return bytes(raw)


def _header(head: bytes) -> tuple[int, Headers] | None:
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdigit():
        return None
    fields = (line.partition(":") for line in lines)
    return int(words[1]), tuple((name.strip(), value.strip()) for name, _, value in fields)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
