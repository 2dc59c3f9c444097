"""The codes of alknet call errors, and the facts of each."""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache


class ErrorCode(StrEnum):
    """Every code a service may answer with."""

    # fmt: off

    NOT_FOUND = "NOT_FOUND"
    """The operation is not registered, or is internal and was called from outside."""

    FORBIDDEN = "FORBIDDEN"
    """The caller lacks a scope, or is nobody that is known."""

    INVALID_INPUT = "INVALID_INPUT"
    """The input does not fit the operation's input schema."""

    INVALID_OPERATION_TYPE = "INVALID_OPERATION_TYPE"
    """The wrong way to call an operation of this type, such as invoke on a
    subscription.
    """

    INTERNAL = "INTERNAL"
    """A handler panicked or failed in a way it did not declare, or the connection
    broke.
    """

    TIMEOUT = "TIMEOUT"
    """The request timed out."""

    FILE_NOT_FOUND = "FILE_NOT_FOUND"
    """The file does not exist"""

    PERMISSION_DENIED = "PERMISSION_DENIED"
    """OS-level read permission denied"""

    INSUFFICIENT_CREDITS = "INSUFFICIENT_CREDITS"
    """The account cannot pay for the machine."""

    RATE_LIMITED = "RATE_LIMITED"
    """The upstream API limits the rate."""

    CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
    """The context window overflowed."""

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
    ErrorCode.NOT_FOUND: Facts(
        wire="NOT_FOUND",
        status=404,
        statuses=(404,),
        retriable="never",
        client_action="none",
        effect="none",
        boundaries=("registry",),
    ),
    ErrorCode.FORBIDDEN: Facts(
        wire="FORBIDDEN",
        status=401,
        statuses=(
            401,
            403,
        ),
        retriable="never",
        client_action="user",
        effect="none",
        boundaries=(
            "registry",
            "acl",
        ),
        status_rules=(
            StatusRule(
                then=401,
                when=(
                    (
                        "caller.authenticated",
                        (False,),
                    ),
                ),
            ),
            StatusRule(
                then=403,
            ),
        ),
    ),
    ErrorCode.INVALID_INPUT: Facts(
        wire="INVALID_INPUT",
        status=422,
        statuses=(422,),
        retriable="never",
        client_action="none",
        effect="none",
        boundaries=("registry",),
    ),
    ErrorCode.INVALID_OPERATION_TYPE: Facts(
        wire="INVALID_OPERATION_TYPE",
        status=500,
        statuses=(500,),
        retriable="never",
        client_action="none",
        effect="none",
        boundaries=(
            "registry",
            "operation_env",
        ),
    ),
    ErrorCode.INTERNAL: Facts(
        wire="INTERNAL",
        status=500,
        statuses=(500,),
        retriable="never",
        client_action="none",
        effect="unknown",
        boundaries=(
            "registry",
            "adapter",
        ),
    ),
    ErrorCode.TIMEOUT: Facts(
        wire="TIMEOUT",
        status=504,
        statuses=(504,),
        retriable="always",
        client_action="retry",
        effect="unknown",
        boundaries=("adapter",),
    ),
    ErrorCode.FILE_NOT_FOUND: Facts(
        wire="FILE_NOT_FOUND",
        status=500,
        statuses=(),
        retriable="never",
        client_action="none",
        effect="unknown",
        boundaries=("handler",),
    ),
    ErrorCode.PERMISSION_DENIED: Facts(
        wire="PERMISSION_DENIED",
        status=500,
        statuses=(),
        retriable="never",
        client_action="none",
        effect="unknown",
        boundaries=("handler",),
    ),
    ErrorCode.INSUFFICIENT_CREDITS: Facts(
        wire="INSUFFICIENT_CREDITS",
        status=500,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="unknown",
        boundaries=("handler",),
    ),
    ErrorCode.RATE_LIMITED: Facts(
        wire="RATE_LIMITED",
        status=429,
        statuses=(429,),
        retriable="always",
        client_action="retry",
        effect="none",
        boundaries=("handler",),
    ),
    ErrorCode.CONTEXT_OVERFLOW: Facts(
        wire="CONTEXT_OVERFLOW",
        status=500,
        statuses=(),
        retriable="never",
        client_action="none",
        effect="unknown",
        boundaries=("handler",),
    ),
}
# fmt: on

RETRYABLE = frozenset(
    code for code, facts in FACTS.items() if facts.client_action == "retry"
)
"""The codes whose client action is to send the same request again."""

FALLBACKS: Sequence[tuple[range, ErrorCode | None]] = (
    (
        range(400, 500),
        ErrorCode.INVALID_INPUT,
    ),
    (
        range(500, 600),
        ErrorCode.INTERNAL,
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
