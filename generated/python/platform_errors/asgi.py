"""The error boundary of a service: whatever goes wrong behind it leaves in the
envelope, with a correlation id.

    app = ErrorBoundary(app, body_limit=1_000_000)

An error of this package is answered as itself, any other exception as an internal
error, and an answer that a framework made (an unknown route, a wrong method or media
type …) as the code its status stands for, as ``for_status`` says.

A framework knows no details. Where the code of its status asks for some, or for a
header that the framework did not set, the service says what to answer instead:

    def choose(problem: Problem) -> PlatformError | None:
        if problem.status == 401:
            return ...  # an error of this package, made as if it were raised
        return None  # whatever the boundary would answer by itself

    app = ErrorBoundary(app, choose=choose)
"""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from ._runtime import asgi, ids
from .codes import FACTS, FALLBACKS, ErrorCode, codes_for
from .errors import (
    ERRORS,
    EnvelopeName,
    PlatformError,
    UnknownError,
    bare,
    undeclared,
)
from .wire import ENVELOPES, is_envelope, render

Problem = asgi.Problem

Choose = Callable[
    [Problem],
    "PlatformError | None",
]
"""Asked first what to answer, for all that is no error of this package; None leaves it
to the boundary. ``Problem.headers`` are those of the framework that are kept.
"""

CORRELATION_HEADER = "X-Correlation-Id"
CORRELATION_FORMATS = ("uuid7", "ulid")

INTERNAL: ErrorCode | None = ErrorCode.INTERNAL_ERROR
"""What an exception is answered with; None where the taxonomy names no code for it."""

Bare = Mapping[ErrorCode, Sequence[tuple[str, Sequence[range]]]]

BARE: Mapping[EnvelopeName, Bare] = {
    "error": {
        ErrorCode.INVALID_REQUEST: [
            ("www-authenticate", (range(401, 402),)),
            ("allow", (range(405, 406),)),
            ("retry-after", (range(429, 430),)),
        ],
        ErrorCode.VALIDATION_FAILED: [],
        ErrorCode.UNSUPPORTED_MEDIA_TYPE: [],
        ErrorCode.UNAUTHENTICATED: [("www-authenticate", (range(401, 402),))],
        ErrorCode.FORBIDDEN: [],
        ErrorCode.SCOPE_INSUFFICIENT: [],
        ErrorCode.NOT_FOUND: [],
        ErrorCode.RATE_LIMITED: [("retry-after", (range(429, 430),))],
        ErrorCode.TIMEOUT: [],
        ErrorCode.DEPENDENCY_UNAVAILABLE: [],
        ErrorCode.INTERNAL_ERROR: [],
        ErrorCode.CONSTRAINT_VIOLATION: [],
        ErrorCode.SERIALIZATION_FAILURE: [],
    },
}
"""The codes that each envelope can carry although nobody is there to give details, and
the headers without which they may not be sent under the statuses beside them.
"""

_logger = logging.getLogger(__name__)


class ErrorBoundary(asgi.ErrorBoundary):
    """ASGI middleware to put around the whole application; ``body_limit`` in bytes,
    or None. See ``_runtime.asgi``.

    ``choose`` is asked what to answer for a framework's status or an exception. Raises
    ValueError where there are statuses that it is needed for, and it is missing.
    """

    def __init__(
        self,
        app: asgi.App,
        *,
        envelope: EnvelopeName = "error",
        body_limit: int | None = None,
        choose: Choose | None = None,
    ) -> None:
        if choose is None:
            _refuse_statuses_without_answer(envelope)
        media_type = ENVELOPES[envelope].media_type
        super().__init__(
            app,
            render=lambda problem: answer(problem, envelope, choose),
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
    problem: Problem,
    envelope: EnvelopeName = "error",
    choose: Choose | None = None,
) -> asgi.Answer:
    """The envelope for what went wrong; an error that came from elsewhere unread is an
    internal one here.
    """
    failure = problem.exception
    error: PlatformError | None = None
    if isinstance(failure, PlatformError):
        error = None if isinstance(failure, UnknownError) else failure
    if error is None and choose is not None:
        error = choose(problem)
    if error is None:
        error = _by_itself(problem, envelope)
    error.correlation_id = problem.correlation_id
    rendered = render(error, envelope=envelope)
    headers = tuple(
        (name.encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in rendered.headers.items()
    )
    return asgi.Answer(rendered.status, headers, rendered.body)


def _by_itself(
    problem: Problem,
    envelope: EnvelopeName,
) -> PlatformError:
    failure, given = problem.exception, {name.decode() for name, _ in problem.headers}
    if failure is None or INTERNAL is None:
        return for_status(problem.status, given, envelope)
    if not _answerable(INTERNAL, FACTS[INTERNAL].status, given, envelope):
        return for_status(problem.status, given, envelope)
    return undeclared(getattr(failure, "original_code", None))


def for_status(
    status: int,
    given: Collection[str] = (),
    envelope: EnvelopeName = "error",
) -> PlatformError:
    """The error that a bare status stands for; ``given`` are the lower-case names of
    the headers that come with it. Raises LookupError where there is none.

    It is the code whose default the status is, else one that may travel under it, if it
    can do without details and with those headers. Otherwise it is, under its own
    status, the declared fallback of the status, the code of 400 or 500, or the internal
    error, the first that can be answered; the log says so.
    """
    found = _chosen(status, given, envelope)
    if found is None:
        raise LookupError(f"nothing can be answered for a bare {status}: pass `choose`")
    code, under = found
    if under != status:
        _logger.warning(
            "a bare %s is answered as %s under %s: no code of %s can do without what "
            "only a handler knows; `choose` may say which",
            status,
            code,
            under,
            status,
        )
    return bare(ERRORS[code], status=under)


def _chosen(
    status: int, given: Collection[str], envelope: EnvelopeName
) -> tuple[ErrorCode, int] | None:
    own = sorted(codes_for(status), key=lambda each: FACTS[each].status != status)
    for code in own:
        if _answerable(code, status, given, envelope):
            return code, status
    fallbacks = [code for on, code in FALLBACKS if status in on]
    for each in (*fallbacks, *codes_for(status - status % 100), INTERNAL):
        under = None if each is None else FACTS[each].status
        if each is not None and under and _answerable(each, under, given, envelope):
            return each, under
    return None


def _answerable(
    code: ErrorCode, status: int | None, given: Collection[str], envelope: EnvelopeName
) -> bool:
    """Whether the code needs no details, and no header beside the given ones."""
    headers = BARE[envelope].get(code)
    return headers is not None and all(
        name in given or not any(status in each for each in on) for name, on in headers
    )


def _refuse_statuses_without_answer(envelope: EnvelopeName) -> None:
    lost = [each for each in range(400, 600) if _chosen(each, (), envelope) is None]
    if lost:
        few = f"{', '.join(map(str, lost[:3]))}{' …' if len(lost) > 3 else ''}"
        raise ValueError(f"nothing can be answered for a bare {few}: pass `choose`")
