"""The codes of Kinto errors, and the facts of each."""

# Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/kinto/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache


class ErrorCode(StrEnum):
    """Every code a service may answer with."""

    # fmt: off

    MISSING_AUTH_TOKEN = "MISSING_AUTH_TOKEN"
    """Missing Authorization Token"""

    INVALID_AUTH_TOKEN = "INVALID_AUTH_TOKEN"
    """Invalid Authorization Token"""

    BADJSON = "BADJSON"
    """The request body was not valid JSON"""

    INVALID_PARAMETERS = "INVALID_PARAMETERS"
    """Invalid request parameter"""

    MISSING_PARAMETERS = "MISSING_PARAMETERS"
    """Missing request parameter"""

    INVALID_POSTED_DATA = "INVALID_POSTED_DATA"
    """Invalid posted data"""

    INVALID_RESOURCE_ID = "INVALID_RESOURCE_ID"
    """Invalid Token / id"""

    MISSING_RESOURCE = "MISSING_RESOURCE"
    """Missing Token / id"""

    MISSING_CONTENT_LENGTH = "MISSING_CONTENT_LENGTH"
    """Content-Length header was not provided"""

    REQUEST_TOO_LARGE = "REQUEST_TOO_LARGE"
    """Request body too large"""

    MODIFIED_MEANWHILE = "MODIFIED_MEANWHILE"
    """Resource was modified meanwhile"""

    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    """Method not allowed on this end point"""

    VERSION_NOT_AVAILABLE = "VERSION_NOT_AVAILABLE"
    """Requested version not available on this server"""

    CLIENT_REACHED_CAPACITY = "CLIENT_REACHED_CAPACITY"
    """Client has sent too many requests"""

    FORBIDDEN = "FORBIDDEN"
    """Resource's access forbidden for this user"""

    CONSTRAINT_VIOLATED = "CONSTRAINT_VIOLATED"
    """Another resource violates constraint"""

    BACKEND = "BACKEND"
    """Service temporarily unavailable due to high load"""

    SERVICE_DEPRECATED = "SERVICE_DEPRECATED"
    """Service deprecated"""

    UNDEFINED = "UNDEFINED"
    """Internal Server Error"""

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
    ErrorCode.MISSING_AUTH_TOKEN: Facts(
        wire=104,
        status=401,
        statuses=(401,),
        retriable="none",
        client_action="user",
        effect="none",
        domain="authentication",
    ),
    ErrorCode.INVALID_AUTH_TOKEN: Facts(
        wire=105,
        status=401,
        statuses=(401,),
        retriable="none",
        client_action="user",
        effect="none",
        domain="authentication",
    ),
    ErrorCode.BADJSON: Facts(
        wire=106,
        status=400,
        statuses=(400,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.INVALID_PARAMETERS: Facts(
        wire=107,
        status=400,
        statuses=(400,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.MISSING_PARAMETERS: Facts(
        wire=108,
        status=400,
        statuses=(400,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.INVALID_POSTED_DATA: Facts(
        wire=109,
        status=400,
        statuses=(400,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.INVALID_RESOURCE_ID: Facts(
        wire=110,
        status=404,
        statuses=(404,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="resource",
    ),
    ErrorCode.MISSING_RESOURCE: Facts(
        wire=111,
        status=404,
        statuses=(404,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="resource",
    ),
    ErrorCode.MISSING_CONTENT_LENGTH: Facts(
        wire=112,
        status=411,
        statuses=(411,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.REQUEST_TOO_LARGE: Facts(
        wire=113,
        status=413,
        statuses=(413,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.MODIFIED_MEANWHILE: Facts(
        wire=114,
        status=412,
        statuses=(412,),
        retriable="none",
        client_action="refetch",
        effect="none",
        domain="resource",
    ),
    ErrorCode.METHOD_NOT_ALLOWED: Facts(
        wire=115,
        status=405,
        statuses=(405,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.VERSION_NOT_AVAILABLE: Facts(
        wire=116,
        status=404,
        statuses=(404,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.CLIENT_REACHED_CAPACITY: Facts(
        wire=117,
        status=429,
        statuses=(429,),
        retriable="none",
        client_action="retry",
        effect="none",
        domain="service",
    ),
    ErrorCode.FORBIDDEN: Facts(
        wire=121,
        status=403,
        statuses=(403,),
        retriable="none",
        client_action="user",
        effect="none",
        domain="permission",
    ),
    ErrorCode.CONSTRAINT_VIOLATED: Facts(
        wire=122,
        status=409,
        statuses=(409,),
        retriable="none",
        client_action="retry",
        effect="none",
        domain="resource",
    ),
    ErrorCode.BACKEND: Facts(
        wire=201,
        status=503,
        statuses=(503,),
        retriable="none",
        client_action="retry",
        effect="none",
        domain="service",
        headers=(
            (
                "Retry-After",
                (range(503, 504),),
            ),
        ),
    ),
    ErrorCode.SERVICE_DEPRECATED: Facts(
        wire=202,
        status=410,
        statuses=(410,),
        retriable="none",
        client_action="none",
        effect="none",
        domain="service",
    ),
    ErrorCode.UNDEFINED: Facts(
        wire=999,
        status=500,
        statuses=(500,),
        retriable="none",
        client_action="retry",
        effect="unknown",
        domain="service",
        headers=(
            (
                "Retry-After",
                (range(500, 501),),
            ),
        ),
    ),
}
# fmt: on

RETRYABLE = frozenset(
    code for code, facts in FACTS.items() if facts.client_action == "retry"
)
"""The codes whose client action is to send the same request again."""

FALLBACKS: Sequence[tuple[range, ErrorCode | None]] = ()
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
