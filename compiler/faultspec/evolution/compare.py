"""The comparison of two taxonomies: the changes, and the version that they are due."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

from faultspec.diagnostics.model import Path
from faultspec.evolution.differences import Difference, find_differences
from faultspec.evolution.model import BUMPS, SEVERITIES, Bump, Change, Effect, due_bump
from faultspec.evolution.pairing import apply_renames, find_renames
from faultspec.evolution.promises import shown
from faultspec.evolution.rule import Evolution, EvolutionRule, Occurrence
from faultspec.evolution.rules import RULES
from faultspec.language.model import Taxonomy

NOTATION = "notation/changed"
"""The rule of a difference without an effect: something is declared elsewhere or otherwise."""


class Comparison(NamedTuple):
    """All changes, the worst first.

    ``due``: the version part that they raise. ``declared``: the part that ``taxonomy.version``
    raised; None if one of the versions is not of the form x.y.z.
    """

    changes: tuple[Change, ...]
    due: Bump
    declared: Bump | None
    old_version: str
    new_version: str

    @property
    def is_version_enough(self) -> bool:
        """Whether the declared version says at least what is due; True if it cannot be read.

        Below 1.0.0 each part counts for one more (SemVer 2.0.0, §4): a minor for a major one.
        """
        if self.declared is None or self.due == "none":
            return True
        allowed = BUMPS.index(self.due)
        if self.old_version.startswith("0.") and self.due != "patch":
            allowed += 1
        return BUMPS.index(self.declared) <= min(allowed, BUMPS.index("patch"))


def compare(old: Taxonomy, new: Taxonomy, today: date) -> Comparison:
    """Compare two taxonomies. ``today`` decides which sunsets are over."""
    renames = find_renames(old, new)
    evolution = Evolution(apply_renames(old, renames), new, old, renames, today)
    found = [(rule, occurrence) for rule in RULES for occurrence in rule.check(evolution)]
    changes = [*_fold(found), *_notation(evolution, found)]
    changes.sort(key=lambda change: SEVERITIES.index(change.severity))
    return Comparison(
        tuple(changes),
        due_bump(changes),
        _declared_bump(old.version, new.version),
        old.version,
        new.version,
    )


def _fold(found: Iterable[tuple[EvolutionRule, Occurrence]]) -> Iterator[Change]:
    """One change for all occurrences of a rule with the same effect and values."""
    folded: dict[object, list[tuple[EvolutionRule, Occurrence]]] = {}
    for rule, occurrence in found:
        effect = occurrence.effect
        key = (
            rule.id,
            effect._replace(message=_anonymous(effect.message, occurrence.path)),
            repr(occurrence.before),
            repr(occurrence.after),
            occurrence.path[-1],
        )
        folded.setdefault(key, []).append((rule, occurrence))
    for group in folded.values():
        yield _change(*group[0], [occurrence.path for _, occurrence in group])


def _anonymous(message: str, path: Path) -> str:
    """A message without the names of its place, so that equal changes of several codes meet."""
    for step in path[1:]:
        message = message.replace(f"`{step}`", "`…`")
    if path[0] == "operations" and len(path) > 3:
        message = message.replace(f"`{path[1]}/{path[3]}`", "`…`")
    return message


def _change(rule: EvolutionRule, occurrence: Occurrence, paths: list[Path]) -> Change:
    effect = occurrence.effect
    return Change(
        rule=rule.id,
        severity=effect.severity,
        categories=effect.categories or rule.categories,
        breaks=effect.breaks,
        message=_with_others(effect.message, paths),
        path=occurrence.path,
        places=tuple(".".join(map(str, path)) for path in paths),
        before=_text(occurrence.before),
        after=_text(occurrence.after),
        remedy=effect.remedy,
        adds=effect.adds,
        removes=effect.removes,
    )


def _with_others(message: str, paths: list[Path]) -> str:
    others = len(paths) - 1
    return (
        f"{message}, and so in {others} other place{'s' if others > 1 else ''}"
        if others
        else message
    )


def _text(value: object) -> str | None:
    if value is None or value in ((), [], {}):
        return None
    return shown(value).replace("`", "") if isinstance(value, str | int | float | tuple) else None


def _notation(
    evolution: Evolution, found: list[tuple[EvolutionRule, Occurrence]]
) -> Iterator[Change]:
    """A safe change for each kind of difference that no rule reported."""
    covered = [
        (rule.reads, path)
        for rule, occurrence in found
        for path in (occurrence.path, *occurrence.covers)
    ]
    by_field: dict[str, list[Difference]] = {}
    by_path = {path for _, path in covered}
    for difference in find_differences(evolution.old, evolution.new):
        if not _is_covered(difference.path, by_path):
            by_field.setdefault(difference.field, []).append(difference)
    for field, differences in by_field.items():
        first = differences[0]
        message = f"`{'.'.join(map(str, first.path))}` is declared otherwise, with the same effect"
        paths = [difference.path for difference in differences]
        effect = Effect("safe", message)
        notation = EvolutionRule(NOTATION, ("DOC",), frozenset({field}), lambda _: iter(()), "")
        yield _change(notation, Occurrence(first.path, effect), paths)


def _is_covered(path: Path, covered: set[Path]) -> bool:
    """Whether some reported path is above or below a difference."""
    return any(path[:length] in covered for length in range(1, len(path) + 1)) or any(
        other[: len(path)] == path for other in covered
    )


def _declared_bump(old: str, new: str) -> Bump | None:
    """The part by which a version was raised; ``none`` for an equal or a lower one."""
    before, after = (re.match(r"(\d+)\.(\d+)\.(\d+)", version) for version in (old, new))
    if before is None or after is None:
        return None
    numbers = [tuple(map(int, match.groups())) for match in (before, after)]
    if numbers[1] <= numbers[0]:
        return "none"
    parts: tuple[Bump, ...] = ("major", "minor", "patch")
    return next(part for part, a, b in zip(parts, *numbers, strict=True) if a != b)
