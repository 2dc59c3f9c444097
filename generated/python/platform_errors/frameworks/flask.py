"""Every error of a Flask application leaves in the envelope.

    app = Flask(__name__)
    install(app)

A raised error of this package is answered as itself. Headers that extensions add to
responses (CORS, cookies) stay.
"""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml

# Flask need not be installed, and `wsgi_app` is made to be replaced.
# mypy: disable-error-code="import-not-found, method-assign, assignment, unused-ignore"
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false

from collections.abc import Mapping
from typing import Unpack

from flask import Flask, Response, request

from .._runtime.wsgi import EXCHANGE
from ..boundary import BoundaryExchange, BoundaryOptions, ServiceError
from ..wsgi import ErrorBoundary
from . import self_test


def install(app: Flask, **options: Unpack[BoundaryOptions]) -> None:
    """Put the boundary around an application, and answer raised errors as themselves.
    Raises ValueError as ``make_policy`` does.
    """
    app.wsgi_app = ErrorBoundary(app.wsgi_app, **options)
    app.register_error_handler(ServiceError, answer_raised)


def answer_raised(error: ServiceError) -> Response:
    """The response to a raised error of this package."""
    exchange: BoundaryExchange = request.environ[EXCHANGE]
    answer = exchange.answer(error.status or 500, error)
    return Response(answer.body, answer.status, answer.fields)


def check(app: Flask, headers: Mapping[str, str] | None = None) -> list[str]:
    """The parts of the boundary that are not wired, in plain words. Requests are
    sent in process. ``headers``: of each request, such as credentials.
    """

    def fail() -> None:
        self_test.raise_at(request.path)

    def ask(method: str, path: str) -> self_test.Reply:
        try:
            response = app.test_client().open(path, method=method, headers=headers)
        except (self_test.SelfTestCrash, ServiceError):
            return self_test.Reply(500, {}, b"")
        fields = {name.lower(): value for name, value in response.headers}
        return self_test.Reply(response.status_code, fields, response.get_data())

    before = app.before_request_funcs.setdefault(None, [])
    before.insert(0, fail)
    try:
        return self_test.find_problems(ask, raises=True)
    finally:
        before.remove(fail)
