"""Laws of the retry planner, and the cases that the AWS SDKs publish for theirs."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.runtime.retry import (
    Budget,
    Failure,
    Jitter,
    Kind,
    Phase,
    Policy,
    RetryAfterRule,
    State,
    advance,
    bounds,
    plan,
    start,
    succeed,
)
from paths import TESTS

VECTORS = json.loads((TESTS / "vectors" / "aws_retry.json").read_text(encoding="utf-8"))
OUTCOMES = {
    "retry_request": "retry",
    "max_attempts_exceeded": "attempts_exhausted",
    "retry_quota_exceeded": "budget_exhausted",
}
BROKEN = Failure(retriable=True)


def standard_v1(given):
    """The SDKs' standard mode: 5 tokens a retry, 1 s doubled."""
    return Policy(
        "standard v1",
        max_attempts=given.get("max_attempts", 3),
        phases=(Phase("exponential", base=1.0, factor=2.0, max=given.get("max_backoff", 20)),),
        jitter=Jitter("full"),
        budget=Budget(tokens=500, cost=5),
    )


def standard_v21(given):
    """Standard mode 2.1: 14 tokens a retry, 5 and a longer base when throttled, and a hint that is
    bounded both ways.
    """
    return Policy(
        "standard v2.1",
        max_attempts=given.get("max_attempts", 3),
        phases=(
            Phase(
                "exponential",
                base=given.get("base", 0.05),
                factor=2.0,
                max=given.get("max_backoff", 20),
            ),
        ),
        jitter=Jitter("full"),
        retry_after=RetryAfterRule(over=5.0, min_is_computed=True),
        budget=Budget(tokens=500, cost=14),
        kinds={"throttling": Kind(cost=5, base=1.0)},
    )


def failure_of(extras):
    """The failed try that a client makes of the response: AWS gives its hint in milliseconds."""
    hint = extras.get("retry_after_ms")
    if hint is not None and hint.isdigit():
        hint = int(hint) / 1000
    return Failure(
        retriable=True,
        kind="throttling" if extras.get("error_code") == "Throttling" else None,
        retry_after=hint,
    )


@pytest.mark.parametrize(
    ("make", "case"),
    [
        pytest.param(make, case, id=f"{version}: {case['name']}")
        for version, make in (("v1", standard_v1), ("v21", standard_v21))
        for case in VECTORS[version]
    ],
)
def test_the_aws_cases(make, case):
    """Outcome, tokens and delay of every step are those that the AWS SDKs publish, with chance
    fixed at its greatest.
    """
    policy = make(case["given"])
    state = start(policy, tokens=case["given"].get("tokens", 500))
    for status, outcome, tokens, delay, *extras in case["steps"]:
        if outcome == "success":
            assert status == 200
            state = succeed(policy, state)
        else:
            decision = plan(
                policy, state, failure_of(extras[0] if extras else {}), now=0.0, random=lambda: 1.0
            )
            state = decision.state
            assert decision.reason == OUTCOMES[outcome]
            assert decision.delay == (None if delay is None else pytest.approx(delay))
        assert state.tokens == tokens


def test_all_twenty_cases_are_there():
    """The copy of the vectors is whole."""
    assert len(VECTORS["v1"]) + len(VECTORS["v21"]) == 20


phases = st.builds(
    Phase,
    kind=st.sampled_from(["exponential", "linear", "constant"]),
    base=st.floats(0, 100),
    factor=st.floats(1, 10),
    step=st.floats(0, 10),
    max=st.none() | st.floats(0, 1000),
    for_seconds=st.none() | st.floats(0, 100),
)
jitters = st.builds(
    Jitter,
    kind=st.sampled_from(["none", "full", "equal", "additive", "ratio"]),
    ratio=st.floats(0, 1),
)
rules = st.builds(
    RetryAfterRule,
    honor=st.booleans(),
    max=st.none() | st.floats(0, 100),
    clamp=st.sampled_from(["cap", "ignore"]),
    min_is_computed=st.booleans(),
    over=st.none() | st.floats(0, 10),
)
budgets = st.builds(
    Budget,
    tokens=st.floats(0, 100),
    cost=st.floats(0, 30),
    refund=st.sampled_from(["last_cost", "none"]),
    idle_refund=st.floats(0, 5),
)
policies = st.builds(
    Policy,
    name=st.just("any"),
    max_attempts=st.none() | st.integers(1, 8),
    phases=st.lists(phases, max_size=3).map(tuple),
    jitter=jitters,
    retry_after=rules,
    budget=st.none() | budgets,
    max_elapsed=st.none() | st.floats(0, 1000),
    kinds=st.just({"throttled": Kind(cost=5, base=1.0)}),
)
failures = st.builds(
    Failure,
    retriable=st.booleans(),
    kind=st.none() | st.sampled_from(["throttled", "unheard of"]),
    retry_after=st.none()
    | st.sampled_from(
        ["0", "3", "1.5", "later", "99999999999999", "Sun, 06 Nov 1994 08:49:37 GMT"]
    ),
    idempotent=st.booleans(),
    eligible=st.booleans(),
    effect=st.sampled_from(["none", "possible", "unknown"]),
)
chances = st.floats(0, 1)


@given(policies, st.lists(st.tuples(failures, chances), max_size=10))
def test_a_plan_is_consistent(policy, story):
    """Any policy, any story: delays lie in their band, tokens never go below zero, and a refusal
    changes nothing.
    """
    state = start(policy)
    for failure, chance in story:
        decision = plan(
            policy, state, failure, now=784_111_770.0, random=lambda chance=chance: chance
        )
        assert decision == plan(
            policy, state, failure, now=784_111_770.0, random=lambda chance=chance: chance
        )
        assert decision.explain
        assert decision.retry == (decision.reason == "retry") == (decision.delay is not None)
        if not decision.retry:
            assert decision.state == state
            continue
        low, high = decision.jitter_band
        slack = 1e-9 * high
        assert 0 <= low <= high
        assert low - slack <= decision.delay <= high + slack
        assert math.isfinite(high)
        assert bounds(policy, state, failure.kind)[0] - slack <= decision.computed
        assert decision.state.attempt == state.attempt + 1
        assert decision.state.elapsed == state.elapsed + decision.delay
        assert decision.state.tokens >= 0
        assert policy.max_attempts is None or decision.state.attempt <= policy.max_attempts
        assert policy.max_elapsed is None or decision.state.elapsed <= policy.max_elapsed
        assert failure.retriable
        assert failure.eligible
        assert failure.idempotent or failure.effect == "none"
        state = decision.state


@given(policies, failures)
def test_a_success_never_fills_the_budget_beyond_its_size(policy, failure):
    """A refund stops at the size of the bucket, and the counts begin again."""
    state = plan(policy, start(policy), failure, now=0.0, random=lambda: 0.5).state
    after = succeed(policy, state)
    assert after == State(tokens=after.tokens)
    assert 0 <= after.tokens <= (policy.budget.tokens if policy.budget else 0)


@given(policies, st.lists(chances, min_size=1, max_size=8))
def test_an_observer_of_the_delays_sees_them_within_bounds(policy, draws):
    """`bounds` and `advance`, fed with nothing but the delays, follow what `plan` did."""
    policy = policy._replace(budget=None)
    state = seen = start(policy)
    for draw in draws:
        decision = plan(policy, state, BROKEN, now=0.0, random=lambda draw=draw: draw)
        if not decision.retry:
            break
        low, high = bounds(policy, seen)
        assert low <= decision.delay * (1 + 1e-9)
        assert decision.delay <= high * (1 + 1e-9)
        seen = advance(policy, seen, decision.delay)
        state = decision.state
        assert seen == state


@pytest.mark.parametrize(
    ("budget", "retries", "tokens"),
    [
        (Budget(100, 14), 0, 51),
        (Budget(100, 14), 1, 50),
        (Budget(100, 14), 2, 36),
        (Budget(100, 14, refund="none"), 1, 36),
        (Budget(100, 14, refund="none", idle_refund=3), 0, 53),
        (Budget(50.5, 14), 0, 50.5),
        (Budget(100, 0), 1, 50),
    ],
)
def test_a_success_gives_back_what_the_last_retry_cost(budget, retries, tokens):
    """Or nothing, if the policy says so; a call without a retry earns a little, up to the size of
    the bucket.
    """
    policy = Policy("p", None, budget=budget)
    state = start(policy, tokens=50)
    for _ in range(retries):
        state = plan(policy, state, BROKEN, now=0.0, random=lambda: 0.5).state
    assert succeed(policy, state) == State(tokens=tokens)


def delays(policy, count):
    """The delays of so many retries in a row."""
    state, found = start(policy), []
    for _ in range(count):
        decision = plan(policy, state, BROKEN, now=0.0, random=lambda: 0.5)
        found.append(decision.delay)
        state = decision.state
    return found


def test_linear_for_thirty_seconds_then_exponential():
    """The Core Platform's `dependency_unavailable`: the second phase begins where the first ran
    out, at its own base.
    """
    policy = Policy(
        "linear_then_exponential",
        max_attempts=None,
        phases=(
            Phase("linear", base=5, step=5, for_seconds=30),
            Phase("exponential", base=8, max=60),
        ),
    )
    assert delays(policy, 9) == [5, 10, 15, 8, 16, 32, 60, 60, 60]


def test_each_kind_of_backoff():
    """The formulas of the module's documentation, with the cap."""
    assert delays(Policy("p", 9, (Phase("exponential", 1, max=5),)), 4) == [1, 2, 4, 5]
    assert delays(Policy("p", 9, (Phase("exponential", 1, factor=3),)), 3) == [1, 3, 9]
    assert delays(Policy("p", 9, (Phase("linear", 2, step=3),)), 3) == [2, 5, 8]
    assert delays(Policy("p", 9, (Phase("constant", 4),)), 3) == [4, 4, 4]
    assert delays(Policy("p", 9), 2) == [0, 0]
    assert delays(Policy("p", None, (Phase("exponential", 1, max=7),)), 2000)[-1] == 7


@pytest.mark.parametrize(
    ("jitter", "band"),
    [
        (Jitter(), (10, 10)),
        (Jitter("full"), (0, 10)),
        (Jitter("equal"), (5, 10)),
        (Jitter("additive", 0.2), (10, 12)),
        (Jitter("ratio", 0.2), (8, 12)),
    ],
)
def test_each_kind_of_jitter(jitter, band):
    """The bands of the documentation, reached at both ends."""
    policy = Policy("p", 3, (Phase("constant", 10),), jitter)
    assert bounds(policy, start(policy)) == band
    for chance, delay in zip((0.0, 1.0), band, strict=True):
        decision = plan(policy, start(policy), BROKEN, now=0.0, random=lambda chance=chance: chance)
        assert decision.jitter_band == band
        assert decision.delay == pytest.approx(delay)


@pytest.mark.parametrize(
    ("rule", "hint", "delay"),
    [
        (RetryAfterRule(), None, 10),
        (RetryAfterRule(), "30", 30),
        (RetryAfterRule(), "3", 10),
        (RetryAfterRule(), "later", 10),
        (RetryAfterRule(honor=False), "30", 10),
        (RetryAfterRule(min_is_computed=False), "3", 3),
        (RetryAfterRule(min_is_computed=False, over=5), "30", 15),
        (RetryAfterRule(over=5), "30", 15),
        (RetryAfterRule(over=5), "3", 10),
        (RetryAfterRule(max=20), "30", 20),
        (RetryAfterRule(max=20, clamp="ignore"), "30", 10),
        (RetryAfterRule(max=20, clamp="ignore"), "20", 20),
        (RetryAfterRule(), "Thu, 01 Jan 1970 00:00:30 GMT", 30),
        (RetryAfterRule(), 12.5, 12.5),
        (RetryAfterRule(max=20), "99999999999", 20),
        *[
            (RetryAfterRule(min_is_computed=False), each, 10)
            for each in (
                "-1",
                "1e9",
                "nan",
                "Wed, 31 Dec 1969 23:59:59 GMT",
                "Thu, 30 Feb 2023 00:00:00 GMT",
                -1.0,
            )
        ],
        (RetryAfterRule(min_is_computed=False), "0", 0),
        (RetryAfterRule(min_is_computed=False), "5.5", 6),
        (RetryAfterRule(min_is_computed=False), "120, 60", 120),
    ],
)
def test_each_rule_for_a_hint(rule, hint, delay):
    """Apply a Retry-After to a computed delay of 10 s."""
    policy = Policy("p", 3, (Phase("constant", 10),), retry_after=rule)
    decision = plan(
        policy, start(policy), Failure(True, retry_after=hint), now=0.0, random=lambda: 0.5
    )
    assert decision.delay == delay
    assert decision.computed == 10
    assert decision.jitter_band == (delay, delay)
    assert (hint is None) == (not any("Retry-After" in sentence for sentence in decision.explain))


@pytest.mark.parametrize(
    ("failure", "state", "reason"),
    [
        (Failure(False, eligible=False, idempotent=False), State(attempt=9), "not_retriable"),
        (Failure(True, eligible=False, idempotent=False), State(attempt=9), "not_eligible"),
        (Failure(True, idempotent=False), State(attempt=9), "not_idempotent"),
        (Failure(True, idempotent=False, effect="possible"), State(attempt=9), "not_idempotent"),
        (Failure(True, idempotent=False, effect="none"), State(attempt=9), "attempts_exhausted"),
        (Failure(True), State(attempt=3, tokens=0, elapsed=99), "attempts_exhausted"),
        (Failure(True), State(attempt=2, tokens=0, elapsed=99), "budget_exhausted"),
        (Failure(True), State(attempt=2, tokens=1, elapsed=99), "time_exhausted"),
        (Failure(True), State(attempt=2, tokens=1, elapsed=50), "retry"),
        (Failure(True, idempotent=False, effect="none"), State(attempt=2, tokens=1), "retry"),
    ],
)
def test_the_first_reason_in_order_is_given(failure, state, reason):
    """Retriable, eligible, safe, attempts, budget, time: the first that fails is the reason."""
    policy = Policy("p", 3, (Phase("constant", 10),), budget=Budget(1, 1), max_elapsed=60)
    assert plan(policy, state, failure, now=0.0, random=lambda: 0.5).reason == reason


def test_a_plan_explains_itself():
    """The sentences name the try, the phase, the chance, the hint and the budget, in that order."""
    policy = Policy(
        "p",
        3,
        (Phase("exponential", 0.05),),
        Jitter("full"),
        RetryAfterRule(over=5),
        Budget(500, 14),
        max_elapsed=4,
    )
    failure = Failure(True, retry_after="10")
    assert plan(policy, start(policy), failure, now=0.0, random=lambda: 1.0).explain == (
        "try 1 of 3 failed",
        "exponential backoff gives 50ms",
        "full jitter makes that 0s to 50ms, and chose 50ms",
        "Retry-After asks for 10s",
        "the delay is 5.05s",
        "the retry costs 14 of 500 tokens",
        "5.05s after 0s would exceed the limit of 4s",
    )


def test_three_retries_of_one_two_and_four_seconds_with_a_fifth_more():
    """Aileron's A24: gaps within [1, 1.2], [2, 2.4], [4, 4.8] seconds, four tries in all."""
    policy = Policy("connector", 4, (Phase("exponential", 1.0),), Jitter("additive", 0.2))
    state = start(policy)
    bands = []
    while (decision := plan(policy, state, BROKEN, now=0.0, random=lambda: 0.0)).retry:
        bands.append(decision.jitter_band)
        state = decision.state
    assert bands == [(1, 1.2), (2, 2.4), (4, 4.8)]
    assert state.attempt == 4


def test_a_wait_that_nobody_lives_to_see_is_the_end() -> None:
    """A hint of 2^31 s or more that no `max` cuts ends retrying, and says so."""
    policy = Policy("p", 3, (Phase("constant", 10),))
    decision = plan(
        policy, start(policy), Failure(True, retry_after="9" * 400), now=0.0, random=lambda: 0.5
    )
    assert (decision.retry, decision.reason) == (False, "time_exhausted")
    assert decision.explain[-1] == "a wait of 2^31 s, which is 68 years, is none"
