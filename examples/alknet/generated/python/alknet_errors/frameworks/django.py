"""Every error of a Django project leaves in the envelope.

    MIDDLEWARE = [
        "alknet_errors.frameworks.django.ErrorBoundary",
        ...,  # the other middleware
    ]

A raised error of this package is answered as itself. The setting
``ALKNET_ERRORS`` is a mapping with the options of ``BoundaryOptions``. A
``body_limit`` counts declared lengths; put ``wsgi.ErrorBoundary`` or
``asgi.ErrorBoundary`` around the application as well to count every body.
"""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml

# Django need not be installed, and has no types of its own.
# mypy: disable-error-code="import-not-found, import-untyped, unused-ignore"
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false

import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from asgiref.sync import (  # type: ignore[import-not-found, unused-ignore]
    iscoroutinefunction,
    markcoroutinefunction,
)
from django.conf import settings
from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse

from .._runtime.asgi import EXCHANGE
from .._runtime.wsgi import request_headers
from ..boundary import (
    Answer,
    BoundaryExchange,
    ServiceError,
    encoded,
    make_policy,
)
from . import self_test

SETTING = "ALKNET_ERRORS"  # fmt: skip


class ErrorBoundary:
    """Middleware, to be the first. Raises ValueError as ``make_policy`` does."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self.get_response = get_response
        self.policy = make_policy(**getattr(settings, SETTING, {}))
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)
        got_request_exception.connect(_note_exception, dispatch_uid=_note_exception)

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        """Answer a request."""
        if self.is_async:
            return self.answer_async(request)
        refused = self.begin(request)
        return refused or self.settle(request, self.get_response(request))

    async def answer_async(self, request: HttpRequest) -> HttpResponse:
        """Answer a request of an asynchronous server."""
        refused = self.begin(request)
        return refused or self.settle(request, await self.get_response(request))

    def begin(self, request: HttpRequest) -> HttpResponse | None:
        """Note the exchange of a request; the answer if its body is too long."""
        surrounding = getattr(request, "scope", None) or request.META
        exchange = surrounding.get(EXCHANGE) or BoundaryExchange(
            self.policy,
            request.method or "GET",
            request.path,
            request_headers(request.META),
        )
        setattr(request, EXCHANGE, exchange)
        too_large = exchange.declares_too_large()
        return _response(exchange, exchange.answer(413)) if too_large else None

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponse | None:
        """Answer an error of this package that a view raised; Django answers others."""
        if isinstance(exception, ServiceError):
            exchange: BoundaryExchange = getattr(request, EXCHANGE)
            return _response(exchange, exchange.answer(500, exception))
        return None

    def settle(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """The response that leaves in place of one of Django or of a view."""
        exchange: BoundaryExchange = getattr(request, EXCHANGE)
        fields = encoded(response.items())
        if not exchange.is_held(response.status_code):
            if exchange.id_in(fields) is None:
                name = exchange.policy.correlation.header
                response[name] = exchange.correlation_id
            return response
        body = b"" if response.streaming else response.content
        held = Answer(response.status_code, fields, body)
        settled = _response(exchange, exchange.settle(held))
        settled.cookies = response.cookies
        response.close()
        return settled


def _response(exchange: BoundaryExchange, answer: Answer) -> HttpResponse:
    # Django leaves the body of HEAD to servers, and not each of them drops it
    body = b"" if exchange.method == "HEAD" else answer.body
    response = HttpResponse(body, status=answer.status)
    del response["Content-Type"]
    for name, value in answer.fields:
        known = response.get(name)
        response[name] = value if known is None else f"{known}, {value}"
    return response


def _note_exception(sender: object, request: HttpRequest, **_: object) -> None:
    """Note an exception that Django answers with 500, as one of other middleware."""
    exchange: BoundaryExchange | None = getattr(request, EXCHANGE, None)
    exception = sys.exc_info()[1]
    if exchange is not None and isinstance(exception, Exception):
        exchange.note(exception)


def check(headers: Mapping[str, str] | None = None) -> list[str]:
    """The parts of the boundary that are not wired, in plain words. Requests are
    sent in process, to routes that are there for this test alone. ``headers``: of each
    request, such as credentials.
    """
    from django.test import Client, override_settings
    from django.urls import re_path

    def fail(request: HttpRequest) -> HttpResponse:
        self_test.raise_at(request.path)
        return HttpResponse(status=404)

    def ask(method: str, path: str) -> self_test.Reply:
        client = Client(raise_request_exception=False)
        response = client.generic(method, path, headers=headers)
        fields = {name.lower(): value for name, value in response.items()}
        return self_test.Reply(response.status_code, fields, response.content)

    problems = []
    own = f"{ErrorBoundary.__module__}.{ErrorBoundary.__qualname__}"
    if own in settings.MIDDLEWARE[1:]:
        others = ", ".join(settings.MIDDLEWARE[: settings.MIDDLEWARE.index(own)])
        problems.append(f"the boundary is not the first middleware: {others}")
    routes = (re_path("^error-boundary-self-test/(?:raise|crash)$", fail),)
    with override_settings(ROOT_URLCONF=routes, ALLOWED_HOSTS=["*"]):
        return [*problems, *self_test.find_problems(ask, raises=True)]
