"""Crashes are failures that nobody foresaw; the taxonomy tells them from transient ones."""

import pytest

from faultspec.contract.crashes import crash_level, may_fail
from faultspec.language import read

CODES = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: shop}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error}}
codes:
  absent: {summary: It is not there., http: 404}
  busy: {summary: Too much to do., http: [503, 507], retriable: true}
  broken: {summary: The data is broken., http: 500}
  shaky: {summary: Try again., http: 500, retriable: true}
  failed: {summary: It failed., http: 500}
"""
UNDECLARED = "undeclared: {becomes: failed, retriable: false}\n"


@pytest.mark.parametrize(
    ("code", "status", "undeclared", "crash"),
    [
        (None, 404, True, None),
        (None, 500, True, "error"),
        (None, 599, True, "error"),
        (None, 501, True, None),
        (None, 503, True, None),
        ("absent", 404, True, None),
        ("absent", 500, True, None),
        ("busy", 503, True, None),
        ("busy", 507, True, None),
        ("broken", 500, True, "warning"),
        ("broken", 500, False, "error"),
        ("shaky", 500, True, None),
        ("shaky", 500, False, "error"),
        ("failed", 500, True, "error"),
        ("failed", 200, True, "error"),
        ("failed", None, True, "error"),
        ("failed", None, False, None),
    ],
)
def test_what_nobody_foresaw_is_a_crash(
    code: str | None, status: int | None, undeclared: bool, crash: str | None
) -> None:
    """The code of undeclared errors is a crash under any status, and so is a 5xx without a declared
    code, unless the status is a refusal or names somebody else's failure. A code under 500 is one
    unless crashes have a code of their own; then it warns, or is transient if it is retriable.
    """
    loaded = read(CODES + (UNDECLARED if undeclared else ""), "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    declared = loaded.taxonomy.codes[code] if code is not None else None
    assert crash_level(loaded.taxonomy, declared, status) == crash


@pytest.mark.parametrize(
    ("code", "fails"), [("absent", False), ("busy", True), ("failed", True), ("HTTP_500", True)]
)
def test_a_recipe_excuses_only_failures_of_the_service(code: str, fails: bool) -> None:
    """A recipe for an error of the caller does not excuse a crash."""
    loaded = read(CODES, "taxonomy.yaml")
    assert loaded.taxonomy is not None
    assert may_fail(loaded.taxonomy, code) is fails
