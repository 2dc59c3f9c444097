"""Lists of findings: counting them in their clauses, joining those with one cause, and their order
in a report.
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace

from faultspec.exchange.body import read
from faultspec.exchange.finding import Finding
from faultspec_conformance.results.model import ClauseResult, ReportedFinding, Standing

#: Recorded places of one finding that a report keeps: three show the pattern as well as a thousand.
_PLACES = 3

#: What fails the run comes first.
_RANKS: Mapping[Standing, int] = {"error": 0, "warning": 1, "flaky": 2, "known": 3}

#: Families of clauses, the worst failures first: crashes, leaks, lost or doubled writes, what other
#: callers see, the contract, headers.
_SEVERITIES = (
    ("service/",),
    ("leaks/",),
    ("idempotency/", "preconditions/", "duplicates/", "batch/", "upstream/"),
    ("tenancy/", "auth/"),
    (),  # every other family
    ("correlation/", "http/", "headers/"),
)

#: What differs between two messages about one cause: the request that an answer is to, quoted
#: values, operations, numbers.
_PARTICULARS = re.compile(r"(?<=\d) to [^;:]+|`[^`]*`|\b[A-Z]{3,7} /\S*|'[^']*'|\"[^\"]*\"|\d+")

#: Clauses about the form of a body: bodies of two forms are two causes.
_ABOUT_BODIES = ("surface/", "envelope/json", "envelope/shape", "envelope/additional")

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
    """Join findings with one cause, in the order of their first occurrence."""
    kept: dict[Hashable, ReportedFinding] = {}
    for finding in findings:
        key = cause_of(finding)
        known = kept.get(key)
        kept[key] = finding if known is None else join_pair(known, finding)
    return tuple(kept.values())


def cause_of(reported: ReportedFinding) -> Hashable:
    """The key that equal findings share: the fingerprint, the kind of message, the kind of body
    where the finding is about bodies, and their excuse.
    """
    finding = reported.finding
    # Probes that ask in several ways for one form word it differently, so the form is the kind.
    message = _PARTICULARS.sub("*", finding.message) if reported.form is None else ""
    about_body = reported.form or finding.clause.startswith(_ABOUT_BODIES)
    body = _kind_of_body(finding) if about_body else ()
    excuse = (reported.waived, reported.flaky, reported.baseline)
    return finding.fingerprint, finding.level, reported.form, excuse, message, body


def _kind_of_body(finding: Finding) -> Hashable:
    """The media type of the last answer and the members of its body."""
    if not finding.evidence:
        return ()
    last = finding.evidence[-1]
    body = read(last.response.body).value
    members = frozenset(body) if isinstance(body, dict) else type(body).__name__
    return (last.response_header("Content-Type") or "").partition(";")[0].strip().lower(), members


def join_pair(first: ReportedFinding, second: ReportedFinding) -> ReportedFinding:
    """Join two reports of one cause: the smaller example of an operation, the sum of the counts,
    all operations. It is flaky if both are.
    """
    same = first.finding.operation == second.finding.operation
    return replace(
        min(first, second, key=_size) if same else first,
        count=first.count + second.count,
        flaky=first.flaky and second.flaky,
        places=join_texts(first.places, second.places)[:_PLACES],
        operations=join_texts(first.operations, second.operations),
    )


def sort_findings(findings: Iterable[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """Sort findings for a report: by standing, by severity, then by clause and place."""

    def key(reported: ReportedFinding) -> tuple[int, int, str, str, int, str, str]:
        finding = reported.finding
        ranks = (_RANKS[reported.standing], severity(finding.clause))
        place = (finding.operation or "", finding.status or 0, finding.code or "")
        return (*ranks, finding.clause, *place, finding.pointer or "")

    return tuple(sorted(findings, key=key))


def severity(clause: str) -> int:
    """How bad a failure of the clause is: 0 is a crash, higher numbers are less severe."""
    ranks = (rank for rank, families in enumerate(_SEVERITIES) if clause.startswith(families))
    return next(ranks, _SEVERITIES.index(()))


def join_texts(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    """The texts of both, each once."""
    return tuple(dict.fromkeys((*first, *second)))


def _size(reported: ReportedFinding) -> int:
    """Bytes of the requests that show a finding. Of two examples, readers want the smaller."""
    requests = (exchange.request for exchange in reported.finding.evidence)
    return sum(len(request.target) + len(request.body) for request in requests)
