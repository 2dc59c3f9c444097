"""The comparison of two taxonomies: the changes, and the version that they are due."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

from faultspec.diagnostics.model import Path
from faultspec.evolution.differences import find_differences
from faultspec.evolution.model import BUMPS, SEVERITIES, Bump, Change, due_bump
from faultspec.evolution.pairing import apply_renames, find_renames
from faultspec.evolution.promises import format_value
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
    evolution = Evolution(
        old=apply_renames(old, renames), new=new, written=old, renames=renames, today=today
    )
    found = [(rule, occurrence) for rule in RULES for occurrence in rule.check(evolution)]
    changes = sorted(_fold(found), key=lambda change: SEVERITIES.index(change.severity))
    return Comparison(
        changes=tuple(changes),
        notation=tuple(_notation(evolution, found)),
        due=due_bump(changes),
        declared=_declared_bump(old.version, new.version),
        old_version=old.version,
        new_version=new.version,
    )


def _fold(found: Iterable[tuple[EvolutionRule, Occurrence]]) -> Iterator[Change]:
    """One change for all occurrences of a rule with the same effect and values."""
    folded: dict[object, tuple[EvolutionRule, list[Occurrence]]] = {}
    for rule, occurrence in found:
        effect = occurrence.effect
        message = effect.message.replace(_subject(occurrence), "…")
        values = repr(occurrence.before), repr(occurrence.after)
        key = (rule.id, effect._replace(message=message), values, occurrence.path[-1])
        folded.setdefault(key, (rule, []))[1].append(occurrence)
    for rule, occurrences in folded.values():
        yield _change(rule, occurrences)


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
    named = " and ".join(part for part in (", ".join(listed[:-1]), listed[-1]) if part)
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
    if value is None or value in ((), [], {}):
        return None
    if not isinstance(value, str | int | float | tuple):
        return None
    return format_value(value, field).replace("`", "") or None


def _notation(evolution: Evolution, found: list[tuple[EvolutionRule, Occurrence]]) -> Iterator[str]:
    """The place of each difference that no rule reported."""
    covered = {path for _, occurrence in found for path in (occurrence.path, *occurrence.covers)}
    for difference in find_differences(evolution.old, evolution.new):
        if not _is_covered(difference.path, covered):
            yield ".".join(map(str, difference.path))


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
