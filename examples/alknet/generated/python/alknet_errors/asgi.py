"""The error boundary of a service: whatever goes wrong behind it leaves in the
envelope, with a correlation id.

    app = ErrorBoundary(app, body_limit=1_000_000)

An error of this package is answered as itself, any other exception as an internal
error, and an answer that a framework made (an unknown route, a wrong method or media
type …) as the code its status stands for, as ``for_status`` says.

A framework knows no details. Where the code of its status asks for some, or for a
header that the framework did not set, the service says what to answer instead:

    def choose(problem: Problem) -> AlknetError | None:
        if problem.status == 401:
            return ...  # an error of this package, made as if it were raised
        return None  # whatever the boundary would answer by itself

    app = ErrorBoundary(app, choose=choose)
"""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from ._runtime import asgi, ids
from ._runtime.shape import slot_places
from .codes import FACTS, FALLBACKS, ErrorCode, codes_for
from .errors import (
    ERRORS,
    AlknetError,
    EnvelopeName,
    UnknownError,
    bare,
    undeclared,
)
from .wire import ENVELOPES, NEEDED, is_envelope, render

Problem = asgi.Problem

Choose = Callable[
    [Problem],
    "AlknetError | None",
]
"""Asked first what to answer, for all that is no error of this package; None leaves it
to the boundary. ``Problem.headers`` are those of the framework that are kept.
"""

Complete = Callable[[AlknetError], None]
"""Fills in what only the service knows, in an error that is about to be answered."""

CORRELATION_HEADER = "X-Request-Id"
CORRELATION_FORMATS = ("token",)

INTERNAL: ErrorCode | None = ErrorCode.INTERNAL
"""What an exception is answered with; None where the taxonomy names no code for it."""

Bare = Mapping[ErrorCode, Sequence[tuple[str, Sequence[range]]]]

BARE: Mapping[EnvelopeName, Bare] = {
    "error": {
        ErrorCode.NOT_FOUND: [],
        ErrorCode.FORBIDDEN: [],
        ErrorCode.INVALID_INPUT: [],
        ErrorCode.INVALID_OPERATION_TYPE: [],
        ErrorCode.INTERNAL: [],
        ErrorCode.TIMEOUT: [],
    },
    "call_error": {},
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

    ``complete`` is called with each error before it is answered, to fill in what only
    the service knows: request_id. Raises ValueError where the envelope cannot do
    without and it is missing.
    """

    def __init__(
        self,
        app: asgi.App,
        *,
        envelope: EnvelopeName = "error",
        body_limit: int | None = None,
        choose: Choose | None = None,
        complete: Complete | None = None,
    ) -> None:
        if choose is None:
            _refuse_statuses_without_answer(envelope)
        lacking = _needed(envelope)
        if complete is None and lacking:
            raise ValueError(f"nothing gives {', '.join(lacking)}: pass `complete`")
        media_type = ENVELOPES[envelope].media_type
        super().__init__(
            app,
            render=lambda problem: answer(problem, envelope, choose, complete),
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
    complete: Complete | None = None,
) -> asgi.Answer:
    """The envelope for what went wrong; an error that came from elsewhere unread is an
    internal one here.
    """
    failure = problem.exception
    error: AlknetError | None = None
    if isinstance(failure, AlknetError):
        error = None if isinstance(failure, UnknownError) else failure
    if error is None and choose is not None:
        error = choose(problem)
    if error is None:
        error = _by_itself(problem, envelope)
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


def _by_itself(
    problem: Problem,
    envelope: EnvelopeName,
) -> AlknetError:
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
) -> AlknetError:
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


def _needed(envelope: EnvelopeName) -> list[str]:
    places = slot_places(ENVELOPES[envelope].shape)
    return [
        slot for slot in NEEDED if any(place.required for place in places.get(slot, ()))
    ]
