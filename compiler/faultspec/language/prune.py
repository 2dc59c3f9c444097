"""What is left of a document when everything the grammar objects to is taken out of it.

So that a typo in one place does not hide a dangling reference in another: resolution goes on with the rest, and knows
what was lost, so that it does not complain of the consequences.
"""

from collections.abc import Iterable
from typing import NamedTuple

from faultspec.language.grammar import Either, Later, Many, Named, Path, Problem, Record, Type, kind, kinds, nearest


class Remains(NamedTuple):
    """Grammatical data, and the paths of what had to go or was probably meant by an unknown key."""

    data: dict[str, object]
    lost: frozenset[Path] = frozenset()


def prune(type: Record, value: object, problems: Iterable[Problem]) -> Remains:
    """`value` without what `problems`, found in it by `grammar.problems`, are about.

    A record without a required key goes as a whole, and so does a list with one bad item, for the places of the others
    would shift. Only the outermost record stays whatever it lacks.
    """
    bad = {each.path for each in problems}
    if not bad and isinstance(value, dict):
        return Remains(value)
    pruner = _Pruner(bad - {()})
    data = pruner.record(type, value if isinstance(value, dict) else {}, ())
    return Remains(data, frozenset(pruner.lost))


_GONE = object()


class _Pruner:
    def __init__(self, bad: set[Path]) -> None:
        self.bad = bad
        self.lost: set[Path] = set()

    def value(self, type: Type, value: object, path: Path) -> object:
        kept = _GONE if path in self.bad else self._within(type, value, path)
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
                entries = {name: self.value(inner, each, (*path, name)) for name, each in value.items()}
                return {name: each for name, each in entries.items() if each is not _GONE}
            case Record(_, keys) if isinstance(value, dict):
                data = self.record(type, value, path)
                return data if all(name in data for name, key in keys.items() if key.required) else _GONE
        return value

    def record(self, type: Record, value: dict[str, object], path: Path) -> dict[str, object]:
        data: dict[str, object] = {}
        for name, each in value.items():
            if name in type.keys:
                kept = self.value(type.keys[name].type, each, (*path, name))
                if kept is not _GONE:
                    data[name] = kept
            elif (meant := nearest(name, tuple(key for key in type.keys if key not in value))) is not None:
                self.lost.add((*path, meant))
        self.lost.update((*path, name) for name, key in type.keys.items() if key.required and name not in value)
        return data
