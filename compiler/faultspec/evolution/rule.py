"""The decorator that makes an evolution rule of a function, and what a rule reads and reports."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import Category, Effect
from faultspec.evolution.pairing import Rename, successor
from faultspec.evolution.promises import split_values
from faultspec.language.carriers import reaches
from faultspec.language.model import Code, Operation, Surface, Taxonomy

T = TypeVar("T")


class Pair(NamedTuple, Generic[T]):
    """A construct in both taxonomies, at its path. One of the two is None if it lacks it."""

    path: Path
    old: T
    new: T


@dataclass(frozen=True)
class Evolution:
    """Two taxonomies to compare. ``old`` has the names of the new one where constructs were
    renamed. ``today``: decides which sunsets are over."""

    old: Taxonomy
    new: Taxonomy
    renames: tuple[Rename, ...]
    today: date

    def pairs(self, *section: str) -> Iterator[Pair[Any]]:
        """The entries of a section that both taxonomies have, and that differ."""
        for name, old, new in self._entries(section):
            if old is not None and new is not None and old != new:
                yield Pair((*section, name), old, new)

    def find_added(self, *section: str) -> Iterator[tuple[Path, Any]]:
        """The entries of a section that only the new taxonomy has."""
        return (((*section, n), new) for n, old, new in self._entries(section) if old is None)

    def find_removed(self, *section: str) -> Iterator[tuple[Path, Any]]:
        """The entries of a section that only the old taxonomy has."""
        return (((*section, n), old) for n, old, new in self._entries(section) if new is None)

    def _entries(self, section: tuple[str, ...]) -> Iterator[tuple[str, Any, Any]]:
        old, new = _entry(self.old, section), _entry(self.new, section)
        for name in dict.fromkeys((*old, *new)):
            yield name, old.get(name), new.get(name)

    @cached_property
    def old_codes(self) -> Mapping[Path, Code]:
        """Every code of the old taxonomy by its path, live or not."""
        return dict(self.old.located_codes())

    @cached_property
    def new_codes(self) -> Mapping[Path, Code]:
        """Every code of the new taxonomy by its path, live or not."""
        return dict(self.new.located_codes())

    @cached_property
    def added_codes(self) -> tuple[tuple[Path, Code], ...]:
        """The codes that a service may produce only now."""
        return tuple(
            (path, code)
            for path, code in self.new_codes.items()
            if code.live and not (path in self.old_codes and self.old_codes[path].live)
        )

    @cached_property
    def removed_codes(self) -> tuple[tuple[Path, Code], ...]:
        """The codes that a service may no longer produce; not those of removed operations."""
        return tuple(
            (path, code)
            for path, code in self.old_codes.items()
            if code.live
            and not (path in self.new_codes and self.new_codes[path].live)
            and not (path[0] == "operations" and path[1] not in self.new.operations)
        )

    @cached_property
    def successors(self) -> frozenset[str]:
        """The new codes that replace codes which are gone."""
        found = (successor(self.old, self.new, code.name) for _, code in self.removed_codes)
        return frozenset(c.name for c in found if c is not None and c.name not in self.old.codes)

    @cached_property
    def code_pairs(self) -> tuple[Pair[Code], ...]:
        """The codes that both taxonomies have and a service may produce, shared and of operations,
        equal ones included: what they refer to may differ."""
        pairs = [
            Pair(path, self.old_codes[path], code)
            for path, code in self.new_codes.items()
            if path in self.old_codes and self.old_codes[path].live and code.live
        ]
        return (*pairs, *self._form_pairs())

    def _form_pairs(self) -> Iterator[Pair[Code]]:
        """The shared codes that an operation of both taxonomies has otherwise in one of them."""
        for name, before in self.old.operations.items():
            after = self.new.operations.get(name)
            for code in dict.fromkeys((*before.variants, *(after.variants if after else ()))):
                shared = self.old.codes.get(code), self.new.codes.get(code)
                if after is None or shared[0] is None or shared[1] is None:
                    continue
                listed = all(each.codes and code in each.codes for each in (before, after))
                if listed and shared[0].live and shared[1].live:
                    path = ("operations", name, "variants", code)
                    yield Pair(path, before.own_form(shared[0]), after.own_form(shared[1]))

    @cached_property
    def changed_codes(self) -> tuple[Pair[Code], ...]:
        """Those of the pairs of codes that differ themselves."""
        return tuple(pair for pair in self.code_pairs if pair.old != pair.new)

    @cached_property
    def closed_lists(self) -> tuple[Path, ...]:
        """The paths of lists of codes, of closed surfaces and of operations, which change with
        every code."""
        surfaces = ((s.name, "surfaces", s.codes) for s in self.new.surfaces.values())
        operations = ((o.name, "operations", o.codes) for o in self.new.operations.values())
        return tuple(
            (section, name, "codes")
            for name, section, codes in (*surfaces, *operations)
            if codes is not None
        )

    def record_pairs(self, kind: type) -> Iterator[Pair[Any]]:
        """Every record of a type that both taxonomies have at the same path, and that differs."""
        return (pair for pair in self.changed_records if type(pair.old) is kind)

    @cached_property
    def changed_records(self) -> tuple[Pair[Any], ...]:
        """Every pair of records at the same path that differ, outermost first."""
        return tuple(_changed_records(self.old, self.new, ()))


def _entry(taxonomy: Any, path: Iterable[str]) -> Mapping[str, Any]:
    """The mapping at a path of fields and keys; empty if there is none."""
    value: Any = taxonomy
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else getattr(value, step)
        if value is None:
            return {}
    return dict(value)


def _changed_records(old: Any, new: Any, path: Path) -> Iterator[Pair[Any]]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old:
            if key in new:
                yield from _changed_records(old[key], new[key], (*path, key))
    elif type(old) is type(new) and hasattr(old, "_fields"):
        yield Pair(path, old, new)
        for name, before, after in zip(old._fields, old, new, strict=True):
            yield from _changed_records(before, after, (*path, name))
    elif isinstance(old, tuple) and isinstance(new, tuple):
        gone, more = split_values(old, new)
        if len(gone) == len(more):
            for before, after in zip(gone, more, strict=True):
                yield from _changed_records(before, after, path)


class Occurrence(NamedTuple):
    """An effect at a place. Occurrences of one rule with equal effects and values are one change.

    ``covers``: the paths of the differences that it explains; empty: its own.
    """

    path: Path
    effect: Effect
    before: object = None
    after: object = None
    covers: tuple[Path, ...] = ()


Check = Callable[[Evolution], Iterator[Occurrence]]


@dataclass(frozen=True, slots=True)
class EvolutionRule:
    """A rule that classifies changes.

    ``reads``: the fields it judges, as ``Record.field``. `examples.yaml` has a change that it
    reports.
    """

    id: str
    categories: tuple[Category, ...]
    reads: frozenset[str]
    check: Check
    purpose: str


def evolution_rule(
    id: str, *categories: Category, reads: Iterable[str]
) -> Callable[[Check], EvolutionRule]:
    """Make a rule of the decorated function. Its docstring is the purpose of the rule."""

    def build_rule(check: Check) -> EvolutionRule:
        purpose = " ".join((check.__doc__ or "").split())
        return EvolutionRule(
            id=id, categories=categories, reads=frozenset(reads), check=check, purpose=purpose
        )

    return build_rule


def allows_code(surface: Surface, code: Code, operation: Operation | None) -> bool:
    """Whether a surface is closed and one of its errors may have this code."""
    return surface.codes is not None and reaches(surface, code, of_operation=operation is not None)
