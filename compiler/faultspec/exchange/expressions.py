"""Regular expressions of others: which of them may take very long, and the one door to run them.

The `re` of Python tries every way in which an expression can match. With n characters that are
2^n ways if a loop can read one text in two ways, as in ``(a+)+``, and n^k if k loops in a row can
share one text, as in ``a*a*a*``. A search from every place is one more loop, before the others. An
expression is run if all its ways are as many as two loops have, or few more. The judgement is that
of Weber and Seidl (1991), on the positions of the expression (Glushkov 1961). It is conservative:
anchors, boundaries and possessive loops are read as if they allowed every way. Alternatives count
as they are written: `re` makes one set of `[ab]|[bc]` first, but the engines that run the same
patterns in generated code try both.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from itertools import combinations, pairwise
from math import log2
from types import ModuleType
from typing import Any

from faultspec.runtime import checking

#: Positions of an expression, steps of the analysis, and copies of a counted part.
_POSITIONS, _STEPS, _COPIES = 400, 200_000, 16

#: Repetitions that are few enough to be copied though their number varies.
_FEW = 3

#: What the parser of the standard library has for "any number".
_ENDLESS = int(import_module("re._constants").MAXREPEAT)

#: Characters that an expression of others searches, as in the runtime, and the power of two.
SEARCHED = checking.SEARCHED
_LENGTH_BITS = SEARCHED.bit_length() - 1

#: Ways to match in a text of that length, as a power of two: those of two loops, and a few choices.
#: They take about a second.
_WAYS = 2 * _LENGTH_BITS + 3

#: Those of them that choices outside loops may have: they take longer than a loop.
_CHOICES = _LENGTH_BITS

#: Ways in which one part matches nothing; more are counted as so many.
_MANY = 1 << 32

_FOLDED = re.compile(r"\(\?[a-zA-Z]*i")
"""A flag for both cases, for the whole expression or a group."""

_LAST = 0x10FFFF
_NOT_ASCII = (0x80, _LAST)
_ASCII_SETS = {
    "DIGIT": ((0x30, 0x39),),
    "WORD": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "SPACE": ((0x09, 0x0D), (0x1C, 0x20)),
}

#: Sets that have no character in common, in any dialect.
_APART = frozenset(
    frozenset(pair)
    for pair in (
        ("DIGIT", "NOT_DIGIT"), ("WORD", "NOT_WORD"), ("SPACE", "NOT_SPACE"),
        ("SPACE", "WORD"), ("SPACE", "DIGIT"), ("DIGIT", "NOT_WORD"),
    )
)  # fmt: skip

Ranges = tuple[tuple[int, int], ...]


class UncheckableExpression(Exception):
    """An expression is not run; the text says why, as the predicate of a sentence about it."""


def search(expression: str, text: str, flags: int = 0) -> re.Match[str] | None:
    """Search a text for an expression of others. Raises UncheckableExpression."""
    problem = slowness(expression, flags)
    if problem is None and len(text) > SEARCHED:
        problem = f"is not searched in texts longer than {SEARCHED} characters"
    if problem is not None:
        raise UncheckableExpression(problem)
    return re.search(expression, text, flags)


@lru_cache(maxsize=512)  # patterns: more than a taxonomy has, and a bound for a long process
def python_syntax(pattern: str) -> str:
    """An ECMA-262 pattern in Python's syntax, where `$` also matches before a final newline."""
    return re.sub(r"(?<!\\)((?:\\\\)*)\$$", r"\1\\Z", pattern)


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
def slowness(expression: str, flags: int = 0) -> str | None:
    """Why an expression may take very long, or cannot be read; None for quadratic time at most.

    The text is the predicate of a sentence about the expression.
    """
    if expression_problem(expression) is not None:
        return "is not an expression of Python"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a future meaning of `[[`
            tree = _literal_parser().parse(expression)
        machine = _Machine(folds=bool(flags & re.IGNORECASE) or bool(_FOLDED.search(expression)))
        machine.read(tree, anywhere=True)
        return machine.slowness()
    except _TooComplex:
        return "is too complex to prove that it takes bounded time"
    except RecursionError:
        return "is nested too deeply to prove that it takes bounded time"


@lru_cache(maxsize=1)
def _literal_parser() -> ModuleType:
    """A second copy of the parser of the standard library, which makes no set of alternatives that
    are single characters: `[ab]|[bc]` has two ways to read a `b`.

    What all alternatives begin with is moved out in both: that changes no number of ways.
    """
    spec: Any = find_spec("re._parser")
    parser = module_from_spec(spec)
    spec.loader.exec_module(parser)

    def parse_alternatives(source: Any, state: Any, verbose: int, nested: int) -> Any:
        branches = [parser._parse(source, state, verbose, nested=nested + 1, first=not nested)]
        while source.match("|"):
            if not nested:
                verbose = state.flags & re.VERBOSE  # a flag at the beginning was read
            branches.append(parser._parse(source, state, verbose, nested=nested + 1))
        if len(branches) == 1:
            return branches[0]
        whole = parser.SubPattern(state)
        while all(branches) and all(branch[0] == branches[0][0] for branch in branches):
            whole.append(branches[0][0])
            branches = [branch[1:] for branch in branches]
        whole.append((parser.BRANCH, (None, branches)))
        return whole

    vars(parser)["_parse_sub"] = parse_alternatives
    return parser


class _TooComplex(Exception):
    """The analysis would itself take long."""


Ends = dict[int, int]
"""Positions, and in how many ways each is the first or the last of a part."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an expression by its positions. ``empty``: in how many ways it matches nothing."""

    first: Ends = field(default_factory=dict)
    last: Ends = field(default_factory=dict)
    empty: int = 1


@dataclass(slots=True)
class _Machine:
    """The automaton of an expression: positions, the characters of each, and what follows each.

    ``follows``: with the number of ways. ``sizes``: of positions in loops, the repetitions as a
    power of two. ``inner``: the machines of assertions, each with whether it is tried once, as
    before any loop, and not once for every way of the loops before it. ``folds``: whether both
    cases of a letter are the same. ``anywhere``: whether a match is tried at every place.
    ``tried``: positions that may be read again, because an anchor or the like refuses what they
    read. ``begun``: the first position of the alternative that is read. ``depth``: how many
    repeated parts are being read. ``has_loop``: whether a loop was read.
    """

    characters: list[Ranges] = field(default_factory=list)
    follows: list[Ends] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)
    inner: list[tuple["_Machine", bool]] = field(default_factory=list)
    start: Ends = field(default_factory=dict)
    ends: Ends = field(default_factory=dict)
    empty: int = 1
    folds: bool = False
    anywhere: bool = False
    tried: set[int] = field(default_factory=set)
    begun: int = 0
    depth: int = 0
    has_loop: bool = False

    def read(self, tree: Any, *, anywhere: bool) -> None:
        """Read the syntax tree of the standard library. ``anywhere``: for a search, which is tried
        at every place.
        """
        whole = self._search(tree) if anywhere else self._sequence(tree)
        self.start, self.ends, self.empty = whole.first, whole.last, whole.empty

    def _search(self, tree: Any) -> _Part:
        """A part that is searched: characters that are passed over come first, unless an anchor
        forbids them.
        """
        items = [*tree]
        if len(items) == 1 and str(items[0][0]) == "BRANCH":
            parts = []
            for branch in items[0][1][1]:
                self.begun = len(self.characters)
                parts.append(self._search(branch))
            return self._join(parts)
        if len(items) == 1 and str(items[0][0]) == "SUBPATTERN":
            return self._search(items[0][1][-1])
        self.anywhere = self.anywhere or not _is_anchored(items[:1])
        if _is_anchored(items):
            return self._sequence(items)
        passed = self._repeat_endlessly(self._position(((0, _LAST),)))
        self.has_loop = False
        tried = len(self.tried), len(self.inner)
        part = self._sequence(items)
        if part.empty and tried == (len(self.tried), len(self.inner)):
            return part  # it matches at once, if only nothing
        self._chain((passed, part))
        return _Part(passed.first, part.last, part.empty)

    def slowness(self) -> str | None:
        """Why matching may take very long, or None."""
        if any(_is_ambiguous(machine) for machine in self._machines()):
            return "has a loop that can read one text in two ways, which takes exponential time"
        if self._ways() > _WAYS:
            return "can read one text in many ways: by several loops in a row, or optional parts"
        return None

    def _machines(self) -> Iterator["_Machine"]:
        yield self
        for machine, _ in self.inner:
            yield from machine._machines()

    def _ways(self) -> float:
        """The ways to match, as a power of two."""
        own = _count_ways(self)
        often = sum(machine._ways() for machine, once in self.inner if not once)
        places = _LENGTH_BITS if self.anywhere else 0
        return max(
            own + often, *(places + machine._ways() for machine, once in self.inner if once), 0
        )

    def _position(self, characters: Ranges) -> _Part:
        if len(self.characters) >= _POSITIONS:
            raise _TooComplex
        self.characters.append(self._fold_case(characters))
        self.follows.append({})
        number = len(self.characters) - 1
        return _Part({number: 1}, {number: 1}, 0)

    def _link(self, before: Ends, after: Ends, ways: int) -> None:
        for one, ending in before.items():
            for other, beginning in after.items():
                known = self.follows[one].get(other, 0)
                self.follows[one][other] = min(_MANY, known + ways * ending * beginning)

    def _sequence(self, tree: Iterable[tuple[object, Any]]) -> _Part:
        return self._chain(self._item(str(operator), argument) for operator, argument in tree)

    def _chain(self, parts: Iterable[_Part]) -> _Part:
        whole = _Part()
        # What ended before, by the number of ways to pass nothing since then.
        open_ends: list[tuple[Ends, int]] = []
        for part in parts:
            for ends, ways in open_ends:
                self._link(ends, part.first, ways)
            first = _join_ends([(whole.first, 1), (part.first, whole.empty)])
            open_ends = [(ends, min(_MANY, ways * part.empty)) for ends, ways in open_ends]
            open_ends = [(ends, ways) for ends, ways in open_ends if ways and ends]
            open_ends.append((part.last, 1))
            whole = _Part(first, {}, min(_MANY, whole.empty * part.empty))
        return _Part(whole.first, _join_ends(open_ends), whole.empty)

    def _item(self, operator: str, argument: Any) -> _Part:
        match operator:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "RANGE" | "CATEGORY":
                return self._position(_ranges(operator, argument))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeat(*argument)
            case "SUBPATTERN" | "ATOMIC_GROUP":
                return self._sequence(argument[-1] if operator == "SUBPATTERN" else argument)
            case "BRANCH":
                return self._alternatives([[*branch] for branch in argument[1]])
            case "ASSERT" | "ASSERT_NOT":
                machine = _Machine(folds=self.folds)
                machine.read(argument[1], anywhere=False)
                self.inner.append((machine, self.depth == 0 and not self.has_loop))
                self._note_refusal()
                return _Part()
            case "GROUPREF":  # the text of a group may be any text
                return self._repeat_endlessly(self._position(((0, _LAST),)))
            case "GROUPREF_EXISTS":
                branches = [self._sequence(branch or ()) for branch in argument[1:]]
                return self._join(branches)
        self._note_refusal()
        return _Part()  # an anchor or a boundary

    def _alternatives(self, branches: list[list[tuple[object, Any]]]) -> _Part:
        """Alternatives; single characters are one position if no two can read the same one."""
        if all(len(branch) == 1 and str(branch[0][0]) in _SETS for branch in branches):
            sets = [_members(str(branch[0][0]), branch[0][1]) for branch in branches]
            if not any(self._overlap(one, other) for one, other in combinations(sets, 2)):
                return self._position(
                    tuple(pair for each in sets for _, own in each for pair in own)
                )
        return self._join([self._sequence(branch) for branch in branches])

    def _overlap(self, one: list["_Member"], other: list["_Member"]) -> bool:
        """Whether two sets may have a character in common."""
        return any(
            {left, right} not in _APART
            and _intersect(self._fold_case(ours), self._fold_case(theirs))
            for left, ours in one
            for right, theirs in other
        )

    def _fold_case(self, characters: Ranges) -> Ranges:
        return _fold(characters) if self.folds else characters

    def _note_refusal(self) -> None:
        self.tried.update(range(self.begun, len(self.characters)))

    def _join(self, parts: list[_Part]) -> _Part:
        return _Part(
            _join_ends((part.first, 1) for part in parts),
            _join_ends((part.last, 1) for part in parts),
            min(_MANY, sum(part.empty for part in parts)),
        )

    def _repeat(self, least: int, most: int, tree: Any) -> _Part:
        """A part that is repeated. Copies stand for a fixed number of one position, or for a few;
        a loop stands for any other number.
        """
        self.depth += 1
        begun, tried = len(self.characters), len(self.tried)
        part = self._sequence(tree)
        self.depth -= 1
        single = len(part.first) == len(part.last) == 1 and part.first == part.last
        if most <= 1:
            return _Part(part.first, part.last, part.empty + 1) if least == 0 else part
        if most <= _COPIES and single and not part.empty and (least == most or most <= _FEW):
            copies = [part, *(self._sequence(tree) for _ in range(most - 1))]
            rest = _Part()
            for number in reversed(range(most)):
                rest = self._chain((copies[number], rest))
                if number >= least:
                    rest = _Part(rest.first, rest.last, rest.empty + 1)
            return rest
        if not part.first:
            # A part that matches nothing, such as an assertion, does so once or several times.
            return part if least == most else _Part(empty=min(_MANY, part.empty + 1))
        if least > 1 or len(self.tried) > tried:
            self._note_refusal()
        # A number of parts that may each be empty can be shared out in many ways.
        shared = bool(part.empty) and most != _ENDLESS
        return self._loop(part, begun, most, may_be_empty=least == 0, doubled=shared)

    def _repeat_endlessly(self, part: _Part) -> _Part:
        begun = min(part.first)
        return self._loop(part, begun, _ENDLESS, may_be_empty=True, doubled=False)

    def _loop(
        self, part: _Part, begun: int, most: int, *, may_be_empty: bool, doubled: bool
    ) -> _Part:
        self.has_loop = True
        for number in range(begun, len(self.characters)):
            size = self.sizes.get(number, 0) + min(most, SEARCHED).bit_length()
            self.sizes[number] = min(_LENGTH_BITS, size)
        self._link(part.last, part.first, max(1 + doubled, part.empty))
        empty = 2 * part.empty if part.empty else int(may_be_empty)
        return _Part(part.first, part.last, min(_MANY, empty))


def _join_ends(all_ends: Iterable[tuple[Ends, int]]) -> Ends:
    found: Ends = {}
    for ends, ways in all_ends:
        for number, own in ends.items() if ways else ():
            found[number] = min(_MANY, found.get(number, 0) + own * ways)
    return found


def _is_anchored(items: Iterable[tuple[object, Any]]) -> bool:
    """Whether a sequence matches at the beginning of a text alone; assertions may come first."""
    for operator, argument in items:
        if str(operator) == "AT":
            return str(argument) in ("AT_BEGINNING", "AT_BEGINNING_STRING")
        if str(operator) not in ("ASSERT", "ASSERT_NOT"):
            return str(operator) == "SUBPATTERN" and _is_anchored(argument[-1])
    return False


_SETS = frozenset({"LITERAL", "NOT_LITERAL", "IN"})
"""Operators that read one character of a set."""

_Member = tuple[str, Ranges]
"""A member of a set: the name of its category, or nothing, and its characters."""


def _members(operator: str, argument: Any) -> list[_Member]:
    """The members of a set; one that is negated is a single member."""
    if operator != "IN" or str(argument[0][0]) == "NEGATE":
        return [("", _ranges(operator, argument))]
    return [
        (
            str(value).removeprefix("CATEGORY_").replace("UNI_", "")
            if str(inner) == "CATEGORY"
            else "",
            _ranges(str(inner), value),
        )
        for inner, value in argument
    ]


def _intersect(one: Ranges, other: Ranges) -> bool:
    return any(low <= last and first <= high for low, high in one for first, last in other)


def _ranges(operator: str, argument: Any) -> Ranges:
    """The characters of a position, and perhaps more."""
    match operator:
        case "LITERAL":
            return ((argument, argument),)
        case "NOT_LITERAL":
            return _complement(((argument, argument),))
        case "RANGE":
            return (tuple(argument),)
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


def _fold(ranges: Ranges) -> Ranges:
    """The ranges with the other case of their letters. Some letters of ASCII have other cases
    beyond it, such as the long s.
    """
    other = [
        (max(low, first) ^ 0x20, min(high, last) ^ 0x20)
        for low, high in ranges
        for first, last in ((0x41, 0x5A), (0x61, 0x7A))
        if max(low, first) <= min(high, last)
    ]
    far = [*map(ord, "ikKsS"), ord("I"), 0x80]
    if any(low <= sign <= high or high >= 0x80 for low, high in ranges for sign in far):
        other += [_NOT_ASCII, *((sign, sign) for sign in far)]
    return (*ranges, *other)


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


def _components(machine: _Machine) -> dict[int, int]:
    """For positions within loops, the lowest position of their strongly connected component."""
    reach = _reachable(machine.follows)
    loops = [node for node in range(len(reach)) if node in reach[node]]
    return {node: min(other for other in reach[node] if node in reach[other]) for node in loops}


def _is_ambiguous(machine: _Machine) -> bool:
    """Whether a loop can read one text in two ways."""
    component = _components(machine)
    if any(
        ways > 1 and component.get(one, -1) == component.get(other, -2)
        for one, others in enumerate(machine.follows)
        for other, ways in others.items()
    ):
        return True
    graph = _Graph(machine.follows, _masks(machine.characters), component)
    return any(graph.diverges(node) for node in component)


def _count_ways(machine: _Machine) -> float:
    """The ways to match as a power of two: the most on any way through the automaton.

    A loop counts if it can share a text with one before it on the way, or is the first; so does
    each place where one character leads to several positions.
    """
    follows, component = machine.follows, _components(machine)
    masks = _masks(machine.characters)
    graph = _Graph(follows, masks, component)
    heads: dict[int, list[int]] = {}
    for node in component:
        heads.setdefault(component[node], []).append(node)
    sizes = {
        head: 0
        if _is_final(machine, members, component)
        else max(machine.sizes[node] for node in members)
        for head, members in heads.items()
    }
    reach = _reachable(follows)
    after = {
        head: {
            other: sizes[other]
            for other, later in heads.items()
            if other != head
            and other in reach[head]
            and any(graph.share(one, two) for one in members for two in later)
        }
        for head, members in heads.items()
    }
    loops = max((sizes[head] + _heaviest(head, after, {}) for head in heads), default=0)
    choices = _count_choices(machine, component, masks)
    return loops + choices if choices <= _CHOICES else _MANY


def _is_final(machine: _Machine, members: list[int], component: dict[int, int]) -> bool:
    """Whether a match is found once a loop is reached, so that it is read only once."""
    return machine.tried.isdisjoint(members) and all(
        node in machine.ends
        and all(component.get(other) == component[node] for other in machine.follows[node])
        for node in members
    )


def _count_choices(machine: _Machine, component: dict[int, int], masks: list[int]) -> float:
    """The ways that are due to choices outside loops, as a power of two."""
    edges: dict[int, dict[int, float]] = {
        component.get(node, node): {} for node in range(len(masks))
    }
    for node, others in enumerate(machine.follows):
        key = component.get(node, node)
        leaving = {
            other: ways for other, ways in others.items() if component.get(other, other) != key
        }
        for other in leaving:
            to = component.get(other, other)
            edges[key][to] = max(edges[key].get(to, 0), _choice(other, leaving, masks))
    known: dict[int, float] = {}
    inside = (
        _choice(node, machine.start, masks) + _heaviest(component.get(node, node), edges, known)
        for node in machine.start
    )
    return max(inside, default=0) + log2(max(1, machine.empty, *machine.ends.values()))


def _choice(taken: int, others: Ends, masks: list[int]) -> float:
    """The most ways that a character which leads to a position leads on, as a power of two."""
    together, most = masks[taken], 1
    while together:
        bit = together & -together
        together ^= bit
        most = max(most, sum(ways for other, ways in others.items() if masks[other] & bit))
    return log2(most)


def _heaviest(
    head: int, edges: Mapping[int, Mapping[int, float]], known: dict[int, float]
) -> float:
    """The greatest sum of weights on a way through a graph without circles."""
    if head not in known:
        later = (weight + _heaviest(to, edges, known) for to, weight in edges[head].items())
        known[head] = max(later, default=0)
    return known[head]


def _reachable(follows: Sequence[Iterable[int]]) -> list[set[int]]:
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

    follows: list[Ends]
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
