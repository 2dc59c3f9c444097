"""Laws of observing retries: a caller that follows the planner has no findings, and another is
found at the try that shows it.
"""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.runtime.retry import (
    Failure,
    Jitter,
    Phase,
    Policy,
    RetryAfterRule,
    plan,
    scale_policy,
    start,
)
from faultspec_conformance.faults.jitter import (
    Wait,
    are_clustered,
    band_positions,
    count_late_waits,
    explain_narrow_bands,
    suffice,
)
from faultspec_conformance.faults.retry_observer import Try, observe_retries
from support.examples import examples

TIMES = st.floats(0.05, 20)
PHASES = st.builds(
    Phase,
    kind=st.sampled_from(["exponential", "linear", "constant"]),
    base=TIMES,
    factor=st.floats(1, 4),
    step=TIMES,
    max=st.none() | TIMES,
    for_seconds=st.floats(1, 60),
)
POLICIES = st.builds(
    Policy,
    name=st.just("p"),
    max_attempts=st.integers(1, 8),
    phases=st.lists(PHASES, min_size=1, max_size=3).map(tuple),
    jitter=st.builds(
        Jitter,
        st.sampled_from(["none", "full", "equal", "additive", "ratio"]),
        st.sampled_from([0.1, 0.2, 0.9]),
    ),
    retry_after=st.builds(
        RetryAfterRule,
        honor=st.booleans(),
        max=st.none() | TIMES,
        clamp=st.sampled_from(["cap", "ignore"]),
        min_is_computed=st.booleans(),
        over=st.none() | TIMES,
    ),
    max_elapsed=st.none() | st.floats(1, 200),
)
FAILURES = st.builds(
    Failure,
    retriable=st.booleans() | st.just(True),
    retry_after=st.none() | st.integers(0, 30).map(float),
    idempotent=st.booleans() | st.just(True),
    eligible=st.booleans() | st.just(True),
    effect=st.sampled_from(["none", "unknown"]),
)


def behaving(policy: Policy, failures: list[Failure], seed: int, busy: float) -> list[Try]:
    """The tries of a caller that follows the planner, on machines that add up to ``busy``
    seconds. The caller counts the delays, as the planner does, or reads a clock.
    """
    chance = Random(seed)
    looks = chance.random() < 0.5
    state, now, tries = start(policy), 0.0, []
    for failure in failures:
        at = now + chance.random() * busy
        tries.append(Try(at, at + chance.random() * busy, failure))
        received = tries[-1].until + chance.random() * busy
        state = (
            state._replace(elapsed=received - tries[0].at) if looks and len(tries) > 1 else state
        )
        planned = plan(policy, state, failure, now=0.0, random=chance.random)
        if planned.delay is None:
            return tries
        state, now = planned.state, received + planned.delay
    tries.append(Try(now + chance.random() * busy, now + busy + 1, None))
    return tries


@examples(60)
@given(
    POLICIES,
    st.lists(FAILURES, max_size=8),
    st.integers(0, 99),
    st.sampled_from([0.0, 0.001, 0.1, 0.25]),
)
def test_a_client_of_the_planner_is_never_accused(
    policy: Policy, failures: list[Failure], seed: int, busy: float
) -> None:
    """No policy, failure, jitter or busy machine leads to a finding for a caller that follows
    the planner.
    """
    assert observe_retries(policy, behaving(policy, failures, seed, busy)).breaches == ()


PHASED = Policy(
    "phased",
    9,
    (Phase("linear", 0.1, step=0.1, for_seconds=1.5), Phase("exponential", 0.25)),
    Jitter("ratio", 0.1),
)


@pytest.mark.parametrize(
    ("waited", "found"),
    [
        # By its own clock, which began with its first connection, the second phase has begun.
        ((0.09, 0.18, 0.27, 0.36, 0.45, 0.25), []),
        ((0.09, 0.18, 0.27, 0.36, 0.45, 0.54), []),
        ((0.09, 0.18, 0.27, 0.25), [("early", 4)]),
    ],
)
def test_a_phase_begins_by_the_clock_of_the_caller(
    waited: tuple[float, ...], found: list[tuple[str, int]]
) -> None:
    """A caller whose first try arrives late may be in the next phase before the server counts so
    far; long before its end it may not.
    """
    tries, now = [Try(0.0, 0.0, Failure(True))], 0.0
    for seconds in waited:
        now += seconds
        tries.append(Try(now, now, Failure(True)))
    tries[-1] = tries[-1]._replace(failure=None)
    breaches = observe_retries(PHASED, tries).breaches
    assert [(each.kind, each.number) for each in breaches] == found


POLICY = Policy(
    "runtime",
    4,
    (Phase("exponential", 1.0),),
    Jitter("additive", 0.2),
    RetryAfterRule(min_is_computed=True),
)
AGAIN = Failure(True)


def waits(*seconds: float, failure: Failure = AGAIN) -> list[Try]:
    """Tries with these waits between them, answered at once."""
    tries, now = [Try(0.0, 0.0, failure)], 0.0
    for each in seconds:
        now += each
        tries.append(Try(now, now, failure))
    return tries


@pytest.mark.parametrize(
    ("tries", "found"),
    [
        (waits(1.1, 2.1, 4.1), []),
        (waits(1.1, 2.1, 4.1, 8.1), [("attempts", 4)]),
        (waits(1.1, 2.1), [("abandoned", 2)]),
        (waits(), [("abandoned", 0)]),
        (waits(1.1, 1.1, 4.1), [("early", 2)]),
        (waits(0.98, 2.1, 4.1), [("early", 1)]),
        (waits(1.1, 2.1, 9.0), [("late", 3)]),
        (waits(1.1, failure=AGAIN._replace(retriable=False)), [("ineligible", 1)]),
        (waits(1.1, failure=AGAIN._replace(eligible=False)), [("ineligible", 1)]),
        (waits(1.1, failure=AGAIN._replace(idempotent=False)), [("unsafe", 1)]),
        (waits(3.1, 3.1, 4.1, failure=AGAIN._replace(retry_after=3.0)), []),
        (waits(1.1, 3.1, 4.1, failure=AGAIN._replace(retry_after=3.0)), [("hint", 1)]),
        (waits(0.1, 3.1, 4.1, failure=AGAIN._replace(retry_after=3.0)), [("early", 1)]),
    ],
)
def test_a_departure_from_the_policy_is_reported_with_its_place(
    tries: list[Try], found: list[tuple[str, int]]
) -> None:
    """The first try that shows it, and in which way."""
    assert [(each.kind, each.number) for each in observe_retries(POLICY, tries).breaches] == found


def test_a_success_ends_the_call() -> None:
    """A request after a success belongs to another call."""
    tries = waits(1.1)
    assert (
        observe_retries(
            POLICY, [tries[0], tries[1]._replace(failure=None), Try(1.2, 1.2, AGAIN)]
        ).breaches
        == ()
    )


def test_a_scaled_policy_waits_a_share_of_it() -> None:
    """Every delay is scaled, and nothing that the server says."""
    tenth = scale_policy(POLICY, 0.1)
    assert observe_retries(tenth, waits(0.11, 0.21, 0.41)).breaches == ()
    assert [each.kind for each in observe_retries(tenth, waits(0.11, 0.18, 0.41)).breaches] == [
        "early"
    ]
    assert [
        each.kind
        for each in observe_retries(
            tenth, waits(0.3, 1.1, 1.1, failure=AGAIN._replace(retry_after=1.0))
        ).breaches
    ] == ["hint"]


def test_where_a_wait_lay_is_known_where_chance_decided() -> None:
    """From 0 to 1 between the bounds; a Retry-After leaves nothing to chance."""
    assert band_positions(observe_retries(POLICY, waits(1.0, 2.2, 4.4)).waits) == pytest.approx(
        [0.0, 0.5, 0.5]
    )
    assert (
        observe_retries(POLICY, waits(9, 9, 9, failure=AGAIN._replace(retry_after=9.0))).waits == ()
    )


@given(st.integers(0, 400), st.integers(2, 40))
def test_chance_is_not_taken_for_its_absence(seed: int, count: int) -> None:
    """Waits that chance spreads are never called improbable."""
    chance = Random(seed)
    assert not are_clustered([chance.random() for _ in range(count)])


@given(st.integers(0, 400), st.integers(13, 40), st.floats(0, 1))
def test_the_absence_of_chance_is_seen_through_noise(seed: int, count: int, place: float) -> None:
    """Waits that always lie at one place are improbable, though a clock blurs all and a busy
    machine delays two.
    """
    chance = Random(seed)
    blurred = [place + 0.05 * chance.random() for _ in range(count - 2)]
    assert suffice(count)
    assert are_clustered([*blurred, 1.7, 3.0])


#: Bands of three waits of two seconds and more at a twentieth, with a quarter of jitter.
BANDS = ((0.1, 0.125), (0.2, 0.25), (0.4, 0.5))


def jittered(chance: Random, ratio: float, own: float, rounds: int) -> list[Wait]:
    """Waits with so much jitter on two cores with four busy processes: one in fifty is more
    than 50 ms late. ``own``: the caller's own time for each try.
    """
    late = [*([0.005] * 25), *([0.02] * 20), *([0.045] * 4), 0.11]
    return [
        Wait(low * (1 + ratio * chance.random()) + own + chance.choice(late), low, high)
        for _ in range(rounds)
        for low, high in BANDS
    ]


@given(st.integers(0, 2000), st.integers(1, 30), st.sampled_from([0.0, 0.02, 0.4]))
def test_a_busy_machine_is_not_taken_for_a_slow_policy(seed: int, rounds: int, own: float) -> None:
    """Occasional lateness and the caller's own time do not make waits count as too long."""
    assert count_late_waits(jittered(Random(seed), 0.25, own, rounds)) == 0


def test_more_jitter_than_declared_is_seen_in_many_waits() -> None:
    """One and a half times the wait instead of a quarter is found nearly always, though no single
    wait is late.
    """
    found = [count_late_waits(jittered(Random(seed), 1.5, 0.02, 13)) > 0 for seed in range(200)]
    assert sum(found) > 190


@pytest.mark.parametrize(
    ("most", "scale", "suggested"),
    [(0.5, 0.05, None), (0.49, 0.05, "0.056"), (0.41, 0.05, "0.5"), (0.4, 0.05, None)],
)
def test_a_scale_without_room_for_jitter_gets_a_suggestion(
    most: float, scale: float, suggested: str | None
) -> None:
    """A band of a tenth of a second is wide enough, in floating point too. Without jitter no
    scale is suggested.
    """
    explanation = explain_narrow_bands([Wait(0.4, 0.4, most)], scale)
    assert (
        explanation is None
        if suggested is None
        else explanation is not None and explanation.endswith(f"use a scale of {suggested}")
    )


def test_a_scaled_tenth_of_a_second_is_room_enough() -> None:
    """0.4 × 1.25 - 0.4 is less than 0.1 to a computer."""
    policy = Policy(
        "p", 4, (Phase("exponential", 2.0),), Jitter("additive", 0.25), RetryAfterRule()
    )
    assert (
        len(
            band_positions(
                observe_retries(scale_policy(policy, 0.05), waits(0.11, 0.22, 0.44)).waits
            )
        )
        == 1
    )
