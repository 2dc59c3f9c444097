"""Is a taxonomy sound? Rules over the resolved model, each a function with a name and an example of either side."""

from collections.abc import Iterable, Iterator

from faultspec.diagnostics.model import Diagnostic, ordered
from faultspec.language import LoadedTaxonomy, Partial
from faultspec.language.model import Taxonomy
from faultspec.lint import suppressions
from faultspec.lint.registry import BY_ID, RULES, whole
from faultspec.lint.rule import LintRule, Remark, Subject
from faultspec.source import Document

__all__ = ["BY_ID", "LOCAL", "RULES", "LintRule", "Remark", "Subject", "check", "lint", "whole"]


#: Rules that look at one code or one policy at a time, and so at those that are whole in a document that is not.
LOCAL = tuple(
    BY_ID[each]
    for each in (
        "action-contradicts-flag",
        "policy-arithmetic",
        "example-contradicts-flag",
        "detail-type",
        "message-has-holes",
        "message-leaks",
    )
)


def lint(
    document: Document, taxonomy: Taxonomy, rules: Iterable[LintRule] = RULES
) -> tuple[Diagnostic, ...]:
    """What the rules have to say of a sound document, in the order of the document, less what comments suppress."""
    subject = Subject(taxonomy, document.data)
    remarks = [(rule, remark) for rule in rules for remark in rule.check(subject)]
    return ordered(_suppressed(document, _diagnostics(document, remarks)))


def _of_what_is_whole(document: Document, partial: Partial) -> tuple[Diagnostic, ...]:
    subject = Subject(partial.taxonomy, partial.data)
    remarks = [
        (rule, remark)
        for rule in LOCAL
        for remark in rule.check(subject)
        if partial.is_sound(remark.path)
        and all(partial.is_sound(path) for _, path in remark.related)
    ]
    # Which comments suppress nothing can't be told while most rules are silent.
    found = _suppressed(document, _diagnostics(document, remarks))
    return tuple(each for each in found if each.code in {rule.id for rule in LOCAL})


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
            related=tuple(document.related(message, path) for message, path in remark.related),
            remedy=remark.remedy,
        )
        for rule, remark in remarks
    ]


def _suppressed(document: Document, found: list[Diagnostic]) -> Iterator[Diagnostic]:
    """What comments leave of `found`. What a base's comments silence in vain is said where the base itself is checked."""
    layer: Document | None = document
    while layer is not None:
        path = layer.path
        own = [each for each in found if each.path == path]
        for each in suppressions.apply(own, suppressions.suppressions(layer), path, tuple(BY_ID)):
            if layer is document or each in own:
                yield each
        layer = layer.base


def check(loaded: LoadedTaxonomy) -> tuple[Diagnostic, ...]:
    """Everything there is to say of a taxonomy that was read: what is wrong with it, and of what is whole, the lint.

    Of what an error is about, the error says enough.
    """
    taxonomy, partial = loaded.taxonomy or loaded.draft, loaded.partial
    if loaded.document is None:
        return loaded.diagnostics
    if taxonomy is not None:
        found = lint(loaded.document, taxonomy)
        wrong = {
            diagnostic.pointer
            for diagnostic in loaded.diagnostics
            if diagnostic.severity == "error"
        }
        broken = partial.broken if partial is not None else frozenset()
        found = tuple(
            each
            for each in found
            if each.pointer not in wrong
            and not any(each.pointer[: len(path)] == path for path in broken)
        )
    else:
        found = _of_what_is_whole(loaded.document, partial) if partial is not None else ()
    return ordered((*loaded.diagnostics, *found))
