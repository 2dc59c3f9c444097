"""Regular expressions of Python in the syntaxes of SQL engines.

RE2 (DuckDB, BigQuery), Java (Spark) and the advanced expressions of POSIX (PostgreSQL) share
literals, sets, alternatives, groups and loops. Here an expression is written with those alone, so
it means the same everywhere. What an engine lacks is left out where more may match (``widen``), or
the expression has no translation.
"""

import re
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal

Syntax = Literal["re2", "java", "posix"]

_LAST = 0x10FFFF

#: Characters of a set: inclusive ranges in order, apart from each other.
Ranges = tuple[tuple[int, int], ...]

#: The most that an engine counts: 255 in POSIX, 1000 in RE2.
_COUNTED = 255

_ENDLESS = int(import_module("re._constants").MAXREPEAT)

#: Parts of an expression that match one character.
_SETS_OF_ONE = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY"})

_DIGIT: Ranges = ((0x30, 0x39),)
_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))
#: What `\s` has without the flag ASCII, below 128.
_SEPARATORS: Ranges = ((0x1C, 0x1F),)
_BEYOND: Ranges = ((0x80, _LAST),)
_SETS = {"DIGIT": _DIGIT, "WORD": _WORD, "SPACE": _SPACE}


class Untranslatable(Exception):
    """An expression has a part that the engines do not share."""


def translate_whole(expression: str, syntax: Syntax, flags: int = 0) -> str | None:
    """An expression of a whole text, which matches the same texts; None if there is none."""
    try:
        inner = _Writer(syntax, widen=False).write(_parse(expression, flags), flags)
    except Untranslatable:
        return None
    return f"^(?:{inner}){text_end(syntax)}"


def widen_part(expression: str, syntax: Syntax, flags: int = 0) -> str | None:
    """An expression of a part of a text, which matches wherever the original does, and perhaps
    elsewhere; None if there is none, or if it would match everywhere.
    """
    parsed = _parse(expression, flags)
    try:
        text = _Writer(syntax, widen=True).write(parsed, parsed.state.flags)
    except Untranslatable:
        return None
    return None if re.search(text_to_python(text), "") else text


def text_end(syntax: Syntax) -> str:
    """The end of a text. In Java, `$` matches before a final line break as well."""
    return r"\z" if syntax == "java" else "$"


def text_to_python(text: str) -> str:
    """A translation as an expression of Python, to try it."""
    return re.sub(r"\\x\{([0-9a-f]+)\}", lambda found: f"\\U{int(found[1], 16):08x}", text)


def escape_pattern(text: str, syntax: Syntax) -> str:
    """An expression of exactly a text."""
    return "".join(_character(ord(each), syntax) for each in text)


def any_of(texts: Iterable[str], syntax: Syntax) -> str:
    """An expression of one of the texts."""
    return f"(?:{'|'.join(escape_pattern(text, syntax) for text in texts)})"


@lru_cache(maxsize=4096)  # every pattern of leaks, for each record of a taxonomy
def _parse(expression: str, flags: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a future meaning of `[[`
        return import_module("re._parser").parse(expression, flags)


class _Writer:
    def __init__(self, syntax: Syntax, *, widen: bool) -> None:
        self.syntax = syntax
        self.widen = widen

    def write(self, parsed: Sequence[Any], flags: int) -> str:
        return "".join(self._write_one(str(name), value, flags) for name, value in parsed)

    def _write_one(self, name: str, value: Any, flags: int) -> str:
        if name in _SETS_OF_ONE:
            return self._write_characters(name, value, flags)
        match name:
            case "BRANCH":
                branches = value[1]
                return f"(?:{'|'.join(self.write(each, flags) for each in branches)})"
            case "SUBPATTERN":
                _, added, removed, inner = value
                return f"(?:{self.write(inner, (flags | added) & ~removed)})"
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                self._require(name != "POSSESSIVE_REPEAT")
                low, high, inner = value
                return self._write_loop(low, high, inner, flags=flags)
            case "ATOMIC_GROUP":
                self._require(False)
                return f"(?:{self.write(value, flags)})"
            case "ASSERT" | "ASSERT_NOT" | "AT":
                self._require(False)
                return ""
            case "GROUPREF":
                self._require(False)
                return f"{self._set(_complement(()), 0)}*"
            case _:
                return self._refuse()

    def _require(self, exact: bool) -> None:
        """Raise Untranslatable for a part that is left out, unless more may match."""
        if not exact and not self.widen:
            raise Untranslatable

    def _refuse(self) -> str:
        raise Untranslatable

    def _write_characters(self, name: str, value: Any, flags: int) -> str:
        match name:
            case "LITERAL":
                return self._set(((value, value),), flags)
            case "NOT_LITERAL":
                return self._set(_complement(_fold(((value, value),), flags)), 0)
            case "ANY":
                return self._set(_complement(() if flags & re.DOTALL else ((0x0A, 0x0A),)), 0)
            case _:
                return self._write_set(value, flags)

    def _write_loop(self, low: int, high: int, inner: Any, flags: int) -> str:
        body = self.write(inner, flags)
        if not body:
            return ""
        is_one = len(inner) == 1 and str(inner[0][0]) in _SETS_OF_ONE
        body = body if is_one else f"(?:{body})"
        endless = high == _ENDLESS
        if (low, high) == (1, 1):
            return body
        if (low, high) == (0, 1):
            return f"{body}?"
        if low == 0 and endless:
            return f"{body}*"
        if low == 1 and endless:
            return f"{body}+"
        if not self.widen:
            if (not is_one and max(low, 0 if endless else high) > 9) or low > _COUNTED:
                raise Untranslatable  # engines write a loop out, and bound what comes of it
            if not endless and high > _COUNTED:
                raise Untranslatable
            return f"{body}{{{low},{'' if endless else high}}}"
        # Without its bounds a loop takes less memory in an automaton.
        if is_one and 1 < low <= _COUNTED:
            return f"{body}{{{low},}}"
        return f"{body}{'+' if low else '*'}"

    def _write_set(self, parts: Sequence[tuple[Any, Any]], flags: int) -> str:
        negated = bool(parts) and str(parts[0][0]) == "NEGATE"
        found: list[tuple[int, int]] = []
        for kind, value in parts[negated:]:
            match str(kind):
                case "LITERAL":
                    found.append((value, value))
                case "RANGE":
                    found.append(value)
                case "CATEGORY":
                    found += self._category(str(value), flags, more=not negated)
                case _:
                    self._refuse()
        ranges = _fold(_join_ranges(found), flags)
        return self._set(_complement(ranges) if negated else ranges, 0)

    def _category(self, name: str, flags: int, *, more: bool) -> Ranges:
        """The characters of a category. Which ones beyond ASCII it has is not known here: all of
        them if ``more`` may match, else none.
        """
        name = name.removeprefix("CATEGORY_").removeprefix("UNI_")
        negated = name.startswith("NOT_")
        ranges = _SETS[name.removeprefix("NOT_")]
        is_ascii = bool(flags & re.ASCII)
        if not is_ascii:
            self._require(False)
            if name.endswith("SPACE"):
                ranges = _join_ranges((*ranges, *_SEPARATORS))
        ranges = _complement(ranges) if negated else ranges
        if is_ascii:
            return ranges
        ranges = tuple((low, min(high, 0x7F)) for low, high in ranges if low < 0x80)
        return _join_ranges((*ranges, *_BEYOND)) if more else ranges

    def _set(self, ranges: Ranges, flags: int) -> str:
        ranges = _fold(ranges, flags)
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return _character(ranges[0][0], self.syntax)
        if not ranges:
            return self._refuse()
        # The last character has no escape that all engines read, so a set up to it is written by
        # what it lacks.
        is_open = ranges[-1][1] == _LAST
        written = _complement(ranges) if is_open else ranges
        if self.syntax == "posix":  # a text of PostgreSQL has no NUL
            written = tuple((max(low, 1), high) for low, high in written if high > 0)
        if not written:
            # Every character: a set and what it lacks.
            return "[0-9]|[^0-9]".join(("(?:", ")"))
        inner = "".join(
            _character(low, self.syntax, in_set=True)
            if low == high
            else f"{_character(low, self.syntax, in_set=True)}-"
            f"{_character(high, self.syntax, in_set=True)}"
            for low, high in written
        )
        return f"[{'^' if is_open else ''}{inner}]"


def _character(code: int, syntax: Syntax, *, in_set: bool = False) -> str:
    """One character, as all engines of the syntax read it."""
    text = chr(code)
    if text.isascii() and (text.isalnum() or text in "_ \"'`<>=,;:@%~#&!/"):
        return text
    if text.isascii() and text.isprintable():
        return f"\\{text}"
    if syntax == "posix":
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return f"\\x{{{code:x}}}"


def _join_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def _complement(ranges: Ranges) -> Ranges:
    found, start = [], 0
    for low, high in ranges:
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    return (*found, (start, _LAST)) if start <= _LAST else tuple(found)


def _fold(ranges: Ranges, flags: int) -> Ranges:
    """The characters of a set in both cases, if the flags ignore case."""
    if not flags & re.IGNORECASE:
        return ranges
    found = list(ranges)
    for low, high in ranges:
        for start, end, shift in ((0x41, 0x5A, 32), (0x61, 0x7A, -32)):
            first, last = max(low, start), min(high, end)
            if first <= last:
                found.append((first + shift, last + shift))
        if low == high and low >= 0x80:
            found += [(ord(each), ord(each)) for each in _cases(chr(low))]
        elif high >= 0x80:
            # Which letters of another script a set has in one case only is not looked up.
            found.append((max(low, 0x80), high))
    if not flags & re.ASCII:
        # Signs whose other case is a letter of ASCII: long s, and the sign of kelvin.
        for letter, sign in (("s", 0x17F), ("k", 0x212A)):
            if any(low <= ord(letter) <= high for low, high in found):
                found.append((sign, sign))
    return _join_ranges(found)


def _cases(letter: str) -> list[str]:
    return [each for each in (letter.lower(), letter.upper()) if len(each) == 1]
