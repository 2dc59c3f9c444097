"""Is a taxonomy sound? Rules over the resolved model, each a function with a name and an example of either side."""

from collections.abc import Iterable, Iterator

from faultspec.diagnostic import Diagnostic, ordered
from faultspec.language import Loaded
from faultspec.language.model import Taxonomy
from faultspec.lint import suppressions
from faultspec.lint.registry import BY_ID, RULES, whole
from faultspec.lint.rule import Remark, Rule, Subject
from faultspec.source import Document

__all__ = ["BY_ID", "RULES", "Remark", "Rule", "Subject", "check", "lint", "whole"]


def lint(document: Document, taxonomy: Taxonomy, rules: Iterable[Rule] = RULES) -> tuple[Diagnostic, ...]:
    """What the rules have to say of a sound document, in the order of the document, less what comments suppress."""
    subject = Subject(taxonomy, document.data)
    found = [
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
        for rule in rules
        for remark in rule.check(subject)
    ]
    return ordered(_suppressed(document, found))


def _suppressed(document: Document, found: list[Diagnostic]) -> Iterator[Diagnostic]:
    """What comments leave of `found`. What a base's comments silence in vain is said where the base itself is checked."""
    layer: Document | None = document
    while layer is not None:
        path = layer.path
        own = [each for each in found if each.path == path]
        for each in suppressions.apply(own, suppressions.suppressions(layer.text), path, tuple(BY_ID)):
            if layer is document or each in own:
                yield each
        layer = layer.base


def check(loaded: Loaded) -> tuple[Diagnostic, ...]:
    """Everything there is to say of a taxonomy that was read: what is wrong with it, and of what is whole, the lint.

    Of what an error is about, the error says enough.
    """
    taxonomy = loaded.taxonomy or loaded.draft
    if taxonomy is None or loaded.document is None:
        return loaded.diagnostics
    wrong = {each.pointer for each in loaded.diagnostics if each.severity == "error"}
    found = lint(loaded.document, taxonomy)
    return ordered((*loaded.diagnostics, *(each for each in found if each.pointer not in wrong)))
