"""What is certain, done: the fixes of diagnostics applied to the text they are of, and nothing else touched."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic, Edit
from faultspec.language import LoadedTaxonomy, reread
from faultspec.lint import check
from faultspec.source.document import Lines


class FixedText(NamedTuple):
    """A text after its fixes, and the diagnostics that are gone, each placed where it was when it was fixed."""

    text: str
    gone: tuple[Diagnostic, ...]


def edited(text: str, edits: Iterable[Edit]) -> str:
    """`text` after `edits`, which do not overlap."""
    starts = Lines(text).starts
    for span, new in sorted(edits, reverse=True):
        start, end = (starts[line - 1] + column - 1 for line, column in (span[:2], span[2:]))
        text = text[:start] + new + text[end:]
    return text


def fix_text(loaded: LoadedTaxonomy) -> FixedText:
    """The text of a taxonomy after every fix after which nothing is wrong that was not wrong before.

    A fix that brings something to light stays undone: it was not certain. The result has no fix left to apply.
    """
    assert loaded.document is not None
    text, path = loaded.document.text, loaded.document.path
    gone: list[Diagnostic] = []
    while True:
        offered = [each for each in check(loaded) if each.fix is not None and each.path == path]
        accepted = _accepted(loaded, text, _apart(offered))
        if not accepted:
            return FixedText(text, tuple(gone))
        text = edited(text, _edits(accepted))
        gone += accepted
        loaded = reread(text, path)


def _edits(chosen: Iterable[Diagnostic]) -> list[Edit]:
    return [edit for each in chosen if each.fix is not None for edit in each.fix.edits]


def _apart(offered: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those whose edits touch nothing that an earlier one edits."""
    kept: list[Diagnostic] = []
    taken: list[Edit] = []
    for each in offered:
        mine = _edits([each])
        if not any(_overlap(one, other) for one in mine for other in taken):
            kept.append(each)
            taken += mine
    return kept


def _overlap(one: Edit, other: Edit) -> bool:
    return one.span[:2] <= other.span[2:] and other.span[:2] <= one.span[2:]


def _accepted(before: LoadedTaxonomy, text: str, chosen: list[Diagnostic]) -> list[Diagnostic]:
    """As many of `chosen` as can be done together, found by halves."""
    if not chosen or _harmless(before, text, chosen):
        return chosen
    if len(chosen) == 1:
        return []
    middle = len(chosen) // 2
    first, second = (_accepted(before, text, half) for half in (chosen[:middle], chosen[middle:]))
    return (
        [*first, *second]
        if first and second and _harmless(before, text, [*first, *second])
        else first or second
    )


def _harmless(before: LoadedTaxonomy, text: str, chosen: list[Diagnostic]) -> bool:
    """Whether all that is said afterwards was said before, and nothing any more of what was fixed."""
    assert before.document is not None
    after = reread(edited(text, _edits(chosen)), before.document.path)
    linted = before.taxonomy is not None or before.draft is not None
    then, now = (
        Counter(map(_gist, check(each) if linted else each.diagnostics)) for each in (before, after)
    )
    return now <= then - Counter(map(_gist, chosen))


def _gist(diagnostic: Diagnostic) -> tuple[str, str]:
    """What is said, wherever; a fix moves what comes after it."""
    return diagnostic.code, diagnostic.message
