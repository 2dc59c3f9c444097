"""The codes of Registry errors, and the facts of each."""

# Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/registry/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache


class ErrorCode(StrEnum):
    """Every code a service may answer with."""

    # fmt: off

    UNKNOWN = "UNKNOWN"
    """A code that the client does not know stands for this one."""

    BLOB_UNKNOWN = "BLOB_UNKNOWN"
    """The repository does not have this blob."""

    BLOB_UPLOAD_INVALID = "BLOB_UPLOAD_INVALID"
    """The upload encountered an error and can no longer proceed."""

    BLOB_UPLOAD_UNKNOWN = "BLOB_UPLOAD_UNKNOWN"
    """The upload was cancelled or never started."""

    DIGEST_INVALID = "DIGEST_INVALID"
    """The digest does not match the content, or is not a digest."""

    MANIFEST_BLOB_UNKNOWN = "MANIFEST_BLOB_UNKNOWN"
    """The manifest refers to a blob that the registry does not have."""

    MANIFEST_INVALID = "MANIFEST_INVALID"
    """The manifest is not valid."""

    MANIFEST_UNKNOWN = "MANIFEST_UNKNOWN"
    """The repository does not have this manifest."""

    MANIFEST_UNVERIFIED = "MANIFEST_UNVERIFIED"
    """The signature of the manifest could not be verified."""

    NAME_INVALID = "NAME_INVALID"
    """The name is not that of a repository."""

    NAME_UNKNOWN = "NAME_UNKNOWN"
    """The registry does not have this repository."""

    SIZE_INVALID = "SIZE_INVALID"
    """The size of the upload differs from the size that the client gave."""

    TAG_INVALID = "TAG_INVALID"
    """The tag of the manifest differs from the tag in the path."""

    UNAUTHORIZED = "UNAUTHORIZED"
    """The registry could not authenticate the client."""

    DENIED = "DENIED"
    """The client may not do this."""

    UNSUPPORTED = "UNSUPPORTED"
    """The registry does not offer this operation, or not with these parameters."""

    TOOMANYREQUESTS = "TOOMANYREQUESTS"
    """The client sent too many requests within a time interval."""

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
    ErrorCode.UNKNOWN: Facts(
        wire="UNKNOWN",
        status=400,
        statuses=range(400, 429),
        retriable="never",
        client_action="none",
        effect="unknown",
        domain="capability",
        headers=(
            (
                "WWW-Authenticate",
                (range(401, 402),),
            ),
        ),
    ),
    ErrorCode.BLOB_UNKNOWN: Facts(
        wire="BLOB_UNKNOWN",
        status=400,
        statuses=(
            400,
            404,
        ),
        retriable="never",
        client_action="none",
        effect="none",
        domain="content",
    ),
    ErrorCode.BLOB_UPLOAD_INVALID: Facts(
        wire="BLOB_UPLOAD_INVALID",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="upload",
    ),
    ErrorCode.BLOB_UPLOAD_UNKNOWN: Facts(
        wire="BLOB_UPLOAD_UNKNOWN",
        status=404,
        statuses=(404,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="upload",
    ),
    ErrorCode.DIGEST_INVALID: Facts(
        wire="DIGEST_INVALID",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="content",
    ),
    ErrorCode.MANIFEST_BLOB_UNKNOWN: Facts(
        wire="MANIFEST_BLOB_UNKNOWN",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="content",
    ),
    ErrorCode.MANIFEST_INVALID: Facts(
        wire="MANIFEST_INVALID",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="content",
    ),
    ErrorCode.MANIFEST_UNKNOWN: Facts(
        wire="MANIFEST_UNKNOWN",
        status=404,
        statuses=(404,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="content",
    ),
    ErrorCode.MANIFEST_UNVERIFIED: Facts(
        wire="MANIFEST_UNVERIFIED",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="content",
    ),
    ErrorCode.NAME_INVALID: Facts(
        wire="NAME_INVALID",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="name",
    ),
    ErrorCode.NAME_UNKNOWN: Facts(
        wire="NAME_UNKNOWN",
        status=404,
        statuses=(404,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="name",
    ),
    ErrorCode.SIZE_INVALID: Facts(
        wire="SIZE_INVALID",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="upload",
    ),
    ErrorCode.TAG_INVALID: Facts(
        wire="TAG_INVALID",
        status=400,
        statuses=(400,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="name",
    ),
    ErrorCode.UNAUTHORIZED: Facts(
        wire="UNAUTHORIZED",
        status=401,
        statuses=(401,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="access",
        headers=(
            (
                "WWW-Authenticate",
                (range(401, 402),),
            ),
        ),
    ),
    ErrorCode.DENIED: Facts(
        wire="DENIED",
        status=403,
        statuses=(403,),
        retriable="never",
        client_action="none",
        effect="none",
        domain="access",
    ),
    ErrorCode.UNSUPPORTED: Facts(
        wire="UNSUPPORTED",
        status=400,
        statuses=(
            400,
            405,
        ),
        retriable="never",
        client_action="none",
        effect="none",
        domain="capability",
    ),
    ErrorCode.TOOMANYREQUESTS: Facts(
        wire="TOOMANYREQUESTS",
        status=429,
        statuses=(429,),
        retriable="always",
        client_action="retry",
        effect="none",
        domain="capability",
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
