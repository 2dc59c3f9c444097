"""The diagnostics that people read first: the most severe, and a few of each repeated rule."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic, Severity, sort_diagnostics

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

#: Places of one rule in one file that are shown. The fourth seldom teaches more than the third.
PLACES = 3

#: Lines that a folded rule lists.
_LINES = 12


class Shown(NamedTuple):
    """A diagnostic that is printed. ``remark``: after the last one of a folded rule, the number and
    the lines of the others.
    """

    diagnostic: Diagnostic
    remark: str | None = None


def sort_by_severity(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The most severe first; those of one severity by their places."""
    return tuple(
        sorted(sort_diagnostics(diagnostics), key=lambda one: SEVERITIES.index(one.severity))
    )


def fold(diagnostics: Sequence[Diagnostic]) -> Iterator[Shown]:
    """Leave out the warnings and notes of a rule after its first places in a file, and say how many
    there are. Errors are never left out: they all must be mended.
    """
    groups: dict[tuple[str, str], list[Diagnostic]] = {}
    for one in diagnostics:
        groups.setdefault((one.path, one.code), []).append(one)
    seen: Counter[tuple[str, str]] = Counter()
    for one in diagnostics:
        group = (one.path, one.code)
        seen[group] += 1
        # One more is not worth a remark, which is as long.
        whole = one.severity == "error" or len(groups[group]) <= PLACES + 1
        if whole or seen[group] < PLACES:
            yield Shown(one)
        elif seen[group] == PLACES:
            yield Shown(one, _remark(groups[group][PLACES:]))


def _remark(others: Sequence[Diagnostic]) -> str:
    lines = dict.fromkeys(str(one.span.line) for one in others if one.span is not None)
    listed = ", ".join(list(lines)[:_LINES]) + (", …" if len(lines) > _LINES else "")
    where = f", in lines {listed}" if len(lines) > 1 else ""
    return f"… and {len(others)} more of {others[0].code}{where}; `--all` shows them"
