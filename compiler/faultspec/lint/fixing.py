"""Applies the fixes of diagnostics to the text of a taxonomy, and changes nothing else in it."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic, Edit
from faultspec.language import LoadedTaxonomy, reread
from faultspec.lint import check
from faultspec.source.document import Lines


class FixedText(NamedTuple):
    """A text after its fixes, and the fixed diagnostics, each at its place before the fix."""

    text: str
    gone: tuple[Diagnostic, ...]


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` after `edits`, which do not overlap."""
    starts = Lines(text).starts
    for span, new in sorted(edits, reverse=True):
        start, end = (starts[line - 1] + column - 1 for line, column in (span[:2], span[2:]))
        text = text[:start] + new + text[end:]
    return text


def fix_text(loaded: LoadedTaxonomy, silenced: Collection[str] = ()) -> FixedText:
    """The text of a taxonomy after every fix that causes no new diagnostic.

    A fix that causes one is not certain, so it is not applied. The result has no fix left to apply.
    ``silenced``: rules that fix nothing.
    """
    assert loaded.document is not None
    text, path = loaded.document.text, loaded.document.path
    gone: list[Diagnostic] = []
    while True:
        offered = [
            diagnostic
            for diagnostic in check(loaded)
            if diagnostic.fix is not None
            and diagnostic.path == path
            and diagnostic.code not in silenced
        ]
        accepted = _choose_fixes(loaded, text, _without_overlaps(offered))
        if not accepted:
            return FixedText(text, tuple(gone))
        text = apply_edits(text, _edits(accepted))
        gone += accepted
        loaded = reread(text, path)


def _edits(chosen: Iterable[Diagnostic]) -> list[Edit]:
    return [edit for diagnostic in chosen if diagnostic.fix for edit in diagnostic.fix.edits]


def _without_overlaps(offered: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics whose edits overlap no edit of an earlier one."""
    kept: list[Diagnostic] = []
    taken: list[Edit] = []
    for diagnostic in offered:
        edits = _edits([diagnostic])
        if not any(_touch(one, other) for one in edits for other in taken):
            kept.append(diagnostic)
            taken += edits
    return kept


def _touch(one: Edit, other: Edit) -> bool:
    return one.span[:2] <= other.span[2:] and other.span[:2] <= one.span[2:]


def _choose_fixes(before: LoadedTaxonomy, text: str, chosen: list[Diagnostic]) -> list[Diagnostic]:
    """As many of `chosen` as can be fixed together, found by bisection."""
    if not chosen or _is_harmless(before, text, chosen):
        return chosen
    if len(chosen) == 1:
        return []
    middle = len(chosen) // 2
    first, second = (
        _choose_fixes(before, text, half) for half in (chosen[:middle], chosen[middle:])
    )
    both = [*first, *second]
    if first and second and _is_harmless(before, text, both):
        return both
    return first or second


def _is_harmless(before: LoadedTaxonomy, text: str, chosen: list[Diagnostic]) -> bool:
    """Whether the fixes cause no new diagnostic and leave none of those that they fix."""
    assert before.document is not None
    after = reread(apply_edits(text, _edits(chosen)), before.document.path)
    linted = before.taxonomy is not None or before.draft is not None
    old, new = (
        Counter(map(_content, check(loaded) if linted else loaded.diagnostics))
        for loaded in (before, after)
    )
    return new <= old - Counter(map(_content, chosen))


def _content(diagnostic: Diagnostic) -> tuple[str, str]:
    """A diagnostic without its place, which fixes above it move."""
    return diagnostic.code, diagnostic.message
