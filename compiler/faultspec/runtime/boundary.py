"""The decisions of an error boundary, without any I/O: the answer to an error, the
headers that stay, the correlation id of an exchange.

`asgi` and `wsgi` send the answers. Middleware of a framework makes a `BoundaryExchange`
of its own, and asks it.

1. The correlation id is read from the request if it is one, and made otherwise; a
   malformed or repeated header is never reflected. It stands in every response, but for
   one that already names a well-formed id of its own (a replayed one, say).
2. A request body longer than `body_limit` is answered with 413.
3. A response from 400 on that `is_envelope` takes for the service's own passes, with
   `Cache-Control: no-store`. Any other (a framework's 404, 405 …) is answered anew by
   `render`; of its headers those in `KEPT` and the CORS headers survive. An error of a
   surface that has no envelope, or whose bodies may keep another shape, passes.
4. An exception is logged and answered by `render`. One that `is_unread` takes for a
   body that the framework could not read is a bare 400.
5. Where `render` fails, `last_resort` is the answer; an error never leaves without a
   body because of a mistake in how it is made.
"""

import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from traceback import walk_tb
from typing import NamedTuple

from . import retry_after

Headers = tuple[tuple[bytes, bytes], ...]

KEPT = frozenset(
    (
        b"allow",
        b"retry-after",
        b"www-authenticate",
        b"proxy-authenticate",
        b"etag",
        b"vary",
        b"accept",
        b"accept-patch",
        b"set-cookie",
    )
)
"""Headers of an answer that outlive its body: they say what to do about the error, not
what the body was. A malformed or empty one is dropped.
"""

_REPEATED = frozenset(
    (
        b"set-cookie",
        b"vary",
        b"allow",
        b"accept",
        b"accept-patch",
        b"www-authenticate",
        b"proxy-authenticate",
    )
)
# RFC 9110 §5.1; anything else could begin another field
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")

_CORS = b"access-control-"  # without these a browser shows its user no error at all
# Bytes; a longer error body is not an envelope, and is not kept in memory
LARGEST_ENVELOPE = 1 << 20
# Characters; a longer id would fill every log, whatever the format allows
LONGEST_ID = 128

_logger = logging.getLogger(__name__)


#: The headers of no answer.
_NO_FIELDS: Mapping[str, str] = {}


class Problem(NamedTuple):
    """The failure that `render` puts into the envelope.

    `status` is the one that the framework chose, 413 for a body too long, 500 for an
    exception. `headers` are those that will be kept, names in lower case. `body` is
    what the application answered, which may hold anything; `answered` are all headers
    of that answer, names in lower case.
    """

    status: int
    correlation_id: str
    exception: Exception | None
    headers: Headers
    body: bytes = b""
    answered: Mapping[str, str] = _NO_FIELDS


class Reply(NamedTuple):
    """An error that the application answered by itself. `correlation_id` is the one it
    will leave with; `headers` are those of the answer, names in lower case.
    """

    status: int
    content_type: str
    body: bytes
    correlation_id: str
    headers: Mapping[str, str]


class Answer(NamedTuple):
    """The envelope on the wire. `headers` needn't name content-length, cache-control or
    the correlation id.
    """

    status: int
    headers: Headers
    body: bytes

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The headers as text."""
        return [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in self.headers
        ]


class Correlation(NamedTuple):
    """Which header carries the correlation id, whether a value is one, and how a new
    one is made.
    """

    header: str
    accepts: Callable[[str], bool]
    new: Callable[[], str]


class BoundarySurface(NamedTuple):
    """Exchanges, and whether errors in them are `enveloped`; empty is any. `routes`: a
    method, or None for any, and a regular expression of the whole path.
    """

    enveloped: bool
    methods: Sequence[str] = ()
    routes: Sequence[tuple[str | None, str]] = ()
    statuses: Sequence[range] = ()

    def claims(self, method: str, path: str, status: int) -> bool:
        """Whether the exchange is one of them."""
        return (
            (not self.methods or method in self.methods)
            and (not self.statuses or any(status in each for each in self.statuses))
            and (
                not self.routes
                or any(
                    own in (None, method) and re.fullmatch(route, path, re.DOTALL)
                    for own, route in self.routes
                )
            )
        )


class BoundaryPolicy(NamedTuple):
    """How a service answers errors.

    `render` turns a `Problem` into the service's envelope, and `last_resort` does where
    that raises: it knows only the correlation id, and must not fail. `is_envelope` says
    of an error of the application whether it is the envelope already; `media_type` is
    the envelope's, which decides for HEAD, where there is no body. `body_limit` in
    bytes, or None. Of `surfaces` the first that claims an exchange counts. `is_unread`
    says of an exception whether a framework raised it as it read a malformed body.
    """

    render: Callable[[Problem], Answer]
    last_resort: Callable[[str], Answer]
    is_envelope: Callable[[Reply], bool]
    correlation: Correlation
    media_type: str = "application/json"
    body_limit: int | None = None
    surfaces: Sequence[BoundarySurface] = ()
    is_unread: Callable[[Exception], bool] = lambda exception: False


class BodyTooLarge(Exception):
    """The request's body has grown beyond the limit; the answer is a 413 whatever the
    application makes of this.
    """


class BoundaryExchange:
    """One request, and the error that answers it.

    `headers` are those of the request. `too_large` says that the body has grown beyond
    the limit, and `begun` that a response is on its way.
    """

    def __init__(
        self, policy: BoundaryPolicy, method: str, path: str, headers: Headers
    ) -> None:
        self.policy = policy
        self.method = method
        self.path = path
        self.headers = headers
        self.id_header = policy.correlation.header.lower().encode("latin-1")
        self.correlation_id = self.id_in(headers) or policy.correlation.new()
        self.failures: dict[int, Exception] = {}
        self.received = 0
        self.too_large = False
        self.begun = False

    def id_in(self, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """The id that the headers name, if it is one and the only one."""
        values = [value for name, value in headers if name.lower() == self.id_header]
        text = values[0].decode("latin-1") if len(values) == 1 else ""
        return text if text and self._is_id(text) else None

    def _is_id(self, text: str) -> bool:
        # Nothing may split a header
        harmless = text.isascii() and text.isprintable() and len(text) <= LONGEST_ID
        return harmless and self.policy.correlation.accepts(text)

    def with_id(self, headers: Headers) -> Headers:
        """The headers of a response, with the correlation id."""
        if self.id_in(headers) is not None:
            return headers
        rest = (header for header in headers if header[0].lower() != self.id_header)
        return (*rest, (self.id_header, self.correlation_id.encode("latin-1")))

    def declares_too_large(self) -> bool:
        """Whether the request names a length beyond the limit."""
        limit = self.policy.body_limit
        lengths = [
            value for name, value in self.headers if name.lower() == b"content-length"
        ]
        return limit is not None and any(
            each.isdigit() and float(each) > limit for each in lengths
        )

    def count(self, length: int) -> None:
        """Note that so many bytes of the body were read. Raises BodyTooLarge."""
        self.received += length
        limit = self.policy.body_limit
        if limit is not None and self.received > limit:
            self.too_large = True
            raise BodyTooLarge

    def note(self, exception: Exception, under: int = 500) -> None:
        """Note an exception that a framework answers by itself, and under which status:
        if the response has that status, the exception decides what leaves.
        """
        self.failures = {under: exception}

    def is_enveloped(self, status: int) -> bool:
        """Whether an error under the status is answered in the envelope."""
        claims = (
            surface.enveloped
            for surface in self.policy.surfaces
            if surface.claims(self.method, self.path, status)
        )
        return next(claims, True)

    def is_held(self, status: int) -> bool:
        """Whether a response under the status has to be seen whole before it leaves."""
        return (status >= 400 and self.is_enveloped(status)) or self.too_large

    def is_envelope(self, held: Answer) -> bool:
        """Whether a response is the service's own envelope, and sound."""
        content_type = next(
            (
                value.decode("latin-1")
                for name, value in held.headers
                if name.lower() == b"content-type"
            ),
            "",
        )
        if self.method == "HEAD" and not held.body:
            own = content_type.partition(";")[0].strip().lower()
            return own == self.policy.media_type
        return len(held.body) <= LARGEST_ENVELOPE and self.policy.is_envelope(
            Reply(
                status=held.status,
                content_type=content_type,
                body=held.body,
                correlation_id=self.id_in(held.headers) or self.correlation_id,
                headers=_answered(held),
            )
        )

    def settle(self, held: Answer) -> Answer:
        """The answer in place of an error of the application: that error if it is the
        envelope, and another if not.
        """
        if self.too_large:
            return self.answer(413, kept=_kept(held.headers))
        if self.is_envelope(held):
            return self.completed(held)
        body = held.body if len(held.body) <= LARGEST_ENVELOPE else b""
        failure = self.failures.get(held.status)
        kept = _kept(held.headers)
        return self.answer(held.status, failure, kept, body, answered=_answered(held))

    def answer(
        self,
        status: int,
        exception: Exception | None = None,
        kept: Headers = (),
        body: bytes = b"",
        *,
        answered: Mapping[str, str] = _NO_FIELDS,
    ) -> Answer:
        """The whole answer to an error: `kept` are headers of a response that it
        replaces, and `body` and `answered` are the body and all headers of this
        response.
        """
        if exception is not None and self.policy.is_unread(exception):
            status, exception = 400, None
        try:
            answer = self.policy.render(
                Problem(
                    status=status,
                    correlation_id=self.correlation_id,
                    exception=exception,
                    headers=kept,
                    body=body,
                    answered=answered,
                )
            )
        except Exception:
            _logger.exception(
                "%s %s could not be answered (correlation id %s)", *self.log_arguments()
            )
            answer = self.policy.last_resort(self.correlation_id)
        if exception is not None:
            self.log(exception, logging.ERROR if answer.status >= 500 else logging.INFO)
        rendered = ((name.lower(), _visible(value)) for name, value in answer.headers)
        settled = {b"content-length", *(name for name, _ in kept)}
        length = (b"content-length", str(len(answer.body)).encode("ascii"))
        headers = (
            *kept,
            *(
                each
                for each in rendered
                if each[0] not in settled and _NAME.fullmatch(each[0])
            ),
            length,
        )
        return self.completed(answer._replace(headers=headers))

    def answer_exception(self, exception: Exception) -> Answer:
        """The answer to an exception, which a body that is too long may have caused."""
        return self.answer(413) if self.too_large else self.answer(500, exception)

    def completed(self, answer: Answer) -> Answer:
        """An error as it leaves: with the correlation id, and never stored."""
        return answer._replace(headers=_not_stored(self.with_id(answer.headers)))

    def log(self, exception: Exception, level: int = logging.ERROR) -> None:
        """Write a line about an exception, with its trace if it is an error."""
        _logger.log(
            level,
            "%s %s failed (correlation id %s)",
            *self.log_arguments(),
            exc_info=exception if level >= logging.ERROR else None,
            extra={"correlation_id": self.correlation_id},
        )

    def log_arguments(self) -> tuple[str, str, str]:
        """The request that a line of the log is about. A path may hold line ends."""
        path = self.path.encode("unicode_escape").decode("ascii")
        return self.method, path, self.correlation_id


def encoded(fields: Iterable[tuple[str, str]]) -> Headers:
    """Headers as bytes, from text."""
    return tuple(
        (name.encode("latin-1", "replace"), value.encode("latin-1", "replace"))
        for name, value in fields
    )


def raised_in(exception: Exception, function: Callable[..., object]) -> bool:
    """Whether an exception was raised while a function of Python ran."""
    code = getattr(function, "__code__", None)
    return any(frame.f_code is code for frame, _ in walk_tb(exception.__traceback__))


def reason_phrase(status: int) -> str:
    """The reason phrase of a status, for protocols that send one."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def _answered(held: Answer) -> Mapping[str, str]:
    return {name.lower(): value for name, value in held.fields}


def _visible(value: bytes) -> bytes:
    """A field value without control characters: a line break in one would begin another
    field (RFC 9110 §5.5).
    """
    return bytes(each if each >= 0x20 and each != 0x7F else 0x20 for each in value)


def _kept(headers: Headers) -> Headers:
    lower = [(name.lower(), value) for name, value in headers]
    values: dict[bytes, set[bytes]] = {}
    for name, value in lower:
        values.setdefault(name, set()).add(value)
    return tuple(
        dict.fromkeys(
            (name, _visible(value))
            for name, value in lower
            if (name in KEPT or name.startswith(_CORS))
            and _NAME.fullmatch(name)
            and value.strip()
            and (name in _REPEATED or len(values[name]) == 1)
            and (name != b"retry-after" or _is_hint(value))
        )
    )


def _is_hint(value: bytes) -> bool:
    """Whether a `Retry-After` is one that this service may send: well formed, and of a
    time to come.
    """
    read = retry_after.parse(value.decode("latin-1"), now=time.time(), lenient=False)
    return read.ok and (read.form == "delta-seconds" or bool(read.seconds))


def _not_stored(headers: Headers) -> Headers:
    """The headers with `Cache-Control: no-store`, alone unless they say so already."""
    directives = ",".join(
        value.decode("latin-1")
        for name, value in headers
        if name.lower() == b"cache-control"
    )
    if "no-store" in (each.strip().lower() for each in directives.split(",")):
        return headers
    rest = (header for header in headers if header[0].lower() != b"cache-control")
    return (*rest, (b"cache-control", b"no-store"))
