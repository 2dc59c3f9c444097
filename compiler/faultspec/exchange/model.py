"""One request and its answer on any transport: the only input of the judge.

Drivers, probes, the sweep, recorded traffic and middleware build these values.
"""

from dataclasses import dataclass, field
from typing import Literal

Headers = tuple[tuple[str, str], ...]
"""Header fields in wire order; names are compared without case."""


ABOUT_BODY = frozenset(
    {"body", "shape", "code", "flag", "boundary", "details", "detail-values", "ids", "message"}
)
"""The facts that the body of an answer gives: what an exchange lacks without a whole body."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A value planted in a request, which no error may contain; ``kind`` is e.g. ``secret``."""

    kind: str
    value: str


#: Bytes of memory that a header field takes besides its text.
_FIELD = 160


def has_content(status: int | None) -> bool:
    """Whether an answer to GET with this status can have content (RFC 9110, 6.4.1)."""
    return status is None or not (status < 200 or status in (204, 304))


def size_of_fields(headers: Headers) -> int:
    """Bytes of memory that header fields take, about."""
    return sum(_FIELD + len(name) + len(value) for name, value in headers)


@dataclass(frozen=True, slots=True)
class Request:
    """A request. ``target``: path and query on HTTP, the tool or method name elsewhere."""

    method: str
    target: str
    headers: Headers = ()
    body: bytes = b""

    @property
    def size(self) -> int:
        """Bytes of memory that the request takes, about."""
        return len(self.target) + size_of_fields(self.headers) + len(self.body)


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. ``status``: None on transports without one. ``elapsed``: seconds.

    ``cut``: why ``body`` is not the whole body, as the predicate of a sentence; None if it is.
    """

    status: int | None
    headers: Headers = ()
    body: bytes = b""
    elapsed: float = 0.0
    cut: str | None = None

    @property
    def size(self) -> int:
        """Bytes of memory that the answer takes, about."""
        return size_of_fields(self.headers) + len(self.body)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, its answer, and what the sender knows about them.

    ``route``: the template of the request, e.g. ``/orders/{id}``; None if it is unknown.
    ``operation``: ``METHOD /template`` on HTTP. ``identity``: the name of the caller in the
    configuration; None is anonymous. ``forbidden``: values that the answer must not contain, such
    as the caller's tenant. ``lacks``: facts and addresses of clauses (`faultspec.contract.clauses`)
    that a recording omits; clauses that need them are not judged. ``idempotent``: whether the
    operation may be repeated, and ``authenticated``: whether the credentials are valid; None is
    unknown. ``trigger``: what sets the request apart from an ordinary one, in words; empty if
    nothing is known to.
    """

    request: Request
    response: Response
    transport: Literal["http", "jsonrpc", "mcp", "event", "stream", "log"] = "http"
    route: str | None = None
    operation: str | None = None
    identity: str | None = None
    forbidden: tuple[Canary, ...] = field(default=())
    lacks: frozenset[str] = frozenset()
    idempotent: bool | None = None
    authenticated: bool | None = None
    trigger: str = ""

    def request_header(self, name: str) -> str | None:
        """The first value of a request header, or None."""
        return first_header(self.request.headers, name)

    def response_header(self, name: str) -> str | None:
        """The first value of a response header, or None."""
        return first_header(self.response.headers, name)


def first_header(headers: Headers, name: str) -> str | None:
    """The first value of header ``name``, compared without case, or None."""
    wanted = name.lower()
    return next((value for key, value in headers if key.lower() == wanted), None)


def join_header(headers: Headers, name: str) -> str | None:
    """The lines of a header that is a list, as one (RFC 9110, 5.3), or None."""
    wanted = name.lower()
    lines = [value for key, value in headers if key.lower() == wanted]
    return ", ".join(lines) if lines else None
