"""Lists of findings: counting them in their clauses, joining those with one cause, and their order
in a report.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace

from faultspec.exchange.body import kind_of_body
from faultspec.exchange.finding import Finding
from faultspec_conformance.results.model import ClauseResult, ReportedFinding, Standing

PLACES = 3
"""Recorded places of one finding that a report keeps: they show the pattern as well as a thousand.
"""

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

#: Bytes of two answers that are compared.
_COMPARED = 2_000

#: What differs between two answers of one failure: ids and times. Only the beginning of a word is
#: tried, else a long word takes quadratic time.
_CHANGING = re.compile(r"(?<![\w.:-])[\w.:-]*\d[\w.:-]*")

_NUMBERS = re.compile(r"\d+")

EXAMPLES = 12
"""Examples of one operation. Beyond them a trigger needs no second one."""

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
    causes: dict[Hashable, _Cause] = {}
    for finding in findings:
        key = cause_of(finding)
        causes.setdefault(key, _Cause(finding)).add(finding)
    return tuple(cause.report() for cause in causes.values())


class _Cause:
    """One cause, whose findings are added one after the other. ``first``: what they share.

    It keeps the smallest example of each key. Of an operation with many, it keeps only those with a
    trigger of their own.
    """

    def __init__(self, first: ReportedFinding) -> None:
        self._first = first
        self._shown = first.finding
        self._key: Hashable = None
        self._count = 0
        self._flaky = True
        self._places: dict[str, None] = {}
        self._operations: dict[str, None] = {}
        self._examples: dict[Hashable, Finding] = {}
        self._numbers: Counter[str | None] = Counter()
        self._triggers: set[tuple[str | None, str]] = set()

    def add(self, reported: ReportedFinding) -> None:
        """Add a finding and its examples. The cause is flaky if all of them are."""
        self._count += reported.count
        self._flaky = self._flaky and reported.flaky
        for place in reported.places:
            if len(self._places) < PLACES:
                self._places[place] = None
        self._operations.update(dict.fromkeys(reported.operations))
        finding, key = reported.finding, example_key(reported.finding)
        of_first = finding.operation == self._shown.operation
        if self._key is None or (of_first and size_of(finding) < size_of(self._shown)):
            self._shown, self._key = finding, key
        self._keep(finding, key)
        for example in reported.examples[1:]:
            self._keep(example, example_key(example))

    def _keep(self, example: Finding, key: Hashable) -> None:
        known = self._examples.get(key)
        if known is not None:
            self._examples[key] = min(known, example, key=size_of)
            return
        trigger = (example.operation, _trigger(example))
        if self._numbers[example.operation] < EXAMPLES or trigger not in self._triggers:
            self._examples[key] = example
            self._numbers[example.operation] += 1
            self._triggers.add(trigger)

    def report(self) -> ReportedFinding:
        """The sum of the counts, all operations, the smallest example first."""
        others = (one for key, one in self._examples.items() if key != self._key)
        return replace(
            self._first,
            finding=self._shown,
            count=self._count,
            flaky=self._flaky,
            places=tuple(self._places),
            operations=tuple(self._operations),
            examples=(self._shown, *others),
        )


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


def example_key(finding: Finding) -> Hashable:
    """The key that equal examples of one cause share: the operation and the status.

    That of a crash has its trigger and the text of the answer too.
    """
    if not finding.clause.startswith(_OF_TRIGGERS) or not finding.evidence:
        return finding.operation, finding.status
    last = finding.evidence[-1]
    text = last.response.body[:_COMPARED].decode("utf-8", "replace")
    trigger = _NUMBERS.sub("*", last.trigger)
    return finding.operation, trigger, _CHANGING.sub("*", _PARTICULARS.sub("*", text))


def _trigger(finding: Finding) -> str:
    return finding.evidence[-1].trigger if finding.evidence else ""


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
