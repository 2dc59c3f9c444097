"""What a run says: a verdict a clause, what was seen of every code, the findings. Values that merge.

What was not seen is *not exercised*, never passed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from faultspec.finding import Finding, Level

Verdict = Literal["failed", "passed", "could_not_run", "not_exercised", "not_checkable"]

#: From the strongest to the weakest: of two runs the stronger verdict stands.
VERDICTS: tuple[Verdict, ...] = ("failed", "passed", "could_not_run", "not_exercised", "not_checkable")

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
    kind: Literal["held", "broken", "not_exercised", "not_checkable", "could_not_run"]
    reason: str = ""
    finding: Finding | None = None
    form: str | None = None


@dataclass(frozen=True, slots=True)
class ClauseResult:
    """One clause of the run. ``occasions``: how often it could be checked; ``failures``: how often it was broken.

    ``known``: failures and warnings that a waiver covers, counted in neither ``failures`` nor ``warnings``.
    """

    address: str
    title: str = ""
    statements: tuple[str, ...] = ()
    occasions: int = 0
    failures: int = 0
    warnings: int = 0
    known: int = 0
    not_run: tuple[str, ...] = ()
    not_exercised: tuple[str, ...] = ()
    not_checkable: tuple[str, ...] = ()

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
        return "; ".join(reasons[:_REASONS])


@dataclass(frozen=True, slots=True)
class Reported:
    """A finding as it is reported: the first example, how often it was seen, and the reason of the waiver that covers it.

    ``places``: where the first few are recorded, as ``file:line``; none of what a run has sent itself.
    """

    finding: Finding
    count: int = 1
    waived: str | None = None
    places: tuple[str, ...] = ()

    @property
    def level(self) -> Level:
        """An error, unless it is a warning."""
        return self.finding.level


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
class Result:
    """A whole run, or several merged. ``notes``: what the reader should know that is no verdict.

    ``requests``: all that were sent, of which ``generated`` by the sweep.

    ``failures``: what fails the run beside the clauses, such as a waiver that expired.
    """

    target: str
    taxonomy: str
    clauses: Mapping[str, ClauseResult] = field(default_factory=dict)
    findings: tuple[Reported, ...] = ()
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    requests: int = 0
    generated: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()

    def count(self, verdict: Verdict) -> int:
        """How many clauses have this verdict; what else was asked for and could not run is counted with those."""
        beside = len(self.not_run) if verdict == "could_not_run" else 0
        return beside + sum(1 for each in self.clauses.values() if each.verdict == verdict)

    @property
    def unobserved(self) -> tuple[Coverage, ...]:
        """Codes that were neither seen nor declared impossible to bring about."""
        return tuple(each for each in self.coverage.values() if not each.observed and not each.explained)


def exit_code(result: Result, *, require_coverage: bool = False) -> int:
    """1 when anything failed; 2 when nothing did, but something could not run or nothing was exercised; else 0."""
    if result.count("failed") or result.failures:
        return 1
    if require_coverage and result.unobserved:
        return 1
    if result.count("could_not_run") or not result.count("passed"):
        return 2
    return 0


def merge(first: Result, second: Result) -> Result:
    """Two shards of one run as one: sums of what was counted, the stronger of what was judged."""
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
    )


def folded(findings: Iterable[Reported]) -> tuple[Reported, ...]:
    """One of each fingerprint, the first, with the counts summed."""
    kept: dict[str, Reported] = {}
    for each in findings:
        known = kept.get(each.finding.fingerprint)
        kept[each.finding.fingerprint] = each if known is None else both(known, each)
    return tuple(kept.values())


def both(first: Reported, second: Reported) -> Reported:
    """Two reports of one finding as one: the first example, with the counts summed."""
    places = _union(first.places, second.places)[:PLACES]
    return replace(first, count=first.count + second.count, places=places)


def _both(first: ClauseResult, second: ClauseResult) -> ClauseResult:
    return replace(
        first,
        occasions=first.occasions + second.occasions,
        failures=first.failures + second.failures,
        warnings=first.warnings + second.warnings,
        known=first.known + second.known,
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
