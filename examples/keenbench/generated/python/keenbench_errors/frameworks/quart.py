"""Every error of a Quart application leaves in the envelope.

    app = Quart(__name__)
    install(app)

A raised error of this package is answered as itself. Headers that extensions add to
responses (CORS, cookies) stay.
"""

# Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/keenbench/taxonomy.yaml

# Quart need not be installed, `asgi_app` is made to be replaced, and the types of its
# scopes know no keys of middleware.
# mypy: disable-error-code="import-not-found, method-assign, assignment, unused-ignore"
# mypy: disable-error-code="arg-type, literal-required"
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false

from collections.abc import Mapping
from typing import Unpack

from quart import Quart, Response, request

from .._runtime.asgi import EXCHANGE
from ..asgi import ErrorBoundary
from ..boundary import BoundaryExchange, BoundaryOptions, ServiceError
from . import self_test


def install(app: Quart, **options: Unpack[BoundaryOptions]) -> None:
    """Put the boundary around an application, and answer raised errors as themselves.
    Raises ValueError as ``make_policy`` does.
    """
    app.asgi_app = ErrorBoundary(app.asgi_app, **options)
    app.register_error_handler(ServiceError, answer_raised)


async def answer_raised(error: ServiceError) -> Response:
    """The response to a raised error of this package."""
    exchange: BoundaryExchange = request.scope[EXCHANGE]
    answer = exchange.answer(error.status or 500, error)
    response = Response(answer.body, answer.status)
    for name, value in answer.fields:
        response.headers[name] = value
    return response


def check(app: Quart, headers: Mapping[str, str] | None = None) -> list[str]:
    """The parts of the boundary that are not wired, in plain words. Requests are
    sent in process. ``headers``: of each request, such as credentials.
    """

    async def fail() -> None:
        self_test.raise_at(request.path)

    before = app.before_request_funcs.setdefault(None, [])
    before.insert(0, fail)
    try:
        ask = self_test.ask_asgi(app.asgi_app, headers or {})
        return self_test.find_problems(ask, raises=True)
    finally:
        before.remove(fail)
