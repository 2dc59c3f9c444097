"""What is read from a recording, and what all formats have in common."""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import NamedTuple

from faultspec.contract.clauses import header_address
from faultspec.exchange.model import Exchange, Headers, first

ABOUT_HEADERS = frozenset({"headers", "header-values"})
ABOUT_BODY = frozenset(
    {"body", "shape", "code", "flag", "boundary", "details", "detail-values", "ids", "message"}
)
"""The facts that an answer's body tells."""

ALWAYS = frozenset({"identity"})
"""No recording tells who called: credentials are what tools leave out first."""

_MASK = re.compile(
    r"\W*(?:filtered|redacted|masked|hidden|removed|sanitized|scrubbed|dummy|x{3,})\W*|\*{2,}|",
    re.IGNORECASE,
)
"""What stands where a tool left out a value, such as ``[Filtered]``."""

_UNPACKED = 64 * 1024 * 1024
"""Bytes to which a compressed body may grow: beyond it is no error of an API."""


class NotARecording(Exception):
    """A file of none of the formats."""


class RecordedExchange(NamedTuple):
    """An exchange and where it is recorded, as ``file:line``."""

    exchange: Exchange
    place: str


class Skipped(NamedTuple):
    """Something recorded that is not judged. ``broken``: because it cannot be read, not because it is no exchange.

    ``ends``: nothing after it can be read either.
    """

    place: str
    reason: str
    broken: bool = True
    ends: bool = False


Item = RecordedExchange | Skipped


def pairs(headers: object) -> Headers | None:
    """Header fields from a mapping of names to a value or several, or a list of pairs or of ``{name, value}``; None: neither."""
    found: Iterable[tuple[object, object]]
    match headers:
        case dict():
            found = ((name, each) for name, value in headers.items() for each in _values(value))
        case list():
            found = (pair for header in headers if (pair := _pair(header)) is not None)
        case _:
            return None
    # HTTP/2 in browsers' recordings has `:status` and the like beside the fields.
    return tuple(
        (str(name), _text(value)) for name, value in found if name and not str(name).startswith(":")
    )


def _values(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _pair(each: object) -> tuple[object, object] | None:
    match each:
        case {"name": name, "value": value} | [name, value]:
            return name, value
        case _:
            return None


def _text(value: object) -> str:
    return (
        value.decode("latin-1") if isinstance(value, bytes) else "" if value is None else str(value)
    )


def left_out(headers: Headers) -> frozenset[str]:
    """The clauses about headers whose value a tool left out, so that only their presence is known."""
    return frozenset(
        address for name, value in headers if _MASK.fullmatch(value) for address in _about(name)
    )


def _about(name: str) -> Iterator[str]:
    yield header_address(name)
    # Which header is echoed is the taxonomy's to say; a value nobody knows can't be compared with the body's either way.
    yield "correlation/header-equals-body"


def unpacked(body: bytes, headers: Headers) -> bytes | None:
    """A body as it was before ``Content-Encoding``, where it is still packed; None: by what can't be undone here."""
    coding = (first(headers, "content-encoding") or "identity").strip().lower()
    if coding in ("", "identity") or not body:
        return body
    try:
        if coding in ("gzip", "x-gzip"):
            return (
                gzip.GzipFile(fileobj=BytesIO(body)).read(_UNPACKED)
                if body.startswith(b"\x1f\x8b")
                else body
            )
        if coding == "deflate":
            return zlib.decompressobj().decompress(body, _UNPACKED)
    except (OSError, EOFError, zlib.error):
        pass
    # Most tools store the decoded body under the header of the encoded one.
    return body if is_text(body) else None


def is_text(body: bytes) -> bool:
    """Whether the bytes are UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def as_bytes(body: object) -> bytes:
    """A recorded body: text, bytes, or the JSON it is."""
    if isinstance(body, bytes):
        return body
    return (
        body.encode("utf-8", "surrogatepass")
        if isinstance(body, str)
        else json.dumps(body).encode()
    )


def status_of(value: object) -> int | None:
    """A status as an int; None for what is none, such as 0 for an answer that never came."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        value = int(value)
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599
        else None
    )


def seconds_of(value: object, unit: float = 1.0) -> float | None:
    """A duration in seconds; None for what is none."""
    try:
        seconds = float(value) * unit  # type: ignore[arg-type]  # whatever float() does not take is none
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds < float("inf") else None
