"""Which findings have one cause: broken envelopes by the kind of their body, relations by the
mistake.
"""

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec_conformance.reports.console import extent_text
from faultspec_conformance.results.baseline import compare_with_baseline
from faultspec_conformance.results.findings import join_findings
from faultspec_conformance.results.model import ClauseResult, ReportedFinding, Result
from faultspec_conformance.results.waivers import Waiver
from paths import ROOT

TAXONOMY = """
faultspec: 1
taxonomy: {name: boxes, version: 1.0.0}
envelopes: {error: {shape: {error: {code: $code, message: $message}}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes: {absent: {summary: Not there., http: 404, retriable: false}}
"""
TEXT, JSON = "text/plain; charset=utf-8", "application/json"


def broken(status: int, body: bytes, media_type: str = JSON, path: str = "/boxes") -> Finding:
    """Return the finding about an answer that is not the envelope."""
    loaded = read(TAXONOMY, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    answer = Response(status, (("Content-Type", media_type),), body)
    exchange = Exchange(Request("GET", path), answer, route=path, operation=f"GET {path}")
    found = judge(build_contract(loaded.taxonomy), exchange).findings
    return next(one for one in found if one.clause in ("envelope/json", "envelope/shape"))


def test_a_broken_envelope_is_one_finding_that_lists_its_statuses() -> None:
    """The same kind of body under several statuses and operations is one cause."""
    bodies = [
        (404, b"Not Found", "/boxes"),
        (405, b"Method Not Allowed", "/lids"),
        (503, b"x", "/"),
    ]
    found = [ReportedFinding(broken(status, body, TEXT, path)) for status, body, path in bodies]
    (joined,) = join_findings(found)
    assert joined.count == 3
    assert joined.statuses == (404, 405, 503)
    assert extent_text(joined).endswith("with the statuses 404, 405, 503")
    assert "on 3 operations" in extent_text(joined)


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"<p>Not Found</p>", "text/html"),
        (b"", JSON),
        (b"[]", JSON),
        (b'{"detail": "no"}', JSON),
        (b'{"error": {"code": "absent"}}', JSON),
    ],
)
def test_bodies_of_other_kinds_are_other_causes(body: bytes, media_type: str) -> None:
    """Another media type, another type of value or other members have another fingerprint."""
    text = broken(404, b"Not Found", TEXT)
    other = broken(404, body, media_type)
    assert other.fingerprint != text.fingerprint
    assert broken(500, body, media_type).fingerprint == other.fingerprint


def earlier(finding: Finding) -> Finding:
    """Return the finding as a report of an earlier version has it."""
    return replace(finding, variant="")


def result(*findings: Finding) -> Result:
    """Return a result with these findings."""
    reported = join_findings(map(ReportedFinding, findings))
    clauses = {
        one.finding.clause: ClauseResult(one.finding.clause, failures=one.count, occasions=1)
        for one in reported
    }
    return Result(target="", taxonomy="", clauses=clauses, findings=reported)


def test_waivers_and_baselines_of_an_earlier_version_hold_for_their_status() -> None:
    """A cause that an earlier version named for one status is known for it, and for no other."""
    known, other = broken(404, b"Not Found", TEXT), broken(405, b"No", TEXT)
    name = known.fingerprints[-1]
    waiver = Waiver("envelope/*", "known", "team", date.max, cause=name)
    assert waiver.covers(known)
    assert not waiver.covers(other)
    before = result(earlier(known))
    assert compare_with_baseline(result(known), before).findings[0].baseline == "known"
    assert compare_with_baseline(result(other), before).findings[0].baseline == "new"
    assert compare_with_baseline(result(known, other), before).findings[0].baseline == "new"
    crash = broken(404, b"<p>No</p>", "text/html")
    assert compare_with_baseline(result(crash), result(known)).findings[0].baseline == "new"


def test_each_mistake_that_breaks_a_clause_is_a_cause_of_its_own() -> None:
    """Of the places in one module of probes that fail one clause with the same arguments, at most
    one names neither the variant, nor the place in the answer, nor a level of its own.
    """
    unnamed: Counter[tuple[str, str]] = Counter()
    for path in sorted((ROOT / "conformance/faultspec_conformance/probes").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) != "failed":
                continue
            if not {"variant", "pointer"} & {keyword.arg for keyword in node.keywords}:
                unnamed[path.stem, ast.unparse(node.args[0])] += 1
    assert {place: count for place, count in unnamed.items() if count > 1} == ALIKE


ALIKE: Mapping[tuple[str, str], int] = {
    # These differ in the status, which is part of the fingerprint.
    ("auth", "clause"): 4,
    ("auth", "_SCOPE"): 2,
    ("refusals", "clause"): 5,
    ("jsonrpc", "clause"): 2,  # an error in place of another, and an answer where none is due
    # The same mistake, shown by two requests.
    ("concurrency", "_STALE"): 2,
    ("resources", "_REFUSED"): 2,
    # One clause each: the key, the mark and the delays of an upstream's retries.
    ("upstreams", "clause"): 3,
}
"""How many places with the same arguments have no variant, and why."""


def test_a_masked_value_is_a_particular() -> None:
    """Leaks of one kind at one place are one cause, whatever the value and its length are."""
    texts = ("ad… (18 characters)", "se… (4 characters)")
    found = [
        ReportedFinding(Finding("leaks/email", f"`/detail` contains an e-mail address: {text}; no"))
        for text in texts
    ]
    assert len(join_findings(found)) == 1
