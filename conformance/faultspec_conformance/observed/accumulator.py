"""Accumulating the judgements of exchanges that the suite did not send.

Each exchange is judged and dropped. The accumulator keeps counts, and the first example of each
finding, masked. So its memory does not grow with the length of a recording.
"""

from bisect import insort
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from faultspec.contract.clauses import Clause, is_chosen
from faultspec.contract.crashes import (
    CLAUSE,
    EXPLAINED,
    UNLISTED,
    is_crash,
    without_consequences,
)
from faultspec.contract.model import Contract
from faultspec.exchange.finding import Finding, Judgement, Level
from faultspec.exchange.model import Exchange
from faultspec.judge import judge
from faultspec.openapi.service import Description
from faultspec_conformance.observed.formats.logs import read_line
from faultspec_conformance.observed.formats.record import (
    NO_STAMP,
    LineCounter,
    RecordedExchange,
    RecordFacts,
    Repeats,
    Stamp,
)
from faultspec_conformance.observed.memory import (
    RECENT,
    FirstUse,
    OperationNames,
    RecentIds,
    same_exchange,
    shorten_exchange,
)
from faultspec_conformance.observed.received import as_received
from faultspec_conformance.observed.recognition import Recognizer
from faultspec_conformance.results.activity import Activity, Cell, add_activity, cell_of
from faultspec_conformance.results.code_coverage import coverable_codes, covered_code
from faultspec_conformance.results.findings import PLACES, cause_of, example_key, join_texts
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    Outcome,
    ReportedFinding,
    Result,
)
from faultspec_conformance.results.part import FileCount, Needs, Part, Skips
from faultspec_conformance.results.recorded import (
    MOST_FINDINGS,
    SkipCounts,
    describe_part,
    digest_cause,
    join_recorded,
    limit_hosts,
    rank,
    sort_places,
)
from faultspec_conformance.results.waivers import Waiver, apply_waivers
from faultspec_conformance.run.summarize import count_judged, with_statements
from faultspec_conformance.sanitize.masking import NO_SECRETS, Masking
from faultspec_conformance.sanitize.traffic_secrets import mask_name, mask_recorded
from faultspec_conformance.session.correlation import (
    EchoRule,
    check_echo,
    echo_rule,
    excuse_uuid_version,
    repeated_id,
)
from faultspec_conformance.session.observation import Observation, stream_errors

#: Keys of examples of one finding, and names of causes, that are remembered. Beyond them each is
#: compared.
_KEYS = 5_000

#: Relations between answers that can be checked without sending requests.
_CHECKABLE_RELATIONS = frozenset(
    {"correlation/echo", "correlation/generated", "correlation/unique"}
)


_ONE_SUCCESS = Activity(1)

_Key = tuple[str, str | None]
"""The name of a cause, and the reason of the waiver that covers it."""


class Accumulator:
    """The counts and findings of the exchanges so far. Not thread-safe. ``last_place``: where the
    last record stands that was counted.

    ``crashes``: the level of findings of ``service/no-crash``. Nobody knows of a recorded crash
    whether somebody brought it about. ``share``: that of the records which the sample has.
    ``known``: secrets that are masked, beside those that the traffic itself shows to be some.
    """

    def __init__(
        self,
        contract: Contract,
        *,
        waivers: tuple[Waiver, ...] = (),
        only: str | None = None,
        description: Description | None = None,
        crashes: Level = "error",
        share: float = 1.0,
        known: Masking = NO_SECRETS,
    ) -> None:
        self.contract = contract
        self._known = known
        self._share = share
        self.exchanges = 0
        self.last_place: str | None = None
        self._waivers = waivers
        self._only = only
        self._crashes = crashes
        self._folds = crashes == "error" and self._selects(CLAUSE)
        self._operations = OperationNames(description)
        self._echo = echo_rule(contract.taxonomy)
        self._related = _related_facts(self._echo)
        self._sensitive = contract.sensitive
        self._wires = frozenset(
            code.wire
            for code in contract.taxonomy.shared_live_codes()
            if isinstance(code.wire, str)
        )
        self.recent = RecentIds(self._restore)
        self._recognizer = Recognizer(contract, self._echo, self._operations)
        self.counter = LineCounter(self._recognizer.read, self._count_line)
        self._forgot = False
        self._unread = 0
        self._occasions: Counter[str] = Counter()
        self._undecided: dict[str, Counter[str]] = {}
        self._judged = (0, 0)
        self._errors: Counter[frozenset[str]] = Counter()
        self._levels: Counter[tuple[str, str]] = Counter()
        self._used: Counter[Waiver] = Counter()
        self._findings: dict[_Key, ReportedFinding] = {}
        self._ranked: list[tuple[tuple[int, int, str, str], _Key]] = []
        self._examples: dict[_Key, set[Hashable]] = {}
        self._digests: dict[Hashable, str] = {}
        self._unlisted: Counter[str] = Counter()
        self._codes: dict[str, Coverage] = {}
        self._skipped = SkipCounts()
        self._hosts: dict[str, int] | None = {}
        self._left_out = 0
        self._activity: dict[Cell, Activity] | None = {}
        self._own_notes: list[str] = []
        self._files: dict[str, FileCount] = {}
        self._file: str | None = None
        self._records = self._unreadable = 0

    def add(
        self,
        exchange: Exchange,
        place: str | None = None,
        *,
        stamp: Stamp = NO_STAMP,
        facts: RecordFacts | None = None,
        repeats: Repeats | None = None,
    ) -> tuple[ReportedFinding, ...]:
        """Judge one exchange and count it; return its findings, masked. ``place``: where it is
        recorded. ``facts``: those of its line. ``repeats``: if it comes in groups of equal ones,
        which begin in order. Ids of an exchange that comes several times must be unknown: they are
        not compared.
        """
        times = 1 if repeats is None else repeats.times
        self.exchanges += times
        self._records += times
        exchange = self._operations.name(exchange)
        inner = tuple(
            Observation(part, self._judge(part)) for part in stream_errors(exchange, self._wires)
        )
        judgement = excuse_uuid_version(self._echo, exchange, self._judge(exchange))
        if facts is not None and not inner:
            self._recognizer.learn(facts, judgement, exchange.lacks)
        self._count_host(exchange, times)
        if exchange.transport == "log" and not judgement.is_error and place is not None:
            self._count_other_entry(exchange, place, times)
        found: list[Finding] = []
        for observation in (Observation(exchange, judgement, inner), *inner):
            for address in observation.judgement.exercised:
                self._occasions[address] += times
            for address, reason in observation.judgement.undecided.items():
                self._undecided.setdefault(address, Counter())[reason] += times
            self._errors[observation.exchange.lacks] += times * observation.judgement.is_error
            is_cut = observation.exchange.response.cut is not None
            self._unread += times * (observation.judgement.is_error and is_cut)
            errors, held = count_judged((observation,))
            self._judged = (self._judged[0] + times * errors, self._judged[1] + times * held)
            found += (
                replace(finding, level=self._crashes) if finding.clause == CLAUSE else finding
                for finding in observation.judgement.findings
            )
            found += self._check_relations(observation)
            self.recent.place_last(place, stamp)
            self._count_code(observation, times)
        self._count_activity(stamp, Activity(times, times * judgement.is_error))
        reported = tuple(
            self._add_finding(finding, place, stamp, repeats)
            for finding in found
            if self._selects(finding.clause)
        )
        self.last_place = place
        return reported

    def _count_activity(self, stamp: Stamp, counts: Activity) -> None:
        """Count an exchange or a finding, if it is known when or by which service."""
        if stamp != NO_STAMP and self._activity is not None:
            service = stamp.service and mask_name(stamp.service)
            cell = cell_of(service, stamp.moment)
            known = self._activity.get(cell)
            if known is not None:
                self._activity[cell] = known + counts
            else:
                activity = add_activity(self._activity, {cell: counts})
                self._activity = None if activity is None else dict(activity)

    def _judge(self, exchange: Exchange) -> Judgement:
        """Judge one exchange. Only a crash that fails the audit replaces its other findings."""
        judgement = judge(self.contract, exchange)
        return without_consequences(judgement, only=None if self._folds else UNLISTED)

    def _count_line(self, facts: RecordFacts, place: str) -> bool:
        """Count a success with the facts of one that was cleared; whether there is one."""
        cleared = self._recognizer.cleared.get(facts.key)
        if cleared is None:
            return False
        if self._echo is not None and cleared.lacks.isdisjoint(self._related):
            if facts.id is not None:
                if facts.id in self.recent:
                    return False
                self.recent.keep(facts.id, facts.line, place, facts.stamp)
                self._occasions["correlation/generated"] += 1
                self._occasions["correlation/unique"] += len(self.recent) > 1
            elif facts.echoed:
                self._occasions["correlation/echo"] += 1
        cleared.times += 1
        self._count_activity(facts.stamp, _ONE_SUCCESS)
        self.exchanges += 1
        self._records += 1
        self.last_place = place
        return True

    def _count_cleared(self) -> None:
        """Count the occasions of the successes that were recognized since the last time."""
        for cleared in self._recognizer.cleared.values():
            for address in cleared.judgement.exercised:
                self._occasions[address] += cleared.times
            for address, reason in cleared.judgement.undecided.items():
                self._undecided.setdefault(address, Counter())[reason] += cleared.times
            cleared.times = 0

    def _restore(self, line: bytes) -> Observation:
        """The exchange of a line whose facts are certain, and its judgement."""
        item = read_line(line, self.contract)
        assert isinstance(item, RecordedExchange)  # its facts were read
        exchange = self._operations.name(as_received(item.exchange, recorded=True))
        return Observation(shorten_exchange(exchange), judge(self.contract, exchange))

    def start_recording(self, file: str | None = None, *, continues: bool = False) -> None:
        """Begin another recording. It may repeat exchanges of earlier ones, so their ids are
        forgotten. ``continues``: it is a range of a file, whose ids `compare_range` compares with
        those before it.
        """
        self._close_recording()
        self._file = file
        self.last_place = None
        self.recent = RecentIds(self._restore, keeps_first=continues)

    def _close_recording(self) -> None:
        self._forgot = self._forgot or self.recent.forgot
        if self._file is not None:
            known = self._files.get(self._file, FileCount())
            self._files[self._file] = FileCount(
                known.records + self._records, known.unreadable + self._unreadable
            )
        self._records = self._unreadable = 0

    def skip(self, place: str, reason: str, *, broken: bool = False, times: int = 1) -> None:
        """Count a record that is not judged. ``broken``: it cannot be read."""
        self._records += times
        self._unreadable += times * broken
        file = place.rpartition(":")[0]
        self._skipped.add(Skips(file, reason, times, place))
        self.last_place = place

    def _count_other_entry(self, exchange: Exchange, place: str, times: int) -> None:
        """Count an entry of a log that its surface does not take for an error."""
        claim = self.contract.claim(exchange)
        if claim is not None:
            reason = f"it is not an error by `error_when` of the surface `{claim.surface.name}`"
            self._skipped.add(Skips(place.rpartition(":")[0], reason, times, place))

    def leave_out(self) -> None:
        """Count a record that is not in the sample."""
        self._left_out += 1

    def note(self, text: str) -> None:
        """Add a note to the result."""
        self._own_notes.append(text)

    def _mask(self, finding: Finding) -> Finding:
        return (self._known | mask_recorded(finding.evidence, self._sensitive)).finding(finding)

    def result(self, target: str, *, seconds: float = 0.0, not_run: tuple[str, ...] = ()) -> Result:
        """Everything so far, masked. `conclude` is left to do. ``target``: what was observed,
        unless it is recordings.
        """
        return describe_part(self.part(target, seconds=seconds, not_run=not_run))

    def part(self, target: str, *, seconds: float = 0.0, not_run: tuple[str, ...] = ()) -> Result:
        """Everything so far as a part of the traffic, masked. `describe_part` is left to do."""
        self._close_recording()
        self._count_cleared()
        self._file = None
        taxonomy = self.contract.taxonomy
        chosen = {
            address: (clause, self._reason_not_checkable(clause))
            for address, clause in self.contract.clauses.items()
            if self._selects(address)
        }
        coverage = {
            name: self._codes.get(name) or Coverage(name, reason="no observed answer has it")
            for name in coverable_codes(taxonomy)
        }
        lacking: Counter[tuple[str, ...]] = Counter()
        for facts, times in self._errors.items():
            if times:
                lacking[tuple(sorted(facts))] += times
        part = Part(
            subject="" if self._files else target,
            files=dict(self._files),
            needs={
                address: Needs(clause.occasion, (address, *(clause.needs or clause.reads)))
                for address, (clause, silent) in chosen.items()
                if silent is None
            },
            lacking=dict(sorted(lacking.items())),
            unread=self._unread,
            unlisted=dict(self._unlisted),
            skipped=self._skipped.all(),
            hosts=None if self._hosts is None else dict(self._hosts),
            forgot=RECENT if self._forgot else None,
            left_out=self._left_out,
            share=self._share,
            activity=None if self._activity is None else dict(self._activity),
            notes=tuple(self._own_notes),
            not_run=not_run,
        )
        return Result(
            target=target,
            taxonomy=f"{taxonomy.name} {taxonomy.version}",
            clauses={
                address: self._result(clause, silent)
                for address, (clause, silent) in chosen.items()
            },
            findings=tuple(self._findings.values()),
            coverage=coverage,
            requests=self.exchanges,
            seconds=seconds,
            errors=self._judged[0] or None,  # a recording of successes is complete
            held=self._judged[1],
            waivers={waiver: self._used[waiver] for waiver in self._waivers},
            part=part,
        )

    def _selects(self, clause: str) -> bool:
        return is_chosen(clause, self._only)

    def _reason_not_checkable(self, clause: Clause) -> str | None:
        """Why the clause does not apply to the taxonomy, or not to observed traffic; None if it
        does.
        """
        silent = clause.reason_not_applicable(self.contract.taxonomy)
        if silent is None and clause.relation and clause.address not in _CHECKABLE_RELATIONS:
            return "the clause needs requests that only `faultspec conform` sends"
        return silent

    def _result(self, clause: Clause, silent: str | None) -> ClauseResult:
        """The counts of a clause. ``silent``: why it cannot be checked."""
        return ClauseResult(
            address=clause.address,
            title=clause.title,
            statements=clause.statements,
            occasions=0 if silent else self._occasions[clause.address],
            failures=self._levels[clause.address, "error"],
            warnings=self._levels[clause.address, "warning"],
            known=self._levels[clause.address, "known"],
            undecided=dict(self._undecided.get(clause.address, {})) if silent is None else {},
            not_checkable=(silent,) if silent is not None else (),
        )

    def _check_relations(self, observation: Observation) -> Iterator[Finding]:
        """Check the relations that need no requests of their own, and count their occasions."""
        lacks = observation.exchange.lacks
        if self._echo is None or not lacks.isdisjoint(self._related):
            return
        for outcome in check_echo(self.contract, self._echo, self.recent, observation):
            yield from self._weigh(outcome, observation)

    def _weigh(self, outcome: Outcome, observation: Observation) -> Iterator[Finding]:
        """Count the occasion of a relation, unless it is one exchange or the crash explains it."""
        finding = outcome.finding
        repeats = finding is not None and outcome.clause == "correlation/unique"
        if repeats and finding is not None and same_exchange(finding.evidence):
            return
        if finding is not None and self._folds and is_crash(observation.judgement):
            self._undecided.setdefault(outcome.clause, Counter())[EXPLAINED] += 1
            return
        self._occasions[outcome.clause] += 1
        if finding is not None:
            yield with_statements(finding, self.contract.clauses)

    def compare_range(self, earlier: RecentIds, uses: Iterable[FirstUse]) -> None:
        """Compare the ids of a range of a recording with those before it, as if both had been
        judged in a row: an id that seemed new in the range may not be. ``earlier`` is changed.
        """
        for number, use in enumerate(uses):
            known = earlier.get(use.id)
            if known is None:
                self._occasions["correlation/unique"] += number == 0 and len(earlier) > 0
            elif self._echo is not None:
                self._occasions["correlation/generated"] -= 1
                self._occasions["correlation/unique"] -= number > 0
                later = earlier.restore_use(use.use)
                outcome = repeated_id(self._echo, known, later)
                for finding in self._weigh(outcome, later):
                    if self._selects(finding.clause):
                        self._add_finding(finding, use.place, use.stamp)
            earlier.keep(use.id, use.use)
        self._forgot = self._forgot or earlier.forgot

    def _add_finding(
        self, finding: Finding, place: str | None, stamp: Stamp, repeats: Repeats | None = None
    ) -> ReportedFinding:
        alone = Repeats(1, (place,) if place is not None else (), place)
        times, places, last, earliest, latest = repeats or alone
        excuse = apply_waivers(finding, self._waivers, self._used, times)
        self._levels[finding.clause, finding.level if excuse is None else "known"] += times
        if excuse is None and finding.level == "error":
            self._count_activity(stamp, Activity(findings=times))
        earliest, latest = earliest or stamp.moment, latest or stamp.moment
        reported = ReportedFinding(
            finding,
            waived=excuse,
            count=times,
            places=places,
            last=last,
            first_seen=earliest,
            last_seen=latest,
        )
        cause, masked = cause_of(reported), None
        name = self._digests.get(cause)
        if name is None:
            # The name of a cause has nothing of sensitive values.
            masked = self._mask(finding)
            name = digest_cause(replace(reported, finding=masked))
            if len(self._digests) < _KEYS:
                self._digests[cause] = name
        reported = replace(reported, cause=name)
        key = (reported.cause, excuse)
        known = self._findings.get(key)
        example = example_key(finding)
        if known is not None and example in self._examples[key]:
            # Most records: nothing has to be masked or compared.
            known_places, last_place = join_texts(known.places, places), last
            if repeats is not None:  # their places may be before those of other records
                known_places = sort_places(known_places)
                last_place = next(reversed(sort_places(filter(None, (known.last, last)))), None)
            self._findings[key] = replace(
                known,
                count=known.count + times,
                places=known_places[:PLACES],
                last=last_place,
                operations=join_texts(known.operations, reported.operations),
                first_seen=min(filter(None, (known.first_seen, earliest)), default=None),
                last_seen=max(filter(None, (known.last_seen, latest)), default=None),
            )
            return replace(known, count=times, places=places, operations=reported.operations)
        if masked is None:
            masked = self._mask(finding)
        new = replace(reported, finding=masked)
        if known is not None:
            if len(self._examples[key]) < _KEYS:
                self._examples[key].add(example)
            self._findings[key] = join_recorded(known, new)
        else:
            self._keep_finding(key, new)
            if key in self._findings:
                self._examples[key] = {example}
        return new

    def _keep_finding(self, key: _Key, new: ReportedFinding) -> None:
        """Keep a finding of a new cause, if it is not among too many. The worst ones are kept."""
        insort(self._ranked, (rank(new), key))
        self._findings[key] = new
        if len(self._ranked) > MOST_FINDINGS:
            _, least = self._ranked.pop()
            dropped = self._findings.pop(least)
            self._examples.pop(least, None)
            self._unlisted[dropped.finding.clause] += dropped.count

    def _count_code(self, observation: Observation, times: int) -> None:
        for code in observation.codes:
            name = covered_code(self.contract, observation.exchange, code)
            self._count_one(observation, name, times)

    def _count_one(self, observation: Observation, code: str, times: int) -> None:
        known = self._codes.get(code) or Coverage(code)
        status, operation = observation.exchange.response.status, observation.exchange.operation
        statuses, operations = known.statuses, known.operations
        if status is not None and status not in statuses:
            statuses = tuple(sorted((*statuses, status)))
        if operation is not None and operation not in operations:
            operations = join_texts(operations, (operation,))
        self._codes[code] = Coverage(code, known.count + times, statuses, operations)

    def _count_host(self, exchange: Exchange, times: int) -> None:
        if self._hosts is not None and "://" in exchange.request.target[:12]:
            host = mask_name(exchange.request.target.split("/", 3)[2].rpartition("@")[2])
            self._hosts[host] = self._hosts.get(host, 0) + times
            self._hosts = limit_hosts(self._hosts)


def _related_facts(echo: EchoRule | None) -> frozenset[str]:
    """The facts that the relations of ids read: a record that lacks one cannot be compared."""
    facts = frozenset({"request", "header-values", "body"})
    return facts if echo is None else facts | {f"headers/{echo.header.lower()}"}
