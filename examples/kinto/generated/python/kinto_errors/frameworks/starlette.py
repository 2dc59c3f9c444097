"""Every error of a Starlette application leaves in the envelope.

    app = Starlette(routes=routes)
    install(app)

The boundary stands inside of CORS, so that browsers may read errors. Middleware that is
added later stands around it: add what may fail before. JSON that ``Request.json``
cannot read is a bare 400.
"""

# Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/kinto/taxonomy.yaml

# Starlette need not be installed, and its type of middleware names no class.
# mypy: disable-error-code="import-not-found, comparison-overlap, unused-ignore"
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false

from collections.abc import Mapping
from typing import Unpack

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .._runtime.asgi import AsgiBoundary
from .._runtime.boundary import raised_in
from ..boundary import BoundaryOptions, make_policy
from . import self_test


def install(app: Starlette, **options: Unpack[BoundaryOptions]) -> None:
    """Add the boundary to the middleware of an application. Raises ValueError as
    ``make_policy`` does, and RuntimeError if the application has served a request.
    """
    policy = make_policy(**options)._replace(is_unread=_is_unread)
    if app.middleware_stack is not None:
        raise RuntimeError("install the error boundary before the first request")
    outer = [
        place
        for place, middleware in enumerate(app.user_middleware)
        if middleware.cls is CORSMiddleware
    ]
    place = outer[-1] + 1 if outer else 0
    app.user_middleware.insert(place, Middleware(AsgiBoundary, policy=policy))


def _is_unread(exception: Exception) -> bool:
    is_malformed = isinstance(exception, (ValueError, RecursionError))
    return is_malformed and raised_in(exception, Request.json)


def check(app: Starlette, headers: Mapping[str, str] | None = None) -> list[str]:
    """The parts of the boundary that are not wired, in plain words. Requests are
    sent in process, without the lifespan of the application. ``headers``: of each
    request, such as credentials.
    """

    def fail(request: Request) -> Response:
        self_test.raise_at(request.url.path)
        return Response()

    routes = app.router.routes
    mounted = [Route(path, fail) for path in (self_test.RAISING, self_test.CRASHING)]
    routes[:0] = mounted
    try:
        ask = self_test.ask_asgi(app, headers or {})
        return self_test.find_problems(ask, raises=True)
    finally:
        del routes[: len(mounted)]
