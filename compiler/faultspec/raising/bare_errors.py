"""Errors of frameworks that a program makes itself, with a status and without a code."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Span
from faultspec.raising.functions import Function

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


def is_bare_error(name: str) -> bool:
    """Whether a dotted name is one of a framework's errors or answers."""
    framework, _, _ = name.partition(".")
    last = name.rpartition(".")[2]
    known = last in _FUNCTIONS or last in _EXCEPTIONS
    return framework in _FRAMEWORKS and (known or "HTTP" in last or last.endswith("Response"))


def bare_errors(function: Function) -> Iterator[tuple[Span, str]]:
    """The places of a function that answer with an error of the framework, and what they do."""
    for use in function.uses:
        if not use.made or not is_bare_error(use.name):
            continue
        framework, _, _ = use.name.partition(".")
        last = use.name.rpartition(".")[2]
        if last in _FUNCTIONS:
            yield use.span, f"`{last}` answers with the framework's error"
        elif last in _EXCEPTIONS or (last.startswith("HTTP") and not last.endswith("Response")):
            yield use.span, f"`{last}` is an error of {framework}, not of the taxonomy"
        elif last.endswith("Response") and use.status is not None and _is_error(use.status):
            yield use.span, f"`{last}` answers {use.status} with a body of its own"
    for span, status in function.returned:
        if _is_error(status):
            yield span, f"a returned tuple answers {status} with a body of its own"


def _is_error(status: int) -> bool:
    return 400 <= status <= 599
