"""The answers of an error boundary: the error of a bare status, of an exception, of
input that a framework refuses. Nothing is sent here.

``asgi`` and ``wsgi`` are middleware for any application, ``frameworks`` has a module
for each framework. All of them take the options of ``BoundaryOptions``.

A framework knows no details. If the code of its status requires some, or several codes
claim the status, the service chooses the answer:

    def choose(problem: Problem) -> AlknetError | None:
        if problem.status == 409:
            return ...  # an error of this package, made as if it were raised
        return None  # the boundary decides
"""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml

# pyright: basic
# To the strict mode the parameters of the lambdas are unknown.

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypedDict

from ._runtime import ids
from ._runtime.boundary import (
    Answer,
    BoundaryExchange,
    BoundaryPolicy,
    Correlation,
    Problem,
    Reply,
    encoded,
)
from ._runtime.retry_after import render as wait
from ._runtime.shape import slot_places
from .codes import FACTS, FALLBACKS, ErrorCode, codes_for
from .errors import (
    ERRORS,
    AlknetError,
    EnvelopeName,
    UnknownError,
    bare,
    lacking,
    undeclared,
)
from .wire import ENVELOPES, NEEDED, parse_own, render

__all__ = [
    "Answer",
    "BoundaryExchange",
    "BoundaryOptions",
    "BoundaryPolicy",
    "Choose",
    "Complete",
    "InvalidInput",
    "Problem",
    "ServiceError",
    "answer",
    "encoded",
    "for_status",
    "invalid_input",
    "last_resort",
    "make_policy",
    "status_code",
]

ServiceError = AlknetError  # fmt: skip
"""The class of every error of this package."""

Choose = Callable[
    [Problem],
    "AlknetError | None",
]
"""Chooses the answer to a problem that is not an error of this package; None leaves it
to the boundary. ``Problem.headers`` are those of the framework that are kept.
"""

Complete = Callable[[AlknetError], None]
"""Fills in the values that only the service knows, before an error is answered."""

CORRELATION_HEADER = "X-Request-Id"
CORRELATION_FORMATS = ("token",)

INTERNAL: ErrorCode | None = ErrorCode.INTERNAL  # fmt: skip
"""The code of the answer to an exception; None if the taxonomy declares none."""

BARE: Mapping[EnvelopeName, Sequence[ErrorCode]] = {
    "error": [
        ErrorCode.NOT_FOUND,
        ErrorCode.FORBIDDEN,
        ErrorCode.INVALID_INPUT,
        ErrorCode.INVALID_OPERATION_TYPE,
        ErrorCode.INTERNAL,
        ErrorCode.TIMEOUT,
    ],
    "call_error": [],
}
"""The codes that each envelope can carry without details."""

NOTHING: Mapping[str, str] = {}

GENERAL: dict[int, ErrorCode] = {}
"""Of the statuses that several codes claim, those that one of the codes stands for."""
GENERAL[500] = ErrorCode.INTERNAL  # fmt: skip

# Characters; a name that a client made up could be as long as its request
_LONGEST_FIELD = 200

_logger = logging.getLogger(__name__)


class BoundaryOptions(TypedDict, total=False):
    """The options of every boundary. ``body_limit`` in bytes, or None.

    ``retry_after`` (seconds) and ``challenge`` are the values of ``Retry-After`` and
    ``WWW-Authenticate`` in answers that require these headers and lack them, as when a
    framework answers 429 or 401. With None, such an answer becomes another.

    ``choose`` chooses the answer to a framework's status or an exception.

    ``complete`` is called with each error before it is answered, to fill in the values
    that only the service knows: request_id.
    """

    envelope: EnvelopeName
    body_limit: int | None
    choose: Choose | None
    retry_after: float | None
    challenge: str | None
    complete: Complete | None


def make_policy(
    *,
    envelope: EnvelopeName = "error",
    body_limit: int | None = None,
    choose: Choose | None = None,
    retry_after: float | None = 1.0,
    challenge: str | None = "Bearer",
    complete: Complete | None = None,
) -> BoundaryPolicy:
    """The policy of a boundary with these options; see ``BoundaryOptions``. Raises
    ValueError if a status needs ``choose`` and it is missing, or if the envelope
    requires ``complete``.
    """
    supplied = _supplied(retry_after, challenge)
    if choose is None:
        _refuse_statuses_without_answer(envelope, supplied)
    lacking = _needed(envelope)
    if complete is None and lacking:
        raise ValueError(f"no value for {', '.join(lacking)}: pass `complete`")
    media_type = ENVELOPES[envelope].media_type
    return BoundaryPolicy(
        render=lambda problem: answer(problem, envelope, choose, supplied, complete),
        last_resort=lambda correlation_id: last_resort(
            correlation_id, envelope, supplied
        ),
        is_envelope=lambda reply: (
            reply.content_type.partition(";")[0].strip().lower() == media_type
            and _is_sound(reply)
        ),
        correlation=Correlation(
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
    complete: Complete | None = None,
) -> Answer:
    """The answer to a problem. An unread error of another service is an internal one
    here. ``supplied``: by lower-case name, values for required headers that the error
    lacks.
    """
    given = {name.decode("latin-1") for name, _ in problem.headers}
    failure = problem.exception
    error: AlknetError | None = None
    if isinstance(failure, AlknetError):
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
    envelope: EnvelopeName = "error",
    supplied: Mapping[str, str] = NOTHING,
) -> Answer:
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
    return _written(error, envelope)


def _written(
    error: AlknetError,
    envelope: EnvelopeName,
) -> Answer:
    # An answer with nulls is better than none.
    absent = [slot for slot, name in NEEDED.items() if getattr(error, name) is None]
    rendered = render(error, envelope=envelope, slots=dict.fromkeys(absent))
    headers = tuple(
        (name.encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in rendered.headers.items()
    )
    return Answer(rendered.status, headers, rendered.body)


def _by_itself(
    problem: Problem,
    given: Collection[str],
    envelope: EnvelopeName,
    supplied: Mapping[str, str],
) -> AlknetError:
    failure, known = problem.exception, {*given, *supplied}
    if failure is None or INTERNAL is None:
        return for_status(problem.status, given, envelope, supplied)
    if not _answerable(INTERNAL, FACTS[INTERNAL].status, known, envelope):
        return for_status(problem.status, given, envelope, supplied)
    return undeclared(getattr(failure, "original_code", None))


class InvalidInput(NamedTuple):
    """A value of a request that a framework refused: its place, such as ``("body",
    "items", 0, "sku")``, and the reason. The value itself is not kept.
    """

    place: tuple[str | int, ...]
    reason: str = "not valid"

    @property
    def field(self) -> str:
        """The place within the part of the request, ``items.0.sku``; empty if it is
        the whole part.
        """
        inside = self.place[1:] if len(self.place) > 1 else ()
        return ".".join(map(str, inside))[:_LONGEST_FIELD]


def invalid_input(
    failures: Sequence[InvalidInput],
    status: int = 422,
) -> AlknetError:
    """The error of input that a framework refuses: ``INVALID_INPUT``.

    ``status`` is that of the framework.
    """
    code = ErrorCode.INVALID_INPUT  # fmt: skip
    return bare(ERRORS[code])


def for_status(
    status: int,
    given: Collection[str] = (),
    envelope: EnvelopeName = "error",
    supplied: Mapping[str, str] = NOTHING,
) -> AlknetError:
    """The error of a bare status. ``given`` are the lower-case names of the headers
    that come with it, ``supplied`` values for others that it may need. Raises
    LookupError if no error fits.

    The code of a status is ``status_code``. It fits if it needs no details, and no
    other headers. If it does not fit, or several codes claim the status, the log has a
    warning, once for each status. The answer is then the first that fits of the
    declared fallback, the codes of 400 or 500, and the internal error, under the status
    if the code may have it, else under its own; without any of these, the first code of
    the status that fits.
    """
    found = _chosen(status, given, envelope, supplied)
    if found is None:
        raise LookupError(f"no answer to a bare {status}: pass `choose`")
    code, under = found
    if code != status_code(status):
        _warn(status, code, under)
    error = bare(ERRORS[code], status=under)
    for name in lacking(error):
        if name.lower() not in given:
            error.headers[name] = supplied[name.lower()]
    return error


@cache
def _warn(status: int, code: ErrorCode, under: int) -> None:
    """Say once that a bare status is answered as something else."""
    many = len(codes_for(status)) > 1 and status_code(status) is None
    _logger.warning(
        "a bare %s is answered as %s under %s: %s; pass `choose`",
        status,
        code,
        under,
        "several codes claim it"
        if many
        else "its code needs details or headers that only a handler knows",
    )


def _chosen(
    status: int,
    given: Collection[str],
    envelope: EnvelopeName,
    supplied: Mapping[str, str],
) -> tuple[ErrorCode, int] | None:
    known = {*given, *supplied}
    own = status_code(status)
    if own is not None and _answerable(own, status, known, envelope):
        return own, status
    fallbacks = [code for on, code in FALLBACKS if status in on]
    whole = status - status % 100
    for other in (*fallbacks, status_code(whole), *codes_for(whole), INTERNAL):
        if other is None:
            continue
        listed = (status,) if other in codes_for(status) else ()
        for under in (*listed, FACTS[other].status):
            if under and _answerable(other, under, known, envelope):
                return other, under
    # Without any of these, an answer by its status alone is still better than none.
    able = (
        code for code in codes_for(status) if _answerable(code, status, known, envelope)
    )
    code = next(able, None)
    return None if code is None else (code, status)


def status_code(status: int) -> ErrorCode | None:
    """The code that a bare status means: the one that ``GENERAL`` names, else the one
    whose default is nearest; None if there are several.
    """
    if status in GENERAL:
        return GENERAL[status]
    claims = {
        code: abs((FACTS[code].status or 0) - status) for code in codes_for(status)
    }
    least = min(claims.values(), default=0)
    nearest = [code for code, distance in claims.items() if distance == least]
    return nearest[0] if len(nearest) == 1 else None


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


def _is_sound(reply: Reply) -> bool:
    """Whether an answer of the application may leave as it is."""
    error = parse_own(reply.body, reply.status)
    if error is None:
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
        ranges = " and ".join(f"{one}xx" for one in sorted({n // 100 for n in lost}))
        raise ValueError(
            f"no answer to a bare {few}: name codes for {ranges} under `fallback` of "
            "the taxonomy, such as `5xx: {code: internal_error, reason: What breaks}`, "
            "with bodies that need no details; or pass `choose`"
        )


def _needed(envelope: EnvelopeName) -> list[str]:
    places = slot_places(ENVELOPES[envelope].shape)
    return [
        slot for slot in NEEDED if any(place.required for place in places.get(slot, ()))
    ]
