"""Changes of codes that are not stable yet, and the stages themselves."""

from datetime import date

import pytest

from faultspec.evolution.compare import Comparison, compare
from faultspec.language import read

TAXONOMY = """\
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes:
  kept: {summary: It stays., http: 400, retriable: false}
"""


def compared(before: str, after: str) -> Comparison:
    """The comparison of two taxonomies that differ in the code `young`."""
    taxonomies = []
    for code in (before, after):
        loaded = read(f"{TAXONOMY}  {code}\n" if code else TAXONOMY, "shop.yaml")
        assert loaded.taxonomy is not None, loaded.diagnostics
        taxonomies.append(loaded.taxonomy)
    return compare(*taxonomies, date(2026, 1, 1))


def young(lifecycle: str, **keys: str) -> str:
    """The code, in a stage."""
    facts = {"summary": "It is young.", "http": "409", "retriable": "false", **keys}
    listed = ", ".join(f"{key}: {value}" for key, value in facts.items())
    return f"young: {{{listed}, lifecycle: {lifecycle}}}"


@pytest.mark.parametrize(
    ("lifecycle", "severity", "due"),
    [
        ("stable", "breaking", "major"),
        ("beta", "risky", "minor"),
        ("experimental", "safe", "patch"),
    ],
)
@pytest.mark.parametrize("change", ["status", "wire", "gone"])
def test_a_change_weighs_as_much_as_the_code_promised(
    lifecycle: str, severity: str, due: str, change: str
) -> None:
    """A change that breaks a stable code is risky for a beta one and safe for an experimental one,
    its removal too.
    """
    after = {
        "status": young(lifecycle, http="422"),
        "wire": young(lifecycle, wire="other"),
        "gone": "",
    }[change]
    comparison = compared(young(lifecycle), after)
    assert {each.severity for each in comparison.changes} == {severity}
    assert comparison.due == due


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        ("experimental", "beta", "safe"),
        ("beta", "stable", "safe"),
        ("stable", "beta", "breaking"),
        ("stable", "experimental", "breaking"),
        ("beta", "experimental", "risky"),
    ],
)
def test_a_promise_is_not_taken_back(before: str, after: str, severity: str) -> None:
    """A stage that promises more is safe. One that promises less is a change of the code, so that
    no breaking change hides behind it."""
    (change,) = compared(young(before), young(after)).changes
    assert (change.rule, change.severity) == ("code/lifecycle", severity)


def test_facts_for_people_are_documentation() -> None:
    """Owner, runbook, documentation and fault side break nothing."""
    after = young("stable", owner="catalog", docs='"https://example.com/x"', fault="caller")
    comparison = compared(young("stable", owner="orders"), after)
    assert {each.rule for each in comparison.changes} == {"code/support"}
    assert {each.categories for each in comparison.changes} == {("DOC",)}
    assert comparison.due == "patch"
