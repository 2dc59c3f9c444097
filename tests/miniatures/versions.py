"""A catalogue in two versions: answers of the old one announce its end, those of the new one say
their version, and only the old one says for how long its refusals may be kept.

All state belongs to the application that `make_app` returns.
"""

from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

SINS: Mapping[str, str] = {
    "no-deprecation": "refusals of the old version do not say that it ends",
    "no-sunset": "refusals of the old version do not say when it ends",
    "sunset-in-words": "the end of the old version is text in place of a date",
    "no-version": "refusals of the new version do not say their version",
    "other-version": "refusals of the new version say that they are of the third",
    "keeps-refusals": "refusals of the new version may be kept, as those of the old one",
}
"""The mistakes that `make_app` understands, each with what it does."""

_OLD = {
    "Deprecation": "@1767225600",
    "Sunset": "Thu, 31 Dec 2099 23:59:59 GMT",
    "Cache-Control": "max-age=60",
}
_NEW = {"X-Api-Version": "2", "Cache-Control": "no-store"}

_CHANGES: Mapping[str, Mapping[str, str | None]] = {
    "no-deprecation": {"Deprecation": None},
    "no-sunset": {"Sunset": None},
    "sunset-in-words": {"Sunset": "next year"},
    "no-version": {"X-Api-Version": None},
    "other-version": {"X-Api-Version": "3"},
    "keeps-refusals": {"Cache-Control": "max-age=60"},
}
"""The headers that a mistake changes, of the version that has them."""


def make_app(sin: str = "") -> ASGIApp:
    """The service, with one mistake or with none."""
    if sin and sin not in SINS:
        raise ValueError(f"no such sin: {sin}")

    def refuse(request: Request, status: int, code: str) -> Response:
        old = request.url.path.startswith("/v1/")
        headers: dict[str, str | None] = dict(_OLD if old else _NEW)
        if old == (sin not in ("no-version", "other-version", "keeps-refusals")):
            headers |= _CHANGES.get(sin, {})
        body = {"code": code, "message": "it cannot be shown"}
        sent = {name: value for name, value in headers.items() if value is not None}
        return JSONResponse(body, status, sent)

    async def read(request: Request) -> Response:
        if request.path_params["id"] != "1":
            return refuse(request, 404, "absent")
        return JSONResponse({"id": "1"})

    async def refuse_others(request: Request, refused: Exception) -> Response:
        assert isinstance(refused, HTTPException)
        code = "not_allowed" if refused.status_code == 405 else "absent"
        answer = refuse(request, refused.status_code, code)
        answer.headers.update(refused.headers or {})
        return answer

    routes = [Route(f"/{version}/books/{{id}}", read, methods=["GET"]) for version in ("v1", "v2")]
    return Starlette(routes=routes, exception_handlers={HTTPException: refuse_others})
