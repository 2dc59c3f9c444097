"""The verdicts of pairs that were written down before the rules, by two authors."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from pairs import PAIRS, Pair, pairs_of

from faultspec.evolution.compare import Comparison, compare
from faultspec.language import read

DISAGREEMENTS: Mapping[str, str] = {
    "op-added-narrows": "a new operation is an endpoint more; that its route was free is not declared",
    "problem-fallback-broad-repeated": "a fallback that repeats a broader one has no effect",
    "two-pay-operation-claims-to-be-safe": "an operation that is declared idempotent is so",
    "two-pr-fallback-made-explicit-by-a-code": "a code more is risky where `unknown` is declared;"
    " the other author has four such pairs",
}
"""Pairs by whose verdict the rules do not go, with the reason."""


@cache
def _compare(pair: Pair) -> Comparison | None:
    """The comparison of a pair; None if the new taxonomy breaks the rules of the language."""
    old, new = (read(text, "pair.yaml").taxonomy for text in (pair.old, pair.new))
    assert old is not None, pair.id
    return None if new is None else compare(old, new, pair.today)


def _verdict(pair: Pair) -> tuple[str, str]:
    """Severity and due version; a taxonomy that cannot be read is refused, as if it broke all."""
    comparison = _compare(pair)
    if comparison is None:
        return "breaking", "major"
    severity = comparison.changes[0].severity if comparison.changes else "none"
    return severity, comparison.due


@pytest.mark.parametrize("file", sorted(PAIRS.glob("*/*.yaml")), ids=lambda file: file.stem)
def test_the_verdicts_are_those_of_the_author(file: Path) -> None:
    """Severity and due version of each pair are those that its author expects."""
    for pair in pairs_of(file):
        expected = pair.severity, pair.version
        known = pair.id.partition("/")[2] in DISAGREEMENTS
        assert (_verdict(pair) == expected) != known, (pair.id, _verdict(pair), pair.reason)


def test_most_pairs_agree_in_categories_and_audiences() -> None:
    """Of the pairs with the expected severity, at least 94 % have exactly the expected categories
    and audiences. The two authors contradict each other in some."""
    agree = whole = 0
    for pair in (pair for file in sorted(PAIRS.glob("*/*.yaml")) for pair in pairs_of(file)):
        comparison = _compare(pair)
        if comparison is None or pair.severity == "none" or _verdict(pair)[0] != pair.severity:
            continue
        worst = [change for change in comparison.changes if change.severity == pair.severity]
        whole += 1
        agree += {name for change in worst for name in change.breaks} == pair.breaks and {
            category for change in worst for category in change.categories
        } == pair.categories
    assert agree / whole >= 0.94
