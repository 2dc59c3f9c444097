"""The verdicts of pairs that were written down before the rules, by two authors."""

from collections.abc import Mapping
from functools import cache

import pytest
from pairs import PAIRS, Pair, pairs

from faultspec.evolution.compare import Comparison, compare
from faultspec.language import read
from faultspec.language.model import Taxonomy

DISAGREEMENTS: Mapping[str, str] = {
    "op-added-narrows": "a new operation is an endpoint more; that its route was free is not declared",
    "problem-fallback-broad-repeated": "a fallback that repeats a broader one has no effect",
    "two-pay-operation-claims-to-be-safe": "an operation that is declared idempotent is so",
    "two-pr-fallback-made-explicit-by-a-code": "a code more is risky where `unknown` is declared;"
    " the other author has four such pairs",
}
"""Pairs by whose verdict the rules do not go, with the reason."""


@cache
def _all_pairs() -> tuple[Pair, ...]:
    return tuple(pair for folder in ("first", "second") for pair in pairs(PAIRS / folder))


@cache
def _taxonomy(text: str) -> Taxonomy | None:
    return read(text, "pair.yaml").taxonomy


def _verdict(comparison: Comparison) -> tuple[str, str]:
    severity = comparison.changes[0].severity if comparison.changes else "none"
    return severity, comparison.due


@pytest.mark.parametrize("pair", _all_pairs(), ids=lambda pair: pair.id)
def test_the_verdict_is_that_of_the_author(pair: Pair) -> None:
    """Severity and due version are those that the author expects. A new taxonomy that breaks the
    rules of the language itself has no comparison: its errors are the verdict."""
    old, new = _taxonomy(pair.old), _taxonomy(pair.new)
    assert old is not None
    if new is None:
        assert pair.severity == "breaking"
        return
    verdict = _verdict(compare(old, new, pair.today))
    expected = pair.severity, pair.version
    known = pair.id.partition("/")[2] in DISAGREEMENTS
    assert (verdict == expected) != known, pair.reason


def test_most_pairs_agree_in_categories_and_audiences() -> None:
    """Of the pairs with the expected severity, at least 94 % have exactly the expected categories
    and audiences. The two authors contradict each other in some."""
    agree = whole = 0
    for pair in _all_pairs():
        old, new = _taxonomy(pair.old), _taxonomy(pair.new)
        if old is None or new is None:
            continue
        comparison = compare(old, new, pair.today)
        if _verdict(comparison)[0] != pair.severity or pair.severity == "none":
            continue
        worst = [c for c in comparison.changes if c.severity == pair.severity]
        whole += 1
        agree += {a for c in worst for a in c.breaks} == pair.breaks and {
            category for c in worst for category in c.categories
        } == pair.categories
    assert agree / whole >= 0.94
