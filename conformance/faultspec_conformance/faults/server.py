"""The fault server: an ASGI application that answers by a script."""

import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from faultspec.contract.model import Contract
from faultspec.exchange.model import Exchange, Request, Response, first_header
from faultspec.language.routes import Route
from faultspec.language.values import shorten
from faultspec.openapi.service import Description
from faultspec_conformance.drivers.serving import read_body
from faultspec_conformance.faults.replies import (
    Unanswerable,
    outdates_validator,
    render_failure,
    render_success,
)
from faultspec_conformance.faults.script import (
    FAULT_HEADER,
    FAULT_SEGMENT,
    Fault,
    ScriptProgress,
    check_fault,
    parse_fault,
)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

#: The status of a refusal to play a fault. Its body is text, so that no caller takes it for a
#: declared error.
_REFUSED = 501

#: An entity tag of ours, without its quotes.
_TAG = re.compile(r'"(v[0-9]+)"')

_TARGET = 100
"""Characters of a target in a refusal."""


class Served(NamedTuple):
    """A request and its answer. ``at``: when the request had arrived. ``until``: when the answer
    began.

    Both are seconds of a monotonic clock. ``fault``: the error of the answer. ``due``: whether the
    script decided the answer; a request may ask for a fault itself. ``refused``: why the fault
    could not be played.
    """

    request: Request
    response: Response
    at: float
    until: float
    fault: Fault | None = None
    due: bool = False
    refused: str | None = None

    def __str__(self) -> str:
        cause = self.refused or (str(self.fault) if self.fault is not None else "as usual")
        return f"{self.request.method} {self.request.target} -> {self.response.status} {cause}"


class FaultServer:
    """The application. ``on_served`` is called with each exchange, in their order.

    ``progress`` decides the answers to requests on ``route``; None is any route. Others get
    successes.
    """

    def __init__(
        self,
        contract: Contract,
        progress: ScriptProgress,
        *,
        description: Description | None = None,
        route: Route | None = None,
        on_served: Callable[[Served], None] = lambda served: None,
    ) -> None:
        self.contract = contract
        self.progress = progress
        self.description = description
        self.route = route
        self.on_served = on_served
        self._version = 1

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            return
        at = time.monotonic()
        target = scope["raw_path"].decode("latin-1")
        target += f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        )
        request = Request(scope["method"], target, headers, await read_body(receive))
        served = self.answer(request)._replace(at=at, until=time.monotonic())
        start = {"status": served.response.status, "headers": _encode_headers(served.response)}
        content = b"" if request.method == "HEAD" else served.response.body
        await send({"type": "http.response.start", **start})
        await send({"type": "http.response.body", "body": content})
        self.on_served(served)

    def answer(self, request: Request) -> Served:
        """The answer to a request, without times. The script decides it unless the request asks for
        a fault.
        """
        written, request = requested_fault(request)
        due = written is None and (
            self.route is None or self.route.claims(request.method, (_path(request),))
        )
        try:
            fault = self.progress.next() if due else self._parse(written)
            response = self._respond(request, fault)
        except Unanswerable as error:
            text = f"faultspec serve: {error}\n".encode()
            refusal = Response(_REFUSED, (("Content-Type", "text/plain; charset=utf-8"),), text)
            return Served(request, refusal, at=0.0, until=0.0, due=due, refused=str(error))
        return Served(request, response, at=0.0, until=0.0, fault=fault, due=due)

    def _parse(self, written: str | None) -> Fault | None:
        if written is None:
            return None
        try:
            fault = parse_fault(written)
        except ValueError as error:
            raise Unanswerable(str(error)) from None
        unknown = check_fault(fault, self.contract.taxonomy)
        if unknown is not None:
            raise Unanswerable(unknown)
        return fault

    def _respond(self, request: Request, fault: Fault | None) -> Response:
        if fault is None:
            self._check_route(request)
            return render_success(self.contract, request, self.description, self._validator)
        if outdates_validator(self.contract, request, fault):
            held = {*_TAG.findall(first_header(request.headers, "If-Match") or "")}
            self._version += 1
            while self._validator in held:  # a read must not return the refused validator
                self._version += 1
        return render_failure(self.contract, request, fault, self._validator)

    def _check_route(self, request: Request) -> None:
        """Raise Unanswerable for a request that no surface claims, whatever the status."""
        claims = [each for each in self.contract.claims if each.surface.transport == "http"]
        asked = Exchange(request, Response(None))
        if claims and not any(replace(each.matcher, statuses=()).claims(asked) for each in claims):
            target = shorten(request.target, _TARGET)
            raise Unanswerable(f"no surface of the taxonomy claims {request.method} {target}")

    @property
    def _validator(self) -> str:
        # One for all resources: the client may read at a different address from the refused one.
        return f"v{self._version}"


def requested_fault(request: Request) -> tuple[str | None, Request]:
    """The fault that a request asks for by header, query or path, and the request without that path
    segment.
    """
    path, mark, query = request.target.partition("?")
    by_header = first_header(request.headers, FAULT_HEADER)
    by_query = next(
        (value for name, value in parse_qsl(query) if name.lower() == FAULT_HEADER.lower()), None
    )
    if not path.startswith(f"/{FAULT_SEGMENT}"):
        return by_header or by_query, request
    segment, _, rest = path[1:].partition("/")
    written = unquote(segment.removeprefix(FAULT_SEGMENT))
    return by_header or by_query or written, replace(request, target=f"/{rest}{mark}{query}")


def _path(request: Request) -> str:
    return request.target.partition("?")[0]


def _encode_headers(response: Response) -> list[tuple[bytes, bytes]]:
    fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers]
    if response.status not in (204, 205):
        fields.append((b"content-length", str(len(response.body)).encode()))
    return fields
