"""Leaks in pages that come again and again.

The page of an error in debug mode has tens of kilobytes, and most of its lines were in the page
before. Only what is new is searched again, with the text around it. A leak is known where the same
lines stand in the same text.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

from faultspec.leaks import JOINT, MAX_MATCHES, SCANNED, Leak, add_leak

#: Characters of a text whose lines are remembered. A shorter one is searched in a few hundredths of
#: a second.
LEAST = 4 * 1024

#: Characters around a leak that decide whether it is one: words such as "your program crashed" up
#: to 600 characters away.
_CONTEXT = 700

#: Characters of lines with leaks, and numbers of lines, that are remembered.
_MOST_CHARACTERS, _MOST_LINES = 4 * 1024 * 1024, 200_000

#: Leaks of one line in different texts that are remembered.
_MOST_OF_LINE = 32

_Search = Callable[[str], Sequence[Leak]]

_Range = tuple[int, int]
"""A part of a text, by its first character and the one behind it."""


class _KnownLeak(NamedTuple):
    """A leak at an offset of the first of its lines. ``around``: the hash of the text around it."""

    lines: tuple[str, ...]
    offset: int
    around: int
    leak: Leak


@dataclass(slots=True)
class KnownLines:
    """The lines that were searched, each by the hash of itself and its neighbours, and the leaks
    that begin in a line.
    """

    seen: set[int] = field(default_factory=set)
    leaks: dict[str, set[_KnownLeak]] = field(default_factory=dict)
    _characters: int = 0

    def detect(self, text: str, search: _Search) -> Sequence[Leak]:
        """The leaks of a text, by place. ``search`` finds those of any text."""
        if not LEAST <= len(text) <= SCANNED:
            return search(text)
        lines = text.split("\n")
        page = _PageText(text, lines, [0, *accumulate(len(line) + 1 for line in lines)])
        hashes = [*map(hash, zip(["", *lines], lines, [*lines[1:], ""], strict=False))]
        new = [number for number, each in enumerate(hashes) if each not in self.seen]
        known: list[Leak] = []
        if not page.is_mostly(page.ranges_around(new)):
            known += self._find_known(page, new)
        ranges = [*page.ranges_around(new)]
        found = search(text) if page.is_mostly(ranges) else _join(page, ranges, known, search)
        self._remember(page, hashes, found)
        return found

    def _find_known(self, page: "_PageText", new: list[int]) -> Iterator[Leak]:
        """The known leaks of a page. Lines whose leaks stand in another text are added to the new
        ones.
        """
        counts: Counter[tuple[str, str]] = Counter()
        for number, line in enumerate(page.lines):
            before = self.leaks.get(line)
            if before is None:
                continue
            placed = [
                (each, page.place(number, each))
                for each in before
                if counts[each.leak.kind, each.leak.what] < MAX_MATCHES
                and page.has_lines(number, each.lines)
            ]
            hashes = {(leak.start, leak.end): page.hash_around(leak) for _, leak in placed}
            same = [leak for each, leak in placed if hashes[leak.start, leak.end] == each.around]
            counts.update((leak.kind, leak.what) for leak in same)
            yield from same
            if placed and not same:
                new.append(number)
        new.sort()

    def _remember(self, page: "_PageText", hashes: Sequence[int], found: Sequence[Leak]) -> None:
        if len(self.seen) > _MOST_LINES or self._characters > _MOST_CHARACTERS:
            self.seen.clear()
            self.leaks.clear()
            self._characters = 0
        self.seen.update(hashes)
        for leak in found:
            first, last = page.line_at(leak.start), page.line_at(max(leak.start, leak.end - 1))
            lines = tuple(page.lines[first : last + 1])
            offset = leak.start - page.starts[first]
            at_start = replace(leak, start=0, end=leak.end - leak.start)
            known = _KnownLeak(lines, offset, page.hash_around(leak), at_start)
            own = self.leaks.setdefault(lines[0], set())
            if known not in own:
                if len(own) == _MOST_OF_LINE:
                    own.clear()
                own.add(known)
                self._characters += sum(map(len, lines))


@dataclass(frozen=True, slots=True)
class _PageText:
    """A text, its lines, and where each of them starts."""

    text: str
    lines: Sequence[str]
    starts: Sequence[int]

    def is_mostly(self, ranges: Iterable[_Range]) -> bool:
        """Whether ranges are more than half of the text, which is searched as a whole then."""
        return 2 * sum(end - start for start, end in ranges) > len(self.text)

    def line_at(self, place: int) -> int:
        """The number of the line with a character."""
        return bisect_right(self.starts, place) - 1

    def has_lines(self, number: int, lines: tuple[str, ...]) -> bool:
        """Whether these lines begin at a line."""
        return tuple(self.lines[number : number + len(lines)]) == lines

    def place(self, number: int, known: _KnownLeak) -> Leak:
        """A known leak that begins in a line."""
        start = self.starts[number] + known.offset
        return replace(known.leak, start=start, end=start + known.leak.end)

    def hash_around(self, leak: Leak) -> int:
        """The hash of a leak with the text around it."""
        return hash(self.text[max(0, leak.start - _CONTEXT) : leak.end + _CONTEXT])

    def ranges_around(self, new: Sequence[int]) -> Iterator[_Range]:
        """The parts of the text around new lines, twice as far as what decides about a leak."""
        start, end = 0, 0
        for number in new:
            first = max(0, self.starts[number] - 2 * _CONTEXT)
            last = min(len(self.text), self.starts[number + 1] + 2 * _CONTEXT)
            if first > end:
                if end > start:
                    yield start, end
                start = first
            end = max(end, last)
        if end > start:
            yield start, end


def _join(
    page: _PageText, ranges: Sequence[_Range], known: Sequence[Leak], search: _Search
) -> Sequence[Leak]:
    """The leaks in the inner part of each range, which has all of the text that decides about them,
    and the known ones elsewhere.
    """
    size = len(page.text)
    inner = [
        (start + _CONTEXT if start else 0, end - _CONTEXT if end < size else size)
        for start, end in ranges
    ]
    leaks = [
        leak
        for leak in _search_ranges(page.text, ranges, search)
        if any(start <= leak.end and leak.start < end for start, end in inner)
    ]
    leaks += [
        leak
        for leak in known
        if not any(start <= leak.end and leak.start < end for start, end in inner)
    ]
    found: list[Leak] = []
    for leak in sorted(leaks, key=lambda leak: (leak.kind != "stack-trace", leak.start)):
        add_leak(leak, found, page.text)
    return sorted(found, key=lambda leak: (leak.start, leak.kind, leak.end))


def _search_ranges(text: str, ranges: Sequence[_Range], search: _Search) -> Iterator[Leak]:
    """The leaks of ranges of a text, at their places in it."""
    parts = [text[start:end] for start, end in ranges]
    places = [0, *accumulate(len(part) + len(JOINT) for part in parts)]
    for leak in search(JOINT.join(parts)) if parts else ():
        number = bisect_right(places, leak.start) - 1
        moved = ranges[number][0] - places[number]
        yield replace(leak, start=leak.start + moved, end=leak.end + moved)
