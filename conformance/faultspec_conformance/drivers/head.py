"""HEAD over a raw connection. A client library would hide a body, which the answer to HEAD must not
have.
"""

import re
import socket
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

from faultspec.exchange.model import Headers, Request
from faultspec.exchange.numerals import whole_number
from faultspec.language.header_syntax import CONTROL, FIELD_NAME
from faultspec.language.values import shorten
from faultspec_conformance.drivers import BODY_LIMIT, SILENCE

_END_OF_HEAD = b"\r\n\r\n"

#: Bytes in which the heads of an answer, with those of interim ones, end.
_LONGEST_HEAD = 256 * 1024

#: Bytes that are read at once.
_CHUNK = 64 * 1024


def service_address(url: str) -> tuple[str, int]:
    """The host and the port of a URL."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def exchange_head(base: str, request: Request, seconds: float, clock: Callable[[], float]) -> bytes:
    """Send a HEAD request over a connection of its own, and read the answer until it ends or
    nothing more comes.

    Raises ValueError if it cannot be written; OSError; TimeoutError if the head is not complete
    after ``seconds``.
    """
    parts = urlsplit(base)
    head = _write_head(request, parts.path, parts.netloc.rpartition("@")[2])
    deadline = clock() + seconds
    host, port = service_address(base)
    with socket.create_connection((host, port), timeout=seconds) as plain:
        stream = plain
        if parts.scheme == "https":
            stream = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        stream.sendall(head)
        return _read_until_silence(stream, deadline, clock)


def _write_head(request: Request, prefix: str, host: str) -> bytes:
    """The bytes of a HEAD request. ``prefix``: the path of the base. Raises ValueError."""
    target = f"{prefix}{request.target}".partition("#")[0].replace(" ", "%20").replace("\t", "%09")
    if CONTROL.search(target):
        raise ValueError("the target has control characters")
    fields = [("Host", host), ("Connection", "close")]
    fields += [field for field in request.headers if field[0].lower() not in ("host", "connection")]
    for name, value in fields:
        if not FIELD_NAME.fullmatch(name):
            raise ValueError(f"the header name {shorten(name)} is not a token")
        if CONTROL.search(value):
            raise ValueError(f"the value of {shorten(name)} has control characters")
    lines = [f"HEAD {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode()


def _read_until_silence(
    stream: socket.socket, deadline: float, clock: Callable[[], float]
) -> bytes:
    raw = bytearray()
    while len(raw) < BODY_LIMIT:
        complete = _END_OF_HEAD in _final_answer(bytes(raw[:_LONGEST_HEAD]))
        left = deadline - clock()
        try:
            if left <= 0:
                raise TimeoutError
            stream.settimeout(min(left, SILENCE) if complete else left)
            chunk = stream.recv(_CHUNK)
        except TimeoutError:
            if complete:
                break
            raise
        if not chunk:
            break
        raw += chunk
    return bytes(raw)


def _final_answer(raw: bytes) -> bytes:
    """An answer without the interim ones before it (RFC 9110, 15.2). 101 is final for a request
    that asks for no other protocol.
    """
    while _END_OF_HEAD in raw and re.match(rb"HTTP/1\.\d 1(?!01\b)\d\d\b", raw):
        raw = raw.partition(_END_OF_HEAD)[2]
    return raw


def parse_answer(raw: bytes) -> tuple[int, Headers, bytes] | None:
    """The status, the header fields and the body of an answer; None if it is not one of HTTP/1."""
    head, separator, body = _final_answer(raw).partition(_END_OF_HEAD)
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    status = whole_number(words[1]) if len(words) > 1 else None
    if status is None or not words[0].startswith("HTTP/"):
        return None
    fields = (line.partition(":") for line in lines)
    headers = tuple((name.strip(), value.strip()) for name, _, value in fields)
    return (status, headers, body) if separator else None
