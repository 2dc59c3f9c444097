"""The facts of an exchange that conditions may read."""

from faultspec.exchange.model import Exchange
from faultspec.language.conditions import ConditionFacts
from faultspec.language.model import Operation


def facts_of(
    exchange: Exchange, operation: Operation | None, status: int | None, details: object
) -> ConditionFacts:
    """What is known of an exchange.

    Credentials that belong to no configured identity may or may not be valid, so ``authenticated``
    is unknown for them, and for recordings that omit credentials.
    """
    credentials = exchange.sent("authorization") or exchange.sent("cookie")
    known = exchange.identity is not None
    hidden = "identity" in exchange.lacks
    return ConditionFacts(
        status=status,
        idempotent=operation.idempotent if operation else None,
        authenticated=None if (credentials or hidden) and not known else known,
        details=details if isinstance(details, dict) else {},
    )
