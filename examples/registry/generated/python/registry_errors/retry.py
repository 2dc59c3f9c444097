"""Whether a client tries again, and how long it waits first.

    state = start_retry(error)
    while (plan := plan_retry(error, state)).retry:
        time.sleep(plan.delay)
        state = plan.state
        ...  # once more, with the same idempotency key; on success leave,
        ...  # on failure ``error`` is the new one

Nothing here waits or sends.
"""

# Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/registry/taxonomy.yaml

# Some taxonomies leave an unknown error without a code; in others it always has one.
# pyright: reportUnnecessaryComparison=false

import random as _random
import time
import typing as t
from collections.abc import Callable, Mapping, Sequence

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
    RegistryError,
    decided,
    known_facts,
)

__all__ = [
    "ELIGIBLE",
    "ELIGIBLE_WHEN",
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
    "plan",
    "plan_retry",
    "policy_for",
    "start",
    "start_retry",
    "succeed",
]

POLICIES: Mapping[str, Policy] = {}

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


def policy_for(
    error: RegistryError,
) -> Policy:
    """The policy of the error's code."""
    return NEVER if error.facts.retry is None else POLICIES[error.facts.retry]


def start_retry(
    error: RegistryError,
    tokens: float | None = None,
) -> State:
    """The state after the first try failed with ``error``; ``tokens`` are those left in
    a shared budget.
    """
    return start(policy_for(error), tokens)


def plan_retry(
    error: RegistryError,
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
