"""The error boundary of a service: whatever goes wrong behind it leaves in the
envelope, with a correlation id.

    app = ErrorBoundary(app, body_limit=1_000_000)

An error of this package is answered as itself, any other exception as an internal
error, and an answer that a framework made (an unknown route, a wrong method or media
type …) as the code its status stands for, as ``for_status`` says.

An application may answer with an envelope itself. Its content is trusted; its code has
to be one of the status, its headers have to be those of code and status, and its
correlation id the one that the answer leaves with. Where one of these is wrong it is
answered anew: as the same error where code and status agree, else as its status.

A framework knows no details. Where the code of its status asks for some, the service
says what to answer instead:

    def choose(problem: Problem) -> AileronError | None:
        if problem.status == 409:
            return ...  # an error of this package, made as if it were raised
        return None  # whatever the boundary would answer by itself

    app = ErrorBoundary(app, choose=choose)
"""

# Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aileron/taxonomy.yaml

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from ._runtime import asgi, ids
from ._runtime.asgi import BoundarySurface
from ._runtime.retry_after import render as wait
from ._runtime.shape import slot_places
from .codes import FACTS, FALLBACKS, ErrorCode, codes_for
from .errors import (
    ERRORS,
    AileronError,
    EnvelopeName,
    UnknownError,
    bare,
    lacking,
    undeclared,
)
from .wire import ENVELOPES, NEEDED, parse_own, render

Problem = asgi.Problem

Choose = Callable[
    [Problem],
    "AileronError | None",
]
"""Asked first what to answer, for all that is no error of this package; None leaves it
to the boundary. ``Problem.headers`` are those of the framework that are kept.
"""

Complete = Callable[[AileronError], None]
"""Fills in what only the service knows, in an error that is about to be answered."""

CORRELATION_HEADER = "X-Request-Id"
CORRELATION_FORMATS = ("token",)

INTERNAL: ErrorCode | None = ErrorCode.CONNECTOR_RUNTIME_ERROR
"""What an exception is answered with; None where the taxonomy names no code for it."""

BARE: Mapping[EnvelopeName, Sequence[ErrorCode]] = {
    "failure": [
        ErrorCode.CAPABILITY_DENIED,
        ErrorCode.BINDING_REQUIRED,
        ErrorCode.BINDING_FAILED,
        ErrorCode.RESOURCE_LIMIT_EXCEEDED,
        ErrorCode.CONNECTOR_RUNTIME_ERROR,
        ErrorCode.NETWORK_ERROR,
        ErrorCode.HASH_MISMATCH,
        ErrorCode.SIGNATURE_FAILURE,
    ],
    "api_error": [],
}
"""The codes that each envelope can carry although nobody is there to give details."""

SURFACES = (
    BoundarySurface(
        enveloped=False,
        routes=(("POST", "/v1/chat/completions"), ("POST", "/v1/messages")),
    ),
)
"""What tells the exchanges apart whose errors need no envelope; the first that claims
one counts.
"""

NOTHING: Mapping[str, str] = {}

_logger = logging.getLogger(__name__)


class ErrorBoundary(asgi.ErrorBoundary):
    """ASGI middleware to put around the whole application; ``body_limit`` in bytes,
    or None. See ``_runtime.asgi``.

    ``retry_after`` (seconds) and ``challenge`` are the values of ``Retry-After`` and
    ``WWW-Authenticate`` where an answer must have these headers and nobody gave them,
    as when a framework says 429 or 401; None: such an answer becomes another.

    ``choose`` is asked what to answer for a framework's status or an exception. Raises
    ValueError where there are statuses that it is needed for, and it is missing.

    ``complete`` is called with each error before it is answered, to fill in what only
    the service knows: audit_id. Raises ValueError where the envelope cannot do without
    and it is missing.
    """

    def __init__(
        self,
        app: asgi.App,
        *,
        envelope: EnvelopeName = "failure",
        body_limit: int | None = None,
        choose: Choose | None = None,
        retry_after: float | None = 1.0,
        challenge: str | None = "Bearer",
        complete: Complete | None = None,
    ) -> None:
        supplied = _supplied(retry_after, challenge)
        if choose is None:
            _refuse_statuses_without_answer(envelope, supplied)
        lacking = _needed(envelope)
        if complete is None and lacking:
            raise ValueError(f"nothing gives {', '.join(lacking)}: pass `complete`")
        media_type = ENVELOPES[envelope].media_type
        super().__init__(
            app,
            render=lambda problem: answer(
                problem, envelope, choose, supplied, complete
            ),
            last_resort=lambda correlation_id: last_resort(
                correlation_id, envelope, supplied
            ),
            is_envelope=lambda reply: (
                reply.content_type.partition(";")[0].strip().lower() == media_type
                and _is_sound(reply)
            ),
            correlation=asgi.Correlation(
                CORRELATION_HEADER,
                lambda value: ids.matches(CORRELATION_FORMATS, value),
                lambda: ids.new(CORRELATION_FORMATS[0]),
            ),
            media_type=media_type,
            body_limit=body_limit,
            surfaces=SURFACES,
        )


def answer(
    problem: Problem,
    envelope: EnvelopeName = "failure",
    choose: Choose | None = None,
    supplied: Mapping[str, str] = NOTHING,
    complete: Complete | None = None,
) -> asgi.Answer:
    """The envelope for what went wrong; an error that came from elsewhere unread is an
    internal one here. ``supplied``: values for headers that the answer must have and
    nobody gave, by lower-case name.
    """
    given = {name.decode("latin-1") for name, _ in problem.headers}
    failure = problem.exception
    error: AileronError | None = None
    if isinstance(failure, AileronError):
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
    if complete is not None:
        complete(error)
    return _written(error, envelope)


def last_resort(
    correlation_id: str,
    envelope: EnvelopeName = "failure",
    supplied: Mapping[str, str] = NOTHING,
) -> asgi.Answer:
    """What is answered where the answer itself fails, as when ``choose`` raises or a
    detail is no JSON: the internal error with nothing but what the taxonomy fixes.
    """
    found = _chosen(500, (), envelope, supplied)
    code, status = found or (INTERNAL or next(iter(ERRORS), None), 500)
    made = UnknownError(raw=None, status=500)
    error = made if code is None else bare(ERRORS[code], status=status)
    for name in lacking(error):
        if name.lower() in supplied:
            error.headers[name] = supplied[name.lower()]
    return _written(error, envelope)


def _written(
    error: AileronError,
    envelope: EnvelopeName,
) -> asgi.Answer:
    # An answer in which something is null is better than none.
    absent = [slot for slot, name in NEEDED.items() if getattr(error, name) is None]
    rendered = render(error, envelope=envelope, slots=dict.fromkeys(absent))
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
) -> AileronError:
    failure, known = problem.exception, {*given, *supplied}
    if failure is None or INTERNAL is None:
        return for_status(problem.status, given, envelope, supplied)
    if not _answerable(INTERNAL, FACTS[INTERNAL].status, known, envelope):
        return for_status(problem.status, given, envelope, supplied)
    return undeclared(getattr(failure, "original_code", None))


def for_status(
    status: int,
    given: Collection[str] = (),
    envelope: EnvelopeName = "failure",
    supplied: Mapping[str, str] = NOTHING,
) -> AileronError:
    """The error that a bare status stands for; ``given`` are the lower-case names of
    the headers that come with it, ``supplied`` values for others that it may need.
    Raises LookupError where there is none.

    It is the code whose default the status is, else one that may travel under it, that
    with the nearest default first, if it can do without details and with those headers.
    Otherwise it is, under its own status, the declared fallback of the status, the code
    of 400 or 500, or the internal error, the first that can be answered; the log says
    so.
    """
    found = _chosen(status, given, envelope, supplied)
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
        codes_for(status), key=lambda each: abs((FACTS[each].status or 0) - status)
    )
    for code in own:
        if _answerable(code, status, known, envelope):
            return code, status
    fallbacks = [code for on, code in FALLBACKS if status in on]
    for each in (*fallbacks, *codes_for(status - status % 100), INTERNAL):
        under = None if each is None else FACTS[each].status
        if each is not None and under and _answerable(each, under, known, envelope):
            return each, under
    return None


def _answerable(
    code: ErrorCode, status: int | None, known: Collection[str], envelope: EnvelopeName
) -> bool:
    """Whether the code needs no details, and no header beside the known ones."""
    return code in BARE[envelope] and all(
        name.lower() in known or not any(status in each for each in on)
        for name, on in FACTS[code].headers
    )


def _supplied(retry_after: float | None, challenge: str | None) -> Mapping[str, str]:
    found = {} if retry_after is None else {"retry-after": wait(retry_after)}
    return found if challenge is None else {**found, "www-authenticate": challenge}


def _is_sound(reply: asgi.Reply) -> bool:
    """Whether an answer of the application may leave as it is."""
    error = parse_own(reply.body, reply.status)
    if error is None:
        return False
    return all(name.lower() in reply.headers for name in lacking(error))


def _refuse_statuses_without_answer(
    envelope: EnvelopeName, supplied: Mapping[str, str]
) -> None:
    statuses = range(400, 600)
    lost = [each for each in statuses if not _chosen(each, (), envelope, supplied)]
    if lost:
        few = f"{', '.join(map(str, lost[:3]))}{' …' if len(lost) > 3 else ''}"
        raise ValueError(f"nothing can be answered for a bare {few}: pass `choose`")


def _needed(envelope: EnvelopeName) -> list[str]:
    places = slot_places(ENVELOPES[envelope].shape)
    return [
        slot for slot in NEEDED if any(place.required for place in places.get(slot, ()))
    ]
