"""The comparison of two taxonomies: the changes, and the version that they are due."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from faultspec.diagnostics.model import Path
from faultspec.evolution.differences import find_differences
from faultspec.evolution.model import (
    BUMPS,
    SEVERITIES,
    Bump,
    Change,
    ChangeSeverity,
    due_bump,
)
from faultspec.evolution.notation import align_notation
from faultspec.evolution.pairing import apply_renames, find_renames
from faultspec.evolution.promises import format_value, join_words
from faultspec.evolution.rule import Evolution, EvolutionRule, Occurrence
from faultspec.evolution.rules import RULES
from faultspec.language.model import Taxonomy


class Comparison(NamedTuple):
    """All changes, the worst first, and differences without an effect: something is declared
    elsewhere or in another way.

    ``due``: the version part that they raise. ``declared``: the part that ``taxonomy.version``
    raised; None if one of the versions is not of the form x.y.z.
    """

    changes: tuple[Change, ...]
    notation: tuple[str, ...]
    due: Bump
    declared: Bump | None
    old_version: str
    new_version: str

    @property
    def is_version_enough(self) -> bool:
        """Whether the declared version is at least the due one; True if one cannot be read."""
        return self.is_enough_for(self.due)

    def is_enough_for(self, due: Bump) -> bool:
        """Whether the declared version is as high as changes with this bump demand, and not lower
        than the old one; True if one of the versions cannot be read.
        """
        old, new = _read_version(self.old_version), _read_version(self.new_version)
        if old is None or new is None:
            return True
        if due == "none":
            return not self.is_version_lowered
        return new.order > old.order and new.numbers >= self._due_numbers(old, due)

    @property
    def is_version_lowered(self) -> bool:
        """Whether the declared version is lower than the old one."""
        old, new = _read_version(self.old_version), _read_version(self.new_version)
        return old is not None and new is not None and new.order < old.order

    @property
    def due_version(self) -> str | None:
        """The least version that is due after the old one; None if none is due, or if the old one
        is not of the form x.y.z.
        """
        old = _read_version(self.old_version)
        if old is None or self.due == "none":
            return None
        return ".".join(map(str, self._due_numbers(old, self.due)))

    @property
    def is_below_one(self) -> bool:
        """Whether the old version is below 1.0.0, where less is due."""
        version = _read_version(self.old_version)
        return version is not None and version.numbers[0] == 0

    def _due_numbers(self, old: "_Version", due: Bump) -> tuple[int, ...]:
        """The due version as numbers. Below 1.0.0 the next lower part is raised (SemVer 2.0.0,
        §4): the minor for the major one.
        """
        part = BUMPS.index(due)
        if self.is_below_one:
            part = min(part + 1, BUMPS.index("patch"))
        return old.raise_part(part)


class _Version(NamedTuple):
    """A version of SemVer 2.0.0: its three numbers, and what makes it a prerelease of them."""

    numbers: tuple[int, ...]
    prerelease: str = ""

    @property
    def order(self) -> tuple[Any, ...]:
        """A key that sorts versions (SemVer 2.0.0, §11): a prerelease is before its release, and
        numbers are before words.
        """
        parts = self.prerelease.split(".") if self.prerelease else []
        keys = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]
        return (self.numbers, not self.prerelease, keys)

    def raise_part(self, part: int) -> tuple[int, ...]:
        """The next version in which a part is raised. The release of a prerelease is one if the
        parts below are 0: 2.0.0-rc.1 raised the first part of its version already.
        """
        rest = self.numbers[part + 1 :]
        if self.prerelease and not any(rest):
            return self.numbers
        return (*self.numbers[:part], self.numbers[part] + 1, *(0 for _ in rest))


def compare(old: Taxonomy, new: Taxonomy, today: date) -> Comparison:
    """Compare two taxonomies. ``today`` decides which sunsets are over."""
    renames = find_renames(old, new)
    renamed = apply_renames(old, renames)
    aligned = align_notation(renamed, new)
    evolution = Evolution(old=aligned, new=new, renames=renames, today=today)
    found = [
        (rule, _weigh_by_stage(evolution, occurrence))
        for rule in RULES
        for occurrence in rule.check(evolution)
    ]
    changes = sorted(_fold(evolution, found), key=lambda change: SEVERITIES.index(change.severity))
    return Comparison(
        changes=tuple(changes),
        notation=tuple(_notation(renamed, new, found)),
        due=due_bump(changes),
        declared=_declared_bump(old.version, new.version),
        old_version=old.version,
        new_version=new.version,
    )


#: By the lifecycle that a code had, what a change of it is in place of its severity.
_LENIENT: Mapping[str, Mapping[ChangeSeverity, ChangeSeverity]] = {
    "experimental": {"breaking": "safe", "risky": "safe"},
    "beta": {"breaking": "risky"},
}


def _weigh_by_stage(evolution: Evolution, occurrence: Occurrence) -> Occurrence:
    """A change of a code that was not stable yet breaks no promise, or a weaker one."""
    path, effect = occurrence.path, occurrence.effect
    code = evolution.old_codes.get(path[: 4 if path[0] == "operations" else 2])
    severity = _LENIENT.get(code.lifecycle if code else "", {}).get(effect.severity)
    if severity is None or code is None:
        return occurrence
    return occurrence._replace(
        effect=effect._replace(
            severity=severity,
            message=f"{effect.message} (the code was {code.lifecycle})",
            breaks=() if severity == "safe" else effect.breaks,
            removes=False,
            remedy=None,
        )
    )


def compare_first(new: Taxonomy, today: date) -> Comparison:
    """The comparison of the first version of a taxonomy with nothing: nobody relies on anything
    yet, so all is added, and nothing breaks. The old version is 0.0.0.
    """
    empty: dict[str, Any] = {
        name: {} if isinstance(value, Mapping) else () if type(value) is tuple else None
        for name, value in new._asdict().items()
    }
    kept = {name: getattr(new, name) for name in ("name", "title", "owner", "description")}
    nothing = Taxonomy(**{**empty, **kept, "version": "0.0.0"})
    comparison = compare(nothing, new, today)
    changes = tuple(
        change._replace(severity="safe", breaks=(), remedy=None, adds=True)
        for change in comparison.changes
    )
    return comparison._replace(changes=changes, due=due_bump(changes))


def _fold(
    evolution: Evolution, found: Iterable[tuple[EvolutionRule, Occurrence]]
) -> Iterator[Change]:
    """One change for all occurrences of a rule with the same effect and values."""
    folded: dict[object, tuple[EvolutionRule, list[Occurrence]]] = {}
    for rule, occurrence in found:
        effect = occurrence.effect
        message = effect.message.replace(_subject(occurrence), "…")
        values = repr(occurrence.before), repr(occurrence.after)
        key = (rule.id, effect._replace(message=message), values, occurrence.path[-1])
        folded.setdefault(key, (rule, []))[1].append(occurrence)
    for rule, occurrences in folded.values():
        identities = dict.fromkeys(_identity(evolution, occurrence) for occurrence in occurrences)
        yield _change(rule, occurrences)._replace(identity="|".join(identities))


def _subject(occurrence: Occurrence) -> str:
    """The name of the construct in a message, which is what equal changes differ in."""
    path, message = occurrence.path, occurrence.effect.message
    names = [f"`{step}`" for step in path[1:]]
    if path[0] == "operations" and len(path) > 3:
        names.insert(0, f"`{path[1]}/{path[3]}`")
    return next((name for name in names if name in message), "\0")


#: Names in a message; the list of places has them all.
_MOST_NAMED = 4


def _change(rule: EvolutionRule, occurrences: list[Occurrence]) -> Change:
    """The change of occurrences that are alike."""
    occurrence = occurrences[0]
    effect = occurrence.effect
    names = list(dict.fromkeys(map(_subject, occurrences)))
    more = len(names) - _MOST_NAMED
    listed = [*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
    named = join_words(listed)
    message = effect.message.replace(names[0], named)
    if len(names) > 1 and message.startswith(f"{named} is "):
        message = message.replace(f"{named} is ", f"{named} are ", 1)
    return Change(
        rule=rule.id,
        severity=effect.severity,
        categories=effect.categories or rule.categories,
        breaks=effect.breaks,
        message=message,
        path=occurrence.path,
        places=tuple(".".join(map(str, member.path)) for member in occurrences),
        before=_text(occurrence.before, str(occurrence.path[-1])),
        after=_text(occurrence.after, str(occurrence.path[-1])),
        remedy=effect.remedy,
        adds=effect.adds,
        removes=effect.removes,
    )


def _text(value: object, field: str) -> str | None:
    """A value as text for readers, whole; None if there is none to show."""
    exact = _exact_text(value, field)
    return exact if isinstance(value, str) else exact.replace("`", "") or None


def _exact_text(value: object, field: str) -> str:
    """A value as text that no other value has; empty if it is absent or a whole construct."""
    if value is None or not isinstance(value, str | int | float | tuple):
        return ""
    return value if isinstance(value, str) else format_value(value, field, most=None)


def _identity(evolution: Evolution, occurrence: Occurrence) -> str:
    """The values of an occurrence: those that it names, else those at its path."""
    values = occurrence.before, occurrence.after
    if values == (None, None):
        values = _leaf(evolution.old, occurrence.path), _leaf(evolution.new, occurrence.path)
    texts = [_exact_text(value, str(occurrence.path[-1])) or None for value in values]
    return "|".join(map(str, texts))


def _leaf(value: Any, path: Path) -> object:
    """The value at a path of the model; None for a construct, and if nothing is there."""
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else getattr(value, str(step), None)
    return None if hasattr(value, "_fields") or isinstance(value, Mapping) else value


def _notation(
    old: Taxonomy, new: Taxonomy, found: list[tuple[EvolutionRule, Occurrence]]
) -> Iterator[str]:
    """The place of each difference that no rule reported."""
    covered = {path for _, occurrence in found for path in (occurrence.path, *occurrence.covers)}
    above = {prefix for path in covered for prefix in _prefixes(path)}
    for difference in find_differences(old, new):
        path = difference.path
        if path not in above and covered.isdisjoint(_prefixes(path)):
            yield ".".join(map(str, path))


def _prefixes(path: Path) -> Iterator[Path]:
    """The paths above a path, and the path itself."""
    return (path[:length] for length in range(1, len(path) + 1))


def _declared_bump(old: str, new: str) -> Bump | None:
    """The part by which a version was raised; ``none`` for an equal or a lower one."""
    before, after = _read_version(old), _read_version(new)
    if before is None or after is None:
        return None
    if after.order <= before.order:
        return "none"
    parts = range(len(before.numbers))
    return BUMPS[next(part for part in parts if before.raise_part(part) <= after.numbers)]


#: SemVer 2.0.0: three numbers, a prerelease after `-`, and a build after `+`, which has no order.
_VERSION = r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"


def _read_version(text: str) -> _Version | None:
    """A version; None if it is not of the form x.y.z."""
    match = re.fullmatch(_VERSION, text, re.ASCII)
    return match and _Version(tuple(map(int, match.groups()[:3])), match[4] or "")
