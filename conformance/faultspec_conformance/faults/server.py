"""The fault server: an ASGI application that answers as it is told, and keeps what it was asked."""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from faultspec.contract.model import Contract
from faultspec.exchange.model import Request, Response, first
from faultspec.language.routes import Route
from faultspec.openapi.service import Description
from faultspec_conformance.faults.replies import Unanswerable, failure, good, renewed
from faultspec_conformance.faults.script import ASKED, IN_PATH, Fault, Turns, parse, problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

#: What asks for something that the taxonomy has no answer for is told so in text, under a status no code is taken for.
_REFUSED = 501


class Served(NamedTuple):
    """A request and what was done with it. ``at`` and ``until``: seconds of a monotonic clock, when it had come and when the
    answer was begun.

    ``fault``: the error that was answered. ``due``: whether the script was asked; a request may ask by itself.
    ``refused``: why the answer is none of the taxonomy's.
    """

    request: Request
    response: Response
    at: float
    until: float
    fault: Fault | None = None
    due: bool = False
    refused: str | None = None

    def __str__(self) -> str:
        said = self.refused or (str(self.fault) if self.fault is not None else "as usual")
        return f"{self.request.method} {self.request.target} -> {self.response.status} {said}"


class FaultServer:
    """See the module. ``served`` is everything that was answered, in order; ``heard`` hears of each.

    ``turns`` is asked for requests on ``route`` only, where one is given; the others are answered well.
    """

    def __init__(
        self,
        contract: Contract,
        turns: Turns,
        *,
        description: Description | None = None,
        route: Route | None = None,
        heard: Callable[[Served], None] = lambda served: None,
    ) -> None:
        self.contract = contract
        self.turns = turns
        self.description = description
        self.route = route
        self.heard = heard
        self.served: list[Served] = []
        self._version = 1

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one connection, as ASGI has it."""
        if scope["type"] != "http":
            return
        at = time.monotonic()
        target = scope["raw_path"].decode("latin-1")
        target += f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        )
        request = Request(scope["method"], target, headers, await body_of(receive))
        served = self.answer(request)._replace(at=at, until=time.monotonic())
        self.served.append(served)
        start = {"status": served.response.status, "headers": _encoded(served.response)}
        content = b"" if request.method == "HEAD" else served.response.body
        await send({"type": "http.response.start", **start})
        await send({"type": "http.response.body", "body": content})
        self.heard(served)

    def answer(self, request: Request) -> Served:
        """What a request is answered, without a time; asks the script where the request does not ask by itself."""
        written, request = asked(request)
        due = written is None and (
            self.route is None or self.route.claims(request.method, (_path(request),))
        )
        try:
            fault = self.turns.next() if due else None if written is None else self._read(written)
            response = self._answered(request, fault)
        except Unanswerable as error:
            text = f"faultspec serve: {error}\n".encode()
            refusal = Response(_REFUSED, (("Content-Type", "text/plain; charset=utf-8"),), text)
            return Served(request, refusal, 0.0, 0.0, None, due, str(error))
        return Served(request, response, 0.0, 0.0, fault, due)

    def _read(self, written: str) -> Fault:
        try:
            fault = parse(written)
        except ValueError as error:
            raise Unanswerable(str(error)) from None
        unknown = problem(fault, self.contract.taxonomy)
        if unknown is not None:
            raise Unanswerable(unknown)
        return fault

    def _answered(self, request: Request, fault: Fault | None) -> Response:
        if fault is None:
            return good(self.contract, request, self.description, self._validator)
        if renewed(self.contract, request, fault):
            held = first(request.headers, "If-Match") or ""
            self._version += 1
            while (
                f'"{self._validator}"' in held
            ):  # whoever reads again gets another one than was refused
                self._version += 1
        return failure(self.contract, request, fault, self._validator)

    @property
    def _validator(self) -> str:
        # One for all there is: what is read again may lie at another address than what was refused.
        return f"v{self._version}"


def asked(request: Request) -> tuple[str | None, Request]:
    """The fault that a request asks for, by header, query or path, and the request without a segment that asks."""
    path, mark, query = request.target.partition("?")
    by_header = first(request.headers, ASKED)
    by_query = next(
        (value for name, value in parse_qsl(query) if name.lower() == ASKED.lower()), None
    )
    if not path.startswith(f"/{IN_PATH}"):
        return by_header or by_query, request
    segment, _, rest = path[1:].partition("/")
    written = unquote(segment.removeprefix(IN_PATH))
    return by_header or by_query or written, replace(request, target=f"/{rest}{mark}{query}")


def _path(request: Request) -> str:
    return request.target.partition("?")[0]


def _encoded(response: Response) -> list[tuple[bytes, bytes]]:
    length = (
        []
        if response.status in (204, 205)
        else [(b"content-length", str(len(response.body)).encode())]
    )
    fields = ((name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers)
    return [*fields, *length]


async def body_of(receive: Receive) -> bytes:
    """The body of a request, whole."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] != "http.request" or not message.get("more_body", False):
            return bytes(body)
