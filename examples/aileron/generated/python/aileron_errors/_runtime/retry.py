# Copied from faultspec; do not edit
"""The retry planner: whether to try again after a failure, and how long to wait first.
Pure, and it explains itself.

    state = start(policy)
    while True:
        ... try; on success: state = succeed(policy, state); on failure:
        decision = plan(policy, state, failure, now=time.time(), random=random.random)
        if not decision.retry: give up, for decision.reason
        sleep(decision.delay); state = decision.state

Counting. `max_attempts` counts tries, the first included. The delay before the n-th
retry of a phase has index n - 1: exponential `base * factor**index`, linear `base +
step * index`, constant `base`; never above the phase's `max`.

Phases follow each other by time since the first try: a phase with `for_seconds` ends
when they are over, the last phase never does, and the index starts again with each.
That time is the sum of the delays; a caller with a clock may put the true figure into
`State.elapsed` before it plans.

Order. The computed delay is: phase, then `max`, then jitter. A readable `Retry-After`
is applied after that. Whether to retry at all is asked in this order: is the failure
retriable, is it eligible, is it safe to send again, are there attempts left, does the
budget cover it, does the delay end within `max_elapsed`.

A delay that reaches 2^31 s, asked for or computed, ends in `time_exhausted`: nobody
waits that long, and a client that only seems to wait is worse than one that gave up.

Safe to send again means: the operation is idempotent, or the failure is known to have
had no effect.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from . import durations, retry_after
from .retry_after import CEILING

Reason = Literal[
    "retry",
    "not_retriable",
    "not_eligible",
    "not_idempotent",
    "attempts_exhausted",
    "budget_exhausted",
    "time_exhausted",
]


class Phase(NamedTuple):
    """One stretch of a backoff. Times in seconds."""

    kind: Literal["exponential", "linear", "constant"]
    base: float
    factor: float = 2.0
    step: float = 0.0
    max: float | None = None
    for_seconds: float | None = None


class Jitter(NamedTuple):
    """How chance spreads a delay d.

    full: [0, d]; equal: [d/2, d]; additive: [d, d(1 + ratio)]; ratio: [d(1 - ratio),
    d(1 + ratio)].
    """

    kind: Literal["none", "full", "equal", "additive", "ratio"] = "none"
    ratio: float = 0.0


class Kind(NamedTuple):
    """The settings of one kind of failure: the price of a retry, and the base of every
    phase.
    """

    cost: float | None = None
    base: float | None = None


class Budget(NamedTuple):
    """A bucket of tokens that pays for retries, across the calls that share it.

    A success gives back what the last retry cost (if `refund` says so), or
    `idle_refund` if there was none; never more than `tokens`.
    """

    tokens: float
    cost: float
    refund: Literal["last_cost", "none"] = "last_cost"
    idle_refund: float = 1.0


class RetryAfterRule(NamedTuple):
    """The effect of a readable `Retry-After` on the computed delay; one that can't be
    read is ignored.

    `max`: a longer hint is cut to it (`clamp` "cap") or ignored. `over`: the hint is
    cut to this much above the computed delay. `min_is_computed`: the delay is never
    below the computed one; otherwise the hint replaces it. Seconds. The AWS SDKs'
    standard mode 2.1 is `over=5.0, min_is_computed=True`.
    """

    honor: bool = True
    max: float | None = None
    clamp: Literal["cap", "ignore"] = "cap"
    min_is_computed: bool = True
    over: float | None = None


class Policy(NamedTuple):
    """How a client retries. No phases: at once. `max_attempts` None: as long as the
    budget and `max_elapsed` last.

    Which codes a policy is for is decided elsewhere and arrives in `Failure.eligible`.
    """

    name: str
    max_attempts: int | None = 3
    phases: tuple[Phase, ...] = ()
    jitter: Jitter = Jitter()
    retry_after: RetryAfterRule = RetryAfterRule()
    budget: Budget | None = None
    max_elapsed: float | None = None
    kinds: Mapping[str, Kind] = MappingProxyType({})


class State(NamedTuple):
    """Where a call stands. `attempt` counts the tries made, `elapsed` the seconds since
    the first one.

    `tokens` are what is left of the budget; share them between calls by passing them to
    `start`. `last_cost` is what the last retry cost. `taken` counts the delays taken in
    the phase with the number `phase`.
    """

    attempt: int = 1
    elapsed: float = 0.0
    tokens: float = 0.0
    last_cost: float = 0.0
    phase: int = 0
    taken: int = 0


class Failure(NamedTuple):
    """A failed try, as far as it is known. `kind` picks a `Kind` of the policy;
    `retry_after` is the header's value, or the seconds where they are known.
    `pushback`: the service asks not to try again.
    """

    retriable: bool
    kind: str | None = None
    retry_after: str | float | None = None
    idempotent: bool = True
    eligible: bool = True
    effect: Literal["none", "possible", "unknown"] = "unknown"
    pushback: bool = False


class Plan(NamedTuple):
    """The next step. `delay` (seconds) and `computed`, the delay before
    `Retry-After`, are None without a retry.

    `jitter_band` is the least and the greatest delay that chance could have given.
    `explain` has it in sentences.
    """

    retry: bool
    delay: float | None
    reason: Reason
    state: State
    computed: float | None
    jitter_band: tuple[float, float] | None
    explain: tuple[str, ...]


def scale_policy(policy: Policy, scale: float) -> Policy:
    """The policy with all delays multiplied, for tests that save time. `Retry-After` is
    not scaled: it counts seconds of the server.
    """

    def times(seconds: float | None) -> float | None:
        return None if seconds is None else seconds * scale

    phases = tuple(
        phase._replace(
            base=phase.base * scale,
            step=phase.step * scale,
            max=times(phase.max),
            for_seconds=times(phase.for_seconds),
        )
        for phase in policy.phases
    )
    kinds = {
        name: kind._replace(base=times(kind.base))
        for name, kind in policy.kinds.items()
    }
    return policy._replace(
        phases=phases, max_elapsed=times(policy.max_elapsed), kinds=kinds
    )


def start(policy: Policy, tokens: float | None = None) -> State:
    """The state after the first try, with a full budget or with the tokens that other
    calls have left.
    """
    full = policy.budget.tokens if policy.budget else 0.0
    return State(tokens=full if tokens is None else tokens)


def plan(
    policy: Policy,
    state: State,
    failure: Failure,
    *,
    now: float,
    random: Callable[[], float],
) -> Plan:
    """Decide on a retry after `failure`. `now`: seconds since 1970, for a `Retry-After`
    date. `random`: in [0, 1].

    Without a retry the state stays as it is.
    """
    tries = f"try {state.attempt}" + (
        f" of {policy.max_attempts}" if policy.max_attempts is not None else ""
    )
    refusal = _refusal(policy, state, failure)
    if refusal is not None:
        reason, sentence = refusal
        return Plan(
            retry=False,
            delay=None,
            reason=reason,
            state=state,
            computed=None,
            jitter_band=None,
            explain=(f"{tries} failed", sentence),
        )

    phase, base = _phase(policy, state, failure.kind)
    low, high = _spread(policy.jitter, base)
    computed = low + (high - low) * random()
    hint, hinted = _hint(policy.retry_after, failure.retry_after, now)
    delay = _apply(policy.retry_after, hint, computed)
    band = (
        _apply(policy.retry_after, hint, low),
        _apply(policy.retry_after, hint, high),
    )
    cost = _cost(policy, failure.kind)
    explain = (
        f"{tries} failed",
        *_explain_phase(policy, phase, base, computed),
        *hinted,
        *([f"the delay is {_s(delay)}"] if hint is not None else []),
        *(
            [f"the retry costs {cost:g} of {state.tokens:g} tokens"]
            if policy.budget
            else []
        ),
    )
    if delay >= CEILING:
        never = "a wait of 2^31 s, which is 68 years, is none"
        return Plan(
            retry=False,
            delay=None,
            reason="time_exhausted",
            state=state,
            computed=None,
            jitter_band=None,
            explain=(*explain, never),
        )
    if policy.max_elapsed is not None and state.elapsed + delay > policy.max_elapsed:
        late = (
            f"{_s(delay)} after {_s(state.elapsed)} "
            f"would exceed the limit of {_s(policy.max_elapsed)}"
        )
        return Plan(
            retry=False,
            delay=None,
            reason="time_exhausted",
            state=state,
            computed=None,
            jitter_band=None,
            explain=(*explain, late),
        )
    after = advance(policy, state, delay)._replace(
        tokens=state.tokens - cost, last_cost=cost
    )
    return Plan(
        retry=True,
        delay=delay,
        reason="retry",
        state=after,
        computed=computed,
        jitter_band=band,
        explain=explain,
    )


def succeed(policy: Policy, state: State) -> State:
    """The state for the next call after a try that succeeded: the budget refunded, the
    counts begun again.
    """
    if policy.budget is None:
        return start(policy)
    last = state.last_cost if policy.budget.refund == "last_cost" else 0.0
    refund = last if state.attempt > 1 else policy.budget.idle_refund
    return start(policy, min(policy.budget.tokens, state.tokens + refund))


def bounds(
    policy: Policy, state: State, kind: str | None = None
) -> tuple[float, float]:
    """The least and greatest computed delay, in seconds, before the next try, leaving
    `Retry-After` aside.
    """
    return _spread(policy.jitter, _phase(policy, state, kind)[1])


def advance(policy: Policy, state: State, delay: float) -> State:
    """The state after waiting `delay` seconds and trying once more: what an observer of
    a client follows it with.
    """
    phase = _phase_at(policy, state)
    return state._replace(
        attempt=state.attempt + 1,
        elapsed=state.elapsed + delay,
        phase=phase,
        taken=_index(state, phase) + 1,
    )


def _refusal(
    policy: Policy, state: State, failure: Failure
) -> tuple[Reason, str] | None:
    if failure.pushback:
        return "not_retriable", "the service asks not to try again"
    if not failure.retriable:
        return "not_retriable", "the failure is not retriable"
    if not failure.eligible:
        return (
            "not_eligible",
            f"the failure is retriable, but the policy {policy.name} is not for it",
        )
    if not failure.idempotent and failure.effect != "none":
        return (
            "not_idempotent",
            "the operation is not idempotent and may have taken effect",
        )
    if policy.max_attempts is not None and state.attempt >= policy.max_attempts:
        return "attempts_exhausted", "no attempts are left"
    cost = _cost(policy, failure.kind)
    if policy.budget is not None and state.tokens < cost:
        return (
            "budget_exhausted",
            f"a retry costs {cost:g} tokens, and {state.tokens:g} are left",
        )
    return None


def _cost(policy: Policy, kind: str | None) -> float:
    if policy.budget is None:
        return 0.0
    cost = _kind(policy, kind).cost
    return policy.budget.cost if cost is None else cost


def _kind(policy: Policy, kind: str | None) -> Kind:
    return policy.kinds.get(kind, Kind()) if kind is not None else Kind()


def _phase_at(policy: Policy, state: State) -> int:
    """The phase that the elapsed time falls into; the last one has no end."""
    end = 0.0
    for number, phase in enumerate(policy.phases[:-1]):
        end += CEILING if phase.for_seconds is None else phase.for_seconds
        if state.elapsed < end:
            return number
    return max(0, len(policy.phases) - 1)


def _index(state: State, phase: int) -> int:
    return state.taken if state.phase == phase else 0


def _phase(policy: Policy, state: State, kind: str | None) -> tuple[int, float]:
    """The phase of the next delay, and that delay in seconds before jitter."""
    number = _phase_at(policy, state)
    if not policy.phases:
        return number, 0.0
    phase = policy.phases[number]
    index = _index(state, number)
    override = _kind(policy, kind).base
    base = phase.base if override is None else override
    if phase.kind == "exponential":
        delay = _power(base, phase.factor, index)
    elif phase.kind == "linear":
        delay = base + phase.step * index
    else:
        delay = base
    return number, min(max(0.0, delay), CEILING if phase.max is None else phase.max)


def _power(base: float, factor: float, index: int) -> float:
    try:
        return base * factor**index
    except OverflowError:
        return CEILING


def _spread(jitter: Jitter, delay: float) -> tuple[float, float]:
    match jitter.kind:
        case "none":
            return delay, delay
        case "full":
            return 0.0, delay
        case "equal":
            return delay / 2, delay
        case "additive":
            return delay, delay * (1 + jitter.ratio)
        case "ratio":
            return delay * (1 - jitter.ratio), delay * (1 + jitter.ratio)


def _hint(
    rule: RetryAfterRule, value: str | float | None, now: float
) -> tuple[float | None, tuple[str, ...]]:
    """The seconds that `Retry-After` asks for, as far as the rule lets it, and the
    sentence about it.
    """
    if value is None:
        return None, ()
    if not rule.honor:
        return None, ("Retry-After is ignored: the policy doesn't honor it",)
    if isinstance(value, str):
        read = retry_after.parse(value, now=now, lenient=True)
        if read.seconds is None:
            return None, (f"Retry-After is ignored: {read.problem}",)
        if read.form == "http-date" and read.seconds == 0:
            return None, ("Retry-After is ignored: that moment has passed",)
        seconds = read.seconds
    elif value >= 0:
        seconds = min(value, CEILING)
    else:
        return None, ("Retry-After is ignored: it is negative",)
    if rule.max is None or seconds <= rule.max:
        return seconds, (f"Retry-After asks for {_s(seconds)}",)
    if rule.clamp == "ignore":
        return None, (
            f"Retry-After is ignored: {_s(seconds)} is more than {_s(rule.max)}",
        )
    return rule.max, (
        f"Retry-After asks for {_s(seconds)}, and gets at most {_s(rule.max)}",
    )


def _apply(rule: RetryAfterRule, hint: float | None, computed: float) -> float:
    if hint is None:
        return computed
    if rule.over is not None:
        hint = min(hint, computed + rule.over)
    return max(computed, hint) if rule.min_is_computed else hint


def _explain_phase(
    policy: Policy, phase: int, base: float, computed: float
) -> tuple[str, ...]:
    if not policy.phases:
        return ("no backoff is declared",)
    name = f"{policy.phases[phase].kind} backoff"
    if len(policy.phases) > 1:
        name += f" (phase {phase + 1} of {len(policy.phases)})"
    if policy.jitter.kind == "none":
        return (f"{name} gives {_s(base)}",)
    low, high = _spread(policy.jitter, base)
    band = f"{policy.jitter.kind} jitter makes that {_s(low)} to {_s(high)}"
    return f"{name} gives {_s(base)}", f"{band}, and chose {_s(computed)}"


def _s(seconds: float) -> str:
    return durations.render(seconds)
