"""One request and its answer, whatever the wire: the only thing the judge looks at.

Drivers, probes, the sweep, recorded traffic and middleware all build these values; none of them reaches the judge itself.
"""

from dataclasses import dataclass, field
from typing import Literal

Headers = tuple[tuple[str, str], ...]
"""Header fields in wire order; names as sent, compared without case."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A value planted in a request that must not come back in an error. ``kind`` e.g. ``secret``, ``tenant``, ``email``."""

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent. ``target``: path and query on HTTP, the tool or method name elsewhere."""

    method: str
    target: str
    headers: Headers = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. ``status`` is None on transports without one; ``elapsed`` in seconds."""

    status: int | None
    headers: Headers = ()
    body: bytes = b""
    elapsed: float = 0.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, its answer, and what the one who sent it knows about it.

    ``route``: the template the request was built from, e.g. ``/orders/{id}``, or None for an unknown route.
    ``operation``: ``METHOD /template`` on HTTP. ``identity``: the name of the caller in the configuration; None is anonymous.
    ``forbidden``: values that must not appear in the answer (the caller's tenant, planted canaries). ``lacks``: what a
    recording does not tell, as facts and addresses of clauses (`faultspec.contract.clauses`): what needs them is not judged.
    """

    request: Request
    response: Response
    transport: Literal["http", "jsonrpc", "mcp", "event", "stream", "log"] = "http"
    route: str | None = None
    operation: str | None = None
    identity: str | None = None
    forbidden: tuple[Canary, ...] = field(default=())
    lacks: frozenset[str] = frozenset()

    def sent(self, name: str) -> str | None:
        """The first value of a request header, or None."""
        return first(self.request.headers, name)

    def received(self, name: str) -> str | None:
        """The first value of a response header, or None."""
        return first(self.response.headers, name)


def first(headers: Headers, name: str) -> str | None:
    """The first value of header ``name``, compared without case, or None."""
    wanted = name.lower()
    return next((value for key, value in headers if key.lower() == wanted), None)
