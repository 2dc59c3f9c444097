"""Every error of a FastAPI application leaves in the envelope, and its OpenAPI document
says so.

    app = FastAPI()
    install(app)

    @app.post("/orders", responses=responses(...))
    def order() -> None: ...

Input that FastAPI refuses is answered as ``boundary.invalid_input`` says, without the
input itself. The boundary stands inside of CORS, so that browsers may read errors.
Middleware that is added later stands around it: add what may fail before.
"""

# Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aria2/taxonomy.yaml

# FastAPI need not be installed, and `openapi` is made to be replaced.
# mypy: disable-error-code="import-not-found, method-assign, unused-ignore"
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError

from ..boundary import BoundaryOptions, InvalidInput, ServiceError, invalid_input
from ..openapi import add_components, responses
from . import starlette
from .starlette import check

__all__ = ["check", "install", "responses"]

Refuse = Callable[[Sequence[InvalidInput]], ServiceError]
"""Chooses the error of input that FastAPI refuses."""

# The models of the response that FastAPI gives to every operation with parameters
_OWN_MODELS = ("HTTPValidationError", "ValidationError")


def install(
    app: FastAPI, *, refuse: Refuse = invalid_input, **options: Unpack[BoundaryOptions]
) -> None:
    """Add the boundary to an application, answer refused input, and describe errors in
    its OpenAPI document. Raises as ``starlette.install`` does.
    """
    starlette.install(app, **options)

    def answer_invalid(request: Request, failure: Exception) -> Response:
        errors = failure.errors() if isinstance(failure, RequestValidationError) else []
        raise refuse([_invalid(error) for error in errors]) from None

    app.add_exception_handler(RequestValidationError, answer_invalid)
    original = app.openapi

    def openapi() -> dict[str, Any]:
        document: dict[str, Any] = original()
        _describe(document, refuse)
        return document

    app.openapi = openapi


def _invalid(error: dict[str, Any]) -> InvalidInput:
    # The message of a validator of the service may quote the value
    own = error.get("type") in ("value_error", "assertion_error")
    reason = "not valid" if own else str(error.get("msg", "not valid"))
    return InvalidInput(tuple(error.get("loc", ())), reason)


def _describe(document: dict[str, Any], refuse: Refuse) -> None:
    """Put the declared error in place of FastAPI's own response to refused input."""
    try:
        ours = responses(type(refuse([])))
    except LookupError:
        ours = {}
    for methods in document.get("paths", {}).values():
        for operation in methods.values():
            if not isinstance(operation, dict):
                continue
            known = operation.get("responses", {})
            if _OWN_MODELS[0] in str(known.get("422")):
                del known["422"]
                for status, response in ours.items():
                    _join(known.setdefault(str(status), {}), response)
    schemas = document.get("components", {}).get("schemas", {})
    for name in _OWN_MODELS:
        if f"#/components/schemas/{name}'" not in str(document):
            schemas.pop(name, None)
    add_components(document)


def _join(known: dict[str, Any], added: dict[str, Any]) -> None:
    """Add the alternatives of one response to another under the same status."""
    for key, value in added.items():
        if isinstance(value, dict):
            _join(known.setdefault(key, {}), value)
        elif isinstance(value, list):
            here = known.setdefault(key, [])
            here += [item for item in value if item not in here]
        else:
            known.setdefault(key, value)
