"""Lists of findings: counting them in their clauses, joining those with one cause, and their order
in a report.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from faultspec.exchange.body import kind_of_body
from faultspec.exchange.finding import Finding
from faultspec_conformance.results.model import ClauseResult, ReportedFinding, Standing

#: Recorded places of one finding that a report keeps: three show the pattern as well as a thousand.
_PLACES = 3

RANKS: Mapping[Standing, int] = {"error": 0, "warning": 1, "flaky": 2, "known": 3}
"""The order of findings: those that fail the run come first."""

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

#: What differs between two messages about one cause: the beginning of a masked value, the request
#: that an answer is to, quoted values, operations, numbers.
_PARTICULARS = re.compile(
    r"(?<=: ).{0,2}… \(\d+ characters\)"
    r"|(?<=\d) to [^;:]+|`[^`]*`|\b[A-Z]{3,7} /\S*|'[^']*'|\"[^\"]*\"|\d+"
)

#: Clauses about the form of a body: bodies of two forms are two causes.
_ABOUT_BODIES = (
    *("surface/", "envelope/json", "envelope/shape", "envelope/additional"),
    "envelope/media-type",
)

#: Clauses whose failures have a cause in the service for each trigger, which no rule names.
_OF_TRIGGERS = ("service/",)

#: Bytes of two answers that are compared, and what differs between two answers of one failure: ids
#: and times.
_COMPARED, _CHANGING = 2_000, re.compile(r"(?<![\w.:-])[\w.:-]*\d[\w.:-]*")

_NUMBERS = re.compile(r"\d+")

#: Examples of one operation. Beyond them a trigger needs no second one.
_EXAMPLES = 12

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
    if reported.cause:
        return reported.cause, excuse
    return finding.fingerprint, finding.level, reported.form, excuse, message, body


def _kind_of_body(finding: Finding) -> Hashable:
    """The kind of the last body; where the media type alone is wrong, that."""
    if not finding.evidence:
        return ()
    last = finding.evidence[-1]
    media_type = last.response_header("Content-Type")
    if finding.clause == "envelope/media-type":
        return (media_type or "").partition(";")[0].strip().lower()
    return kind_of_body(media_type, last.response.body)


def join_pair(first: ReportedFinding, second: ReportedFinding) -> ReportedFinding:
    """Join two reports of one cause: the smaller example of an operation, the sum of the counts,
    all operations. It is flaky if both are.
    """
    same = first.finding.operation == second.finding.operation
    shown = min(first.finding, second.finding, key=size_of) if same else first.finding
    examples = _join_examples(shown, (*first.examples, *second.examples))
    return replace(join_counts(first, second), finding=shown, examples=examples)


def join_counts(first: ReportedFinding, second: ReportedFinding) -> ReportedFinding:
    """Join two reports of one cause, of which the first has all examples already."""
    return replace(
        first,
        count=first.count + second.count,
        flaky=first.flaky and second.flaky,
        places=join_texts(first.places, second.places)[:_PLACES],
        operations=join_texts(first.operations, second.operations),
    )


def example_key(finding: Finding) -> Hashable:
    """The key that equal examples of one cause share: the operation and the status.

    That of a crash has its trigger and the text of the answer too.
    """
    if not finding.clause.startswith(_OF_TRIGGERS) or not finding.evidence:
        return finding.operation, finding.status
    last = finding.evidence[-1]
    return finding.operation, *_kind_of_crash(last.trigger, last.response.body[:_COMPARED])


@lru_cache(maxsize=4096)  # each join of findings asks for all its examples again
def _kind_of_crash(trigger: str, body: bytes) -> tuple[str, str]:
    """The trigger and the beginning of an answer without what changes from one to the next."""
    text = _PARTICULARS.sub("*", body.decode("utf-8", "replace"))
    return _NUMBERS.sub("*", trigger), _CHANGING.sub("*", text)


def _join_examples(shown: Finding, examples: Iterable[Finding]) -> tuple[Finding, ...]:
    """The smallest example of each key, that of the finding first. Of an operation with many, only
    those with a trigger of their own are kept.
    """
    kept: dict[Hashable, Finding] = {example_key(shown): shown}
    triggers: dict[str | None, Counter[str]] = {}
    for example in examples:
        key, operation = example_key(example), example.operation
        known = kept.get(key)
        trigger = example.evidence[-1].trigger if example.evidence else ""
        seen = triggers.setdefault(operation, Counter())
        if known is not None:
            kept[key] = min(known, example, key=size_of)
        elif trigger not in seen or seen.total() < _EXAMPLES:
            kept[key] = example
        seen[trigger] += 1
    return tuple(kept.values())


def sort_findings(findings: Iterable[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """Sort findings for a report: by standing, by severity, then by clause and place."""

    def key(reported: ReportedFinding) -> tuple[int, int, str, str, int, str, str]:
        finding = reported.finding
        ranks = (RANKS[reported.standing], severity(finding.clause))
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


def size_of(finding: Finding) -> int:
    """Bytes of the requests that show a finding. Of two examples, readers want the smaller."""
    requests = (exchange.request for exchange in finding.evidence)
    return sum(len(request.target) + len(request.body) for request in requests)
