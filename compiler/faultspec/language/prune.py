"""What is left of a document when everything the grammar objects to is taken out of it.

So that a typo in one place does not hide a dangling reference in another: resolution goes on with the rest, and knows
what was lost, so that it does not complain of the consequences.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from faultspec.language.grammar import (
    Anything,
    Either,
    Later,
    Many,
    Named,
    Path,
    Problem,
    Record,
    Text,
    Type,
    kind,
    kinds,
    nearest,
    told,
)
from faultspec.source import UNTOLD


class Remains(NamedTuple):
    """Grammatical data, and the paths of what had to go or was probably meant by an unknown key."""

    data: dict[str, object]
    lost: frozenset[Path] = frozenset()


def prune(type: Record, value: object, problems: Iterable[Problem]) -> Remains:
    """`value` without what is untold, and without what `problems`, found in it by `grammar.problems`, are about.

    A record without a required key goes as a whole, and so does a list with one bad item, for the places of the others
    would shift. Only the outermost record stays whatever it lacks; and required text that means nothing to the compiler
    is put in as empty, so that a code without its summary is still resolved.
    """
    # What is there twice is there, and no less for it.
    pruner = _Pruner({each.path for each in problems if each.code != "duplicate-item"} - {()})
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
            case Later(_, get):
                return self._within(get(), value, path)
            case Either(branches):
                found = kind(value)
                return self._within(next(each for each in branches if found in kinds(each)), value, path)
            case Many(item) if isinstance(value, list):
                items = [self.value(item, each, (*path, index)) for index, each in enumerate(value)]
                return _GONE if _GONE in items else items
            case Named(inner) if isinstance(value, dict):
                if UNTOLD in value:
                    self.lost.add((*path, ""))  # an entry, whose name nobody knows
                entries = {name: self.value(inner, each, (*path, name)) for name, each in told(value)}
                return {name: each for name, each in entries.items() if each is not _GONE}
            case Record(_, keys) if isinstance(value, dict):
                data = self.record(type, value, path)
                return data if all(name in data for name, key in keys.items() if key.required) else _GONE
            case Anything() if _partly_untold(value):
                return _GONE
        return value

    def record(self, type: Record, value: dict[Any, object], path: Path) -> dict[str, object]:
        data: dict[str, object] = {}
        for name, each in told(value):
            if name in type.keys:
                kept = self.value(type.keys[name].type, each, (*path, name))
                if kept is not _GONE:
                    data[name] = kept
            elif (meant := nearest(name, tuple(key for key in type.keys if key not in value))) is not None:
                self.lost.add((*path, meant))
        data.update(
            (name, "") for name, key in type.keys.items() if key.required and key.type == Text() and name not in data
        )
        more = UNTOLD in value
        self.lost.update(
            (*path, name) for name, key in type.keys.items() if name not in value and (key.required or more)
        )
        return data


def _partly_untold(value: object) -> bool:
    if isinstance(value, dict):
        return UNTOLD in value or any(map(_partly_untold, value.values()))
    return value is UNTOLD or (isinstance(value, list) and any(map(_partly_untold, value)))
