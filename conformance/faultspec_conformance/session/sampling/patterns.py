"""Texts that a regular expression matches."""

import re
import string
from collections.abc import Iterable
from importlib import import_module
from random import Random
from typing import Any, cast

from faultspec.exchange.expressions import UncheckableExpression, search, slowness
from faultspec_conformance.session.sampling.source import ValueSource

#: Repetitions beyond the least number.
_REPEAT = 6

#: Attempts to sample a text, since parts such as ``\b`` are sampled without regard to their
#: surroundings.
_ATTEMPTS = 20

#: The first characters of a range such as ``[ -\uffff]``.
_RANGE = 128

#: Characters of the longest text that is sampled.
_WIDEST = 20_000

Tree = Any
"""A syntax tree: pairs of an operator and its argument, and `getwidth()`."""

_ALPHABET = string.ascii_letters + string.digits + "-_"

_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": string.ascii_lowercase + string.digits + "_",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_DIGIT": "x",
    "CATEGORY_NOT_WORD": "-",
    "CATEGORY_NOT_SPACE": "x",
}


class _UnsupportedPattern(Exception):
    """A regular expression that cannot be sampled."""


def compiles(pattern: str) -> bool:
    """Whether the pattern can be run: Python can read it, and it takes bounded time. Some
    constructs exist in JavaScript only.
    """
    return slowness(pattern) is None


def fits(pattern: str, text: str) -> bool:
    """Whether the pattern matches somewhere in the text; false if it cannot be run."""
    try:
        return search(pattern, text) is not None
    except UncheckableExpression:
        return False


def sample_match(
    source: ValueSource, pattern: str, least: int = 0, most: int | None = None
) -> str | None:
    """A text that the pattern matches, of ``least`` to ``most`` characters; None: none is known."""
    try:
        tree = _parse(pattern)
        low, high = _widths(tree)
        first = max(low, least)
        last = min(high, first + _REPEAT, most if most is not None else first + _REPEAT)
        for _ in range(_ATTEMPTS):
            target = source.random.randint(first, max(first, last))
            text = _sequence(tree, source.random, max(0, min(target, high) - low))
            # Where the pattern does not hold the ends of a text, anything may follow.
            padded = (text.ljust(least, filler) for filler in (text[-1:] or "x", "x", "0"))
            for candidate in padded:
                if (most is None or len(candidate) <= most) and fits(pattern, candidate):
                    return candidate
    except _UnsupportedPattern:
        return None
    return None


def _parse(pattern: str) -> Tree:
    """The syntax tree of the standard library: pairs of an operator and its argument.

    The module is not public; hypothesis relies on it too. Without it no pattern is supported.
    """
    try:
        tree: Tree = import_module("re._parser").parse(pattern)
    except (ImportError, AttributeError, re.error, OverflowError, RecursionError):
        raise _UnsupportedPattern from None
    return tree


def _widths(tree: Tree) -> tuple[int, int]:
    """The least and the greatest number of characters that a syntax tree matches."""
    low, high = cast(tuple[int, int], tree.getwidth())
    return min(low, _WIDEST), min(high, _WIDEST)


def _sequence(tree: Tree, random: Random, extra: int) -> str:
    """A text of a syntax tree that has ``extra`` characters more than its shortest, if possible.

    A random part of them falls to each item; the last items take what is left.
    """
    rooms = [_room(str(operator), argument) for operator, argument in tree]
    texts = []
    for index, (operator, argument) in enumerate(tree):
        rest = sum(rooms[index + 1 :])
        share = random.randint(min(max(0, extra - rest), rooms[index]), min(extra, rooms[index]))
        extra -= share
        texts.append(_item(str(operator), argument, random, share))
    return "".join(texts)


def _room(operator: str, argument: Any) -> int:
    """The number of characters by which the longest text of an item exceeds its shortest."""
    match operator:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = argument
            low, high = _widths(inner)
            return min(high * int(most), _WIDEST) - min(low * int(least), _WIDEST)
        case "ATOMIC_GROUP":
            low, high = _widths(argument)
        case "SUBPATTERN":
            low, high = _widths(argument[-1])
        case "BRANCH":
            widths = [_widths(branch) for branch in argument[1]]
            low, high = min(low for low, _ in widths), max(high for _, high in widths)
        case _:
            return 0
    return high - low


def _item(operator: str, argument: Any, random: Random, extra: int) -> str:
    match operator:
        case "LITERAL":
            return chr(argument)
        case "ANY" | "IN" | "NOT_LITERAL":
            return random.choice(_choices(operator, argument))
        case "AT":
            return ""
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = argument
            return _repetition(least, most, inner, random, extra=extra)
        case "ATOMIC_GROUP":
            inner = argument
        case "SUBPATTERN":
            inner = argument[-1]
        case "BRANCH":
            inner, extra = _branch(argument[1], extra)
        case _:
            raise _UnsupportedPattern
    return _sequence(inner, random, extra)


def _repetition(least: int, most: int, inner: Tree, random: Random, *, extra: int) -> str:
    """Repetitions that have ``extra`` characters more than the fewest and shortest."""
    low, high = _widths(inner)
    count, rest = least, extra
    if low == 0:
        # Each repetition may be empty, so that their number decides nothing.
        count = min(most, max(least, extra))
        return "".join(_sequence(inner, random, min(1, high)) for _ in range(count))
    while count < most and rest >= low:
        count, rest = count + 1, rest - low
    texts = []
    for _ in range(count):
        share = min(rest, high - low)
        rest -= share
        texts.append(_sequence(inner, random, share))
    return "".join(texts)


def _branch(branches: list[Tree], extra: int) -> tuple[Tree, int]:
    """The first alternative that has the wanted length, and the characters beyond its shortest."""
    target = min(_widths(branch)[0] for branch in branches) + extra
    suitable = (one for one in branches if _widths(one)[0] <= target <= _widths(one)[1])
    chosen = next(suitable, branches[0])
    return chosen, max(0, target - _widths(chosen)[0])


def _choices(operator: str, argument: Any) -> str:
    """Characters that an item of a pattern allows."""
    if operator == "ANY":
        return string.ascii_lowercase
    if operator == "NOT_LITERAL":
        return _ALPHABET.replace(chr(argument), "")
    return _characters(argument)


def _characters(members: Iterable[tuple[object, Any]]) -> str:
    """Characters of a set such as ``[a-f\\d]``."""
    found, negated = "", False
    for operator, argument in members:
        match str(operator):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found += chr(argument)
            case "RANGE":
                first, last = argument
                found += "".join(map(chr, range(first, min(last, first + _RANGE) + 1)))
            case "CATEGORY":
                found += _CATEGORIES.get(str(argument), "")
    if negated:
        found = "".join(character for character in _ALPHABET if character not in found)
    if not found:
        raise _UnsupportedPattern
    return found
