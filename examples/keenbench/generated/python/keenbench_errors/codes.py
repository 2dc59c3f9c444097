"""The codes of KeenBench errors, and the facts of each."""

# Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/keenbench/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache


class ErrorCode(StrEnum):
    """Every code a service may answer with."""

    # fmt: off

    EGRESS_CONSENT_REQUIRED = "EGRESS_CONSENT_REQUIRED"
    """The user has not agreed that this content leaves the machine."""

    EGRESS_BLOCKED_BY_POLICY = "EGRESS_BLOCKED_BY_POLICY"
    """A policy forbids that this content leaves the machine."""

    PROVIDER_NOT_CONFIGURED = "PROVIDER_NOT_CONFIGURED"
    """The provider has no key, or is not enabled."""

    PROVIDER_AUTH_FAILED = "PROVIDER_AUTH_FAILED"
    """The provider refused the key."""

    PROVIDER_RATE_LIMITED = "PROVIDER_RATE_LIMITED"
    """The provider limits the rate."""

    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"
    """The provider answers with errors, or not in time."""

    NETWORK_UNAVAILABLE = "NETWORK_UNAVAILABLE"
    """There is no network."""

    SANDBOX_VIOLATION = "SANDBOX_VIOLATION"
    """The sandbox refused what a tool tried to do."""

    VALIDATION_FAILED = "VALIDATION_FAILED"
    """What was asked for, or what the model made, is not valid."""

    CONTEXT_EXHAUSTED = "CONTEXT_EXHAUSTED"
    """The conversation is longer than the model takes."""

    DISK_FULL = "DISK_FULL"
    """The disk is full."""

    FILE_READ_FAILED = "FILE_READ_FAILED"
    """A file cannot be read."""

    FILE_WRITE_FAILED = "FILE_WRITE_FAILED"
    """A file cannot be written."""

    CHECKPOINT_CREATE_FAILED = "CHECKPOINT_CREATE_FAILED"
    """A checkpoint could not be made."""

    CHECKPOINT_RESTORE_FAILED = "CHECKPOINT_RESTORE_FAILED"
    """A checkpoint could not be restored."""

    BUDGET_CAP_REACHED = "BUDGET_CAP_REACHED"
    """The budget of the job is spent."""

    CONFLICT_PUBLISHED_CHANGED = "CONFLICT_PUBLISHED_CHANGED"
    """What is published changed since the draft was made."""

    USER_CANCELED = "USER_CANCELED"
    """The user stopped it."""

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
    With ``exact_actions`` an error suggests all of ``actions``.
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
    exact_actions: bool = False

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
    ErrorCode.EGRESS_CONSENT_REQUIRED: Facts(
        wire="EGRESS_CONSENT_REQUIRED",
        status=None,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="none",
        domain="egress",
        actions=(
            "retry",
            "switch_model",
        ),
    ),
    ErrorCode.EGRESS_BLOCKED_BY_POLICY: Facts(
        wire="EGRESS_BLOCKED_BY_POLICY",
        status=None,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="none",
        domain="egress",
        actions=(
            "switch_model",
            "open_settings",
        ),
    ),
    ErrorCode.PROVIDER_NOT_CONFIGURED: Facts(
        wire="PROVIDER_NOT_CONFIGURED",
        status=None,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="none",
        domain="provider",
        actions=(
            "open_settings",
            "switch_model",
        ),
    ),
    ErrorCode.PROVIDER_AUTH_FAILED: Facts(
        wire="PROVIDER_AUTH_FAILED",
        status=None,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="unknown",
        domain="provider",
        actions=(
            "open_settings",
            "switch_model",
        ),
    ),
    ErrorCode.PROVIDER_RATE_LIMITED: Facts(
        wire="PROVIDER_RATE_LIMITED",
        status=None,
        statuses=(),
        retriable="always",
        client_action="retry",
        effect="unknown",
        domain="provider",
        retry="automatic",
        actions=(
            "retry",
            "resume",
            "switch_model",
        ),
    ),
    ErrorCode.PROVIDER_UNAVAILABLE: Facts(
        wire="PROVIDER_UNAVAILABLE",
        status=None,
        statuses=(),
        retriable="always",
        client_action="retry",
        effect="unknown",
        domain="provider",
        retry="automatic",
        actions=(
            "retry",
            "resume",
            "switch_model",
        ),
    ),
    ErrorCode.NETWORK_UNAVAILABLE: Facts(
        wire="NETWORK_UNAVAILABLE",
        status=None,
        statuses=(),
        retriable="always",
        client_action="retry",
        effect="unknown",
        domain="provider",
        retry="automatic",
        actions=(
            "retry",
            "resume",
        ),
    ),
    ErrorCode.SANDBOX_VIOLATION: Facts(
        wire="SANDBOX_VIOLATION",
        status=None,
        statuses=(),
        retriable="never",
        client_action="none",
        effect="unknown",
        domain="sandbox",
        actions=(
            "view_report",
            "discard_draft",
        ),
    ),
    ErrorCode.VALIDATION_FAILED: Facts(
        wire="VALIDATION_FAILED",
        status=None,
        statuses=(),
        retriable="caller",
        client_action="none",
        effect="unknown",
        domain="sandbox",
        actions=(
            "retry",
            "review_draft",
            "view_report",
        ),
    ),
    ErrorCode.CONTEXT_EXHAUSTED: Facts(
        wire="CONTEXT_EXHAUSTED",
        status=None,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="unknown",
        domain="sandbox",
        actions=("switch_model",),
    ),
    ErrorCode.DISK_FULL: Facts(
        wire="DISK_FULL",
        status=None,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="unknown",
        domain="storage",
        actions=(
            "free_disk_space",
            "retry",
        ),
        exact_actions=True,
    ),
    ErrorCode.FILE_READ_FAILED: Facts(
        wire="FILE_READ_FAILED",
        status=None,
        statuses=(),
        retriable="caller",
        client_action="none",
        effect="unknown",
        domain="storage",
        actions=("retry",),
    ),
    ErrorCode.FILE_WRITE_FAILED: Facts(
        wire="FILE_WRITE_FAILED",
        status=None,
        statuses=(),
        retriable="caller",
        client_action="none",
        effect="possible",
        domain="storage",
        actions=(
            "retry",
            "free_disk_space",
        ),
    ),
    ErrorCode.CHECKPOINT_CREATE_FAILED: Facts(
        wire="CHECKPOINT_CREATE_FAILED",
        status=None,
        statuses=(),
        retriable="caller",
        client_action="none",
        effect="unknown",
        domain="storage",
        actions=(
            "retry",
            "free_disk_space",
        ),
    ),
    ErrorCode.CHECKPOINT_RESTORE_FAILED: Facts(
        wire="CHECKPOINT_RESTORE_FAILED",
        status=None,
        statuses=(),
        retriable="caller",
        client_action="none",
        effect="possible",
        domain="storage",
        actions=(
            "retry",
            "restore_checkpoint",
        ),
    ),
    ErrorCode.BUDGET_CAP_REACHED: Facts(
        wire="BUDGET_CAP_REACHED",
        status=None,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="unknown",
        domain="workflow",
        actions=(
            "open_settings",
            "resume",
        ),
    ),
    ErrorCode.CONFLICT_PUBLISHED_CHANGED: Facts(
        wire="CONFLICT_PUBLISHED_CHANGED",
        status=None,
        statuses=(),
        retriable="never",
        client_action="refetch",
        effect="unknown",
        domain="workflow",
        actions=(
            "review_draft",
            "discard_draft",
        ),
    ),
    ErrorCode.USER_CANCELED: Facts(
        wire="USER_CANCELED",
        status=None,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="possible",
        domain="workflow",
        actions=(
            "resume",
            "discard_draft",
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
