"""Jitter: what the waits of a caller show together, in spite of clocks and busy machines."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, comb, log10
from typing import Literal, NamedTuple

#: How far and how often waits may exceed their upper bound: by `_LATE_SECONDS` and by the share
#: `_LATE_SHARE` of the bound, in the share `_LATE_OFTEN` of the waits. Of a thousand waits on two
#: busy cores, one in fifty did.
_LATE_SECONDS, _LATE_SHARE, _LATE_OFTEN = 0.05, 0.1, 0.05

#: The narrowest band in seconds that shows jitter. In narrower ones, timers and busy machines
#: decide more.
_ROOM = 0.1

#: The share of a band within which waits count as equal: the grain of timers and clocks.
_GRAIN = 0.05

#: How often a failure is repeated at most until enough waits are observed. Each repetition has one
#: or more.
ROUNDS = 15

#: The probability of a false finding: jittered waits look like this once in a million runs.
_NEVER = 1e-6


class Wait(NamedTuple):
    """Seconds that a caller waited, and the bounds of the policy. `Retry-After` did not change
    them.
    """

    seconds: float
    least: float
    most: float


class JitterReport(NamedTuple):
    """The judgement of all waits together.

    ``late``: a sentence for each policy whose bounds are exceeded too often.
    ``note``: why the bands are too narrow. ``jitter``: whether there is any; None if late waits
    hide it. ``reason``: why it is missing or unclear.
    """

    late: tuple[str, ...]
    note: str | None
    jitter: Literal["present", "missing", "unclear"] | None
    reason: str = ""


def judge_jitter(
    waits: Mapping[str, Sequence[Wait]], scale: float, own: float | None = None
) -> JitterReport:
    """Whether the waits, by policy, are jittered. ``scale``: the delays as a multiple of the
    policies'. ``own``: the caller's own time for a try, if it is known.
    """
    positions = [position for values in waits.values() for position in band_positions(values)]
    narrow = [
        reason for values in waits.values() if (reason := explain_narrow_bands(values, scale))
    ]
    note = narrow[0] if narrow and not positions else None
    late = tuple(
        f"{count} of {len(values)} waits are longer than the policy {name} allows; a busy machine "
        "does not explain that number"
        for name, values in waits.items()
        if (count := count_late_waits(values, own))
    )
    if late:
        return JitterReport(late, note, None)
    if not suffice(len(positions)):
        reason = note or "the waits are too few to tell jitter from the grain of clocks"
        return JitterReport((), note, "unclear", reason)
    if not are_clustered(positions):
        return JitterReport((), note, "present")
    reason = (
        f"most of {len(positions)} waits lie at the same place of their bounds; "
        "jitter would spread them"
    )
    return JitterReport((), note, "missing", reason)


def count_late_waits(waits: Sequence[Wait], own: float | None = None) -> int:
    """How many waits exceed their upper bound; 0 if a busy machine can explain that number.

    ``own``: the caller's own time for a try, which no policy counts. If it is unknown, it is the
    smallest excess over the lower bound, which hides delays that are too long by a constant.
    """
    if own is None:
        own = max(0.0, min((wait.seconds - wait.least for wait in waits), default=0.0))
    late = sum(wait.seconds > _longest_usual(wait, own) for wait in waits)
    return late if _binomial_tail(late, len(waits), _LATE_OFTEN) < _NEVER else 0


def _longest_usual(wait: Wait, own: float) -> float:
    return wait.most * (1 + _LATE_SHARE) + own + _LATE_SECONDS


def are_tellable(count: int) -> bool:
    """Whether so many waits, all of them late, cannot be explained by a busy machine."""
    return _binomial_tail(count, count, _LATE_OFTEN) < _NEVER


def explain_hidden_delays(waits: Sequence[Wait], scale: float, own: float) -> str | None:
    """Why delays of twice the length would lie within the tolerance at this scale; None if they
    would not.

    ``own``: the caller's own time for a try.
    """
    if not waits or any(wait.least + wait.most > _longest_usual(wait, own) for wait in waits):
        return None
    room = max(wait.least - wait.most * _LATE_SHARE for wait in waits)
    if room <= 0:
        return None
    needed = scale * (own + _LATE_SECONDS) / room
    return (
        f"at a scale of {scale:g}, waits of twice the length lie within the tolerance for clocks "
        f"and busy machines; use a scale of {_rounded_up(needed)}"
    )


def band_positions(waits: Iterable[Wait]) -> list[float]:
    """The position of each wait in its band, from 0 to 1. Narrow bands are left out."""
    return [
        (wait.seconds - wait.least) / (wait.most - wait.least) for wait in waits if _is_wide(wait)
    ]


def explain_narrow_bands(waits: Sequence[Wait], scale: float) -> str | None:
    """Why no band is wide enough to show jitter at this scale; None if one is."""
    widest = max((wait.most - wait.least for wait in waits), default=0.0)
    if widest == 0 or any(map(_is_wide, waits)):
        return None
    needed = scale * _ROOM / widest
    return (
        f"at a scale of {scale:g}, jitter decides at most {widest:.3f} s of a wait, which is "
        "within the grain of clocks; "
        f"use a scale of {_rounded_up(needed)}"
    )


def _rounded_up(scale: float) -> str:
    """A scale that is not smaller, with two digits."""
    step = 10.0 ** (ceil(-log10(scale)) + 1)
    return f"{ceil(scale * step - 1e-6) / step:g}"


def _is_wide(wait: Wait) -> bool:
    return wait.most - wait.least >= _ROOM - 1e-9  # floating point: a scaled tenth may be less


def are_clustered(positions: Sequence[float]) -> bool:
    """Whether jittered waits would lie so close together at most once in a million runs.

    A few that a busy machine delayed do not hide the others. The bound is that of the scan
    statistic: of n points spread evenly, k or more lie within a window of width w that begins at
    one of them with a probability of at most n × P(Binomial(n - 1, w) ≥ k - 1); asked for every k,
    that is n times as much.
    """
    ordered, count = sorted(positions), len(positions)
    for least in range(2, count + 1):
        spans = (ordered[i + least - 1] - ordered[i] for i in range(count - least + 1))
        width = max(_GRAIN, min(spans))
        if width < 1 and count * count * _binomial_tail(least - 1, count - 1, width) < _NEVER:
            return True
    return False


def suffice(count: int) -> bool:
    """Whether ``count`` waits can show that jitter is missing, even on a busy machine."""
    return count > 1 and count * count * _binomial_tail(count - 1, count - 1, 4 * _GRAIN) < _NEVER


def _binomial_tail(successes: int, trials: int, chance: float) -> float:
    """The binomial probability of at least ``successes``."""
    return sum(
        comb(trials, number) * chance**number * (1 - chance) ** (trials - number)
        for number in range(successes, trials + 1)
    )
