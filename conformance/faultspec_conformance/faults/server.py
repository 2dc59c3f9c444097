"""The fault server over HTTP: an ASGI application that answers by a script."""

import re
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from faultspec.contract.model import Contract
from faultspec.exchange.model import Exchange, Request, Response, first_header
from faultspec.language.routes import Route, compile_route
from faultspec.language.values import shorten
from faultspec.openapi.service import Description
from faultspec_conformance.drivers.serving import HANG_UP, keep_open, read_body
from faultspec_conformance.faults.calls import Called, CallServer
from faultspec_conformance.faults.replies import (
    Unanswerable,
    outdates_validator,
    render_failure,
    render_success,
)
from faultspec_conformance.faults.script import (
    BY_NAME,
    FAULT_HEADER,
    FAULT_SEGMENT,
    Fault,
    Schedule,
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

#: Text that is not JSON.
_GARBAGE = b"garbage: this is not JSON\n"

_TARGET = 100
"""Characters of a target in a refusal."""


class Served(NamedTuple):
    """A request and its answer. ``at``: when the request had arrived. ``until``: when the answer
    began.

    Both are seconds of a monotonic clock. ``fault``: the error of the answer. ``due``: whether the
    script decided the answer; a request may ask for a fault itself. ``refused``: why the fault
    could not be played. ``calls``: those by name in its body.
    """

    request: Request
    response: Response
    at: float
    until: float
    fault: Fault | None = None
    due: bool = False
    refused: str | None = None
    calls: tuple[Called, ...] = ()

    def __str__(self) -> str:
        if self.calls:
            return "; ".join(map(str, self.calls))
        cause = self.refused or (str(self.fault) if self.fault is not None else "as usual")
        return f"{self.request.method} {self.request.target} -> {self.response.status} {cause}"


class FaultServer:
    """The application. ``on_served`` is called with each exchange, in their order.

    ``schedule`` decides the answers to requests on ``route``; None is any route. Others get
    successes. Where the taxonomy has surfaces of JSON-RPC or MCP, a POST of a message calls by
    name.
    """

    def __init__(
        self,
        contract: Contract,
        schedule: Schedule,
        *,
        description: Description | None = None,
        results: Mapping[str, object] = MappingProxyType({}),
        route: Route | None = None,
        on_served: Callable[[Served], None] = lambda served: None,
    ) -> None:
        self.contract = contract
        self.schedule = schedule
        transports = {each.surface.transport for each in contract.claims}
        by_name = not transports.isdisjoint(BY_NAME)
        self._calls = CallServer(contract, schedule, results) if by_name else None
        self._has_http = "http" in transports
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
        await _send(served, scope, receive, send)
        self.on_served(served)

    def answer(self, request: Request) -> Served:
        """The answer to a request, without times. The script decides it unless the request asks for
        a fault.
        """
        written, request = requested_fault(request)
        if self._calls is not None and (not self._has_http or _is_message(request)):
            return self._answer_calls(self._calls, request, written)
        due = written is None and (
            self.route is None or self.route.claims(request.method, (_path(request),))
        )
        try:
            paths = (_path(request),)
            fault = (
                self.schedule.next(lambda on: compile_route(on).claims(request.method, paths))
                if due
                else self._parse(written)
            )
            response = _malform(self._respond(request, fault), fault)
        except Unanswerable as error:
            text = f"faultspec serve: {error}\n".encode()
            refusal = Response(_REFUSED, (("Content-Type", "text/plain; charset=utf-8"),), text)
            return Served(request, refusal, at=0.0, until=0.0, due=due, refused=str(error))
        return Served(request, response, at=0.0, until=0.0, fault=fault, due=due)

    def _answer_calls(self, calls: CallServer, request: Request, written: str | None) -> Served:
        """The answer to a message in the body of a request."""
        if request.method != "POST":  # no stream of notifications, and no session to end
            return Served(request, Response(405, (("Allow", "POST"),)), at=0.0, until=0.0)
        answer = calls.answer(request.body, written)
        response = Response(202)
        if answer.body is not None:
            response = Response(200, (("Content-Type", "application/json"),), answer.body)
            if answer.fault is not None and answer.fault.malformed not in ("id", "type"):
                response = _malform(response, answer.fault)
        return Served(request, response, at=0.0, until=0.0, fault=answer.fault, calls=answer.calls)

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
        if fault is None or not fault.code:
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


def with_browsers(app: ASGIApp) -> ASGIApp:
    """The application for pages of any origin: preflights are answered without it, and scripts may
    read every header (Fetch Standard, 3.2).
    """
    return CORSMiddleware(
        app, allow_origins=["*"], allow_methods=["*"], allow_headers=["*"], expose_headers=["*"]
    )


def _is_message(request: Request) -> bool:
    """Whether a request has a message of JSON-RPC."""
    body = request.body.lstrip()
    return request.method == "POST" and body[:1] in (b"{", b"[") and b'"jsonrpc"' in body


def _malform(response: Response, fault: Fault | None) -> Response:
    """The answer with what is wrong in its body or the type of its body. Raises Unanswerable."""
    malformed = fault.malformed if fault is not None else None
    if malformed == "id":
        raise Unanswerable("`malformed=id` is for calls by name: other answers have no id")
    if malformed == "media-type":
        others = [field for field in response.headers if field[0].lower() != "content-type"]
        return replace(response, headers=(("Content-Type", "text/html"), *others))
    changed = {
        "type": b"[%b]" % response.body,
        "twice": response.body * 2,
        "garbage": _GARBAGE + response.body,
    }
    return replace(response, body=changed.get(malformed or "", response.body))


async def _send(served: Served, scope: Message, receive: Receive, send: Send) -> None:
    """Send an answer, or what the fault asks for in its place."""
    malformed = served.fault.malformed if served.fault is not None else None
    if served.fault is not None and served.fault.delay:
        due = time.monotonic() + served.fault.delay
        await keep_open(receive, None, lambda: time.monotonic() >= due)
    if malformed == "close":
        scope["extensions"][HANG_UP]()
        return
    if malformed == "never":
        await keep_open(receive, None, lambda: False)
        return
    start = {"status": served.response.status, "headers": _encode_headers(served.response)}
    await send({"type": "http.response.start", **start})
    content = b"" if served.request.method == "HEAD" else served.response.body
    if malformed == "cut" and content:
        # The server closes the connection of an answer that is not completed.
        half = content[: len(content) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        return
    await send({"type": "http.response.body", "body": content})
