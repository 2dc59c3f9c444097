"""Leaks in pages that come again and again.

The page of an error in debug mode has tens of kilobytes, and most of its lines were in the page
before. They are not searched again: only new lines are, with those around them. A leak whose lines
all come again, in a row, is found as it was.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

from faultspec.leaks import JOINT, SCANNED, Leak, add_leak

#: Characters of a text whose lines are remembered. A shorter one is searched in a few hundredths of
#: a second.
LEAST = 4 * 1024

#: Lines before and after a new one that are searched with it, since patterns reach over lines.
_AROUND = 3

#: Lines that are remembered; a page has a thousand.
_MOST = 50_000


class _KnownLeak(NamedTuple):
    """A leak that begins at an offset of the first of its lines."""

    lines: tuple[str, ...]
    offset: int
    leak: Leak


@dataclass(slots=True)
class KnownLines:
    """The lines that were searched, and the leaks of each that begin there."""

    lines: set[str] = field(default_factory=set)
    leaks: dict[str, list[_KnownLeak]] = field(default_factory=dict)

    def detect(self, text: str, search: Callable[[str], Sequence[Leak]]) -> Sequence[Leak]:
        """The leaks of a text, by place. ``search`` finds those of any text."""
        if not LEAST <= len(text) <= SCANNED:
            return search(text)
        lines = text.split("\n")
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        ranges = [*_ranges([line not in self.lines for line in lines])]
        new = sum(starts[end] - starts[start] for start, end in ranges)
        if 2 * new > len(text):
            found = search(text)
        else:
            found = self._join(text, lines, starts, _search_ranges(text, starts, ranges, search))
        self._remember(lines, starts, found)
        return found

    def _join(
        self, text: str, lines: Sequence[str], starts: Sequence[int], new: Sequence[Leak]
    ) -> Sequence[Leak]:
        """The leaks of new lines, and those of lines that are known."""
        known = [
            replace(each.leak, start=start, end=start + each.leak.end - each.leak.start)
            for number, line in enumerate(lines)
            for each in self.leaks.get(line, ())
            if tuple(lines[number : number + len(each.lines)]) == each.lines
            for start in [starts[number] + each.offset]
        ]
        found: list[Leak] = []
        for leak in sorted(
            (*new, *known), key=lambda leak: (leak.kind != "stack-trace", leak.start)
        ):
            add_leak(leak, found, text)
        return sorted(found, key=lambda leak: (leak.start, leak.kind, leak.end))

    def _remember(self, lines: Sequence[str], starts: Sequence[int], found: Sequence[Leak]) -> None:
        if len(self.lines) > _MOST:
            self.lines.clear()
            self.leaks.clear()
        self.lines.update(lines)
        for leak in found:
            first = bisect_right(starts, leak.start) - 1
            last = bisect_right(starts, max(leak.start, leak.end - 1)) - 1
            own = tuple(lines[first : last + 1])
            known = _KnownLeak(
                own, leak.start - starts[first], replace(leak, start=0, end=leak.end - leak.start)
            )
            if known not in self.leaks.setdefault(own[0], []):
                self.leaks[own[0]].append(known)


def _ranges(new: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The ranges of lines that are new, and of those around them."""
    start, end = 0, 0
    for number, is_new in enumerate(new):
        if not is_new:
            continue
        if number - _AROUND > end:
            if end > start:
                yield start, end
            start = number - _AROUND
        end = min(number + _AROUND + 1, len(new))
    if end > start:
        yield start, end


def _search_ranges(
    text: str,
    starts: Sequence[int],
    ranges: Sequence[tuple[int, int]],
    search: Callable[[str], Sequence[Leak]],
) -> Sequence[Leak]:
    """The leaks of ranges of lines, at their places in the text."""
    parts = [text[starts[start] : starts[end] - 1] for start, end in ranges]
    places = [0, *accumulate(len(part) + len(JOINT) for part in parts)]
    found = []
    for leak in search(JOINT.join(parts)):
        number = bisect_right(places, leak.start) - 1
        moved = starts[ranges[number][0]] - places[number]
        found.append(replace(leak, start=leak.start + moved, end=leak.end + moved))
    return found
