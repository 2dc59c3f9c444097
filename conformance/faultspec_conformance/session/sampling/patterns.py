"""Texts that a regular expression matches."""

import re
import string
from collections.abc import Iterable
from importlib import import_module
from random import Random
from typing import Any

from faultspec.exchange.expressions import UncheckableExpression, search, slowness
from faultspec_conformance.session.sampling.source import ValueSource

#: Repetitions beyond the least number.
_REPEAT = 6

#: Attempts to sample a text, since parts such as ``\b`` are sampled without regard to their
#: surroundings.
_ATTEMPTS = 20

#: The first characters of a range such as ``[ -\uffff]``.
_RANGE = 128

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


def sample_match(source: ValueSource, pattern: str) -> str | None:
    """A text that the pattern matches, or None if its constructs are not supported."""
    try:
        tree = _parse(pattern)
        for _ in range(_ATTEMPTS):
            text = _sequence(tree, source.random)
            if fits(pattern, text):
                return text
    except _UnsupportedPattern:
        return None
    return None


def _parse(pattern: str) -> Iterable[tuple[object, Any]]:
    """The syntax tree of the standard library: pairs of an operator and its argument.

    The module is not public; hypothesis relies on it too. Without it no pattern is supported.
    """
    try:
        tree: Iterable[tuple[object, Any]] = import_module("re._parser").parse(pattern)
    except (ImportError, AttributeError, re.error, OverflowError, RecursionError):
        raise _UnsupportedPattern from None
    return tree


def _sequence(tree: Iterable[tuple[object, Any]], random: Random) -> str:
    return "".join(_item(str(operator), argument, random) for operator, argument in tree)


def _item(operator: str, argument: Any, random: Random) -> str:
    match operator:
        case "LITERAL":
            return chr(argument)
        case "ANY" | "IN" | "NOT_LITERAL":
            return random.choice(_choices(operator, argument))
        case "AT":
            return ""
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = argument
            count = random.randint(least, min(most, least + _REPEAT))
            return "".join(_sequence(inner, random) for _ in range(count))
        case "ATOMIC_GROUP":
            inner = argument
        case "SUBPATTERN":
            inner = argument[-1]
        case "BRANCH":
            inner = argument[1][0]
        case _:
            raise _UnsupportedPattern
    return _sequence(inner, random)


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
