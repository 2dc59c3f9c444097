"""Waivers that reports suggest: each covers one cause and nothing else."""

from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from faultspec import source
from faultspec.exchange.finding import Finding
from faultspec_conformance.results.waivers import parse_waivers, waiver_line
from support.examples import examples

DAY = date(2026, 11, 23)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
OPERATION = st.builds("{} /{}".format, st.sampled_from(["GET", "POST", "*", "[A]"]), TEXT)
FINDINGS = st.builds(
    Finding,
    st.sampled_from(["code/status", "leaks/sql", "headers/x-a"]),
    TEXT,
    operation=st.none() | OPERATION,
    code=st.none() | TEXT | st.sampled_from(["null", "1e3", "No", "-32000", "a: b", "urn:err:x"]),
    status=st.none() | st.sampled_from([404, 500]),
    pointer=st.none() | TEXT,
)


@examples(150)
@given(FINDINGS, st.lists(FINDINGS, max_size=4), st.lists(OPERATION, max_size=3, unique=True))
def test_a_pasted_line_covers_one_cause(
    finding: Finding, others: list[Finding], operations: list[str]
) -> None:
    """The line parses as a list of one waiver. It covers the finding on each of its operations, and
    no finding with another fingerprint.
    """
    operations = operations or [finding.operation] * (finding.operation is not None)
    line = waiver_line(finding, operations, DAY)
    assert "\n" not in line
    document, problems = source.parse(line + "\n", "waivers.yaml")
    assert document is not None
    assert not problems
    (waiver,), problems = parse_waivers(document, document.data, ())
    assert problems == ()
    assert waiver.expires > DAY
    assert all(waiver.covers(replace(finding, operation=each)) for each in operations)
    for other in others:
        assert other.fingerprint == finding.fingerprint or not waiver.covers(other)


def test_a_line_of_one_operation_covers_no_other() -> None:
    """A cause on one operation is not waived on another, even if its name is a pattern."""
    finding = Finding("code/status", "m", operation="GET /[a]*", status=404)
    document, _ = source.parse(waiver_line(finding, ["GET /[a]*"], DAY), "waivers.yaml")
    assert document is not None
    ((waiver,), _) = parse_waivers(document, document.data, ())
    assert waiver.covers(finding)
    assert not waiver.covers(replace(finding, operation="GET /ab"))
