"""Regular expressions of others: which of them may take very long, and the one door to run them.

The `re` of Python tries every way in which an expression can match. With n characters that are
2^n ways if a loop can read one text in two ways, as in ``(a+)+``, and n^k if k loops in a row can
share one text, as in ``a*a*a*``. The judgement is that of Weber and Seidl (1991), on the positions
of the expression (Glushkov 1961). It is conservative: counts beyond a few are read as "any number",
and anchors, boundaries and possessive loops as if they allowed every way.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from typing import Any

#: Loops in a row that can share a text. Two take quadratic time, as `.*` around a word does; a
#: search from every place makes that cubic.
_LOOPS = 2

#: Positions of an expression, steps of the analysis, and copies of a counted part.
_POSITIONS, _STEPS, _COPIES = 400, 200_000, 16

#: Repetitions that are few enough to be copied though their number varies.
_FEW = 3

#: Choices in a row about one text. Each doubles the ways.
_CHOICES = 12

#: What the parser of the standard library has for "any number".
_ENDLESS = int(import_module("re._constants").MAXREPEAT)

#: Characters that an expression of others searches. With two loops these take a second.
SEARCHED = 4096

_LAST = 0x10FFFF
_NOT_ASCII = (0x80, _LAST)
_ASCII_SETS = {
    "DIGIT": ((0x30, 0x39),),
    "WORD": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "SPACE": ((0x09, 0x0D), (0x1C, 0x20)),
}

Ranges = tuple[tuple[int, int], ...]


class UncheckableExpression(Exception):
    """An expression is not run; the text says why, as the predicate of a sentence about it."""


def search(expression: str, text: str, flags: int = 0) -> re.Match[str] | None:
    """Search a text for an expression of others. Raises UncheckableExpression."""
    problem = slowness(expression)
    if problem is None and len(text) > SEARCHED:
        problem = f"is not searched in texts longer than {SEARCHED} characters"
    if problem is not None:
        raise UncheckableExpression(problem)
    return re.search(expression, text, flags)


def expression_problem(value: str) -> str | None:
    """Why `value` is not a regular expression, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a future meaning of `[[`
            re.compile(value)
    except re.error as error:
        return str(error)
    except (OverflowError, RecursionError):  # a count or a nesting beyond the limits of `re`
        return "it is too large"
    return None


@lru_cache(maxsize=1024)  # a schema is asked about many values
def slowness(expression: str) -> str | None:
    """Why an expression may take very long, or cannot be read; None if it takes at most cubic time.

    The text is the predicate of a sentence about the expression.
    """
    if expression_problem(expression) is not None:
        return "is not an expression of Python"
    try:
        tree = import_module("re._parser").parse(expression)
        machine = _Machine()
        machine.read(tree)
        return machine.slowness()
    except _TooComplex:
        return "is too complex to prove that it takes bounded time"
    except RecursionError:
        return "is nested too deeply to prove that it takes bounded time"


class _TooComplex(Exception):
    """The analysis would itself take long."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an expression by its positions. ``empty``: in how many ways it matches nothing, of
    which two are as bad as more.
    """

    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    empty: int = 1


@dataclass(slots=True)
class _Machine:
    """The automaton of an expression: positions, the characters of each, and what follows each.

    ``doubled``: steps that exist in two ways. ``inner``: the machines of assertions, each with
    whether it is tried once, as before any loop, and not once for every way of the loops before it.
    ``choices``: the first positions of optional parts. ``depth``: how many repeated parts are being
    read. ``has_loop``: whether a loop was read.
    """

    characters: list[Ranges] = field(default_factory=list)
    follows: list[set[int]] = field(default_factory=list)
    doubled: set[tuple[int, int]] = field(default_factory=set)
    inner: list[tuple["_Machine", bool]] = field(default_factory=list)
    choices: list[int] = field(default_factory=list)
    depth: int = 0
    has_loop: bool = False

    def read(self, tree: Any) -> None:
        """Read the syntax tree of the standard library."""
        self._sequence(tree)

    def slowness(self) -> str | None:
        """Why matching may take very long, or None."""
        for machine in self._machines():
            if _count_loops(machine) is None:
                return "has a loop that can read one text in two ways, which takes exponential time"
            if _count_choices(machine) > _CHOICES:
                return f"has more than {_CHOICES} optional parts that can share one text"
        loops = self._degree()
        if loops > _LOOPS:
            return f"has {loops} loops in a row that can share one text"
        return None

    def _machines(self) -> Iterator["_Machine"]:
        yield self
        for machine, _ in self.inner:
            yield from machine._machines()

    def _degree(self) -> int:
        """The exponent of the time, as a power of the length of the text."""
        own = _count_loops(self) or 0
        own += sum(machine._degree() for machine, once in self.inner if not once)
        return max(own, *(machine._degree() for machine, once in self.inner if once), 0)

    def _position(self, characters: Ranges) -> _Part:
        if len(self.characters) >= _POSITIONS:
            raise _TooComplex
        self.characters.append(characters)
        self.follows.append(set())
        number = len(self.characters) - 1
        return _Part((number,), (number,), 0)

    def _link(self, before: Iterable[int], after: Iterable[int], ways: int) -> None:
        after = tuple(after)
        for one in before:
            for other in after:
                if other in self.follows[one] or ways > 1:
                    self.doubled.add((one, other))
                self.follows[one].add(other)

    def _sequence(self, tree: Iterable[tuple[object, Any]]) -> _Part:
        return self._chain(self._item(str(operator), argument) for operator, argument in tree)

    def _chain(self, parts: Iterable[_Part]) -> _Part:
        whole = _Part()
        # What ended before, by the number of ways to pass nothing since then.
        open_ends: list[tuple[tuple[int, ...], int]] = []
        for part in parts:
            for ends, ways in open_ends:
                self._link(ends, part.first, ways)
            first = whole.first + part.first * whole.empty if whole.empty else whole.first
            if part.empty:
                open_ends = [(ends, min(2, ways * part.empty)) for ends, ways in open_ends]
            else:
                open_ends = []
            open_ends.append((part.last, 1))
            whole = _Part(first, (), min(2, whole.empty * part.empty))
        last = tuple(end for ends, ways in open_ends for end in ends * ways)
        return _Part(whole.first, last, whole.empty)

    def _item(self, operator: str, argument: Any) -> _Part:
        match operator:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "RANGE" | "CATEGORY":
                return self._position(_ranges(operator, argument))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeat(*argument)
            case "SUBPATTERN" | "ATOMIC_GROUP":
                return self._sequence(argument[-1] if operator == "SUBPATTERN" else argument)
            case "BRANCH":
                return self._join([self._sequence(branch) for branch in argument[1]])
            case "ASSERT" | "ASSERT_NOT":
                machine = _Machine()
                machine.read(argument[1])
                self.inner.append((machine, self.depth == 0 and not self.has_loop))
                return _Part()
            case "GROUPREF":  # the text of a group may be any text
                return self._loop(self._position(((0, _LAST),)), may_be_empty=True)
            case "GROUPREF_EXISTS":
                branches = [self._sequence(branch or ()) for branch in argument[1:]]
                return self._join(branches)
        return _Part()  # an anchor or a boundary

    def _join(self, parts: list[_Part]) -> _Part:
        self.choices += [part.first[0] for part in parts[1:] if part.first][:1]
        return _Part(
            tuple(number for part in parts for number in part.first),
            tuple(number for part in parts for number in part.last),
            min(2, sum(part.empty for part in parts)),
        )

    def _repeat(self, least: int, most: int, tree: Any) -> _Part:
        """A part that is repeated. Copies stand for a fixed number of one position, or for a few;
        a loop stands for any other number.
        """
        self.depth += 1
        part = self._sequence(tree)
        self.depth -= 1
        single = len(part.first) == len(part.last) == 1 and part.first == part.last
        if most <= 1:
            return self._optional(part) if least == 0 else part
        if most <= _COPIES and single and not part.empty and (least == most or most <= _FEW):
            copies = [part, *(self._sequence(tree) for _ in range(most - 1))]
            rest = _Part()
            for number in reversed(range(most)):
                rest = self._chain((copies[number], rest))
                if number >= least:
                    rest = self._optional(rest)
            return rest
        if least == most and not part.first:
            return part
        # A number of parts that may each be empty can be shared out in many ways.
        shared = bool(part.empty) and most != _ENDLESS
        return self._loop(part, may_be_empty=least == 0, doubled=shared)

    def _optional(self, part: _Part) -> _Part:
        self.choices += part.first[:1]
        return _Part(part.first, part.last, min(2, part.empty + 1))

    def _loop(self, part: _Part, *, may_be_empty: bool, doubled: bool = False) -> _Part:
        self.has_loop = True
        self._link(part.last, part.first, max(1 + doubled, part.empty))
        # A part that matches nothing, such as an assertion, does so once or several times.
        empty = 2 if part.empty else int(may_be_empty)
        return _Part(part.first, part.last, empty)


def _ranges(operator: str, argument: Any) -> Ranges:
    """The characters of a position, and perhaps more; both cases of a letter."""
    match operator:
        case "LITERAL":
            other = chr(argument).swapcase()
            more = ((ord(other), ord(other)),) if len(other) == 1 else ()
            return ((argument, argument), *more)
        case "NOT_LITERAL":
            return _complement(((argument, argument),))
        case "RANGE":
            low, high = argument
            cases = {chr(each).swapcase() for each in (low, high)} if high < 0x80 else set()
            if len(cases) == 2 and all(each.isalpha() for each in cases):
                first, last = sorted(map(ord, cases))
                return ((low, high), (first, last))
            return ((low, high),)
        case "CATEGORY":
            name = str(argument).removeprefix("CATEGORY_")
            ranges = _ASCII_SETS.get(name.removeprefix("NOT_").removeprefix("UNI_"), ())
            if name.startswith("NOT_"):
                ranges = _complement(ranges)
            return (*ranges, _NOT_ASCII)
        case "IN" if str(argument[0][0]) == "NEGATE":
            # A category excludes surely its characters of ASCII alone.
            out: list[tuple[int, int]] = []
            for inner, value in argument[1:]:
                if str(inner) == "CATEGORY":
                    out += [pair for pair in _ranges("CATEGORY", value) if pair[1] < 0x80]
                elif str(inner) == "LITERAL":
                    out.append((value, value))
                else:
                    out.append(value)
            return _complement(tuple(out))
        case "IN":
            return tuple(pair for inner, value in argument for pair in _ranges(str(inner), value))
    return ((0, _LAST),)


def _complement(ranges: Ranges) -> Ranges:
    edges = [-1]
    for low, high in sorted(ranges):
        edges += [low, max(high, edges[-1])] if low > edges[-1] else []
        edges[-1] = max(high, edges[-1])
    edges.append(_LAST + 1)
    gaps = zip(edges[::2], edges[1::2], strict=True)
    return tuple((low + 1, high - 1) for low, high in gaps if high - low > 1)


def _masks(positions: list[Ranges]) -> list[int]:
    """The characters of each position as bits, one for each class that no position divides."""
    cuts = sorted(
        {edge for ranges in positions for low, high in ranges for edge in (low, high + 1)}
    )
    classes = [*pairwise(cuts)]
    return [
        sum(
            1 << number
            for number, (start, _) in enumerate(classes)
            if any(low <= start <= high for low, high in ranges)
        )
        for ranges in positions
    ]


def _count_loops(machine: _Machine) -> int | None:
    """The most loops in a row that can share a text; None if a loop reads one text in two ways."""
    follows = machine.follows
    reach = _reachable(follows)
    loops = [node for node in range(len(follows)) if node in reach[node]]
    component = {
        node: min(other for other in reach[node] if node in reach[other]) for node in loops
    }
    if any(component.get(one, -1) == component.get(other, -2) for one, other in machine.doubled):
        return None
    graph = _Graph(follows, _masks(machine.characters), component)
    if any(graph.diverges(node) for node in loops):
        return None
    heads: dict[int, list[int]] = {}
    for node in loops:
        heads.setdefault(component[node], []).append(node)
    after = {
        head: {
            other
            for other, later in heads.items()
            if other != head
            and other in reach[head]
            and any(graph.share(one, two) for one in members for two in later)
        }
        for head, members in heads.items()
    }
    return max((_longest(head, after) for head in heads), default=0)


def _count_choices(machine: _Machine) -> int:
    """The most choices that can be about the same character."""
    masks = _masks([machine.characters[number] for number in machine.choices])
    return max((sum(bool(mask & other) for other in masks) for mask in masks), default=0)


def _longest(head: int, after: dict[int, set[int]]) -> int:
    return 1 + max((_longest(other, after) for other in after[head]), default=0)


def _reachable(follows: list[set[int]]) -> list[set[int]]:
    found = []
    for node in range(len(follows)):
        seen: set[int] = set()
        waiting = [*follows[node]]
        while waiting:
            other = waiting.pop()
            if other not in seen:
                seen.add(other)
                waiting += follows[other]
        found.append(seen)
    return found


@dataclass(slots=True)
class _Graph:
    """Questions about several ways through an automaton by one text.

    ``component``: for positions within loops, the lowest position of their strongly connected
    component. ``steps``: those of the analysis so far.
    """

    follows: list[set[int]]
    masks: list[int]
    component: dict[int, int]
    steps: int = 0

    def diverges(self, node: int) -> bool:
        """Whether two different ways lead from a position back to it by one text."""
        pairs = self._pairs((node, node), self.component[node])
        return any(
            (node, node) in self._pairs(pair, self.component[node])
            for pair in pairs
            if pair[0] != pair[1]
        )

    def share(self, start: int, end: int) -> bool:
        """Whether one text leads from a loop back into it, from it to a later loop, and around
        that.
        """
        seen = {(start, start, end)}
        waiting = [*seen]
        while waiting:
            for step in self._threes(*waiting.pop(), start=start, end=end):
                if step == (start, end, end):
                    return True
                if step not in seen:
                    seen.add(step)
                    waiting.append(step)
        return False

    def _pairs(self, first: tuple[int, int], own: int) -> set[tuple[int, int]]:
        """The pairs of positions of a component that one text can lead to."""
        seen: set[tuple[int, int]] = set()
        waiting = [first]
        while waiting:
            one, other = waiting.pop()
            for left in self._followers(one, own):
                for right in self._followers(other, own):
                    self._count()
                    if self.masks[left] & self.masks[right] and (left, right) not in seen:
                        seen.add((left, right))
                        waiting.append((left, right))
        return seen

    def _threes(
        self, stays: int, goes: int, later: int, *, start: int, end: int
    ) -> Iterator[tuple[int, int, int]]:
        for one in self._followers(stays, self.component[start]):
            for three in self._followers(later, self.component[end]):
                common = self.masks[one] & self.masks[three]
                for two in self.follows[goes]:
                    self._count()
                    if common & self.masks[two]:
                        yield one, two, three

    def _followers(self, node: int, own: int) -> Iterator[int]:
        return (each for each in self.follows[node] if self.component.get(each) == own)

    def _count(self) -> None:
        self.steps += 1
        if self.steps > _STEPS:
            raise _TooComplex
