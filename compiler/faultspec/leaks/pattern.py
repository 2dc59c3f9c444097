"""The pattern of a leak: an expression, and the checks of its matches."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern of a kind of leak.

    ``needles``: lower-case strings; every match contains one. ``accept``: decides on a match at
    last.
    """

    what: str
    needles: tuple[str, ...]
    expression: str
    flags: int = 0
    accept: Callable[[re.Match[str]], bool] | None = None

    @property
    def regex(self) -> re.Pattern[str]:
        """The expression, compiled when a needle is found: most never are."""
        return _compile(self.expression, self.flags)


@lru_cache(maxsize=2048)  # more than there are patterns, and a taxonomy's own names beside them
def _compile(expression: str, flags: int) -> re.Pattern[str]:
    return re.compile(expression, flags)


def pattern(
    what: str,
    needles: str,
    regex: str,
    *,
    accept: Callable[[re.Match[str]], bool] | None = None,
    flags: int = 0,
) -> Pattern:
    """One row: the thing in words, its needles with ``|`` between them, the expression."""
    alternatives = tuple(needles.lower().split("|"))
    return Pattern(what, alternatives, regex, flags | re.MULTILINE | re.ASCII, accept=accept)
