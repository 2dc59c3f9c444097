"""The error boundary of a service: whatever goes wrong behind it leaves in the
envelope, with a correlation id.

    app = ErrorBoundary(app, body_limit=1_000_000)

An error of this package is answered as itself, any other exception as an internal
error, and an answer that a framework made (an unknown route, a wrong method or media
type …) as the code its status stands for.
"""

# Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/keenbench/taxonomy.yaml

from collections.abc import Callable

from ._runtime import asgi, ids
from .codes import FACTS, codes_for
from .errors import (
    ERRORS,
    EnvelopeName,
    KeenbenchError,
    UnknownError,
    bare,
    undeclared,
)
from .wire import ENVELOPES, NEEDED, is_envelope, render

Complete = Callable[[KeenbenchError], None]
"""Fills in what only the service knows, in an error that is about to be answered."""

CORRELATION_HEADER = "X-Request-Id"
CORRELATION_FORMATS = ("token",)


class ErrorBoundary(asgi.ErrorBoundary):
    """ASGI middleware to put around the whole application; ``body_limit`` in bytes,
    or None. See ``_runtime.asgi``.

    ``complete`` is called with each error before it is answered, to fill in what only
    the service knows: phase, request_id.
    """

    def __init__(
        self,
        app: asgi.App,
        *,
        envelope: EnvelopeName = "rpc",
        body_limit: int | None = None,
        complete: Complete | None = None,
    ) -> None:
        media_type = ENVELOPES[envelope].media_type
        super().__init__(
            app,
            render=lambda problem: answer(problem, envelope, complete),
            is_envelope=lambda body, content_type: (
                content_type.partition(";")[0].strip().lower() == media_type
                and is_envelope(body)
            ),
            correlation=asgi.Correlation(
                CORRELATION_HEADER,
                lambda value: ids.matches(CORRELATION_FORMATS, value),
                lambda: ids.new(CORRELATION_FORMATS[0]),
            ),
            media_type=media_type,
            body_limit=body_limit,
        )


def answer(
    problem: asgi.Problem,
    envelope: EnvelopeName = "rpc",
    complete: Complete | None = None,
) -> asgi.Answer:
    """The envelope for what went wrong; an error that came from elsewhere unread is an
    internal one here.
    """
    failure = problem.exception
    error: KeenbenchError
    if failure is None:
        error = for_status(problem.status)
    elif isinstance(failure, UnknownError):
        error = undeclared(failure.original_code)
    elif isinstance(failure, KeenbenchError):
        error = failure
    else:
        error = undeclared()
    if complete is not None:
        complete(error)
    # An answer in which something is null is better than none.
    absent = [slot for slot, name in NEEDED.items() if getattr(error, name) is None]
    rendered = render(error, envelope=envelope, slots=dict.fromkeys(absent))
    headers = tuple(
        (name.encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in rendered.headers.items()
    )
    return asgi.Answer(rendered.status, headers, rendered.body)


def for_status(status: int) -> KeenbenchError:
    """The error that a bare status stands for: the code whose default it is, else one
    that may travel under it.
    """
    codes = [code for code in codes_for(status) if code in ERRORS]
    if not codes:
        error = undeclared()
        error.status = status
        return error
    chosen = next((code for code in codes if FACTS[code].status == status), codes[0])
    return bare(ERRORS[chosen], status=status)
