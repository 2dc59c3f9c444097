"""Removes everything from a document that the grammar objects to.

A typo in one place then does not hide a dangling reference in another: resolution continues with
the rest. It also gets the lost paths, and reports no problems that follow from them.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from faultspec.language.grammar import (
    Anything,
    Choice,
    DeferredKind,
    Either,
    Flag,
    GrammarProblem,
    Integer,
    Many,
    Named,
    Nothing,
    Number,
    Path,
    Record,
    Text,
    Type,
    nearest_spelling,
    node_kind,
    node_kinds,
    readable_items,
)
from faultspec.source import UNREADABLE


class Remains(NamedTuple):
    """Data that obeys the grammar, and the paths that were removed or that a typo hides."""

    data: dict[str, object]
    lost: frozenset[Path] = frozenset()


def prune(type: Record, value: object, problems: Iterable[GrammarProblem]) -> Remains:
    """`value` without its unreadable parts and without the places of `problems`.

    `problems` are those that `grammar.check_data` found in `value`. A list with one bad item is
    removed, because the positions of the others would shift. In a record, a placeholder replaces a
    required value that is missing or bad, so that its neighbours are still resolved; its path is
    lost too. If the required value may be anything, the record is removed.
    """
    # A duplicate item, and a construct that lacks a key, stay.
    kept = ("duplicate-item", "missing-key")
    pruner = _Pruner({problem.path for problem in problems if problem.code not in kept} - {()})
    data = pruner.record(type, value if isinstance(value, dict) else {}, ())
    return Remains(data, frozenset(pruner.lost))


_GONE = object()


class _Pruner:
    def __init__(self, bad: set[Path]) -> None:
        self.bad = bad
        self.lost: set[Path] = set()

    def value(self, type: Type, value: object, path: Path) -> object:
        removed = path in self.bad or value is UNREADABLE
        kept = _GONE if removed else self._prune_value(type, value, path)
        if kept is _GONE:
            self.lost.add(path)
        return kept

    def _prune_value(self, type: Type, value: object, path: Path) -> object:
        match type:
            case DeferredKind(_, get):
                return self._prune_value(get(), value, path)
            case Either(branches):
                kind = node_kind(value)
                branch = next(branch for branch in branches if kind in node_kinds(branch))
                return self._prune_value(branch, value, path)
            case Many(item) if isinstance(value, list):
                items = [self.value(item, part, (*path, index)) for index, part in enumerate(value)]
                return _GONE if _GONE in items else items
            case Named(inner) if isinstance(value, dict):
                if UNREADABLE in value:
                    self.lost.add((*path, ""))  # an entry of unknown name
                entries = {
                    name: self.value(inner, part, (*path, name))
                    for name, part in readable_items(value)
                }
                return {name: part for name, part in entries.items() if part is not _GONE}
            case Record(_, keys) if isinstance(value, dict):
                data = self.record(type, value, path)
                whole = all(name in data for name, key in keys.items() if key.required)
                return data if whole else _GONE
            case Anything() if _partly_unreadable(value):
                return _GONE
        return value

    def record(self, type: Record, value: dict[Any, object], path: Path) -> dict[str, object]:
        data: dict[str, object] = {}
        missing = tuple(key for key in type.keys if key not in value)
        for name, part in readable_items(value):
            if name in type.keys:
                kept = self.value(type.keys[name].type, part, (*path, name))
                if kept is not _GONE:
                    data[name] = kept
            elif (misspelled := nearest_spelling(name, missing)) is not None:
                self.lost.add((*path, misspelled))
        for name, key in type.keys.items():
            if key.required and name not in data and path:
                replacement = stand_in(key.type)
                if replacement is not _GONE:
                    data[name] = replacement
            if name in missing and (key.required or UNREADABLE in value):
                self.lost.add((*path, name))
        return data


#: Texts, one of which fits every pattern of a required key.
_TEXTS = ("", "x", "1s", "1.0.0", "details.x", "${status}", "before x")

#: Stand-ins that do not depend on the type's parameters.
_PLAIN: Mapping[type, object] = {
    Flag: False,
    Many: [],
    Named: {},
    Nothing: None,
    Anything: _GONE,
}


def stand_in(type: Type) -> object:
    """A value of the type with the least content; `_GONE` if any value is allowed."""
    if type.__class__ in _PLAIN:
        return _PLAIN[type.__class__]
    match type:
        case DeferredKind(_, get):
            return stand_in(get())
        case Either(branches):
            return stand_in(branches[0])
        case Text(pattern):
            return next(text for text in _TEXTS if pattern is None or re.fullmatch(pattern, text))
        case Choice(values):
            return values[0]
        case Integer(low) | Number(low):
            return low or 0
        case Record(_, keys):
            return {name: stand_in(key.type) for name, key in keys.items() if key.required}
    raise TypeError(type)


def _partly_unreadable(value: object) -> bool:
    if isinstance(value, dict):
        return UNREADABLE in value or any(map(_partly_unreadable, value.values()))
    if isinstance(value, list):
        return any(map(_partly_unreadable, value))
    return value is UNREADABLE
