"""The codes of Core Platform errors, and the facts of each."""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache


class ErrorCode(StrEnum):
    """Every code a service may answer with."""

    # fmt: off

    INVALID_REQUEST = "invalid_request"
    """The request cannot be understood."""

    VALIDATION_FAILED = "validation_failed"
    """The request is understood and a value in it is not allowed."""

    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    """The body is in a format the service does not read."""

    UNAUTHENTICATED = "unauthenticated"
    """The caller is not known."""

    FORBIDDEN = "forbidden"
    """The caller is known and may not do this."""

    SCOPE_INSUFFICIENT = "scope_insufficient"
    """The caller's token lacks a scope."""

    NOT_FOUND = "not_found"
    """There is no such resource, or none the caller may know of."""

    CONFLICT = "conflict"
    """The request contradicts the state of a resource."""

    ALREADY_EXISTS = "already_exists"
    """What was to be created is there already."""

    RATE_LIMITED = "rate_limited"
    """The caller exceeded its rate."""

    TIMEOUT = "timeout"
    """The work was not done in time."""

    DEPENDENCY_UNAVAILABLE = "dependency_unavailable"
    """Something the service needs cannot be reached."""

    INTERNAL_ERROR = "internal_error"
    """The platform failed in a way it did not expect."""

    CONSTRAINT_VIOLATION = "constraint_violation"
    """The change would break an invariant of the data."""

    SERIALIZATION_FAILURE = "serialization_failure"
    """A concurrent transaction won."""

    STALE_READ = "stale_read"
    """The resource changed since the client read it."""

    # fmt: on


ClientAction = t.Literal["retry", "refetch", "user", "none"]
"""What a client does: send the same request again, read the resource again first, ask a
person, or give up.
"""

Effect = t.Literal["none", "possible", "unknown"]
"""Whether the operation may have taken effect although the error was returned."""

Retriability = t.Literal["always", "never", "caller", "none", "conditional"]
"""Whether the same request may be sent again; ``caller``: each error decides; ``none``:
errors have no such flag.
"""


class RetriableRule(t.NamedTuple):
    """``then`` is the result if each fact, such as ``status`` or ``details.reason``,
    has one of its values.
    """

    then: bool
    when: tuple[tuple[str, Sequence[object]], ...] = ()


class StatusRule(t.NamedTuple):
    """``then`` is the status if each fact, such as ``details.reason``, has one of its
    values.
    """

    then: int
    when: tuple[tuple[str, Sequence[object]], ...] = ()


class Facts(t.NamedTuple):
    """The facts of a code.

    ``wire`` stands in the envelope. ``status`` is the default, None for a code that
    never travels over HTTP; ``statuses`` are all that it may have. The first of
    ``boundaries`` is the default. ``retry`` names a policy. ``until`` is the action
    after which the request may be sent again. The first of ``rules`` that holds decides
    a conditional flag, and the first of ``status_rules`` a conditional status.
    ``headers`` must be given when the error is raised: each with the statuses that
    require it. ``constants`` are headers whose value the code decides: name, value
    (None: it has no such header), and the statuses.
    """

    wire: str | int
    status: int | None
    statuses: Sequence[int]
    retriable: Retriability
    client_action: ClientAction
    effect: Effect
    domain: str | None = None
    boundaries: tuple[str, ...] = ()
    retry: str | None = None
    until: str | None = None
    actions: tuple[str, ...] = ()
    rules: tuple[RetriableRule, ...] = ()
    deprecated: bool = False
    status_rules: tuple[StatusRule, ...] = ()
    headers: tuple[tuple[str, Sequence[range]], ...] = ()
    constants: tuple[tuple[str, str | None, Sequence[range]], ...] = ()

    def allows(self, status: int) -> bool:
        """Whether the code may travel under a status: one of its own, or one that no
        code claims and that it stands for. A code without statuses is sent as 500.
        """
        if not self.statuses:
            return status == 500
        return status in self.statuses or any(
            FACTS[code].wire == self.wire for code in codes_for(status)
        )


# fmt: off
FACTS: Mapping[ErrorCode, Facts] = {
    ErrorCode.INVALID_REQUEST: Facts(
        wire="invalid_request",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="request",
        boundaries=(
            "service",
            "gateway",
        ),
        headers=(
            (
                "WWW-Authenticate",
                (range(401, 402),),
            ),
            (
                "Allow",
                (range(405, 406),),
            ),
            (
                "Retry-After",
                (range(429, 430),),
            ),
        ),
    ),
    ErrorCode.VALIDATION_FAILED: Facts(
        wire="validation_failed",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="request",
        boundaries=("service",),
    ),
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: Facts(
        wire="unsupported_media_type",
        status=415,
        statuses=(415,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="request",
        boundaries=(
            "gateway",
            "service",
        ),
    ),
    ErrorCode.UNAUTHENTICATED: Facts(
        wire="unauthenticated",
        status=401,
        statuses=(401,),
        retriable="never",
        client_action="user",
        effect="none",
        domain="auth",
        boundaries=("gateway",),
        headers=(
            (
                "WWW-Authenticate",
                (range(401, 402),),
            ),
        ),
    ),
    ErrorCode.FORBIDDEN: Facts(
        wire="forbidden",
        status=403,
        statuses=(403,),
        retriable="never",
        client_action="user",
        effect="none",
        domain="auth",
        boundaries=(
            "service",
            "gateway",
        ),
    ),
    ErrorCode.SCOPE_INSUFFICIENT: Facts(
        wire="scope_insufficient",
        status=403,
        statuses=(403,),
        retriable="never",
        client_action="user",
        effect="none",
        domain="auth",
        boundaries=(
            "gateway",
            "service",
        ),
    ),
    ErrorCode.NOT_FOUND: Facts(
        wire="not_found",
        status=404,
        statuses=(404,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="resource",
        boundaries=(
            "service",
            "gateway",
        ),
    ),
    ErrorCode.CONFLICT: Facts(
        wire="conflict",
        status=409,
        statuses=(409,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="resource",
        boundaries=("service",),
    ),
    ErrorCode.ALREADY_EXISTS: Facts(
        wire="already_exists",
        status=409,
        statuses=(409,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="resource",
        boundaries=("service",),
    ),
    ErrorCode.RATE_LIMITED: Facts(
        wire="rate_limited",
        status=429,
        statuses=(429,),
        retriable="always",
        client_action="retry",
        effect="none",
        domain="rate",
        boundaries=("gateway",),
        retry="exponential_jitter",
        headers=(
            (
                "Retry-After",
                (range(429, 430),),
            ),
        ),
    ),
    ErrorCode.TIMEOUT: Facts(
        wire="timeout",
        status=504,
        statuses=(
            504,
            502,
            503,
        ),
        retriable="always",
        client_action="retry",
        effect="unknown",
        domain="runtime",
        boundaries=(
            "service",
            "dependency",
            "gateway",
        ),
        retry="exponential_jitter",
    ),
    ErrorCode.DEPENDENCY_UNAVAILABLE: Facts(
        wire="dependency_unavailable",
        status=503,
        statuses=(
            503,
            502,
            504,
        ),
        retriable="always",
        client_action="retry",
        effect="possible",
        domain="runtime",
        boundaries=("dependency",),
        retry="linear_then_exponential",
    ),
    ErrorCode.INTERNAL_ERROR: Facts(
        wire="internal_error",
        status=500,
        statuses=(500,),
        retriable="never",
        client_action="none",
        effect="unknown",
        domain="runtime",
        boundaries=("service",),
    ),
    ErrorCode.CONSTRAINT_VIOLATION: Facts(
        wire="constraint_violation",
        status=422,
        statuses=(422,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="data",
        boundaries=("service",),
    ),
    ErrorCode.SERIALIZATION_FAILURE: Facts(
        wire="serialization_failure",
        status=503,
        statuses=(503,),
        retriable="always",
        client_action="retry",
        effect="none",
        domain="data",
        boundaries=("service",),
        retry="serializable",
    ),
    ErrorCode.STALE_READ: Facts(
        wire="stale_read",
        status=412,
        statuses=(412,),
        retriable="caller",
        client_action="refetch",
        effect="none",
        domain="data",
        boundaries=("service",),
        headers=(
            (
                "ETag",
                (range(412, 413),),
            ),
        ),
    ),
}
# fmt: on

RETRYABLE = frozenset(
    code for code, facts in FACTS.items() if facts.client_action == "retry"
)
"""The codes whose client action is to send the same request again."""

FALLBACKS: Sequence[tuple[range, ErrorCode | None]] = (
    (
        range(405, 406),
        ErrorCode.INVALID_REQUEST,
    ),
    (
        range(406, 407),
        ErrorCode.INVALID_REQUEST,
    ),
    (
        range(413, 414),
        ErrorCode.INVALID_REQUEST,
    ),
    (
        range(400, 500),
        ErrorCode.INVALID_REQUEST,
    ),
    (
        range(500, 600),
        ErrorCode.INTERNAL_ERROR,
    ),
)
"""The code of an error status that no code claims, the narrowest range first; None if
the status is never sent.
"""


UNKNOWN_ACTION: ClientAction = "none"
"""What a client does about an undeclared code, such as one of a later version
(by the taxonomy's rule for them).
"""


def is_retryable(code: str | None) -> bool:
    """Whether the client action is ``retry``: to send the same request again. ``code``
    is a member of ``ErrorCode`` or the name of one. Any other name, or None, is an
    undeclared code, and has ``UNKNOWN_ACTION``.
    """
    return code in RETRYABLE


def client_action(code: str | None) -> ClientAction:
    """What a client does about a code; ``UNKNOWN_ACTION`` for an undeclared one."""
    facts = t.cast(Mapping[str | None, Facts], FACTS).get(code)
    return UNKNOWN_ACTION if facts is None else facts.client_action


def http_status(code: ErrorCode) -> int | None:
    """The default status of a code; None if it never travels over HTTP."""
    return FACTS[code].status


def codes_for(status: int) -> tuple[ErrorCode, ...]:
    """The codes that may travel under a status; the fallback if no code claims it, and
    nothing if it has no fallback.
    """
    claimed = _claiming(status)
    if claimed:
        return claimed
    fallback = next((code for statuses, code in FALLBACKS if status in statuses), None)
    return () if fallback is None else (fallback,)


@lru_cache(maxsize=512)  # more than there are error statuses
def _claiming(status: int) -> tuple[ErrorCode, ...]:
    return tuple(code for code, facts in FACTS.items() if status in facts.statuses)
