"""What a run says: a verdict a clause, what was seen of every code, the findings. Values that merge.

What was not seen is *not exercised*, never passed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal, TypeVar

from faultspec.exchange.finding import Finding, Level
from faultspec_conformance.results.waivers import Waiver, expired, needless

Verdict = Literal["failed", "passed", "could_not_run", "not_exercised", "not_checkable"]

#: From the strongest to the weakest: of two runs the stronger verdict stands.
VERDICTS: tuple[Verdict, ...] = (
    "failed",
    "passed",
    "could_not_run",
    "not_exercised",
    "not_checkable",
)

#: Two reasons explain; a list of twenty does not.
_REASONS = 4


#: Places of one finding that are kept: who looks at three need not look at a thousand.
PLACES = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one probe learnt of one clause: it held, it is broken (``finding``), or there is no telling, for ``reason``.

    ``form``: it is broken only because its answer breaks that clause of form; where all answers do, it is not news.
    """

    clause: str
    kind: Literal["passed", "failed", "not_exercised", "not_checkable", "could_not_run"]
    reason: str = ""
    finding: Finding | None = None
    form: str | None = None


@dataclass(frozen=True, slots=True)
class ClauseResult:
    """One clause of the run. ``occasions``: how often it could be checked; ``failures``: how often it was broken.

    ``known``: failures and warnings that a waiver covers or a baseline has; ``flaky``: failures that did not happen again.
    Neither are counted in ``failures`` or ``warnings``. ``idle``: what would have given occasion.
    """

    address: str
    title: str = ""
    statements: tuple[str, ...] = ()
    occasions: int = 0
    failures: int = 0
    warnings: int = 0
    known: int = 0
    flaky: int = 0
    not_run: tuple[str, ...] = ()
    not_exercised: tuple[str, ...] = ()
    not_checkable: tuple[str, ...] = ()
    idle: str = ""

    @property
    def verdict(self) -> Verdict:
        """The one word."""
        if self.failures:
            return "failed"
        if self.occasions:
            return "passed"
        if self.not_run:
            return "could_not_run"
        return "not_checkable" if self.not_checkable and not self.not_exercised else "not_exercised"

    @property
    def reason(self) -> str:
        """Why there is no telling, where there is none."""
        reasons = {
            "could_not_run": self.not_run,
            "not_exercised": self.not_exercised,
            "not_checkable": self.not_checkable,
        }.get(self.verdict, ())
        if not reasons and self.verdict == "not_exercised":
            return self.idle
        return "; ".join(reasons[:_REASONS])


Standing = Literal["error", "warning", "flaky", "known"]
"""What a finding counts as. Only an error fails a run."""


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """A finding as it is reported: the first example, how often it was seen, and what it counts as.

    ``waived``: the reason of the waiver that covers it. ``flaky``: it did not happen again when the same was asked again.
    ``baseline``: whether an earlier report has it, where there was one to compare with. ``form``: the clause of form that its
    answer breaks; where all answers do, it is not news.
    ``places``: where the first few are recorded, as ``file:line``; none of what a run has sent itself.
    """

    finding: Finding
    count: int = 1
    waived: str | None = None
    flaky: bool = False
    baseline: Literal["new", "known"] | None = None
    form: str | None = None
    places: tuple[str, ...] = ()

    @property
    def level(self) -> Level:
        """An error, unless it is a warning."""
        return self.finding.level

    @property
    def standing(self) -> Standing:
        """Known before flaky before the level."""
        if self.excuse is not None:
            return "known"
        return "flaky" if self.flaky else self.level

    @property
    def excuse(self) -> str | None:
        """Why it is known; None where it is not."""
        return self.waived or ("it is in the baseline" if self.baseline == "known" else None)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was seen of one code. ``reason``: why it was not, where somebody says so; ``explained``: that he declared it."""

    code: str
    count: int = 0
    statuses: tuple[int, ...] = ()
    operations: tuple[str, ...] = ()
    reason: str | None = None
    explained: bool = False

    @property
    def observed(self) -> bool:
        """Whether it was seen at all."""
        return self.count > 0


@dataclass(frozen=True, slots=True)
class ResolvedFinding:
    """A finding of the baseline that is there no more, although its clause was exercised."""

    fingerprint: str
    clause: str
    operation: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """The ``number``-th part of a run, of so many."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, index: int) -> bool:
        """Whether the thing with this index, from 0, belongs to it."""
        return index % self.of == self.number - 1


@dataclass(frozen=True, slots=True)
class Result:
    """A whole run, or several merged. ``notes``: what the reader should know that is no verdict.

    ``requests``: all that were sent, of which ``generated`` by the sweep.

    ``failures``: what fails the run beside the clauses, such as a waiver that expired. ``fixed``: what a baseline has that is
    gone; None where there was none to compare with. ``waivers``: those in force, each with how many findings it covers.
    ``ordinary``: errors that no probe of form asked for, and ``forms`` by clause how many of them break it.
    ``shards``: the parts of a run that this is made of; none is the whole. ``complete``: all was asked that was to be asked.
    """

    target: str
    taxonomy: str
    clauses: Mapping[str, ClauseResult] = field(default_factory=dict)
    findings: tuple[ReportedFinding, ...] = ()
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    requests: int = 0
    generated: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    fixed: tuple[ResolvedFinding, ...] | None = None
    waivers: Mapping[Waiver, int] = field(default_factory=dict)
    ordinary: int = 0
    forms: Mapping[str, int] = field(default_factory=dict)
    shards: tuple[Shard, ...] = ()
    complete: bool = True

    def count(self, verdict: Verdict) -> int:
        """How many clauses have this verdict; what else was asked for and could not run is counted with those."""
        beside = len(self.not_run) if verdict == "could_not_run" else 0
        return beside + sum(1 for clause in self.clauses.values() if clause.verdict == verdict)

    def standing(self, wanted: Standing) -> tuple[ReportedFinding, ...]:
        """The findings that count as this."""
        return tuple(finding for finding in self.findings if finding.standing == wanted)

    @property
    def unobserved(self) -> tuple[Coverage, ...]:
        """Codes that were neither seen nor declared impossible to bring about."""
        return tuple(
            each for each in self.coverage.values() if not each.observed and not each.explained
        )


@dataclass(frozen=True, slots=True)
class Report:
    """A result ready to be shown: everything in it is masked. ``base`` is the address for command lines.

    ``only``: the pattern of clause addresses that it was asked for. ``source``: the file that the run was configured by.
    ``interrupted``: somebody stopped the run, and this is what was seen until then.
    """

    result: Result
    base: str
    only: str | None = None
    source: str | None = None
    interrupted: bool = False


def exit_code(result: Result) -> int:
    """1 when anything failed; 2 when nothing did, but something could not run or nothing was exercised; else 0."""
    if result.count("failed") or result.failures:
        return 1
    if result.count("could_not_run") or not result.count("passed"):
        return 2
    return 0


def merge(first: Result, second: Result) -> Result:
    """Two shards of one run as one: sums of what was counted, the stronger of what was judged.

    What only the whole can tell (`settled`) is left to be told of it.
    """
    clauses = dict(first.clauses)
    for address, each in second.clauses.items():
        clauses[address] = _both(clauses[address], each) if address in clauses else each
    coverage = dict(first.coverage)
    for code, seen in second.coverage.items():
        coverage[code] = _seen(coverage[code], seen) if code in coverage else seen
    return replace(
        first,
        clauses=clauses,
        findings=folded([*first.findings, *second.findings]),
        coverage=coverage,
        requests=first.requests + second.requests,
        generated=first.generated + second.generated,
        seconds=first.seconds + second.seconds,
        notes=_union(first.notes, second.notes),
        failures=_union(first.failures, second.failures),
        not_run=_union(first.not_run, second.not_run),
        waivers=_sum(first.waivers, second.waivers),
        ordinary=first.ordinary + second.ordinary,
        forms=_sum(first.forms, second.forms),
        shards=(*first.shards, *second.shards),
        complete=first.complete and second.complete,
    )


def settled(result: Result, today: date, *, only: str | None = None) -> Result:
    """The result of a whole run with what only the whole can tell. ``only``: the clauses that it was asked for.

    A form that most answers break is one mistake, told by its own clause, not one for every situation that has such an
    answer; a waiver that expired, or that nothing needs although its clause was exercised and all was asked, of every clause,
    fails the run; a recipe that was carried out, without what it is for, did not bring it about.
    """
    everywhere = {clause for clause, times in result.forms.items() if 2 * times > result.ordinary}
    gone = [finding for finding in result.findings if finding.form in everywhere]
    clauses = dict(result.clauses)
    for each in gone:
        clause = clauses[each.finding.clause]
        clauses[clause.address] = replace(
            counted(clause, each, -1), occasions=clause.occasions - each.count
        )
    exercised = {address for address, each in clauses.items() if each.occasions}
    used = _used_without(result, gone)
    rotten = [
        *expired(used, today),
        *(needless(used, exercised) if result.complete and only is None else ()),
    ]
    coverage = {
        code: replace(each, reason="its recipe did not bring it about")
        if not (each.observed or each.reason)
        else each
        for code, each in result.coverage.items()
    }
    return replace(
        result,
        clauses=clauses,
        findings=ranked(
            folded(
                replace(finding, form=None)
                for finding in result.findings
                if finding.form not in everywhere
            )
        ),
        coverage=coverage,
        failures=_union(result.failures, tuple(rotten)),
        waivers=used,
        ordinary=0,
        forms={},
    )


def overdue(result: Result, today: date) -> Result:
    """The result of a shard with what fails it already: waivers that expired, of findings that no other shard decides on."""
    used = _used_without(
        result, [finding for finding in result.findings if finding.form is not None]
    )
    return replace(result, failures=_union(result.failures, tuple(expired(used, today))))


def _used_without(result: Result, left_out: Iterable[ReportedFinding]) -> dict[Waiver, int]:
    """How many findings each waiver covers, but for these."""
    used = dict(result.waivers)
    for each in left_out:
        for waiver in used:
            if each.waived == waiver.reason and waiver.covers(each.finding):
                used[waiver] -= each.count
    return used


def counted(clause: ClauseResult, reported: ReportedFinding, sign: int = 1) -> ClauseResult:
    """The clause with a finding counted as what it counts as, or with ``sign`` of -1 no more."""
    times = sign * reported.count
    match reported.standing:
        case "error":
            return replace(clause, failures=clause.failures + times)
        case "warning":
            return replace(clause, warnings=clause.warnings + times)
        case "flaky":
            return replace(clause, flaky=clause.flaky + times)
        case "known":
            return replace(clause, known=clause.known + times)


def folded(findings: Iterable[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """One of each fingerprint, the first, with the counts summed; it is flaky only if all of them are."""
    kept: dict[tuple[str, str | None], ReportedFinding] = {}
    for finding in findings:
        key = (finding.finding.fingerprint, finding.form)
        known = kept.get(key)
        kept[key] = finding if known is None else both(known, finding)
    return tuple(kept.values())


def both(first: ReportedFinding, second: ReportedFinding) -> ReportedFinding:
    """Two reports of one finding as one: the first example, with the counts summed."""
    places = _union(first.places, second.places)[:PLACES]
    return replace(
        first, count=first.count + second.count, flaky=first.flaky and second.flaky, places=places
    )


def ranked(findings: Iterable[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """The findings in the order in which they are told: what fails the run first."""
    return tuple(
        sorted(
            findings,
            key=lambda each: (
                _RANKS[each.standing],
                each.finding.clause,
                each.finding.operation or "",
                each.finding.status or 0,
                each.finding.code or "",
                each.finding.pointer or "",
            ),
        )
    )


_RANKS: Mapping[Standing, int] = {"error": 0, "warning": 1, "flaky": 2, "known": 3}


def _both(first: ClauseResult, second: ClauseResult) -> ClauseResult:
    return replace(
        first,
        occasions=first.occasions + second.occasions,
        failures=first.failures + second.failures,
        warnings=first.warnings + second.warnings,
        known=first.known + second.known,
        flaky=first.flaky + second.flaky,
        not_run=_union(first.not_run, second.not_run),
        not_exercised=_union(first.not_exercised, second.not_exercised),
        not_checkable=_union(first.not_checkable, second.not_checkable),
    )


def _seen(first: Coverage, second: Coverage) -> Coverage:
    return replace(
        first,
        count=first.count + second.count,
        statuses=tuple(sorted({*first.statuses, *second.statuses})),
        operations=_union(first.operations, second.operations),
        reason=None if first.count or second.count else first.reason or second.reason,
        explained=first.explained or second.explained,
    )


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


_Key = TypeVar("_Key")


def _sum(first: Mapping[_Key, int], second: Mapping[_Key, int]) -> dict[_Key, int]:
    return {
        each: first.get(each, 0) + second.get(each, 0) for each in dict.fromkeys((*first, *second))
    }
