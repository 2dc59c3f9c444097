"""What is left of a document when everything the grammar objects to is taken out of it.

So that a typo in one place does not hide a dangling reference in another: resolution goes on with the rest, and knows
what was lost, so that it does not complain of the consequences.
"""

import re
from collections.abc import Iterable
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
    kind,
    kinds,
    nearest,
    readable_items,
)
from faultspec.source import UNTOLD


class Remains(NamedTuple):
    """Grammatical data, and the paths of what had to go or was probably meant by an unknown key."""

    data: dict[str, object]
    lost: frozenset[Path] = frozenset()


def prune(type: Record, value: object, problems: Iterable[GrammarProblem]) -> Remains:
    """`value` without what is untold, and without what `problems`, found in it by `grammar.problems`, are about.

    A list with one bad item goes as a whole, for the places of the others would shift. In a record a value that nobody
    gave takes the place of a required one that is missing or bad, so that what stands beside it is still resolved; its
    path is lost all the same. Only where the required value may be anything the record goes too.
    """
    # What is there twice is there, and no less for it; and a construct that lacks a key is there all the same.
    pruner = _Pruner(
        {each.path for each in problems if each.code not in ("duplicate-item", "missing-key")}
        - {()}
    )
    data = pruner.record(type, value if isinstance(value, dict) else {}, ())
    return Remains(data, frozenset(pruner.lost))


_GONE = object()


class _Pruner:
    def __init__(self, bad: set[Path]) -> None:
        self.bad = bad
        self.lost: set[Path] = set()

    def value(self, type: Type, value: object, path: Path) -> object:
        kept = _GONE if path in self.bad or value is UNTOLD else self._within(type, value, path)
        if kept is _GONE:
            self.lost.add(path)
        return kept

    def _within(self, type: Type, value: object, path: Path) -> object:
        match type:
            case DeferredKind(_, get):
                return self._within(get(), value, path)
            case Either(branches):
                found = kind(value)
                return self._within(
                    next(branch for branch in branches if found in kinds(branch)), value, path
                )
            case Many(item) if isinstance(value, list):
                items = [self.value(item, each, (*path, index)) for index, each in enumerate(value)]
                return _GONE if _GONE in items else items
            case Named(inner) if isinstance(value, dict):
                if UNTOLD in value:
                    self.lost.add((*path, ""))  # an entry, whose name nobody knows
                entries = {
                    name: self.value(inner, each, (*path, name))
                    for name, each in readable_items(value)
                }
                return {name: each for name, each in entries.items() if each is not _GONE}
            case Record(_, keys) if isinstance(value, dict):
                data = self.record(type, value, path)
                return (
                    data
                    if all(name in data for name, key in keys.items() if key.required)
                    else _GONE
                )
            case Anything() if _partly_untold(value):
                return _GONE
        return value

    def record(self, type: Record, value: dict[Any, object], path: Path) -> dict[str, object]:
        data: dict[str, object] = {}
        for name, each in readable_items(value):
            if name in type.keys:
                kept = self.value(type.keys[name].type, each, (*path, name))
                if kept is not _GONE:
                    data[name] = kept
            elif (
                meant := nearest(name, tuple(key for key in type.keys if key not in value))
            ) is not None:
                self.lost.add((*path, meant))
        for name, key in type.keys.items():
            if (
                key.required
                and name not in data
                and path
                and (stands_in := stand_in(key.type)) is not _GONE
            ):
                data[name] = stands_in
        more = UNTOLD in value
        self.lost.update(
            (*path, name)
            for name, key in type.keys.items()
            if name not in value and (key.required or more)
        )
        return data


#: Texts of which each pattern that a required key has takes one.
_TEXTS = ("", "x", "1s", "1.0.0", "details.x", "${status}")


def stand_in(type: Type) -> object:
    """A value of the type that says as little as possible; `_GONE` where any value may be meant."""
    match type:
        case DeferredKind(_, get):
            return stand_in(get())
        case Either(branches):
            return stand_in(branches[0])
        case Text(pattern):
            return next(each for each in _TEXTS if pattern is None or re.fullmatch(pattern, each))
        case Choice(values):
            return values[0]
        case Integer(low) | Number(low):
            return low or 0
        case Flag():
            return False
        case Many():
            return []
        case Named():
            return {}
        case Record(_, keys):
            return {name: stand_in(key.type) for name, key in keys.items() if key.required}
        case Nothing():
            return None
        case Anything():
            return _GONE


def _partly_untold(value: object) -> bool:
    if isinstance(value, dict):
        return UNTOLD in value or any(map(_partly_untold, value.values()))
    return value is UNTOLD or (isinstance(value, list) and any(map(_partly_untold, value)))
