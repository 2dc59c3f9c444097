"""Everything that a run observed.

The session and the scheduler append to it; probes return results and append nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Canary, Exchange
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    conclude_silence,
    lost,
)
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import CreatedResource

#: The service counts as hanging after this many requests in a row without an answer in time.
_SILENT = 3

#: The part of a run that sends generated traffic.
SWEEP = "sweep"


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about the run that concerns no clause and is not a failure."""

    text: str


@dataclass(frozen=True, slots=True)
class NotRun:
    """Something that the configuration asks for and that could not be done."""

    reason: str


@dataclass(frozen=True, slots=True)
class UnmetRecipe:
    """A recipe that did not provoke its code."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class SpareResource:
    """A resource that was created and left unchanged, for a probe that needs one."""

    resource: CreatedResource


@dataclass(frozen=True, slots=True)
class AbsentIdRequest:
    """An operation was asked for an id without a resource, so that no other probe has to."""

    operation: str


@dataclass(frozen=True, slots=True)
class KeyedCreation:
    """A creation with an idempotency key, for a replay later in the run. ``at``: seconds of the
    run.
    """

    spec: RequestSpec
    first: Observation
    at: float


#: What a probe yields for other probes. The session over HTTP records it in its knowledge.
SharedKnowledge = SpareResource | AbsentIdRequest | KeyedCreation

#: What a probe yields for the report.
ReportedResult = Outcome | Note | NotRun | UnmetRecipe

#: What a probe yields.
ProbeResult = ReportedResult | SharedKnowledge


def _do_nothing() -> None:
    pass


@dataclass(slots=True)
class PartRecord:
    """The exchanges and outcomes of one part of a run, in order. A part is one probe, or the sweep.

    ``shared``: every shard of the run plays this part.
    """

    name: str
    shared: bool = False
    exchanges: list[Observation] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)

    def failures(self) -> Iterator[Finding]:
        """Yield the findings of level error."""
        found = [finding for seen in self.exchanges for finding in seen.judgement.findings]
        found += [outcome.finding for outcome in self.outcomes if outcome.finding is not None]
        return (finding for finding in found if finding.level == "error")


@dataclass(slots=True)
class Observations:
    """The observations of a run, in parts.

    ``planted``: canaries, which reports mask. ``credentials``: what logins have saved, also before
    their renewals, in order. ``unmet``: why a recipe did not provoke its code, by
    code. ``ended``: why nothing more is sent to the service. ``complete``: no budget left anything
    out. ``on_record`` is called after exchanges were appended.
    """

    parts: list[PartRecord] = field(default_factory=lambda: [PartRecord("")])
    planted: list[Canary] = field(default_factory=list)
    credentials: dict[str, None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    unmet: dict[str, str] = field(default_factory=dict)
    ended: str | None = None
    complete: bool = True
    on_record: Callable[[], None] = _do_nothing
    _unanswered: int = 0

    @property
    def current(self) -> PartRecord:
        """The part that is under way."""
        return self.parts[-1]

    @property
    def exchanges(self) -> list[Observation]:
        """The exchanges of all parts, in order."""
        return [observation for part in self.parts for observation in part.exchanges]

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of all parts, in order."""
        return [outcome for part in self.parts for outcome in part.outcomes]

    def decided_clauses(self) -> set[str]:
        """Return the clauses of the outcomes that passed or failed."""
        return {outcome.clause for outcome in self.outcomes if outcome.is_decided}

    def begin(self, name: str, *, shared: bool = False) -> PartRecord:
        """Begin a part and return its record."""
        self.parts.append(PartRecord(name, shared))
        return self.current

    def record(self, *observations: Observation) -> None:
        """Append exchanges to the current part."""
        self.current.exchanges += observations
        self.on_record()

    def add(self, results: Iterable[ReportedResult]) -> None:
        """Append what a probe, or the session itself, found out."""
        for result in results:
            match result:
                case Outcome():
                    self.current.outcomes.append(result)
                case Note():
                    self.notes.append(result.text)
                case NotRun():
                    self.not_run.append(result.reason)
                case UnmetRecipe():
                    self.unmet[result.code] = result.reason

    def plant(self, canaries: Iterable[Canary]) -> None:
        """Append canaries that were sent."""
        self.planted += canaries

    def end(self, reason: str) -> None:
        """Send nothing more to the service."""
        self.ended = reason

    def mark_incomplete(self) -> None:
        """Mark the run as incomplete: a budget was spent."""
        self.complete = False

    def note_answer(self) -> None:
        """Note that the service answered, so that it does not hang."""
        self._unanswered = 0

    @property
    def last(self) -> Observation | None:
        """The last exchange."""
        return next((part.exchanges[-1] for part in reversed(self.parts) if part.exchanges), None)

    def record_end(self, ended: str, exchange: Exchange | None) -> None:
        """Record that the service that the suite started ended, though its address answers.

        ``exchange``: after which it ended; None: the last one.
        """
        last = exchange or (self.last.exchange if self.last is not None else None)
        finding = Finding(
            "service/alive",
            f"the service ended during the run, and what answers at its address is not what the "
            f"suite started; {ended}",
            operation=last.operation if last is not None else None,
            evidence=() if last is None else (last,),
        )
        self.add([Outcome("service/alive", "failed", finding=finding)])
        after = "" if last is None else f" after {last.request.method} {last.request.target}"
        self.end(f"the service ended{after.partition('?')[0]}")

    def record_loss(
        self, asked: Exchange, answer: NoAnswer, *, listens: bool, may_disconnect: bool
    ) -> None:
        """Conclude from a missing answer that the service ended, hangs, or does not survive this
        request.

        ``may_disconnect``: servers close the connection on such a request; that is not a failure
        while they listen.
        """
        self._unanswered += 1
        last = self.last
        if not (may_disconnect and listens):
            self.add([lost(asked, answer, last, listens=listens)])
        if listens and answer.kind == "timeout" and self._unanswered >= _SILENT:
            self.end(
                f"the service hangs since {self._name_culprit(asked, answer)}: {_SILENT} requests "
                "in a row got no answer in time"
            )

    def end_without_listener(self, asked: Exchange, answer: NoAnswer) -> None:
        """End the run: the service ended on this request, or after the answer before it."""
        self.end(f"nobody listens any more since {self._name_culprit(asked, answer)}")

    def _name_culprit(self, asked: Exchange, answer: NoAnswer) -> str:
        last = self.last
        blamed = last.exchange if answer.kind == "refused" and last is not None else asked
        name = blamed.request.target
        if asked.transport != "http":
            return name
        return f"{blamed.request.method} {name.partition('?')[0]}"


def attempt(results: Iterable[ProbeResult], *clauses: str) -> Iterator[ProbeResult]:
    """Yield results until a request gets no answer; then each clause could not run, or failed if
    the service ignored the request, and the probe goes on.

    Raises Unanswered if no other request could be answered either: a spent budget, a read-only run,
    a service that ended.
    """
    try:
        yield from results
    except Unanswered as error:
        if error.no_answer.kind in ("budget", "read-only", "refused"):
            raise
        ignored = error.asked is not None
        for clause in clauses or (("service/alive",) if ignored else ()):
            yield conclude_silence(clause, error)
