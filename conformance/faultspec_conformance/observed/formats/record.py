"""The values that recordings are read to, and the parsing that all formats share."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from faultspec.contract.clauses import header_address
from faultspec.exchange.decoding import (
    UndecodableBody,
    content_codings,
    decode_content,
)
from faultspec.exchange.model import ABOUT_BODY, Exchange, Headers, Request, Response
from faultspec.exchange.numerals import STATUS
from faultspec_conformance.observed.formats.moments import parse_moment

#: Characters of the longest name of a service.
_SERVICE = 100

#: The facts that the headers of an answer give.
ABOUT_HEADERS = frozenset({"headers", "header-values"})

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
"""The methods of HTTP."""

#: No recording identifies the caller: credentials are what tools leave out first.
ALWAYS = frozenset({"identity"})

#: What tools write in place of a value that they leave out, such as ``[Filtered]``.
LEFT_OUT = re.compile(
    r"\W*(?:filtered|redacted|masked|hidden|removed|sanitized|scrubbed|dummy|x{3,})\W*|\*{2,}|",
    re.IGNORECASE,
)

_STATUS = re.compile(STATUS)

#: Statuses of requests that got no answer, as proxies and tables have them.
_UNANSWERED = frozenset({"", "-", "0", "00", "000", "0.0"})

#: Characters of the JSON of header fields, as columns of tables have it.
_HEADERS = 1024 * 1024

#: What errors of the parsing mean. The first class that an error has counts.
_CAUSES: Mapping[type[Exception], str] = {
    RecursionError: "it is nested too deeply",
    LookupError: "a member is missing",
    TypeError: "a value has a type that the format does not have",
    ArithmeticError: "a number is out of range",
    UnicodeError: "a text has bytes or characters that no encoding has",
    Exception: "a value has a form that the format does not have",
}

#: Bytes of a decompressed body that are read. The errors of an API are smaller.
_DECOMPRESSED = 64 * 1024 * 1024


#: Methods whose requests are known without a body.
BODILESS = frozenset({"GET", "HEAD", "OPTIONS", "DELETE", "TRACE"})


class NotARecording(Exception):
    """The format of a file is unknown."""


def install(package: str) -> str:
    """The advice to install a package that reads recordings."""
    return f"{package} is not installed: pip install 'faultspec[recordings]'"


class Stamp(NamedTuple):
    """When and by which service an exchange was answered, as far as its record has it. ``moment``:
    as `2026-11-28T16:00:00Z`.
    """

    moment: str | None = None
    service: str | None = None


NO_STAMP = Stamp()


class RecordFacts(NamedTuple):
    """The facts of a success in a line of a log. ``key``: those that decide its judgement. ``id``:
    the one that the service made for it. ``echoed``: whether the answer has the id of the request.
    """

    key: Hashable
    id: str | None
    echoed: bool
    line: bytes
    stamp: Stamp = NO_STAMP


class RecordedExchange(NamedTuple):
    """An exchange and where it is recorded, as ``file:line``. ``facts``: if they are certain."""

    exchange: Exchange
    place: str
    stamp: Stamp = NO_STAMP
    facts: RecordFacts | None = None


class Skipped(NamedTuple):
    """A record that is not judged. ``broken``: it cannot be read. Otherwise it is not an exchange.

    ``ends``: nothing after it can be read either.
    """

    place: str
    reason: str
    broken: bool = True
    ends: bool = False


class Unjudged(Enum):
    """A record that is not judged. ``COUNTED``: it is counted, since one of the same facts was
    judged. ``UNSAMPLED``: it is not in the sample.
    """

    COUNTED = "counted"
    UNSAMPLED = "unsampled"


Item = RecordedExchange | Skipped | Unjudged


@dataclass(frozen=True, slots=True)
class LineCounter:
    """A counter of lines that are not judged. ``read``: the facts of a line, if they are certain.
    ``count``: whether it counted a record with these facts at a place. ``share``: that of the lines
    that are in the sample.
    """

    read: Callable[[bytes], RecordFacts | None]
    count: Callable[[RecordFacts, str], bool]
    share: float = 1.0


class Repeats(NamedTuple):
    """How often a record comes that is equal in all that is judged; its first places, in order, and
    its last one; the moments of the first and the last, if they differ.
    """

    times: int
    places: tuple[str, ...]
    last: str | None
    earliest: str | None = None
    latest: str | None = None


class Grouped(NamedTuple):
    """The first of equal records. Groups come in the order of their first records."""

    item: Item
    repeats: Repeats


def skip_unreadable(place: str, build: Callable[[], Item]) -> Item:
    """The item that ``build`` returns, or a Skipped if it cannot make one of the record."""
    try:
        return build()
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        return Skipped(place, f"it cannot be read: {describe_error(error)}")


def describe_error(error: Exception) -> str:
    """Why a record cannot be read, without the text of the error: it may quote sensitive values and
    secrets, whose places in the record are unknown.
    """
    return next(text for kind, text in _CAUSES.items() if isinstance(error, kind))


def recorded_exchange(
    request: Request,
    status: int,
    place: str,
    *,
    headers: Headers,
    body: bytes | None,
    elapsed: float | None,
    lacks: frozenset[str],
    moment: object = None,
) -> RecordedExchange:
    """An exchange over HTTP. Missing and redacted parts of the answer are added to ``lacks``."""
    decoded = decompress(body, headers) if body is not None else None
    cut = "cannot be decoded" if body is not None and decoded is None else None
    lacks |= redacted_facts(headers)
    lacks |= ABOUT_BODY if decoded is None else frozenset()
    lacks |= {"elapsed"} if elapsed is None else frozenset()
    response = Response(status, headers, decoded or b"", elapsed=elapsed or 0.0, cut=cut)
    exchange = Exchange(request, response, lacks=lacks)
    return RecordedExchange(exchange, place, Stamp(parse_moment(moment)))


def header_fields(headers: object) -> Headers | None:
    """Header fields from a mapping of names to one or several values, or a list of pairs or
    ``{name, value}``, or a text of JSON with one of these.

    None for other values.
    """
    found: Iterable[tuple[object, object]]
    if isinstance(headers, str) and len(headers) <= _HEADERS:
        with suppress(ValueError, RecursionError):
            headers = json.loads(headers)
    match headers:
        case dict():
            found = (
                (name, value)
                for name, values in headers.items()
                for value in (values if isinstance(values, list) else [values])
            )
        case list():
            found = (pair for header in headers if (pair := _pair(header)) is not None)
        case _:
            return None
    # Browsers record pseudo-header fields of HTTP/2 too, such as `:status`.
    return tuple(
        (str(name), _text(value)) for name, value in found if name and not str(name).startswith(":")
    )


def _pair(header: object) -> tuple[object, object] | None:
    match header:
        case {"name": name, "value": value} | [name, value]:
            return name, value
        case _:
            return None


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return "" if value is None else str(value)


def redacted_facts(headers: Headers) -> frozenset[str]:
    """The facts that are unknown because a tool redacted header values."""
    addresses = {header_address(name) for name, value in headers if LEFT_OUT.fullmatch(value)}
    # The taxonomy decides which header is echoed, and an unknown value cannot be compared with the
    # body's.
    return frozenset({*addresses, "correlation/header-equals-body"} if addresses else ())


def decompress(body: bytes, headers: Headers) -> bytes | None:
    """The body without its ``Content-Encoding``; None if it cannot be decoded here."""
    codings = content_codings(headers)
    if not codings or not body:
        return body
    with suppress(UndecodableBody):
        decoded = decode_content((body,), codings, _DECOMPRESSED)
        if decoded.cut is None:
            return decoded.content
    # Most tools store the decoded body with the header of the encoded one.
    return body if is_text(body) else None


def is_text(body: bytes) -> bool:
    """Whether the bytes are UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def decode_base64(text: str) -> bytes | None:
    """The decoded bytes; None if the text is not base64."""
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return None


def encode_body(body: object) -> bytes:
    """A recorded body as bytes: text, bytes, None for an empty one, or another value as JSON."""
    if isinstance(body, bytes):
        return body
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    return json.dumps(body).encode()


def parse_status(value: object) -> int | None:
    """A status from 100 to 599 as a number, also from a whole number of another type, or a text
    that ends with its reason phrase; None for others, such as 0 for an answer that never came.
    """
    if isinstance(value, str):
        found = _STATUS.fullmatch(value)
        value = int(found[1]) if found is not None else None
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 100 <= value <= 599 else None


def is_unanswered(status: object) -> bool:
    """Whether the status of a record says that the request got no answer."""
    return status is None or str(status) in _UNANSWERED


def read_stamp(moment: object, service: object) -> Stamp:
    """The stamp of a record."""
    is_name = isinstance(service, str) and bool(service)
    return Stamp(parse_moment(moment), str(service)[:_SERVICE] if is_name else None)


def parse_seconds(value: object, unit: float = 1.0) -> float | None:
    """A duration in seconds; None if the value is not one. ``unit``: the unit of the value in
    seconds.
    """
    try:
        seconds = float(value) * unit  # type: ignore[arg-type]  # float() refuses what it does not take
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds < float("inf") else None
