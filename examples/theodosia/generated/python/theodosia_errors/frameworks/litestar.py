"""Every error of a Litestar application leaves in the envelope.

    app = Litestar(handlers)
    install(app)

A raised error of this package is answered as itself. Input that Litestar refuses is
answered as ``boundary.invalid_input`` says, without the input itself.
"""

# Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/theodosia/taxonomy.yaml

# Litestar need not be installed, and its types of ASGI name one framework's scopes.
# mypy: disable-error-code="import-not-found, arg-type, assignment, unused-ignore"
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from litestar import Litestar, Request
from litestar.exceptions import (
    HTTPException,
    SerializationException,
    ValidationException,
)

from .._runtime.asgi import EXCHANGE, AsgiBoundary
from .._runtime.boundary import raised_in
from ..boundary import (
    BoundaryExchange,
    BoundaryOptions,
    InvalidInput,
    ServiceError,
    invalid_input,
    make_policy,
)
from . import self_test

Refuse = Callable[[Sequence[InvalidInput]], ServiceError]
"""Chooses the error of input that Litestar refuses."""


def install(
    app: Litestar,
    *,
    refuse: Refuse = invalid_input,
    **options: Unpack[BoundaryOptions],
) -> None:
    """Put the boundary around an application, inside of its lifespan. Raises ValueError
    as ``make_policy`` does.
    """

    async def note_exception(exception: Exception, scope: Any) -> None:
        exchange: BoundaryExchange | None = scope.get(EXCHANGE)
        if exchange is None:
            return
        if isinstance(exception, ValidationException):
            extra = exception.extra if isinstance(exception.extra, list) else []
            exchange.note(refuse([_invalid(each) for each in extra]), under=400)
        elif not isinstance(exception, HTTPException):
            exchange.note(exception)

    app.after_exception.append(note_exception)
    policy = make_policy(**options)._replace(is_unread=_is_unread)
    app.asgi_handler = AsgiBoundary(app.asgi_handler, policy)


def _is_unread(exception: Exception) -> bool:
    kinds = (SerializationException, ValueError, RecursionError)
    return isinstance(exception, kinds) and raised_in(exception, Request.json)


def check(app: Litestar, headers: Mapping[str, str] | None = None) -> list[str]:
    """The parts of the boundary that are not wired, in plain words. Requests are
    sent in process, without the lifespan of the application. ``headers``: of each
    request, such as credentials.
    """
    ask = self_test.ask_asgi(app, headers or {})
    return self_test.find_problems(ask, raises=False)


def _invalid(error: Any) -> InvalidInput:
    known = error if isinstance(error, dict) else {}
    key = str(known.get("key", ""))
    source = str(known.get("source", "body"))
    return InvalidInput((source, *(part for part in key.split(".") if part)))
