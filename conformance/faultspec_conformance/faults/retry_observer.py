"""Comparing the retries that a server observes with what the planner would have done.

A wait is the time from the beginning of an answer to the arrival of the next request. The caller
never waits longer than that, so a wait that is too short is a finding. Machines and networks can
make it longer. So one wait may be late by much, but many waits only by little (`faults.jitter`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from faultspec.runtime.retry import Failure, Plan, Policy, RetryAfterRule, State, plan, start
from faultspec_conformance.faults.jitter import Wait

#: How much earlier a timer may end, in seconds and as a share: clock resolution, and clocks of
#: different speed.
_EARLY, _DRIFT = 0.002, 0.01

#: How much one wait may exceed its upper bound, in seconds and as a share: processes wait for their
#: turn. Of a thousand waits on two cores with up to four busy processes, none was more than 0.11 s
#: late.
_LATE, _SLACK = 0.5, 0.25

Kind = Literal["ineligible", "unsafe", "attempts", "abandoned", "early", "hint", "late"]

_KINDS: dict[str, Kind] = {
    "not_retriable": "ineligible",
    "not_eligible": "ineligible",
    "not_idempotent": "unsafe",
}

#: A policy that only observes `Retry-After`.
RETRY_AFTER_ONLY = Policy("", max_attempts=None, retry_after=RetryAfterRule())


class Try(NamedTuple):
    """One request of a call: when it had arrived, when its answer began, and the failure; None for
    a success.
    """

    at: float
    until: float
    failure: Failure | None


class Breach(NamedTuple):
    """A departure from the policy. ``number``: that of the try that shows it, from 0."""

    kind: Kind
    number: int
    message: str


@dataclass(frozen=True, slots=True)
class RetryReport:
    """The judgement of the tries of one call. ``exercised``: the kinds of breach that could have
    occurred.
    """

    breaches: tuple[Breach, ...]
    exercised: frozenset[Kind]
    waits: tuple[Wait, ...]


class _Possible(NamedTuple):
    """A state that the caller may be in, and the least and most seconds since the first try by its
    clock.
    """

    state: State
    least: float
    most: float


def observe_retries(policy: Policy, tries: Sequence[Try], *, timed: bool = True) -> RetryReport:
    """Compare all tries of one call with the planner. ``timed`` False: only what must not be sent
    again.
    """
    observer = _Observer(policy, timed)
    possible: tuple[_Possible, ...] = (_Possible(start(policy), 0.0, 0.0),)
    for number, (current, following) in enumerate(pairwise([*tries, None])):
        if current is None or current.failure is None:
            break
        planned = [plans for state in possible for plans in _plan(policy, state, current.failure)]
        retries = [(state, each) for state, each in planned if each.retry]
        is_certain = len(retries) == len(planned)
        if not retries:
            observer.judge_refusal(planned[0][1], number, is_retried=following is not None)
            break
        if following is None:
            observer.judge_abandoned(retries[0][1], number, is_certain=is_certain)
            break
        wait = following.at - current.until
        fitting = [(state, each) for state, each in retries if _fits(each, wait)]
        plans = [each for _, each in retries]
        has_hint = current.failure.retry_after is not None
        observer.judge_wait(plans, wait, number, fits=bool(fitting), has_hint=has_hint)
        if is_certain and not _is_hinted(plans[0]):
            observer.add_wait(plans, wait)
        possible = _advance(fitting or retries, following.at - tries[0].at)
    return observer.report()


class _Observer:
    """Collects what the tries of one call show."""

    def __init__(self, policy: Policy, timed: bool) -> None:
        self.policy = policy
        self.timed = timed
        self.breaches: list[Breach] = []
        self.exercised: set[Kind] = set()
        self.waits: list[Wait] = []

    def report(self) -> RetryReport:
        return RetryReport(tuple(self.breaches), frozenset(self.exercised), tuple(self.waits))

    def judge_refusal(self, planned: Plan, number: int, *, is_retried: bool) -> None:
        """The planner would not retry."""
        kind = _KINDS.get(planned.reason, "attempts")
        self.exercised.add(kind)
        if is_retried:
            message = f"try {number + 2} was sent although {planned.explain[-1]}"
            self.breaches.append(Breach(kind, number + 1, message))

    def judge_abandoned(self, planned: Plan, number: int, *, is_certain: bool) -> None:
        """The planner would retry, but the caller did not."""
        self.exercised.add("abandoned")
        if is_certain and self.timed:
            expected = _describe_expected(self.policy, planned)
            message = f"no try followed try {number + 1}, although {expected}"
            self.breaches.append(Breach("abandoned", number, message))

    def judge_wait(
        self, plans: Sequence[Plan], wait: float, number: int, *, fits: bool, has_hint: bool
    ) -> None:
        """The caller retried after a wait."""
        self.exercised.add("abandoned")
        if not self.timed and not has_hint:
            return
        self.exercised.add("early")
        self.exercised |= {"hint"} if _is_hinted(plans[0]) else set()
        self.exercised |= {"late"} if self.timed else set()
        kind = _classify_wait(plans, wait)
        if not fits and (self.timed or kind != "late"):
            expected = _describe_expected(self.policy, plans[0])
            message = (
                f"try {number + 2} came {wait:.3f} s after the answer to try {number + 1}; "
                f"{expected}"
            )
            self.breaches.append(Breach(kind, number + 1, message))

    def add_wait(self, plans: Sequence[Plan], wait: float) -> None:
        """Keep a wait with its bounds, if the plans agree on them."""
        bands = {planned.jitter_band for planned in plans if planned.jitter_band is not None}
        if len(bands) == 1:
            self.waits.append(Wait(wait, *bands.pop()))


def _plan(
    policy: Policy, possible: _Possible, failure: Failure
) -> Iterator[tuple[_Possible, Plan]]:
    """The plans that the caller may have made, with lowest and highest jitter.

    One for either end of the time by its clock, and one for each phase that begins between.
    """
    ends = accumulate(phase.for_seconds or 0.0 for phase in policy.phases[:-1])
    between = (end for end in ends if possible.least < end <= possible.most)
    for moment in sorted({possible.least, possible.most, *between}):
        state = possible.state._replace(elapsed=moment)
        for luck in (0.0, 1.0):
            planned = plan(policy, state, failure, now=0.0, random=partial(float, luck))
            yield possible._replace(least=moment), planned


def _advance(retries: Iterable[tuple[_Possible, Plan]], elapsed: float) -> tuple[_Possible, ...]:
    found: dict[tuple[int, int], _Possible] = {}
    for before, planned in retries:
        least = before.least + _band(planned)[0]
        key = (planned.state.phase, planned.state.taken)
        known = found.get(key)
        least = least if known is None else min(known.least, least)
        # The caller's clock begins before its first try arrives, and it plans after an answer.
        found[key] = _Possible(planned.state, min(least, elapsed), elapsed + _LATE)
    return tuple(found.values())


def _band(planned: Plan) -> tuple[float, float]:
    return planned.jitter_band or (0.0, 0.0)


def _fits(planned: Plan, wait: float) -> bool:
    low, high = _band(planned)
    return _shortest_wait(low) <= wait <= _longest_wait(high)


def _shortest_wait(low: float) -> float:
    return low * (1 - _DRIFT) - _EARLY


def _longest_wait(high: float) -> float:
    return high * (1 + _SLACK) + _LATE


def _classify_wait(plans: Sequence[Plan], wait: float) -> Kind:
    """The kind of fault of a wait that fits no plan."""
    if wait > _longest_wait(max(high for _, high in map(_band, plans))):
        return "late"
    computed = min(planned.computed or 0.0 for planned in plans)
    return "hint" if _is_hinted(plans[0]) and wait >= _shortest_wait(computed) else "early"


def _is_hinted(planned: Plan) -> bool:
    return planned.retry and planned.jitter_band is not None and planned.delay != planned.computed


def _describe_expected(policy: Policy, planned: Plan) -> str:
    low, high = _band(planned)
    span = f"{low:.3f} s" if low == high else f"{low:.3f} s to {high:.3f} s"
    if not policy.name:
        return f"Retry-After asks for {span}"
    return f"the policy {policy.name} waits {span}" + (
        " (by Retry-After)" if _is_hinted(planned) else ""
    )
