"""The lint: whether a taxonomy is sound, by rules over the resolved model."""

from collections.abc import Iterable, Iterator
from datetime import date

from faultspec.diagnostics.model import Diagnostic, sort_diagnostics
from faultspec.language import LoadedTaxonomy, Partial
from faultspec.language.grammar import bounded_suggestions
from faultspec.language.model import Taxonomy
from faultspec.lint import sizes, style, suppressions
from faultspec.lint.rule import LintRule, Remark, Subject
from faultspec.lint.rules import BY_ID, RULES
from faultspec.source import Document

__all__ = ["BY_ID", "LOCAL", "RULES", "LintRule", "check", "lint"]

LOCAL = tuple(rule for rule in RULES if rule.local)


@bounded_suggestions()
def check(
    loaded: LoadedTaxonomy, today: date | None = None, more: Iterable[LintRule] = ()
) -> tuple[Diagnostic, ...]:
    """All diagnostics of a taxonomy that was read: its errors, and what the rules report.

    Of constructs with an error, the rules report nothing. ``today``: decides which sunsets are
    over; None: that is not checked. ``more``: rules of the project beside the shipped ones.
    """
    taxonomy, partial = loaded.taxonomy or loaded.draft, loaded.partial
    if loaded.document is None:
        return loaded.diagnostics
    if taxonomy is None:
        found = _lint_sound_parts(loaded.document, partial) if partial is not None else ()
        return sort_diagnostics((*loaded.diagnostics, *found))
    errors = {error.pointer for error in loaded.diagnostics if error.severity == "error"}
    broken = partial.broken if partial is not None else frozenset()
    found = tuple(
        diagnostic
        for diagnostic in lint(loaded.document, taxonomy, (*RULES, *more), today)
        if diagnostic.pointer not in errors
        and not any(diagnostic.pointer[: len(path)] == path for path in broken)
    )
    return sort_diagnostics((*loaded.diagnostics, *found))


def lint(
    document: Document,
    taxonomy: Taxonomy,
    rules: Iterable[LintRule] = RULES,
    today: date | None = None,
) -> tuple[Diagnostic, ...]:
    """The diagnostics of the rules for a sound document, in document order and not suppressed."""
    subject, rules = Subject(taxonomy, document.data, today), tuple(rules)
    remarks = [(rule, remark) for rule in rules for remark in rule.check(subject)]
    found = [*_diagnostics(document, remarks), *sizes.check_size(document, taxonomy)]
    return sort_diagnostics(_drop_suppressed(document, found, rules))


def _lint_sound_parts(document: Document, partial: Partial) -> tuple[Diagnostic, ...]:
    """The diagnostics of the local rules for the parts of a document that have no error."""
    subject = Subject(partial.taxonomy, partial.data)
    remarks = [
        (rule, remark)
        for rule in LOCAL
        for remark in rule.check(subject)
        if all(
            partial.is_sound(path) for path in (remark.path, *(path for _, path in remark.related))
        )
    ]
    found = _drop_suppressed(document, _diagnostics(document, remarks))
    # Most rules did not run, so nothing is known about unused suppressions.
    ids = {rule.id for rule in LOCAL}
    return tuple(diagnostic for diagnostic in found if diagnostic.code in ids)


def _diagnostics(
    document: Document, remarks: Iterable[tuple[LintRule, Remark]]
) -> list[Diagnostic]:
    return [
        document.diagnostic(
            rule.id,
            remark.message,
            remark.path,
            key=remark.on_key,
            severity=rule.severity,
            hint=remark.hint,
            related=tuple(
                document.related_place(message, path) for message, path in remark.related
            ),
            remedy=remark.remedy,
        )
        for rule, remark in remarks
    ]


def _drop_suppressed(
    document: Document, found: list[Diagnostic], rules: Iterable[LintRule] = ()
) -> Iterator[Diagnostic]:
    """`found` without what comments suppress, in the document and in the bases below it. ``rules``:
    those that ran beside the shipped ones.

    Faulty suppressions are reported for the document only; those of a base are reported where the
    base itself is checked.
    """
    layer: Document | None = document
    known = (*BY_ID, *sizes.CODES, *style.CODES, *(rule.id for rule in rules))
    while layer is not None:
        own = [diagnostic for diagnostic in found if diagnostic.path == layer.path]
        of_base = frozenset() if layer is document else frozenset(own)
        written = suppressions.find(layer)
        for diagnostic in suppressions.apply(own, written, layer.path, known):
            if layer is document or diagnostic in of_base:
                yield diagnostic
        layer = layer.base
