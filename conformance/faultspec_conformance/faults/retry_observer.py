"""Whoever retries, watched from the other end: the tries of one call, compared with what the planner would have done.

A wait is the time from when an answer began to be sent to when the next request had come. That is never shorter than what
the caller waited, so a wait that is too short is one; how much longer it is, the machines and the network decide. So there
is much patience with one wait at the upper end, and little with many: a busy machine is late now and then, and by little.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ceil, comb, log10
from typing import Literal, NamedTuple

from faultspec.runtime.retry import Failure, Plan, Policy, RetryAfterRule, State, plan, start

#: Timers may end a little early: by the resolution of a clock, and by how much two clocks differ in speed.
_EARLY, _DRIFT = 0.002, 0.01

#: Seconds, and the share of the longest wait, by which one wait may be exceeded: processes wait for their turn as well. Of a
#: thousand waits of the relay, on two cores with up to four processes that never rest, none was more than 0.11 s late.
_LATE, _SLACK = 0.5, 0.25

#: The same of many waits, and how often it may be more: of those thousand one in fifty was.
_USUAL, _SHARE, _OFTEN = 0.05, 0.1, 0.05

#: Seconds; where chance has less room than this, timers and busy machines decide more than it does.
_ROOM = 0.1

#: The share of its room within which waits look alike although chance made them: the grain of timers and clocks.
_GRAIN = 0.05

#: A failure is repeated so often, at most, until chance has had enough occasions to show itself: each has one or more.
ROUNDS = 15

#: Waits that are spread evenly would lie so close together less than once in so many runs.
_NEVER = 1e-6

Kind = Literal["ineligible", "unsafe", "attempts", "abandoned", "early", "hint", "late"]

UNTOLD = Policy("", max_attempts=None, retry_after=RetryAfterRule())
"""Retries of which nothing is said but `Retry-After`."""


class Try(NamedTuple):
    """One request of a call: when it had come, when its answer was begun, and the failure that this was; None: a success."""

    at: float
    until: float
    failure: Failure | None


class Breach(NamedTuple):
    """A way in which a caller left the policy. ``number``: of the try that shows it, from 0."""

    kind: Kind
    number: int
    message: str


class Wait(NamedTuple):
    """Seconds that a caller waited, and the fewest and the most that the policy had, which no `Retry-After` changed."""

    seconds: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class RetryReport:
    """What the tries of one call show. ``exercised``: what there was occasion for, broken or not."""

    breaches: tuple[Breach, ...]
    exercised: frozenset[Kind]
    waits: tuple[Wait, ...]


class _Possible(NamedTuple):
    """A state the caller may be in, and the seconds since the first try that it may count with, least and most."""

    state: State
    least: float
    most: float


def scaled(policy: Policy, scale: float) -> Policy:
    """The policy with every delay times ``scale``; what a `Retry-After` says are seconds of the one who sent it."""

    def times(seconds: float | None) -> float | None:
        return None if seconds is None else seconds * scale

    return policy._replace(
        phases=tuple(
            phase._replace(
                base=phase.base * scale,
                step=phase.step * scale,
                max=times(phase.max),
                for_seconds=times(phase.for_seconds),
            )
            for phase in policy.phases
        ),
        max_elapsed=times(policy.max_elapsed),
        kinds={name: each._replace(base=times(each.base)) for name, each in policy.kinds.items()},
    )


def follow(policy: Policy, tries: Sequence[Try], *, spans: bool = True) -> RetryReport:
    """Compare the tries of one call with what the planner would have done. ``tries`` are all there were.

    ``spans`` False: nothing is said of how long and how often, only what must not be sent again.
    """
    breaches: list[Breach] = []
    exercised: set[Kind] = set()
    waits: list[Wait] = []
    possible: tuple[_Possible, ...] = (_Possible(start(policy), 0.0, 0.0),)
    for number, (one, after) in enumerate(pairwise([*tries, None])):
        if one is None or one.failure is None:
            break
        planned = [each for state in possible for each in _planned(policy, state, one.failure)]
        again = [(state, each) for state, each in planned if each.retry]
        refused = planned[0][1]
        if not again:
            kind = _KINDS.get(refused.reason, "attempts")
            exercised.add(kind)
            if after is not None:
                breaches.append(
                    Breach(
                        kind,
                        number + 1,
                        f"try {number + 2} was sent although {refused.explain[-1]}",
                    )
                )
            break
        if after is None:
            exercised.add("abandoned")
            if len(again) == len(planned) and spans:
                message = (
                    f"no try followed try {number + 1}, although {_expected(policy, again[0][1])}"
                )
                breaches.append(Breach("abandoned", number, message))
            break
        exercised |= {"abandoned"}
        wait = after.at - one.until
        fitting = [(state, each) for state, each in again if _fits(each, wait)]
        if spans or one.failure.retry_after is not None:
            breach = None if fitting else _misfit(policy, [each for _, each in again], wait, number)
            exercised |= {
                "early",
                *(("hint",) if _hinted(again[0][1]) else ()),
                *(("late",) if spans else ()),
            }
            if breach is not None and (spans or breach.kind != "late"):
                breaches.append(breach)
        if len(again) == len(planned) and not _hinted(again[0][1]):
            waits += _between([each for _, each in again], wait)
        elapsed = after.at - tries[0].at
        possible = _advanced(fitting or again, elapsed)
    return RetryReport(tuple(breaches), frozenset(exercised), tuple(waits))


_KINDS: dict[str, Kind] = {
    "not_retriable": "ineligible",
    "not_eligible": "ineligible",
    "not_idempotent": "unsafe",
}


def _planned(
    policy: Policy, possible: _Possible, failure: Failure
) -> Iterator[tuple[_Possible, Plan]]:
    """The plans a caller may have made: at either end of what he may count with, at every turn between, with either luck."""
    ends = []
    end = 0.0
    for phase in policy.phases[:-1]:
        end += phase.for_seconds or 0.0
        ends.append(end)
    moments = {
        possible.least,
        possible.most,
        *(each for each in ends if possible.least < each <= possible.most),
    }
    for moment in sorted(moments):
        state = possible.state._replace(elapsed=moment)
        for luck in (0.0, 1.0):
            yield (
                possible._replace(least=moment),
                plan(policy, state, failure, now=0.0, random=partial(float, luck)),
            )


def _advanced(again: Iterable[tuple[_Possible, Plan]], elapsed: float) -> tuple[_Possible, ...]:
    found: dict[tuple[int, int], _Possible] = {}
    for before, each in again:
        least = before.least + _band(each)[0]
        key = (each.state.phase, each.state.taken)
        known = found.get(key)
        least = least if known is None else min(known.least, least)
        found[key] = _Possible(each.state, min(least, elapsed), elapsed)
    return tuple(found.values())


def _fits(planned: Plan, wait: float) -> bool:
    low, high = _band(planned)
    return _floor(low) <= wait <= _ceiling(high)


def _floor(low: float) -> float:
    return low * (1 - _DRIFT) - _EARLY


def _ceiling(high: float) -> float:
    return high * (1 + _SLACK) + _LATE


def _misfit(policy: Policy, planned: Sequence[Plan], wait: float, number: int) -> Breach:
    if wait > _ceiling(max(high for _, high in map(_band, planned))):
        kind: Kind = "late"
    else:
        computed = min(each.computed or 0.0 for each in planned)
        kind = "hint" if _hinted(planned[0]) and wait >= _floor(computed) else "early"
    message = f"try {number + 2} came {wait:.3f} s after the answer to try {number + 1}; {_expected(policy, planned[0])}"
    return Breach(kind, number + 1, message)


def _band(planned: Plan) -> tuple[float, float]:
    return planned.jitter_band or (0.0, 0.0)


def _expected(policy: Policy, planned: Plan) -> str:
    low, high = _band(planned)
    span = f"{low:.3f} s" if low == high else f"{low:.3f} s to {high:.3f} s"
    said = " (Retry-After says so)" if _hinted(planned) else ""
    return (
        f"the policy {policy.name} waits {span}{said}"
        if policy.name
        else f"Retry-After asks for {span}"
    )


def _hinted(planned: Plan) -> bool:
    return planned.retry and planned.jitter_band is not None and planned.delay != planned.computed


def _between(planned: Sequence[Plan], wait: float) -> Iterator[Wait]:
    """A wait and its band, if there is only one."""
    bands = {each.jitter_band for each in planned if each.jitter_band is not None}
    if len(bands) == 1:
        yield Wait(wait, *bands.pop())


def dawdling(waits: Sequence[Wait]) -> int:
    """How many waits are longer than the policy has; 0 where a busy machine can have made so many, but once in a million runs.

    What even the shortest is above its least is the caller's own time for a try, which no policy counts.
    """
    own = max(0.0, min((wait.seconds - wait.least for wait in waits), default=0.0))
    beyond = sum(wait.seconds > wait.most * (1 + _SHARE) + own + _USUAL for wait in waits)
    return beyond if _at_least(beyond, len(waits), _OFTEN) < _NEVER else 0


def _dawdled(beyond: int, waits: Sequence[Wait], policy: str) -> str:
    return f"{beyond} of {len(waits)} waits are longer than the policy {policy} has; no busy machine makes so many so"


# chance


class Spread(NamedTuple):
    """What the waits of a caller say together. ``late``: a sentence for each policy whose waits he makes longer; ``note``: why
    chance can't be seen in any; ``chance``: whether it was, None where lateness hides it; ``message``: why not.
    """

    late: tuple[str, ...]
    note: str | None
    chance: Literal["seen", "missing", "untold"] | None
    message: str = ""


def spread(waits: Mapping[str, Sequence[Wait]], scale: float) -> Spread:
    """Whether chance has a part in the waits, by policy, which are ``scale`` times those of the policies."""
    found = [each for one in waits.values() for each in positions(one)]
    narrow = (cramped(wait, scale) for wait in waits.values())
    note = None if found else next((each for each in narrow if each is not None), None)
    late = tuple(
        _dawdled(beyond, each, name) for name, each in waits.items() if (beyond := dawdling(each))
    )
    if late:
        return Spread(late, note, None)
    if not enough(len(found)):
        return Spread(
            (), note, "untold", note or "the waits are too few to tell chance from the clocks"
        )
    return (
        Spread((), note, "missing", _unspread(found))
        if improbable(found)
        else Spread((), note, "seen")
    )


def positions(waits: Iterable[Wait]) -> list[float]:
    """Where in its band each wait lay in which chance had room: 0 is the lower end, 1 the upper."""
    roomy = (wait for wait in waits if _roomy(wait))
    return [(each.seconds - each.least) / (each.most - each.least) for each in roomy]


def cramped(waits: Sequence[Wait], scale: float) -> str | None:
    """Why chance can't be seen in any of these waits, which are ``scale`` times those of the policy; None where it can."""
    widest = max((wait.most - wait.least for wait in waits), default=0.0)
    if widest == 0 or any(map(_roomy, waits)):
        return None
    needed = scale * _ROOM / widest
    step = 10.0 ** (ceil(-log10(needed)) + 1)
    told = f"with a scale of {scale:g} chance decides {widest:.3f} s of a wait at most, and clocks take part in so little"
    return f"{told}; it takes a scale of {ceil(needed * step - 1e-6) / step:g}"


def _roomy(wait: Wait) -> bool:
    return (
        wait.most - wait.least >= _ROOM - 1e-9
    )  # a scaled tenth is a little more or less than one


def improbable(positions: Sequence[float]) -> bool:
    """Whether chance would hardly ever have made waits that lie so close together: at most once in a million runs.

    A few that a busy machine delayed don't hide the others. The bound is that of the scan statistic: of n points spread
    evenly, k or more lie within a window of width w that begins at one of them with a probability of at most
    n × P(Binomial(n - 1, w) ≥ k - 1); asked for every k, that is n times as much.
    """
    ordered, count = sorted(positions), len(positions)
    for least in range(2, count + 1):
        width = max(
            _GRAIN, min(ordered[i + least - 1] - ordered[i] for i in range(count - least + 1))
        )
        if width < 1 and count * count * _at_least(least - 1, count - 1, width) < _NEVER:
            return True
    return False


def _unspread(found: Sequence[float]) -> str:
    return f"most of {len(found)} waits lie at the same place of their bounds; chance would spread them"


def enough(count: int) -> bool:
    """Whether so many waits could show that chance is missing, even on a busy machine."""
    return count > 1 and count * count * _at_least(count - 1, count - 1, 4 * _GRAIN) < _NEVER


def _at_least(successes: int, trials: int, chance: float) -> float:
    """The probability of so many successes or more."""
    return sum(
        comb(trials, each) * chance**each * (1 - chance) ** (trials - each)
        for each in range(successes, trials + 1)
    )
