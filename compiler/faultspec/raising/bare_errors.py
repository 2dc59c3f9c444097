"""Errors of frameworks that a program makes itself, with a status and without a code."""

import ast
from collections.abc import Iterator

from faultspec.raising.functions import Function, SourcePlace, Use

#: Frameworks whose exceptions carry an HTTP status.
_FRAMEWORKS = frozenset(
    {"aiohttp", "django", "fastapi", "flask", "litestar", "quart", "rest_framework", "starlette"}
    | {"werkzeug"}
)

_FUNCTIONS = frozenset({"abort"})

_EXCEPTIONS = frozenset(
    {"APIException", "AuthenticationFailed", "Http404", "MethodNotAllowed", "NotAcceptable"}
    | {"NotAuthenticated", "NotFound", "ParseError", "PermissionDenied", "SuspiciousOperation"}
    | {"Throttled", "UnsupportedMediaType", "ValidationError"}
)

#: The parameters that have the status of an answer.
_STATUS = frozenset({"status", "status_code"})


def bare_errors(function: Function) -> Iterator[tuple[SourcePlace, str]]:
    """The places of a function that answer with an error of the framework, and what they do."""
    for use in function.uses:
        framework, _, _ = use.name.partition(".")
        last = use.name.rpartition(".")[2]
        if not use.made or framework not in _FRAMEWORKS:
            continue
        if last in _FUNCTIONS:
            yield use.place, f"`{last}` answers with the framework's error"
        elif last in _EXCEPTIONS or (last.startswith("HTTP") and not last.endswith("Response")):
            yield use.place, f"`{last}` is an error of {framework}, not of the taxonomy"
        elif last.endswith("Response") and (status := _error_status(use)) is not None:
            yield use.place, f"`{last}` answers {status} with a body of its own"
    for place, status in function.returned:
        if 400 <= status <= 599:
            yield place, f"a returned tuple answers {status} with a body of its own"


def _error_status(use: Use) -> int | None:
    if use.call is None:
        return None
    for keyword in use.call.keywords:
        if (
            keyword.arg in _STATUS
            and isinstance(keyword.value, ast.Constant)
            and isinstance(keyword.value.value, int)
            and 400 <= keyword.value.value <= 599
        ):
            return keyword.value.value
    return None
