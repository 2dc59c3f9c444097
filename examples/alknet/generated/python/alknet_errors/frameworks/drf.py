"""Errors of Django REST framework, beside the middleware of ``frameworks.django``.

    REST_FRAMEWORK = {
        "EXCEPTION_HANDLER": "alknet_errors.frameworks.drf.answer_exception",
    }

Input that a serializer refuses is answered as ``boundary.invalid_input`` says, without
the input itself.
"""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml

# The framework need not be installed, and has no types of its own.
# mypy: disable-error-code="import-not-found, import-untyped, unused-ignore"
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false

from collections.abc import Iterator
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.views import exception_handler

from ..boundary import InvalidInput, invalid_input


def answer_exception(exception: Exception, context: dict[str, Any]) -> Any:
    """The response to an exception of a view, or None to let Django answer it. Raises
    the error of refused input.
    """
    if isinstance(exception, ValidationError):
        failures = [
            InvalidInput(("body", *place)) for place in _places(exception.detail)
        ]
        raise invalid_input(failures, status=400) from None
    return exception_handler(exception, context)


def _places(detail: object) -> Iterator[tuple[str | int, ...]]:
    """The places of the values that were refused."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            own = () if name == "non_field_errors" else (str(name),)
            yield from ((*own, *place) for place in _places(inner))
    elif isinstance(detail, list) and any(isinstance(item, dict) for item in detail):
        for index, item in enumerate(detail):
            yield from ((index, *place) for place in _places(item) if item)
    else:
        yield ()
