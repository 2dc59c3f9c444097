"""The facts of an exchange that conditions may read."""

from faultspec.contract.keys import carried_key
from faultspec.exchange.model import Exchange
from faultspec.language.conditions import ConditionalRule, ConditionFacts, unknown_facts
from faultspec.language.model import Idempotency, Operation

_IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
"""Methods whose requests may be repeated (RFC 9110 section 9.2.2). Others may or may not."""

_REASONS = {
    "status": "the answer has no status",
    "cause": "a cause is never visible from outside",
    "operation.idempotent": "neither the taxonomy nor `upstreams.calls` of the configuration "
    "declares whether the operation is idempotent",
    "caller.authenticated": "no configured identity has the credentials of the request",
}
"""Why a fact is unknown."""


def facts_of(
    exchange: Exchange,
    operation: Operation | None,
    *,
    keys: Idempotency | None,
    status: int | None,
    details: object,
) -> ConditionFacts:
    """The known facts of an exchange.

    Credentials that belong to no configured identity may or may not be valid, so ``authenticated``
    is unknown for them, and for recordings that omit credentials.
    """
    return ConditionFacts(
        status=status,
        idempotent=_is_idempotent(exchange, operation, keys),
        authenticated=_is_authenticated(exchange),
        details=details if isinstance(details, dict) else {},
    )


def _is_idempotent(
    exchange: Exchange, operation: Operation | None, keys: Idempotency | None
) -> bool | None:
    """Whether it is idempotent: by the operation, the sender or the method, else by the default of
    the rule about keys. A key may make a request repeatable, and its absence may prevent that, so
    the default decides only where the request agrees with it.
    """
    if operation is not None and operation.idempotent is not None:
        return operation.idempotent
    if exchange.idempotent is not None or exchange.transport != "http":
        return exchange.idempotent
    method = exchange.request.method.upper()
    if method in _IDEMPOTENT:
        return True
    if keys is None or keys.default is None:
        return None
    keyed = carried_key(keys.key, exchange) is not None and method in keys.methods
    return keyed if keyed == (keys.default == "idempotent") else None


def _is_authenticated(exchange: Exchange) -> bool | None:
    if exchange.authenticated is not None:
        return exchange.authenticated
    credentials = exchange.request_header("authorization") or exchange.request_header("cookie")
    known = exchange.identity is not None
    hidden = "identity" in exchange.lacks
    return None if (credentials or hidden) and not known else known


def why_undecided(rules: tuple[ConditionalRule, ...], facts: ConditionFacts) -> str:
    """Why the facts leave several outcomes of the rules possible: each unknown fact and its
    reason.
    """
    unknown = unknown_facts(rules, facts)
    return "; ".join(
        f"`{fact}` is unknown: {_REASONS.get(fact, 'the answer does not have it')}"
        for fact in unknown
    )
