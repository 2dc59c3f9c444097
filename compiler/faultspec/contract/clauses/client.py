"""Clients of a service: what they do after an error."""

from collections.abc import Iterator
from functools import partial

from faultspec.contract.clauses.clause import Clause, Requirement
from faultspec.contract.clauses.constructs import (
    ECHO,
    IDEMPOTENCY,
    RETRY_AFTER,
    any_code,
    code_sources,
    echo_sources,
    idempotency_sources,
    policy_sources,
    retry_after_sources,
)
from faultspec.language.model import RetryPolicy, Taxonomy

_relation = partial(Clause, reads=("sequence",), sources=policy_sources)


def _code_policies(taxonomy: Taxonomy) -> Iterator[RetryPolicy]:
    """The retry policies that codes name, which clients follow."""
    names = {code.retry for code in taxonomy.every_code()}
    return (policy for name, policy in taxonomy.retry_policies.items() if name in names)


def _has_refusals(taxonomy: Taxonomy) -> bool:
    """Whether clients must not retry some error."""
    return any(policy.eligible for policy in taxonomy.retry_policies.values()) or any(
        code.client_action in ("none", "user") or False in code.retriable.outcomes
        for code in taxonomy.every_code()
    )


_HAS_POLICY = any_code("no code has `retry`", lambda code: code.retry)

CLAUSES = (
    _relation(
        address="client/retries",
        title="The client retries a failure that can be retried",
        why="The user sees a failure that the next second would have repaired.",
        occasion="An error whose client action is retry, every time.",
        requires=(
            any_code(
                "no code has `client_action: retry`", lambda code: code.client_action == "retry"
            ),
        ),
    ),
    _relation(
        address="client/attempts",
        title="The client makes no more attempts than the policy allows",
        why="Endless retries attack a service that is down already.",
        occasion="An error whose client action is retry, every time.",
        requires=(_HAS_POLICY,),
    ),
    _relation(
        address="client/waits",
        title="The waits between attempts lie within the policy's bounds",
        why="Retries without a wait meet the same failure, and prolong it.",
        occasion="A retried error whose code has a retry policy.",
        requires=(_HAS_POLICY,),
    ),
    _relation(
        address="client/jitter",
        title="The waits between attempts are spread",
        why="Clients that failed together come back together.",
        occasion="Enough waits for a statistical test, each with room for jitter.",
        presupposes=("client/waits",),
        requires=(
            Requirement(
                "no code has a retry policy with `jitter`",
                lambda taxonomy: any(
                    policy.policy.jitter.kind != "none" for policy in _code_policies(taxonomy)
                ),
            ),
        ),
    ),
    _relation(
        address="client/retry-after",
        title="The client waits as long as the service asks",
        why="Only the service knows when it will be back; earlier retries delay its recovery.",
        occasion="A retried error with a Retry-After that the policy obeys.",
        requires=(RETRY_AFTER,),
        sources=lambda taxonomy: (*retry_after_sources(taxonomy), *policy_sources(taxonomy)),
    ),
    _relation(
        address="client/gives-up",
        title="The client does not retry a failure that cannot be retried",
        why="The same request gets the same refusal, so the client never ends.",
        occasion="An error whose client action is none or user.",
        requires=(
            Requirement(
                "every code has `client_action: retry` or `client_action: refetch`, no code has a"
                " false `retriable`, and no retry policy has `eligible`",
                _has_refusals,
            ),
        ),
        sources=code_sources,
    ),
    _relation(
        address="client/refetches",
        title="The client reads stale data again before it writes again",
        why="The same write is refused for ever, or erases somebody else's work.",
        occasion="An error whose client action is refetch.",
        requires=(
            any_code(
                "no code has `client_action: refetch`", lambda code: code.client_action == "refetch"
            ),
        ),
        sources=lambda taxonomy: (
            code.source for code in taxonomy.every_code() if code.client_action == "refetch"
        ),
    ),
    _relation(
        address="client/unsafe",
        title="The client does not repeat a write that may have taken effect without a key",
        why="The order exists twice.",
        occasion="An error that may have had an effect, to a write that is not idempotent.",
        requires=(any_code("every code has `effect: none`", lambda code: code.effect != "none"),),
        sources=lambda taxonomy: idempotency_sources(taxonomy) or policy_sources(taxonomy),
    ),
    _relation(
        address="client/key",
        title="The attempts of one call share an idempotency key; another call has another",
        why="A new key makes each attempt a new order; an old key makes the second order a replay.",
        occasion="A retried write that takes a key.",
        reads=("sequence", "request"),
        requires=(IDEMPOTENCY,),
        sources=idempotency_sources,
    ),
    _relation(
        address="client/correlation",
        title="A correlation id that the client sends is well formed",
        why="The service replaces a malformed id, so only the client's log has it.",
        occasion="A request with a correlation id.",
        reads=("sequence", "request"),
        requires=(ECHO,),
        sources=echo_sources,
    ),
)
