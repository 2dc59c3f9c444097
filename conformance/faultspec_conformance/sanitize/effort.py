"""The time that masking may take: a service chooses the texts that are searched."""

import time
from dataclasses import dataclass, field


class Exhausted(Exception):
    """The time for masking is spent."""


@dataclass(slots=True)
class Effort:
    """``seconds`` of the processor, from its creation on. ``hidden``: messages that were not
    searched and are hidden instead.
    """

    seconds: float
    hidden: int = 0
    _began: float = field(default_factory=time.thread_time)

    def is_spent(self) -> bool:
        """Whether the time is over."""
        return time.thread_time() - self._began > self.seconds

    def check(self) -> None:
        """Raise Exhausted if the time is over."""
        if self.is_spent():
            raise Exhausted
