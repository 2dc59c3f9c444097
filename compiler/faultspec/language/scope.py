"""The document under resolution: its declared names, and the problems found in it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from faultspec.exchange.expressions import expression_problem, slowness
from faultspec.language.conditions import StatusRange
from faultspec.language.grammar import GrammarProblem, Path, closest
from faultspec.language.model import NOWHERE, Schema, Source
from faultspec.language.pictures import slots_in
from faultspec.language.prune import Remains
from faultspec.runtime import durations
from faultspec.source import UNREADABLE

Data = Mapping[str, Any]

Known = tuple[str, ...] | None
"""The names a reference may have; None if they are unknown, because their section is lost."""


class Names(tuple[str, ...]):
    """Names in order. They are looked up by their hash: a taxonomy has thousands."""

    def __contains__(self, name: object) -> bool:
        return name in self._set

    @cached_property
    def _set(self) -> frozenset[str]:
        return frozenset(self)


WELL_KNOWN_SLOTS = (
    "code",
    "message",
    "summary",
    "status",
    "retriable",
    "boundary",
    "domain",
    "details",
    "actions",
    "request_id",
    "grpc_status",
    "grpc_code",
)
"""Slots that every envelope may use without declaring them in ``fields``."""


#: Names of a hint.
_SHOWN = 50

#: The sections of the constructs that references name.
_SECTIONS: Mapping[str, str] = {
    "action": "actions",
    "boundary": "boundaries",
    "detail key": "detail_keys",
    "domain": "domains",
    "envelope": "envelopes",
    "retry policy": "retry_policies",
    "ruling": "rulings",
    "shared code": "codes",
    "surface": "surfaces",
}


class Scope:
    """The document under resolution; resolving it adds to `problems`.

    A problem that only follows from a lost part of the document is never added.
    """

    def __init__(self, remains: Remains, document: object) -> None:
        self.data: Data = remains.data
        self.problems: list[GrammarProblem] = []
        self._lost = remains.lost
        self._above_lost = {path[:length] for path in remains.lost for length in range(len(path))}
        self._document = document
        self._names: dict[tuple[str, ...], Known] = {}
        self._schemas: dict[str, Schema] = {}

    def section(self, name: str) -> Data:
        """A mapping of the top level; empty if it is missing."""
        found: Data = self.data.get(name, {})
        return found

    def is_touched(self, path: Path) -> bool:
        """Whether anything was lost at, above or below `path`."""
        return path in self._above_lost or self._is_within_lost(path)

    def _is_within_lost(self, path: Path) -> bool:
        lengths = range(len(path) + 1)
        return bool(self._lost) and any(path[:length] in self._lost for length in lengths)

    def report(
        self,
        path: Path,
        code: str,
        message: str,
        hint: str | None = None,
        *,
        on_key: bool = False,
        needs: Iterable[Path] = (),
    ) -> None:
        """Add a problem, unless its path, or one of the paths in `needs` that prove it, is lost."""
        if path not in self._lost and not any(map(self.is_touched, needs)):
            self.problems.append(GrammarProblem(code, path, message, hint, on_key=on_key))

    def shared_schema(self, data: Data, build: Callable[[], Schema]) -> Schema:
        """The result of `build`, or the earlier result for equal data without problems."""
        text = repr(data)
        known = self._schemas.get(text)
        if known is not None:
            return known
        before = len(self.problems)
        found = build()
        if not self._lost and len(self.problems) == before:
            self._schemas[text] = found
        return found

    def names(self, *path: str) -> Known:
        """The names declared by the mapping at `path`, including names of lost entries."""
        if path not in self._names:
            self._names[path] = self._read_names(path)
        return self._names[path]

    def _read_names(self, path: tuple[str, ...]) -> Known:
        if self._is_within_lost(path):
            return None
        value = self._document
        for step in path:
            value = value.get(step, {}) if isinstance(value, dict) else {}
        return Names(value) if isinstance(value, dict) and UNREADABLE not in value else None

    @cached_property
    def code_names(self) -> Known:
        """The names of all codes, including codes of operations."""
        shared, operations = self.names("codes"), self.names("operations")
        if shared is None or operations is None:
            return None
        own = [self.names("operations", operation, "errors") for operation in operations]
        if None in own:
            return None
        return Names(dict.fromkeys((*shared, *(code for codes in own for code in codes or ()))))

    @cached_property
    def slots(self) -> Known:
        """The slots of all envelopes, in pictures or in other places."""
        names, envelopes = self.names("envelopes"), self.section("envelopes").values()
        if names is None or len(names) > len(envelopes):
            return None
        drawn = (slot for each in envelopes for slot in sorted(slots_in(each["shape"])))
        fields = (field for each in envelopes for field in each.get("fields", {}).items())
        placed = (slot for slot, field in fields if field.get("places"))
        return Names(dict.fromkeys((*drawn, *placed)))

    @cached_property
    def known_slots(self) -> Known:
        """The slots of all envelopes, and the well-known ones."""
        return (
            None if self.slots is None else Names(dict.fromkeys((*self.slots, *WELL_KNOWN_SLOTS)))
        )

    def refer(
        self, name: str, known: Known, what: str, path: Path, *, on_key: bool = False
    ) -> str | None:
        """`name` if it is among `known`; otherwise None, with a problem."""
        if known is None or name in known:
            return name
        listed = f"declared: {_list_some(known)}" if known else f"no {what} is declared"
        self.report(
            path,
            "dangling-reference",
            f"there is no {what} `{name}`",
            closest(name, known) or listed,
            on_key=on_key,
        )
        return None

    def refer_all(self, value: object, known: Known, what: str, path: Path) -> tuple[str, ...]:
        """The names in `value`, a name or a list, that are among `known`; a problem for others."""
        found = [self.refer(str(name), known, what, at) for at, name in placed_items(value, path)]
        return tuple(name for name in found if name is not None)

    def _known_names(self, what: str) -> Known:
        return self.code_names if what == "code" else self.names(_SECTIONS[what])

    def refer_key(self, data: Data, key: str, what: str, path: Path) -> str | None:
        """The name under `key`, if any, with a problem if there is no such construct.

        `what` is one of `_SECTIONS`, or `code` for any code; `path` is that of `data`.
        """
        name: str | None = data.get(key)
        if name is not None:
            self.refer(name, self._known_names(what), what.removeprefix("shared "), (*path, key))
        return name

    def refer_keys(self, data: Data, key: str, what: str, path: Path) -> tuple[str, ...]:
        """The existing names under `key`, one or a list; other names are reported."""
        what_text = what.removeprefix("shared ")
        names = data.get(key, [])
        return self.refer_all(names, self._known_names(what), what_text, (*path, key))

    def refer_detail(self, name: str, path: Path) -> None:
        """Check a reference to a details key, perhaps written `details.<key>`."""
        self.refer(
            name.removeprefix("details."), self._known_names("detail key"), "detail key", path
        )

    def refer_slot(self, name: str, path: Path, extra: tuple[str, ...] = ()) -> None:
        """Check a reference to a slot, written `$slot`, or to one of the `extra` names."""
        known = None if self.known_slots is None else (*self.known_slots, *extra)
        self.refer(name.removeprefix("$"), known, "slot", path)

    def refer_means(
        self, data: Data, known: Known, what: str, path: Path, *, extra: tuple[str, ...] = ()
    ) -> Data:
        """Check `means:`, from the names `known` to a `$slot` or `details.<key>`; return it.

        `extra` names are allowed like slots.
        """
        means: Data = data.get("means", {})
        for name, meaning in means.items():
            at: Path = (*path, "means", name)
            self.refer(name, known, what, at, on_key=True)
            if meaning.startswith("$"):
                self.refer_slot(meaning, at, extra)
            else:
                self.refer_detail(meaning, at)
        return means

    def source(self, value: object, path: Path) -> Source:
        """The value of a `source:` key; `path` is that of its construct."""
        if value is None:
            return NOWHERE
        if isinstance(value, str | list):
            return Source(word_tuple(value))
        assert isinstance(value, dict)
        rulings = self.refer_keys(value, "ruling", "ruling", (*path, "source"))
        statements = word_tuple(value.get("statement")) or self.statements_of(rulings)
        return Source(
            statements=statements,
            section=value.get("section"),
            rulings=rulings,
            note=value.get("note"),
        )

    def statements_of(self, rulings: Iterable[str]) -> tuple[str, ...]:
        """The statements of rulings: the source of a rule that only cites a ruling."""
        declared = self.section("rulings")
        return tuple(
            dict.fromkeys(
                statement
                for name in rulings
                for statement in word_tuple(declared.get(name, {}).get("statements"))
            )
        )

    def duration(self, data: Data, key: str, path: Path, *, positive: bool = False) -> float | None:
        """The duration under `key` in seconds, if any; `path` is that of `data`."""
        if (value := data.get(key)) is None:
            return None
        at: Path = (*path, key)
        try:
            seconds = durations.seconds(value)
        except ValueError as error:
            hint = "write a number with a unit, such as 250ms, 2s, 5m or 24h"
            self.report(at, "bad-duration", str(error), hint)
            return None
        if positive and not seconds:
            hint = "write a longer duration, such as 5m"
            self.report(at, "bad-duration", f"`{value}` is not a positive duration", hint)
        return seconds

    def statuses(self, value: object, path: Path) -> tuple[StatusRange, ...]:
        """The ranges of `429`, `"4xx"`, `"502-504"` or a list of such."""
        ranges = []
        for at, item in placed_items(value, path):
            span = status_range(str(item))
            if span.low > span.high:
                hint = f"write {span.high}-{span.low}"
                self.report(at, "bad-status", f"the range {span.low}-{span.high} is empty", hint)
            ranges.append(span)
        return tuple(ranges)

    def expression(self, value: str, path: Path, flags: int = 0) -> str | None:
        """A regular expression, or None, with a problem. One that may take long is left out too."""
        problem = expression_problem(value)
        if problem is not None:
            message = f"this regular expression is invalid: {problem}"
            self.report(path, "bad-pattern", message, "put a backslash before a literal sign")
            return None
        problem = slowness(value, flags)
        if problem is not None:
            message = f"this regular expression {problem}"
            self.report(path, "slow-pattern", message, _FASTER)
            return None
        return value


_FASTER = (
    "let a text be read in one way: `a+` in place of `(a+)+`, `[^-]*-` in place of `.*-`, "
    "`^` before what begins the text"
)


def _list_some(names: Sequence[str]) -> str:
    """The first names of many: each of 10,000 references may list them."""
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def status_range(text: str) -> StatusRange:
    """`429`, `4xx` or `502-504` as a range."""
    if text.endswith("xx"):
        return StatusRange(int(text[0]) * 100, int(text[0]) * 100 + 99)
    low, _, high = text.partition("-")
    return StatusRange(int(low), int(high or low))


def word_tuple(value: object) -> tuple[str, ...]:
    """One word or a list of words, as a tuple; empty for None."""
    return () if value is None else tuple(str(word) for _, word in placed_items(value, ()))


def placed_items(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The items of a list with their paths; of any other value, the value itself."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index), item
    else:
        yield path, value
