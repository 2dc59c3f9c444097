"""The pattern of a leak: an expression, and the checks of its matches."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern of a kind of leak.

    ``needles``: lower-case strings; every match contains one. ``source``: the expression, or the
    function that writes it when it is first needed. ``accept``: decides on a match at last.
    ``window``: the characters of a text that are searched at once; None for all.
    """

    what: str
    needles: tuple[str, ...]
    source: str | Callable[[], str]
    flags: int = 0
    accept: Callable[[re.Match[str]], bool] | None = None
    window: int | None = None

    @property
    def expression(self) -> str:
        """The regular expression."""
        return self.source if isinstance(self.source, str) else self.source()

    @property
    def regex(self) -> re.Pattern[str]:
        """The expression, compiled when a needle is found: most never are."""
        return _compile(self.source, self.flags)

    def find_all(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in a text, by place."""
        if self.window is None or len(text) <= self.window:
            return self.regex.finditer(text)
        return self._find_in_windows(text, self.window)

    def _find_in_windows(self, text: str, size: int) -> Iterator[re.Match[str]]:
        """The matches in windows of a text, which overlap by half."""
        found = 0
        for start in range(0, max(1, len(text) - size // 2), max(1, size // 2)):
            for match in self.regex.finditer(text, max(start, found), start + size):
                found = max(match.end(), match.start() + 1)
                yield match


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression that is compiled when it is first used."""

    source: str
    flags: int = 0

    def search(self, text: str) -> re.Match[str] | None:
        """The first match anywhere in the text."""
        return _compile(self.source, self.flags).search(text)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The match at ``start``."""
        return _compile(self.source, self.flags).match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The match of the whole text."""
        return _compile(self.source, self.flags).fullmatch(text)


@lru_cache(maxsize=2048)  # more than there are patterns, and a taxonomy's own names beside them
def _compile(source: str | Callable[[], str], flags: int) -> re.Pattern[str]:
    return re.compile(source if isinstance(source, str) else source(), flags)


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
