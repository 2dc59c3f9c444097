"""New tokens, ids and keys, from the machine's entropy or, for a repeatable run, a seed."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from faultspec.runtime import ids

#: The first time in the ids of a seeded run, in seconds since 1970: 2026-01-01.
_EPOCH = 1_767_225_600


@dataclass(frozen=True, slots=True)
class Tokens:
    """A source of new values. ``clock``: the seconds since 1970 in ids that begin with the time."""

    random: random.Random
    clock: Callable[[], float]

    def hex(self, size: int) -> str:
        """``size`` bytes as hexadecimal digits."""
        return self.random.randbytes(size).hex()

    def id(self, format: str) -> str:
        """A new id of one of the formats of `faultspec.runtime.ids`."""
        return ids.new(format, clock=self.clock, entropy=self.random.randbytes)

    def choice(self, members: Sequence[str]) -> str:
        """One of the members."""
        return self.random.choice(members)


def fresh() -> Tokens:
    """Values that no other run has."""
    return Tokens(random.SystemRandom(), time.time)


def seeded(seed: str) -> Tokens:
    """The same values for the same seed. The time in ids advances by a millisecond with each id."""
    ticks: Iterator[int] = count()
    return Tokens(random.Random(seed), lambda: _EPOCH + next(ticks) / 1000)
