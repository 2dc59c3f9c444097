"""The verdicts of pairs that were written down before the rules, by two authors."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pairs import PAIRS, Pair, pairs_of

from faultspec.evolution.compare import Comparison, compare
from faultspec.evolution.ledger import fingerprint
from faultspec.language import read

DISAGREEMENTS: Mapping[str, str] = {
    "op-added-narrows": "a new operation is an endpoint more; that its route was free is not declared",
    "problem-fallback-broad-repeated": "a fallback that repeats a broader one has no effect",
    "two-pay-operation-claims-to-be-safe": "an operation that is declared idempotent is so",
    "two-pr-fallback-made-explicit-by-a-code": "a code more is risky where `unknown` is declared;"
    " the other author has four such pairs",
}
"""Pairs by whose verdict the rules do not go, with the reason."""


OTHER_DETAILS = frozenset(
    [
        "mcp-navigation-offers",
        "nested-boundary-term-renamed",
        "nested-domain-term-unused",
        "nested-property-turns-required",
        "op-surface-envelope-added-unused",
        "priv-id-format-narrowed",
        "rpc-log-record-constant",
        "two-cat-open-code-dropped-from-the-list",
        "two-life-deprecated",
        "two-life-removal-without-tombstone",
        "two-ops-code-renamed-is-a-label",
        "two-pay-condition-becomes-never",
        "two-pay-condition-simplified-away",
        "two-pay-retriable-on-safe-operation",
        "two-pay-retriable-on-unsafe-operation",
        "two-pr-cancel-becomes-safe-to-repeat",
        "two-pr-fallback-dropped",
        "two-pr-names-exchanged",
        "two-relay-eligible-rule-dropped",
        "two-relay-term-added-and-unused",
        "two-rpc-message-member-renamed",
        "two-shop-mismatch-unspecified",
        "two-vault-echo-dropped",
        "two-vault-invalid-inbound-rejected",
        "two-vault-length-raised",
        "two-vault-pattern-tightened",
        "two-vault-validator-untied",
    ]
)
"""Pairs with the expected severity, for which the rules name other categories or audiences. The
two authors contradict each other in some; most others are a category more."""


def _compare(pair: Pair) -> Comparison | None:
    """The comparison of a pair; None if the new taxonomy breaks the rules of the language."""
    old, new = (read(text, "pair.yaml").taxonomy for text in (pair.old, pair.new))
    assert old is not None, pair.id
    return None if new is None else compare(old, new, pair.today)


def _verdict(comparison: Comparison | None) -> tuple[str, str]:
    """Severity and due version; a taxonomy that cannot be read is refused, as if it broke all."""
    if comparison is None:
        return "breaking", "major"
    severity = comparison.changes[0].severity if comparison.changes else "none"
    return severity, comparison.due


def _details(comparison: Comparison) -> tuple[frozenset[str], frozenset[str]]:
    """Categories and audiences of the changes that decide the severity."""
    worst = [c for c in comparison.changes if c.severity == comparison.changes[0].severity]
    return (
        frozenset(category for change in worst for category in change.categories),
        frozenset(audience for change in worst for audience in change.breaks),
    )


@pytest.mark.parametrize("file", sorted(PAIRS.glob("*/*.yaml")), ids=lambda file: file.stem)
def test_the_verdicts_are_those_of_the_author(file: Path) -> None:
    """Severity, due version, categories and audiences of each pair are those that its author
    expects, but for the pairs that are listed."""
    for pair in pairs_of(file):
        name = pair.id.partition("/")[2]
        comparison = _compare(pair)
        expected = pair.severity, pair.version
        agrees = _verdict(comparison) == expected
        assert agrees != (name in DISAGREEMENTS), (name, _verdict(comparison), pair.reason)
        if agrees and comparison is not None:
            details = _details(comparison) == (pair.categories, pair.breaks)
            assert details != (name in OTHER_DETAILS), (name, _details(comparison), pair.reason)


@pytest.mark.parametrize("file", sorted(PAIRS.glob("*/*.yaml")), ids=lambda file: file.stem)
def test_each_change_has_a_fingerprint_of_its_own(file: Path) -> None:
    """No two changes of a comparison have one fingerprint, so that a ledger accepts one of them."""
    for comparison in map(_compare, pairs_of(file)):
        prints = [fingerprint(change) for change in comparison.changes] if comparison else []
        assert len(prints) == len(set(prints))
