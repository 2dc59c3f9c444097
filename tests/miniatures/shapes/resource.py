"""A service of things that are created and read over HTTP, whose errors a wire shape puts into its
own words.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

FAULT = "X-Fault"
"""The request header that makes an operation fail for the reason that is its value."""

LARGEST = 64 * 1024
"""Bytes of the largest body."""

STATUSES: Mapping[str, int] = {
    "unreadable": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "missing": 404,
    "method": 405,
    "taken": 409,
    "large": 413,
    "media": 415,
    "invalid": 422,
    "limited": 429,
    "failed": 500,
    "down": 503,
}
"""Every reason for a refusal, with its usual status."""

TEXTS: Mapping[str, str] = {
    "unreadable": "The body cannot be read",
    "unauthenticated": "Credentials are missing",
    "forbidden": "The caller may not do this",
    "missing": "There is no such thing",
    "method": "The method is not supported",
    "taken": "The name is taken",
    "large": "The body is too large",
    "media": "The media type is not supported",
    "invalid": "A member breaks a rule",
    "limited": "Too many requests",
    "failed": "The service failed",
    "down": "The service is down",
}
"""Every reason in words."""


class Refused(Exception):
    """A refusal for a ``reason``; ``members`` are at fault, ``headers`` belong to the answer."""

    def __init__(
        self, reason: str, *members: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.members = members
        self.headers = dict(headers or {})

    @property
    def text(self) -> str:
        """The reason in words."""
        return TEXTS.get(self.reason, self.reason)


Say = Callable[[Refused, int], Response]
"""Puts a refusal, with its status, into the words of a wire shape."""


def _attributes(sent: Any) -> Mapping[str, Any]:
    return sent if isinstance(sent, dict) else {}


def _flat(number: str, attributes: Mapping[str, Any]) -> object:
    return {"id": number, **attributes}


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts that a wire shape decides: the ``path`` of things, their ``members``, which are
    required, and of which the first may be ``unique``; the words of refusals (``say``), their
    statuses where unusual, and how things are sent and shown.
    """

    path: str
    members: tuple[str, ...]
    say: Say
    statuses: Mapping[str, int] = field(default_factory=dict)
    unique: bool = False
    token: str = ""
    media: str = "application/json"
    attributes: Callable[[Any], Mapping[str, Any]] = _attributes
    show: Callable[[str, Mapping[str, Any]], object] = _flat


async def read(request: Request) -> Any:
    """The body of a request as data. Raises Refused."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip()
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise Refused("large")
    if kind == "application/x-www-form-urlencoded":
        return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    if not re.fullmatch(r"application/(?:json|[\w.-]+\+json|x-amz-json-1\.0)", kind):
        raise Refused("media")
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused("unreadable") from None


def _no_constant(name: str) -> object:
    raise ValueError(name)


def is_text(value: object, longest: int = 200) -> bool:
    """Whether a value is a text that a thing may have."""
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        return False
    return value.isprintable() and value.strip() != ""


def guarded(
    handle: Callable[[Request], Awaitable[Response]], say: Say, statuses: Mapping[str, int]
) -> Callable[[Request], Awaitable[Response]]:
    """A handler that answers refusals in the words of the shape, and fails for the reason that a
    request asks for.
    """

    async def handled(request: Request) -> Response:
        try:
            fault = request.headers.get(FAULT)
            if fault is not None:
                raise Refused(fault if fault in {*STATUSES, *statuses} else "unreadable")
            return await handle(request)
        except Refused as refused:
            return _answer(refused, say, statuses)

    return handled


def _answer(refused: Refused, say: Say, statuses: Mapping[str, int]) -> Response:
    status = statuses.get(refused.reason, STATUSES.get(refused.reason, 400))
    answer = say(refused, status)
    answer.headers.update(refused.headers)
    return answer


def application(
    routes: list[Route], say: Say, statuses: Mapping[str, int] | None = None
) -> Starlette:
    """An application of routes, whose own refusals have the words of the shape too."""
    known = statuses or {}

    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        reason = "method" if error.status_code == 405 else "missing"
        return _answer(Refused(reason, headers=error.headers), say, known)

    return Starlette(routes=routes, exception_handlers={HTTPException: failed})


def things(shape: Shape, *more: Route) -> Starlette:
    """A service with ``POST path`` and ``GET path/{id}``."""
    stored: dict[str, Mapping[str, Any]] = {}
    numbers = count(1)

    def known_caller(request: Request) -> None:
        if shape.token and request.headers.get("authorization") != f"Bearer {shape.token}":
            raise Refused("unauthenticated")

    async def create(request: Request) -> Response:
        known_caller(request)
        given = shape.attributes(await read(request))
        wrong = [name for name in shape.members if not is_text(given.get(name))]
        if wrong:
            raise Refused("invalid", *wrong)
        first = given[shape.members[0]]
        if shape.unique and any(each[shape.members[0]] == first for each in stored.values()):
            raise Refused("taken", shape.members[0])
        number = str(next(numbers))
        stored[number] = {name: given[name] for name in shape.members}
        return JSONResponse(shape.show(number, stored[number]), 201, media_type=shape.media)

    async def show(request: Request) -> Response:
        known_caller(request)
        number = request.path_params["id"]
        if number not in stored:
            raise Refused("missing")
        return JSONResponse(shape.show(number, stored[number]), media_type=shape.media)

    def route(path: str, handle: Callable[[Request], Awaitable[Response]], method: str) -> Route:
        return Route(path, guarded(handle, shape.say, shape.statuses), methods=[method])

    return application(
        [route(shape.path, create, "POST"), route(f"{shape.path}/{{id}}", show, "GET"), *more],
        shape.say,
        shape.statuses,
    )
