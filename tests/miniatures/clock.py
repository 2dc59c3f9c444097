"""The clock of a miniature that is asked over a connection."""

import time

PAUSE_SECONDS = 0.8
"""The shortest gap that a client makes on purpose: it waits at least a second where an answer says
`Retry-After`.
"""
STEP_SECONDS = 0.02
"""The seconds that a shorter gap counts at most."""


class Unhurried:
    """Seconds since the epoch, less what a busy machine adds: a burst of requests stays in the
    window of a rate limit.
    """

    def __init__(self) -> None:
        self._now, self._read = time.time(), time.monotonic()

    def __call__(self) -> float:
        """The time."""
        read = time.monotonic()
        gap, self._read = read - self._read, read
        self._now += gap if gap >= PAUSE_SECONDS else min(gap, STEP_SECONDS)
        return self._now
