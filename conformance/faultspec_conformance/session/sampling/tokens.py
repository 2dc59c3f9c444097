"""New tokens, ids and keys, from the machine's entropy or, for a repeatable run, a seed."""

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import count

from faultspec.runtime import ids

MADE_UP = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[A-Za-z0-9]{8,}")
"""A part of a text that was made up for one request: many characters, with a digit among them."""

#: The first time in the ids of a seeded run, in seconds since 1970: 2026-01-01.
_EPOCH = 1_767_225_600


#: The first new day, and the number of days among which a run chooses its own first one. They end
#: in 2204, since times in nanoseconds in 64 bits end in 2262.
_FIRST_DAY, _DAYS = date(2040, 1, 1), 60_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """A source of new values. ``clock``: the seconds since 1970 in ids that begin with the time.

    ``days``: the numbers of the days that `day` returns.
    """

    random: random.Random
    clock: Callable[[], float]
    days: Iterator[int] = field(default_factory=count)

    def day(self) -> str:
        """A day after all earlier ones, as YYYY-MM-DD."""
        return (_FIRST_DAY + timedelta(next(self.days))).isoformat()

    def hex(self, size: int) -> str:
        """``size`` bytes as hexadecimal digits."""
        return self.random.randbytes(size).hex()

    def id(self, format: str) -> str:
        """A new id of one of the formats of `faultspec.runtime.ids`."""
        return ids.new(format, clock=self.clock, entropy=self.random.randbytes)

    def choice(self, members: Sequence[str]) -> str:
        """One of the members."""
        return self.random.choice(members)


def fresh_tokens() -> Tokens:
    """Values that no other run has."""
    source = random.SystemRandom()
    return Tokens(source, time.time, count(source.randrange(_DAYS)))


def seed_tokens(seed: str) -> Tokens:
    """The same values for the same seed. The time in ids advances by a millisecond with each id."""
    ticks: Iterator[int] = count()
    # A generator of its own for the days keeps the other values as they are.
    days = count(random.Random(f"{seed}/days").randrange(_DAYS))
    return Tokens(random.Random(seed), lambda: _EPOCH + next(ticks) / 1000, days)
