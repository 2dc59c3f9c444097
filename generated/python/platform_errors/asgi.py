"""The error boundary of a service: every error behind it is answered in the envelope,
with a correlation id.

    app = ErrorBoundary(app, body_limit=1_000_000)

An error of this package is answered as itself, any other exception as an internal
error. An answer that a framework made (an unknown route, a wrong method or media type
…) is answered as the code of its status, by ``for_status``.

An application may answer with an envelope itself. Its content is trusted. Its code must
be one of the status, its headers those of code and status, and its correlation id that
of the answer. If one of these is wrong, it is answered anew: as the same error if code
and status agree, else by its status.

A framework knows no details. If the code of its status requires some, the service
chooses the answer:

    def choose(problem: Problem) -> PlatformError | None:
        if problem.status == 409:
            return ...  # an error of this package, made as if it were raised
        return None  # the boundary decides

    app = ErrorBoundary(app, choose=choose)
"""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from ._runtime import asgi, ids
from ._runtime.retry_after import render as wait
from ._runtime.shape import slot_places
from .codes import FACTS, FALLBACKS, ErrorCode, codes_for
from .errors import (
    ERRORS,
    EnvelopeName,
    PlatformError,
    UnknownError,
    bare,
    lacking,
    undeclared,
)
from .wire import ENVELOPES, parse_own, render

Problem = asgi.Problem

Choose = Callable[
    [Problem],
    "PlatformError | None",
]
"""Chooses the answer to a problem that is not an error of this package; None leaves it
to the boundary. ``Problem.headers`` are those of the framework that are kept.
"""

CORRELATION_HEADER = "X-Correlation-Id"
CORRELATION_FORMATS = (
    "uuid7",
    "ulid",
)

INTERNAL: ErrorCode | None = ErrorCode.INTERNAL_ERROR  # fmt: skip
"""The code of the answer to an exception; None if the taxonomy declares none."""

BARE: Mapping[EnvelopeName, Sequence[ErrorCode]] = {
    "error": [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.VALIDATION_FAILED,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        ErrorCode.UNAUTHENTICATED,
        ErrorCode.FORBIDDEN,
        ErrorCode.SCOPE_INSUFFICIENT,
        ErrorCode.NOT_FOUND,
        ErrorCode.RATE_LIMITED,
        ErrorCode.TIMEOUT,
        ErrorCode.DEPENDENCY_UNAVAILABLE,
        ErrorCode.INTERNAL_ERROR,
        ErrorCode.CONSTRAINT_VIOLATION,
        ErrorCode.SERIALIZATION_FAILURE,
    ],
}
"""The codes that each envelope can carry without details."""

NOTHING: Mapping[str, str] = {}

_logger = logging.getLogger(__name__)


class ErrorBoundary(asgi.ErrorBoundary):
    """ASGI middleware to put around the whole application; ``body_limit`` in bytes,
    or None. See ``_runtime.asgi``.

    ``retry_after`` (seconds) and ``challenge`` are the values of ``Retry-After`` and
    ``WWW-Authenticate`` in answers that require these headers and lack them, as when a
    framework answers 429 or 401. With None, such an answer becomes another.

    ``choose`` chooses the answer to a framework's status or an exception. Raises
    ValueError if a status needs it and it is missing.
    """

    def __init__(
        self,
        app: asgi.App,
        *,
        envelope: EnvelopeName = "error",
        body_limit: int | None = None,
        choose: Choose | None = None,
        retry_after: float | None = 1.0,
        challenge: str | None = "Bearer",
    ) -> None:
        supplied = _supplied(retry_after, challenge)
        if choose is None:
            _refuse_statuses_without_answer(envelope, supplied)
        media_type = ENVELOPES[envelope].media_type
        super().__init__(
            app,
            render=lambda problem: answer(problem, envelope, choose, supplied),
            last_resort=lambda correlation_id: last_resort(
                correlation_id, envelope, supplied
            ),
            is_envelope=lambda reply: (
                reply.content_type.partition(";")[0].strip().lower() == media_type
                and _is_sound(reply, envelope)
            ),
            correlation=asgi.Correlation(
                CORRELATION_HEADER,
                _is_correlation_id,
                lambda: ids.new(CORRELATION_FORMATS[0]),
            ),
            media_type=media_type,
            body_limit=body_limit,
        )


def answer(
    problem: Problem,
    envelope: EnvelopeName = "error",
    choose: Choose | None = None,
    supplied: Mapping[str, str] = NOTHING,
) -> asgi.Answer:
    """The answer to a problem. An unread error of another service is an internal one
    here. ``supplied``: by lower-case name, values for required headers that the error
    lacks.
    """
    given = {name.decode("latin-1") for name, _ in problem.headers}
    failure = problem.exception
    error: PlatformError | None = None
    if isinstance(failure, PlatformError):
        error = None if isinstance(failure, UnknownError) else failure
    elif failure is None:
        error = parse_own(problem.body, problem.status)
    if error is None and choose is not None:
        error = choose(problem)
    if error is None:
        error = _by_itself(problem, given, envelope, supplied)
    for name in lacking(error):
        if name.lower() not in given and name.lower() in supplied:
            error.headers[name] = supplied[name.lower()]
    error.correlation_id = problem.correlation_id
    return _written(error, envelope)


def last_resort(
    correlation_id: str,
    envelope: EnvelopeName = "error",
    supplied: Mapping[str, str] = NOTHING,
) -> asgi.Answer:
    """The answer if making one fails, as when ``choose`` raises or a detail is not
    JSON: the internal error with only the values that the taxonomy fixes.
    """
    found = _chosen(500, (), envelope, supplied)
    code, status = found or (INTERNAL or next(iter(ERRORS), None), 500)
    made = UnknownError(raw=None, status=500)
    error = made if code is None else bare(ERRORS[code], status=status)
    for name in lacking(error):
        if name.lower() in supplied:
            error.headers[name] = supplied[name.lower()]
    error.correlation_id = correlation_id
    return _written(error, envelope)


def _written(
    error: PlatformError,
    envelope: EnvelopeName,
) -> asgi.Answer:
    rendered = render(error, envelope=envelope)
    headers = tuple(
        (name.encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in rendered.headers.items()
    )
    return asgi.Answer(rendered.status, headers, rendered.body)


def _by_itself(
    problem: Problem,
    given: Collection[str],
    envelope: EnvelopeName,
    supplied: Mapping[str, str],
) -> PlatformError:
    failure, known = problem.exception, {*given, *supplied}
    if failure is None or INTERNAL is None:
        return for_status(problem.status, given, envelope, supplied)
    if not _answerable(INTERNAL, FACTS[INTERNAL].status, known, envelope):
        return for_status(problem.status, given, envelope, supplied)
    return undeclared(getattr(failure, "original_code", None))


def for_status(
    status: int,
    given: Collection[str] = (),
    envelope: EnvelopeName = "error",
    supplied: Mapping[str, str] = NOTHING,
) -> PlatformError:
    """The error of a bare status. ``given`` are the lower-case names of the headers
    that come with it, ``supplied`` values for others that it may need. Raises
    LookupError if no error fits.

    A code fits if it needs no details, and no other headers. The code whose default the
    status is comes first, then those that may travel under it, nearest default first.
    Otherwise the log has a warning, and the error is answered under its own status: the
    first that fits of the declared fallback, the code of 400 or 500, and the internal
    error.
    """
    found = _chosen(status, given, envelope, supplied)
    if found is None:
        raise LookupError(f"no answer to a bare {status}: pass `choose`")
    code, under = found
    if under != status:
        _logger.warning(
            "a bare %s is answered as %s under %s: every code of %s needs details or "
            "headers that only a handler knows; pass `choose`",
            status,
            code,
            under,
            status,
        )
    error = bare(ERRORS[code], status=under)
    for name in lacking(error):
        if name.lower() not in given:
            error.headers[name] = supplied[name.lower()]
    return error


def _chosen(
    status: int,
    given: Collection[str],
    envelope: EnvelopeName,
    supplied: Mapping[str, str],
) -> tuple[ErrorCode, int] | None:
    known = {*given, *supplied}
    own = sorted(
        codes_for(status), key=lambda code: abs((FACTS[code].status or 0) - status)
    )
    for code in own:
        if _answerable(code, status, known, envelope):
            return code, status
    fallbacks = [code for on, code in FALLBACKS if status in on]
    for other in (*fallbacks, *codes_for(status - status % 100), INTERNAL):
        under = None if other is None else FACTS[other].status
        if other is not None and under and _answerable(other, under, known, envelope):
            return other, under
    return None


def _answerable(
    code: ErrorCode, status: int | None, known: Collection[str], envelope: EnvelopeName
) -> bool:
    """Whether the code needs no details, and no header beside the known ones."""
    return code in BARE[envelope] and all(
        name.lower() in known or not any(status in span for span in on)
        for name, on in FACTS[code].headers
    )


def _is_correlation_id(value: str) -> bool:
    return ids.matches(CORRELATION_FORMATS, value)


def _supplied(retry_after: float | None, challenge: str | None) -> Mapping[str, str]:
    found = {} if retry_after is None else {"retry-after": wait(retry_after)}
    return found if challenge is None else {**found, "www-authenticate": challenge}


def _is_sound(reply: asgi.Reply, envelope: EnvelopeName) -> bool:
    """Whether an answer of the application may leave as it is."""
    error = parse_own(reply.body, reply.status)
    if error is None:
        return False
    own = error.correlation_id
    if own != reply.correlation_id:
        places = slot_places(ENVELOPES[envelope].shape)
        known = places.get("correlation_id", ())
        if own is not None or any(place.required for place in known):
            return False
    return all(name.lower() in reply.headers for name in lacking(error))


def _refuse_statuses_without_answer(
    envelope: EnvelopeName, supplied: Mapping[str, str]
) -> None:
    statuses = range(400, 600)
    lost = [
        status for status in statuses if not _chosen(status, (), envelope, supplied)
    ]
    if lost:
        few = f"{', '.join(map(str, lost[:3]))}{' …' if len(lost) > 3 else ''}"
        raise ValueError(f"no answer to a bare {few}: pass `choose`")
