"""Comparing a result with an earlier one."""

from dataclasses import replace

from faultspec.contract import crashes
from faultspec.contract.clauses import CLAUSES
from faultspec.exchange.finding import Finding
from faultspec_conformance.results.findings import count_finding, sort_findings
from faultspec_conformance.results.model import ResolvedFinding, Result

#: Clauses whose failures on two operations are two mistakes: crashes, and what compares answers.
_OF_OPERATIONS = {crashes.CLAUSE} | {
    address for address, clause in CLAUSES.items() if clause.relation
}


def compare_with_baseline(result: Result, earlier: Result) -> Result:
    """Mark each error as new or known from the earlier result. Known errors no longer fail the run.

    Errors that a waiver covers are left as they are, and warnings are not compared. A cause is
    known whatever operations show it; a crash, and a relation between answers, such as a lost
    write, is known for the operations of the earlier result only. An error of the earlier result
    that did not occur again is fixed, if its clause was exercised. Causes of an earlier version,
    which had one fingerprint for each status, are known by it.
    """
    before: dict[str, Finding] = {}
    places: dict[str, set[str]] = {}
    for old in earlier.findings:
        if old.level == "error":
            name = old.finding.recorded_fingerprint
            before.setdefault(name, old.finding)
            places.setdefault(name, set()).update(old.operations)
    clauses = dict(result.clauses)
    findings = []
    for reported in result.findings:
        if reported.level == "error" and reported.waived is None:
            everywhere = reported.finding.clause not in _OF_OPERATIONS
            known = all(
                any(
                    name in before and (everywhere or places[name].issuperset(reported.operations))
                    for name in example.fingerprints
                )
                for example in reported.examples
            )
            marked = replace(reported, baseline="known" if known else "new")
            clause = clauses[reported.finding.clause]
            clauses[clause.address] = count_finding(count_finding(clause, reported, -1), marked)
            reported = marked
        findings.append(reported)
    now = {
        name
        for reported in result.findings
        for example in reported.examples
        for name in example.fingerprints
    }
    fixed = tuple(
        ResolvedFinding(fingerprint, finding.clause, finding.operation, finding.code)
        for fingerprint, finding in before.items()
        if fingerprint not in now
        and finding.clause in clauses
        and clauses[finding.clause].occasions
    )
    return replace(result, clauses=clauses, findings=sort_findings(findings), fixed=fixed)
