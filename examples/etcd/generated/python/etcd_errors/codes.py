"""The codes of etcd errors, and the facts of each."""

# Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec compile
# examples/etcd/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache


class ErrorCode(StrEnum):
    """Every code a service may answer with."""

    # fmt: off

    CANCELLED = "CANCELLED"
    """The operation was cancelled, typically by the caller."""

    UNKNOWN = "UNKNOWN"
    """An error from another address space, or without enough information."""

    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    """The client specified an invalid argument."""

    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    """The deadline expired before the operation could complete."""

    NOT_FOUND = "NOT_FOUND"
    """A requested entity was not found."""

    ALREADY_EXISTS = "ALREADY_EXISTS"
    """The entity that a client attempted to create already exists."""

    PERMISSION_DENIED = "PERMISSION_DENIED"
    """The caller does not have permission to execute the operation."""

    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    """A quota or the space of the file system is exhausted."""

    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    """The system is not in a state that the operation requires."""

    ABORTED = "ABORTED"
    """The operation was aborted, typically due to a concurrency issue."""

    OUT_OF_RANGE = "OUT_OF_RANGE"
    """The operation was attempted past the valid range."""

    UNIMPLEMENTED = "UNIMPLEMENTED"
    """The operation is not implemented or not enabled."""

    INTERNAL = "INTERNAL"
    """An invariant of the system is broken."""

    UNAVAILABLE = "UNAVAILABLE"
    """The service is currently unavailable; the client may retry."""

    DATA_LOSS = "DATA_LOSS"
    """Unrecoverable data loss or corruption."""

    UNAUTHENTICATED = "UNAUTHENTICATED"
    """The request has no valid authentication credentials."""

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
    ErrorCode.CANCELLED: Facts(
        wire=1,
        status=408,
        statuses=(408,),
        retriable="never",
        client_action="none",
        effect="unknown",
        domain="service",
    ),
    ErrorCode.UNKNOWN: Facts(
        wire=2,
        status=500,
        statuses=(500,),
        retriable="never",
        client_action="none",
        effect="unknown",
        domain="service",
    ),
    ErrorCode.INVALID_ARGUMENT: Facts(
        wire=3,
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.DEADLINE_EXCEEDED: Facts(
        wire=4,
        status=504,
        statuses=(504,),
        retriable="never",
        client_action="none",
        effect="unknown",
        domain="service",
    ),
    ErrorCode.NOT_FOUND: Facts(
        wire=5,
        status=404,
        statuses=(404,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="state",
    ),
    ErrorCode.ALREADY_EXISTS: Facts(
        wire=6,
        status=409,
        statuses=(409,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="state",
    ),
    ErrorCode.PERMISSION_DENIED: Facts(
        wire=7,
        status=403,
        statuses=(403,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="access",
    ),
    ErrorCode.RESOURCE_EXHAUSTED: Facts(
        wire=8,
        status=429,
        statuses=(429,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="service",
    ),
    ErrorCode.FAILED_PRECONDITION: Facts(
        wire=9,
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="state",
    ),
    ErrorCode.ABORTED: Facts(
        wire=10,
        status=409,
        statuses=(409,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="state",
    ),
    ErrorCode.OUT_OF_RANGE: Facts(
        wire=11,
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="request",
    ),
    ErrorCode.UNIMPLEMENTED: Facts(
        wire=12,
        status=501,
        statuses=(501,),
        retriable="never",
        client_action="none",
        effect="unknown",
        domain="service",
    ),
    ErrorCode.INTERNAL: Facts(
        wire=13,
        status=500,
        statuses=(500,),
        retriable="never",
        client_action="none",
        effect="unknown",
        domain="service",
    ),
    ErrorCode.UNAVAILABLE: Facts(
        wire=14,
        status=503,
        statuses=(503,),
        retriable="always",
        client_action="retry",
        effect="unknown",
        domain="service",
    ),
    ErrorCode.DATA_LOSS: Facts(
        wire=15,
        status=500,
        statuses=(500,),
        retriable="never",
        client_action="none",
        effect="unknown",
        domain="service",
    ),
    ErrorCode.UNAUTHENTICATED: Facts(
        wire=16,
        status=401,
        statuses=(401,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="access",
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
(nothing: the taxonomy has no rule for them).
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
