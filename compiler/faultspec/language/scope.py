"""What one document declares by name, and the problems met while its references are followed."""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from faultspec.language.conditions import StatusRange
from faultspec.language.grammar import GrammarProblem, Path, closest
from faultspec.language.model import NOWHERE, Schema, Source
from faultspec.language.prune import Remains
from faultspec.runtime import durations
from faultspec.source import UNTOLD
from faultspec.source.mistakes import quoted

Data = Mapping[str, Any]

Known = tuple[str, ...] | None
"""The names a reference may have; None where they cannot be told, because their section is lost."""


class Scope:
    """The document under resolution. `problems` grows; what follows from something lost is never added to it."""

    def __init__(self, remains: Remains, document: object) -> None:
        self.data: Data = remains.data
        self.problems: list[GrammarProblem] = []
        self._lost = remains.lost
        self._above_lost = {each[:length] for each in remains.lost for length in range(len(each))}
        self._document = document
        self._names: dict[tuple[str, ...], Known] = {}
        self._schemas: dict[str, Schema] = {}

    def section(self, name: str) -> Data:
        """A mapping of the top level, empty where it is not there."""
        found: Data = self.data.get(name, {})
        return found

    def touched(self, path: Path) -> bool:
        """Whether anything was lost at, above or below `path`."""
        return path in self._above_lost or self._within_lost(path)

    def _within_lost(self, path: Path) -> bool:
        # Of a document without a mistake nothing is.
        return bool(self._lost) and any(
            path[:length] in self._lost for length in range(len(path) + 1)
        )

    def wrong(
        self,
        path: Path,
        code: str,
        message: str,
        hint: str | None = None,
        *,
        on_key: bool = False,
        needs: Iterable[Path] = (),
    ) -> None:
        """Report a problem, unless what it is about, or something of `needs`, from which it was concluded, is lost."""
        if path not in self._lost and not any(self.touched(each) for each in needs):
            self.problems.append(GrammarProblem(code, path, message, hint, on_key))

    # values that say the same

    def schema(self, data: Data, build: Callable[[], Schema]) -> Schema:
        """What `build` makes of `data`; where it has been made of the same before, and without a complaint, that one."""
        text = repr(data)
        known = self._schemas.get(text)
        if known is not None:
            return known
        before = len(self.problems)
        found = build()
        if not self._lost and len(self.problems) == before:
            self._schemas[text] = found
        return found

    # names

    def names(self, *path: str) -> Known:
        """The names declared by the mapping at `path`, those of lost entries included."""
        if path not in self._names:
            self._names[path] = self._read_names(path)
        return self._names[path]

    def _read_names(self, path: tuple[str, ...]) -> Known:
        if self._within_lost(path):
            return None
        value = self._document
        for step in path:
            value = value.get(step, {}) if isinstance(value, dict) else {}
        return tuple(value) if isinstance(value, dict) and UNTOLD not in value else None

    @cached_property
    def code_names(self) -> Known:
        """The names of all codes, those of operations included."""
        shared, operations = self.names("codes"), self.names("operations")
        if shared is None or operations is None:
            return None
        own = [self.names("operations", operation, "errors") for operation in operations]
        if None in own:
            return None
        return tuple(
            dict.fromkeys((*shared, *(code for each in own if each is not None for code in each)))
        )

    def refer(
        self, name: str, known: Known, what: str, path: Path, *, on_key: bool = False
    ) -> str | None:
        """`name` if it is among `known`; otherwise a diagnostic and None."""
        if known is None or name in known:
            return name
        listed = f"declared: {', '.join(known)}" if known else f"no {what} is declared"
        self.wrong(
            path,
            "dangling-reference",
            f"there is no {what} `{name}`",
            closest(name, known) or listed,
            on_key=on_key,
        )
        return None

    def refer_all(self, value: object, known: Known, what: str, path: Path) -> tuple[str, ...]:
        """The names among `known` of a name or a list of names; each other one is a diagnostic."""
        if isinstance(value, list):
            found = [
                self.refer(each, known, what, (*path, index)) for index, each in enumerate(value)
            ]
            return tuple(each for each in found if each is not None)
        found = [self.refer(str(value), known, what, path)] if value is not None else []
        return tuple(each for each in found if each is not None)

    # values that stand everywhere

    def source(self, value: object, path: Path) -> Source:
        """Where the construct at `path` comes from."""
        if value is None:
            return NOWHERE
        if isinstance(value, str | list):
            return Source(words(value))
        assert isinstance(value, dict)
        rulings = self.refer_all(
            value.get("ruling"), self.names("rulings"), "ruling", (*path, "source", "ruling")
        )
        statements = words(value.get("statement")) or self.statements_of(rulings)
        return Source(statements, value.get("section"), rulings, value.get("note"))

    def statements_of(self, rulings: Iterable[str]) -> tuple[str, ...]:
        """What the rulings are about: a rule that only cites a ruling comes from the ruling's statements."""
        declared = self.data.get("rulings", {})
        return tuple(
            dict.fromkeys(
                each for name in rulings for each in words(declared.get(name, {}).get("statements"))
            )
        )

    def duration(self, value: Any, path: Path, *, positive: bool = False) -> float | None:
        """A duration in seconds; ``positive``: one of 0 makes no sense."""
        if value is None:
            return None
        try:
            found = durations.seconds(value)
            if positive and not found:
                self.wrong(
                    path,
                    "bad-duration",
                    f"`{value}` lasts no time at all",
                    "write how long it lasts, such as 5m",
                )
            return found
        except ValueError as error:
            self.wrong(
                path,
                "bad-duration",
                str(error),
                "write a number with a unit, such as 250ms, 2s, 5m or 24h",
            )
            return None

    def statuses(self, value: object, path: Path) -> tuple[StatusRange, ...]:
        """Read `429`, `"4xx"`, `"502-504"` or a list of them."""
        if isinstance(value, list):
            return tuple(
                span
                for index, each in enumerate(value)
                for span in self.statuses(each, (*path, index))
            )
        span = status_range(str(value))
        if span.low > span.high:
            hint = f"write {span.high}-{span.low}"
            self.wrong(path, "bad-status", f"the range {span.low}-{span.high} is empty", hint)
        return (span,)

    def expression(self, value: str, path: Path) -> str | None:
        """A regular expression, or a diagnostic and None."""
        problem = expression_problem(value)
        if problem is not None:
            said = f"this regular expression cannot be read: {problem}"
            self.wrong(path, "bad-pattern", said, "a backslash makes a sign literal")
            return None
        slow = repeated_repetition(value)
        if slow is not None:
            message = f"{quoted(slow)} repeats a repetition, which takes endless time on a text that almost matches"
            self.wrong(
                path,
                "slow-pattern",
                message,
                "keep one of the two repetitions: `(a+)+` matches what `a+` does",
            )
        return value


_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_ATOM = rf"(?:\\.|{_CLASS}|[^\\()\[\]|*+?{{}}])"
_MAYBE = rf"(?:{_ATOM}(?:[*?]|\{{0,\d*\}})\??)*"
_ENDLESS = r"(?:[*+]|\{\d+,\})\??"

#: The textbook case of catastrophic backtracking: a group that is repeated without end holds one repetition without end,
#: and beside it nothing that must be there. Others are not recognised; none that is harmless is.
_REPEATED_REPETITION = rf"\((?:\?:|\?P?<\w+>)?{_MAYBE}{_ATOM}{_ENDLESS}{_MAYBE}\){_ENDLESS}"
_PARTS = rf"(?s:\\.|{_CLASS}|(?P<slow>{_REPEATED_REPETITION})|.)"

#: Longer than anyone writes an expression, and short enough that looking for a slow one is not slow itself.
_LOOKED_THROUGH = 2_000


def repeated_repetition(expression: str) -> str | None:
    """The part of an expression that repeats a repetition, if it has one."""
    if ")" not in expression:
        return None  # as nearly always; then the expression that looks for one, which is slow to compile, isn't
    parts = re.finditer(_PARTS, expression[:_LOOKED_THROUGH])
    return next((part["slow"] for part in parts if part["slow"] is not None), None)


def expression_problem(value: str) -> str | None:
    """Why `value` is no regular expression, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # `[[` is legal, and only may one day mean something else
            re.compile(value)
    except re.error as error:
        return str(error)
    except (OverflowError, RecursionError):  # a count or a nesting beyond what the engine can hold
        return "it is too large"
    return None


def status_range(text: str) -> StatusRange:
    """`429`, `4xx` or `502-504` as a range."""
    if text.endswith("xx"):
        return StatusRange(int(text[0]) * 100, int(text[0]) * 100 + 99)
    low, _, high = text.partition("-")
    return StatusRange(int(low), int(high or low))


def words(value: object) -> tuple[str, ...]:
    """One word or a list of words, as a tuple."""
    if value is None:
        return ()
    return tuple(str(each) for each in value) if isinstance(value, list) else (str(value),)
