"""The result of a run: one verdict for each clause, the coverage of each code, and the findings.

The values merge, so that the shards of one run add up. A clause that no exchange allowed the suite
to check is *not exercised*, never passed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from faultspec.exchange.finding import Finding, Level
from faultspec_conformance.results.part import Part
from faultspec_conformance.results.waivers import Waiver

Verdict = Literal["failed", "passed", "could_not_run", "not_exercised", "not_checkable"]

#: From the strongest to the weakest: of two runs the stronger verdict is kept.
VERDICTS: tuple[Verdict, ...] = (
    "failed",
    "passed",
    "could_not_run",
    "not_exercised",
    "not_checkable",
)

#: Reasons of one clause that a report shows. A few explain the verdict; twenty repeat each other.
_REASONS = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one probe for one clause.

    ``kind``: the clause held, it is broken (see ``finding``), or it could not be decided (see
    ``reason``): `undecided` is about a part of its occasions. ``form``: a clause about the form of
    errors. The finding exists only because its answer breaks that clause. If most answers of the
    service break it, the finding adds nothing and is dropped.
    """

    clause: str
    kind: Literal[
        "passed", "failed", "undecided", "not_exercised", "not_checkable", "could_not_run"
    ]
    reason: str = ""
    finding: Finding | None = None
    form: str | None = None

    @property
    def is_decided(self) -> bool:
        """Whether it says that the clause held, or that it is broken."""
        return self.kind in ("passed", "failed")


@dataclass(frozen=True, slots=True)
class ClauseResult:
    """The counts of one clause. ``occasions``: how often it was checked. ``failures``: how often it
    was broken.

    ``known``: failures and warnings that a waiver or the baseline covers. ``flaky``: failures that
    were not reproduced. ``failures`` and ``warnings`` include neither. ``undecided``: why answers
    left open whether the clause holds, each reason with the number of answers. ``idle``: which
    exchange would exercise the clause.
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
    undecided: Mapping[str, int] = field(default_factory=dict)
    idle: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict that the counts and reasons add up to."""
        if self.failures:
            return "failed"
        if self.occasions:
            return "passed"
        if self.not_run:
            return "could_not_run"
        return "not_checkable" if self.not_checkable and not self.not_exercised else "not_exercised"

    @property
    def reason(self) -> str:
        """Why the clause was not decided. If it passed or failed: why some answers were not."""
        if self.verdict == "not_exercised" and not self.not_exercised:
            return self._reason_of_undecided() or self.idle
        if self.verdict in ("passed", "failed"):
            return self._reason_of_undecided()
        reasons = {
            "could_not_run": self.not_run,
            "not_exercised": self.not_exercised,
            "not_checkable": self.not_checkable,
        }.get(self.verdict, ())
        return "; ".join(reasons[:_REASONS])

    @property
    def left_out(self) -> str:
        """The unchecked parts of a clause that was decided: the reasons of its probes."""
        if self.verdict not in ("passed", "failed"):
            return ""
        return "; ".join((*self.not_run, *self.not_exercised)[:_REASONS])

    def _reason_of_undecided(self) -> str:
        reasons = sorted(self.undecided.items(), key=lambda item: -item[1])
        parts = (f"undecided {count} times: {reason}" for reason, count in reasons[:_REASONS])
        return "; ".join(parts)


Standing = Literal["error", "warning", "flaky", "known"]
"""The class of a finding. Only an error fails a run."""


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """A finding as a report shows it: one cause, with its first example, the number of occurrences
    and its standing.

    ``waived``: the reason of the waiver that covers it. ``flaky``: it was not reproduced when the
    run repeated the same requests. ``baseline``: whether an earlier report has it; None without a
    baseline. ``form``: as in `Outcome`. ``places``: where the first few are recorded, as
    ``file:line``; empty for requests of the run itself. ``operations``: all operations with the
    same cause, in the order of their first occurrence. ``examples``: one occurrence of each
    operation and status, of a crash one of each trigger too; ``finding`` is the first. ``last``:
    the last place. ``cause``: the name of the cause of a recorded finding, else empty.
    ``first_seen`` and ``last_seen``: the moments of the first and the last, as
    `2026-11-28T16:00:00Z`.
    """

    finding: Finding
    count: int = 1
    waived: str | None = None
    flaky: bool = False
    baseline: Literal["new", "known"] | None = None
    form: str | None = None
    places: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    examples: tuple[Finding, ...] = ()
    last: str | None = None
    cause: str = ""
    first_seen: str | None = None
    last_seen: str | None = None

    def __post_init__(self) -> None:
        if not self.operations and self.finding.operation is not None:
            object.__setattr__(self, "operations", (self.finding.operation,))
        object.__setattr__(self, "examples", (self.finding, *self.examples[1:]))

    @property
    def level(self) -> Level:
        """Error or warning."""
        return self.finding.level

    @property
    def statuses(self) -> tuple[int, ...]:
        """The statuses of the examples, in order."""
        return tuple(sorted({one.status for one in self.examples if one.status is not None}))

    def example_id(self, number: int) -> str:
        """The id by which `faultspec replay` finds an example; numbers start at 1."""
        return f"{self.finding.fingerprint}:{number}"

    @property
    def standing(self) -> Standing:
        """The class of the finding: known, else flaky, else its level."""
        if self.excuse is not None:
            return "known"
        return "flaky" if self.flaky else self.level

    @property
    def excuse(self) -> str | None:
        """Why the finding is known; None if it is not."""
        return self.waived or ("it is in the baseline" if self.baseline == "known" else None)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often one code was observed, and where.

    ``reason``: why it was not observed. ``explained``: the conformance file or the taxonomy
    declares that reason.
    """

    code: str
    count: int = 0
    statuses: tuple[int, ...] = ()
    operations: tuple[str, ...] = ()
    reason: str | None = None
    explained: bool = False

    @property
    def observed(self) -> bool:
        """Whether any answer had the code."""
        return self.count > 0


@dataclass(frozen=True, slots=True)
class MapCell:
    """One code on one operation. ``declared``: the taxonomy lists it for the operation. ``wrong``:
    failures of answers with the code. The code "" stands for errors without a readable code.
    """

    operation: str
    code: str
    count: int = 0
    wrong: int = 0
    declared: bool = False


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request of the run. ``part``: the probe that sent it, or `sweep`. ``target``: its method
    and path, with the names of its query.

    ``purpose``: what it is for. ``judged``: how many clauses its answer was checked against.
    ``decided``: the clauses that the probe decided with it, alone or with the requests before it.
    """

    part: str
    operation: str | None
    status: int | None
    code: str | None = None
    purpose: str = ""
    judged: int = 0
    decided: tuple[str, ...] = ()
    target: str | None = None


@dataclass(frozen=True, slots=True)
class ResolvedFinding:
    """A finding of the baseline that did not occur again although its clause was exercised."""

    fingerprint: str
    clause: str
    operation: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` of a run that is split into ``of`` parts. Numbers start at 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, index: int) -> bool:
        """Whether the item with this index, counted from 0, belongs to the shard."""
        return index % self.of == self.number - 1


@dataclass(frozen=True, slots=True)
class Result:
    """A whole run, or several merged.

    ``requests``: requests sent, of which the sweep sent ``generated``. ``notes``: remarks that are
    not verdicts. ``failures``: other reasons to fail the run, such as an expired waiver.
    ``not_run``: requested work that could not run. ``fixed``: findings of the baseline that did not
    occur again; None without a baseline. ``waivers``: the waivers in force, each with the number of
    findings that it covers. ``ordinary``: errors that no probe of the error form provoked.
    ``forms``: per clause, how many of those break it. ``errors``: error answers with a body; None
    if they were not counted. ``held``: how many of them were held to an envelope or a code.
    ``shards``: the parts that were run; empty for a whole run. ``complete``: no planned request was
    left out. ``map``: the codes of each operation. ``sent``: the requests, in order.
    ``part``: of observed traffic, the counts by which results of parts of it add up.
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
    errors: int | None = None
    held: int = 0
    shards: tuple[Shard, ...] = ()
    complete: bool = True
    map: tuple[MapCell, ...] = ()
    sent: tuple[SentRequest, ...] = ()
    part: Part | None = None

    def count(self, verdict: Verdict) -> int:
        """How many clauses have the verdict. ``could_not_run`` includes the entries of
        ``not_run``.
        """
        beside = len(self.not_run) if verdict == "could_not_run" else 0
        return beside + sum(clause.verdict == verdict for clause in self.clauses.values())

    def findings_with(self, standing: Standing) -> tuple[ReportedFinding, ...]:
        """The findings of one standing."""
        return tuple(finding for finding in self.findings if finding.standing == standing)

    @property
    def unobserved(self) -> tuple[Coverage, ...]:
        """Codes that were neither observed nor declared impossible to provoke."""
        return tuple(
            coverage
            for coverage in self.coverage.values()
            if not coverage.observed and not coverage.explained
        )


@cache
def faultspec_version() -> str:
    """The version of the installed package; empty if it is not installed."""
    try:
        return version("faultspec")
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True, slots=True)
class Report:
    """A result for readers: every secret in it is masked. ``base``: the address that command lines
    use.

    ``only``: the patterns of clause addresses, joined by commas, that the run was limited to.
    ``source``: the conformance file. ``interrupted``: the run was stopped, and the report covers
    the time until then. ``day``, ``seed`` and ``version``: of the run and of faultspec.
    """

    result: Result
    base: str
    only: str | None = None
    source: str | None = None
    interrupted: bool = False
    day: date = field(default_factory=date.today)
    seed: int | None = None
    version: str = field(default_factory=faultspec_version)


def exit_code(result: Result) -> int:
    """The exit code: 1 if anything failed; else 2 if anything could not run or no clause passed;
    else 0.
    """
    if result.count("failed") or result.failures:
        return 1
    return 2 if result.count("could_not_run") or not result.count("passed") else 0
