"""Values that are new: tokens, ids and keys, drawn from the machine's entropy or, for a run that is to be repeated, from a seed."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from faultspec.runtime import ids

#: Where the time in ids of a seeded run begins, in seconds since 1970: the first of January 2026.
_EPOCH = 1_767_225_600


@dataclass(frozen=True, slots=True)
class Tokens:
    """A source of values that are new. ``clock``: the seconds since 1970 that stand in ids which begin with the time."""

    random: random.Random
    clock: Callable[[], float]

    def hex(self, size: int) -> str:
        """Two hexadecimal digits for each of ``size`` bytes."""
        return self.random.randbytes(size).hex()

    def id(self, format: str) -> str:
        """A new id of one of the formats of `faultspec.runtime.ids`."""
        return ids.new(format, clock=self.clock, entropy=self.random.randbytes)

    def choice(self, members: Sequence[str]) -> str:
        """One of them."""
        return self.random.choice(members)


def fresh() -> Tokens:
    """Values that no other run has."""
    return Tokens(random.SystemRandom(), time.time)


def seeded(seed: str) -> Tokens:
    """The same values for the same seed, in ids a time that passes by a millisecond each."""
    ticks: Iterator[int] = count()
    return Tokens(random.Random(seed), lambda: _EPOCH + next(ticks) / 1000)
