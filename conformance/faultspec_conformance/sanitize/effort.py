"""The time that masking may take: a service chooses the texts that are searched."""

import time
from dataclasses import dataclass, field


class Exhausted(Exception):
    """The time for masking is spent."""


@dataclass(slots=True)
class Effort:
    """``seconds`` of processor time of its thread, so that a busy machine hides nothing.
    ``hidden``: messages that are hidden because they have too many secrets. ``late``: messages and
    texts that are hidden because the time is spent.
    """

    seconds: float
    hidden: int = 0
    late: int = 0
    _began: float = field(default_factory=time.thread_time)

    def is_spent(self, share: float = 1.0) -> bool:
        """Whether the time is over, or a share of it."""
        return time.thread_time() - self._began > self.seconds * share

    def check(self) -> None:
        """Raise Exhausted if the time is over."""
        if self.is_spent():
            raise Exhausted
