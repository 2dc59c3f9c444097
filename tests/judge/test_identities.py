"""The values of a code on its carriers, and the constants beside them."""

import pytest

from faultspec.language import read
from judge.test_judge_carriers import HEAD, clauses, judged, made

CALLS = """
envelopes:
  old: {shape: {failure: {code: $code}}}
  new: {shape: {error: {code: $code}}}
surfaces:
  old: {transport: jsonrpc, match: {tools: [old]}, error_when: {present: /failure}, envelope: old}
  new: {transport: jsonrpc, error_when: {present: /error}, envelope: new}
codes:
  gone: {summary: Gone., on: {jsonrpc: {old: 7, new: -32001}}}
  lost: {summary: Lost., on: {jsonrpc: -32002}}
"""


def test_surfaces_of_one_transport_may_number_differently() -> None:
    """Values by surface are those of its envelope, and those of the other are undeclared there."""
    rules = made(CALLS)
    new = {number: judged(rules, "jsonrpc", {"error": {"code": number}}) for number in (7, -32001)}
    body = {"failure": {"code": 7}}
    assert judged(rules, "jsonrpc", body, target="old").code == "gone"
    assert new[-32001].code == "gone"
    assert clauses(new[7]) == ["code/declared"]
    assert "`gone` is -32001" in new[7].findings[0].message


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("lost: {summary: Lost., on: {jsonrpc: -32002}}", "lost: {summary: Lost., on: {jsonrpc: {new: -32001}}}", "ambiguous-wire"),
        ("envelope: new}", "envelope: old}", "contradiction"),
        ("{old: 7, new: -32001}", "{older: 7}", "dangling-reference"),
        ("on: {jsonrpc: -32002}", "on: {jsonrpc: [1]}", "wrong-type"),
        ("on: {jsonrpc: -32002}", "on: {mcp: {strict: true}}", "misplaced-key"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_hold_is_a_problem(old: str, new: str, problem: str) -> None:
    """Values that two codes share, that differ in one envelope, or of no surface are errors."""
    found = read(HEAD + CALLS.replace(old, new), "t.yaml").diagnostics
    assert problem in [each.code for each in found]


FIXED = """
envelopes:
  error: {shape: {code: $code, title: $title, number?: $number}, fields: {title: {type: string}, number: {type: integer}}}
codes:
  gone: {summary: Gone., http: 404, facts: {title: Gone., number: 7}}
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("number: 7", "number: x", "bad-value"),
        ("number: 7", "nummer: 7", "dangling-reference"),
        ("number: 7", "message: No.", "misplaced-key"),
        ("number: 7", "number: [7, 7]", "duplicate-item"),
    ],
)
def test_a_fact_is_a_value_that_its_slot_allows(old: str, new: str, problem: str) -> None:
    """A fact of no slot, of a slot that another key decides, or of a wrong type is an error."""
    assert not read(HEAD + FIXED, "t.yaml").diagnostics
    found = read(HEAD + FIXED.replace(old, new), "t.yaml").diagnostics
    assert problem in [each.code for each in found]
