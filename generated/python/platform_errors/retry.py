"""Whether a client tries again, and how long it waits first.

    state = start_retry(error)
    while (plan := plan_retry(error, state)).retry:
        time.sleep(plan.delay)
        state = plan.state
        ...  # once more, with the same idempotency key; on success leave,
        ...  # on failure ``error`` is the new one

Nothing here waits or sends.
"""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml

# Some taxonomies leave an unknown error without a code; in others it always has one.
# pyright: reportUnnecessaryComparison=false

import random as _random
import time
import typing as t
from collections.abc import Callable, Mapping, Sequence

from ._runtime import ids
from ._runtime.keys import KeyPlace, put_key
from ._runtime.retry import (
    Budget,
    Failure,
    Jitter,
    Kind,
    Phase,
    Plan,
    Policy,
    RetryAfterRule,
    State,
    plan,
    scale_policy,
    start,
    succeed,
)
from .codes import ErrorCode, RetriableRule
from .errors import (
    PlatformError,
    decided,
    known_facts,
)

__all__ = [
    "ELIGIBLE",
    "ELIGIBLE_WHEN",
    "IDEMPOTENCY_HEADER",
    "IDEMPOTENCY_KEY_PLACE",
    "KIND_OF",
    "NEVER",
    "POLICIES",
    "Budget",
    "Failure",
    "Jitter",
    "Kind",
    "Phase",
    "Plan",
    "Policy",
    "RetryAfterRule",
    "State",
    "new_idempotency_key",
    "plan",
    "plan_retry",
    "policy_for",
    "put_idempotency_key",
    "start",
    "start_retry",
    "succeed",
]

POLICIES: Mapping[str, Policy] = {
    # Exponential with jitter, the server's Retry-After first.
    "exponential_jitter": Policy(
        name="exponential_jitter",
        max_attempts=5,
        phases=(
            Phase(
                kind="exponential",
                base=0.5,
                max=30.0,
            ),
        ),
        jitter=Jitter(
            kind="full",
        ),
        retry_after=RetryAfterRule(
            max=300.0,
        ),
        max_elapsed=600.0,
    ),
    # Linear for 30 s, then exponential.
    "linear_then_exponential": Policy(
        name="linear_then_exponential",
        max_attempts=12,
        phases=(
            Phase(
                kind="linear",
                base=2.0,
                step=2.0,
                for_seconds=30.0,
            ),
            Phase(
                kind="exponential",
                base=5.0,
                max=60.0,
            ),
        ),
        jitter=Jitter(
            kind="ratio",
            ratio=0.1,
        ),
        retry_after=RetryAfterRule(
            max=300.0,
        ),
        max_elapsed=600.0,
    ),
    # Up to three attempts at SERIALIZABLE.
    "serializable": Policy(
        name="serializable",
        phases=(
            Phase(
                kind="exponential",
                base=0.05,
                max=1.0,
            ),
        ),
        jitter=Jitter(
            kind="full",
        ),
        retry_after=RetryAfterRule(
            honor=False,
            min_is_computed=False,
        ),
    ),
}

ELIGIBLE: t.Final[Mapping[str, frozenset[ErrorCode]]] = {}
"""The codes of a policy, if it is not for every retriable code."""

# fmt: off
ELIGIBLE_WHEN: t.Final[Mapping[str, Sequence[RetriableRule]]] = {}
# fmt: on
"""The rules that decide whether a policy is for an error of its codes: the first that
holds, and if none does, it is.
"""

KIND_OF: t.Final[Mapping[str, Mapping[ErrorCode, str]]] = {}
"""The kind of a code's failures, if the policy has one: a key of ``kinds``."""

NEVER = Policy("never", max_attempts=1)
"""The policy of a code that has none."""

IDEMPOTENCY_HEADER = "Idempotency-Key"
"""The request header that makes a write safe to repeat."""

IDEMPOTENCY_KEY_PLACE = KeyPlace("header", "Idempotency-Key")
"""The place of the key that makes a write safe to repeat."""


def new_idempotency_key() -> str:
    """A key for one write; every retry of it has the same key."""
    return ids.new("uuid4")


def put_idempotency_key(part: Mapping[str, object], key: str) -> dict[str, object]:
    """A copy of the headers of a request, with the key of the write."""
    return put_key(IDEMPOTENCY_KEY_PLACE, part, key)


def policy_for(
    error: PlatformError,
) -> Policy:
    """The policy of the error's code."""
    return NEVER if error.facts.retry is None else POLICIES[error.facts.retry]


def start_retry(
    error: PlatformError,
    tokens: float | None = None,
) -> State:
    """The state after the first try failed with ``error``; ``tokens`` are those left in
    a shared budget.
    """
    return start(policy_for(error), tokens)


def plan_retry(
    error: PlatformError,
    state: State,
    *,
    idempotent: bool = True,
    kind: str | None = None,
    scale: float = 1.0,
    now: float | None = None,
    random: Callable[[], float] = _random.random,
) -> Plan:
    """Whether to send the request again, after how many seconds, and why.

    ``idempotent``: sending the request twice has the effect of sending it once, by its
    method or by an idempotency key. ``kind`` selects a special case of the policy, by
    default that of the error's code. ``scale``: a factor of the delays of the policy,
    for tests; a ``Retry-After`` is waited in full. ``now``: seconds since 1970.
    """
    policy = policy_for(error)
    if scale != 1.0:
        policy = scale_policy(policy, scale)
    headers = {name.lower(): value for name, value in error.headers.items()}
    facts = {**known_facts(error), "operation.idempotent": idempotent}
    rules = ELIGIBLE_WHEN.get(policy.name, ())
    if kind is None and error.code is not None:
        kind = KIND_OF.get(policy.name, {}).get(error.code)
    failure = Failure(
        retriable=error.retriable_when(facts)
        and error.facts.client_action in ("retry", "none"),
        kind=kind,
        retry_after=headers.get("retry-after", error.retry_after),
        idempotent=idempotent,
        eligible=error.code in ELIGIBLE.get(policy.name, {error.code})
        and decided(rules, facts, otherwise=True),
        effect=error.facts.effect,
    )
    if now is None:
        now = time.time()
    return plan(policy, state, failure, now=now, random=random)
