"""Lists of findings: counting them in their clauses, joining equal ones, and their order in a
report.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from faultspec_conformance.results.model import ClauseResult, ReportedFinding, Standing

#: Recorded places of one finding that a report keeps: three show the pattern as well as a thousand.
_PLACES = 3

#: What fails the run comes first.
_RANKS: Mapping[Standing, int] = {"error": 0, "warning": 1, "flaky": 2, "known": 3}

#: The count of a clause that findings of a standing belong to.
_COUNTS: Mapping[Standing, str] = {
    "error": "failures",
    "warning": "warnings",
    "flaky": "flaky",
    "known": "known",
}


def count_finding(clause: ClauseResult, reported: ReportedFinding, sign: int = 1) -> ClauseResult:
    """Add a finding to the counts of its clause; ``sign`` -1 subtracts it."""
    name = _COUNTS[reported.standing]
    return replace(clause, **{name: getattr(clause, name) + sign * reported.count})


def join_findings(findings: Iterable[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """Join findings with the same fingerprint and form, in the order of their first occurrence."""
    kept: dict[tuple[str, str | None], ReportedFinding] = {}
    for finding in findings:
        key = (finding.finding.fingerprint, finding.form)
        known = kept.get(key)
        kept[key] = finding if known is None else join_pair(known, finding)
    return tuple(kept.values())


def join_pair(first: ReportedFinding, second: ReportedFinding) -> ReportedFinding:
    """Join two reports of one finding: the first example, the sum of the counts. It is flaky if
    both are.
    """
    return replace(
        first,
        count=first.count + second.count,
        flaky=first.flaky and second.flaky,
        places=join_texts(first.places, second.places)[:_PLACES],
    )


def sort_findings(findings: Iterable[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """Sort findings for a report: by standing, then by clause and place."""

    def key(reported: ReportedFinding) -> tuple[int, str, str, int, str, str]:
        finding = reported.finding
        place = (finding.operation or "", finding.status or 0, finding.code or "")
        return (_RANKS[reported.standing], finding.clause, *place, finding.pointer or "")

    return tuple(sorted(findings, key=key))


def join_texts(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    """The texts of both, each once."""
    return tuple(dict.fromkeys((*first, *second)))
