"""Accumulating the judgements of exchanges that the suite did not send.

Each exchange is judged and dropped. The accumulator keeps counts, and the first example of each
finding, masked. So its memory does not grow with the length of a recording.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace

from faultspec.contract.clauses import Clause, is_chosen
from faultspec.contract.crashes import CLAUSE, EXPLAINED, is_crash, without_consequences
from faultspec.contract.model import Contract
from faultspec.exchange.finding import Finding, Judgement, Level
from faultspec.exchange.model import Exchange
from faultspec.judge import judge
from faultspec.openapi.service import Description
from faultspec_conformance.observed.memory import OperationNames, RecentIds, same_exchange
from faultspec_conformance.results.code_coverage import coverable_codes, covered_code
from faultspec_conformance.results.findings import (
    Cause,
    cause_of,
    example_key,
    join_texts,
    sort_findings,
)
from faultspec_conformance.results.model import ClauseResult, Coverage, ReportedFinding, Result
from faultspec_conformance.results.waivers import Waiver, apply_waivers
from faultspec_conformance.run.summarize import count_judged, with_statements
from faultspec_conformance.sanitize.traffic_secrets import mask_recorded
from faultspec_conformance.session.correlation import check_echo, echo_rule, excuse_uuid_version
from faultspec_conformance.session.observation import Observation, stream_errors

#: Distinct findings that are kept. Nobody reads more, and a recording can contain any number.
_FINDINGS = 2_000

#: Reasons of skipping that are listed one by one.
_SKIPPED = 20

#: Hosts that are counted one by one.
_HOSTS = 50

#: Facts that a recording may leave out, in words. Other facts are called by their name.
_FACTS: Mapping[str, str] = {
    "request": "the request",
    "operation": "the operation",
    "headers": "the header fields",
    "header-values": "the header fields",
    "body": "the body",
    "shape": "the body",
    "code": "the code",
    "flag": "the retriable flag",
    "boundary": "the boundary",
    "details": "the details",
    "detail-values": "the details",
    "ids": "the ids",
    "message": "the message",
    "identity": "the caller",
    "elapsed": "the duration",
}

#: Relations between answers that can be checked without sending requests.
_CHECKABLE_RELATIONS = frozenset(
    {"correlation/echo", "correlation/generated", "correlation/unique"}
)


class Accumulator:
    """The counts and findings of the exchanges so far. Not thread-safe.

    ``crashes``: the level of findings of ``service/no-crash``. Nobody knows of a recorded crash
    whether somebody brought it about.
    """

    def __init__(
        self,
        contract: Contract,
        *,
        waivers: tuple[Waiver, ...] = (),
        only: str | None = None,
        description: Description | None = None,
        crashes: Level = "error",
    ) -> None:
        self.contract = contract
        self.exchanges = 0
        self._waivers = waivers
        self._only = only
        self._crashes = crashes
        self._folds = crashes == "error" and self._selects(CLAUSE)
        self._operations = OperationNames(description)
        self._echo = echo_rule(contract.taxonomy)
        self._sensitive = contract.sensitive
        self._wires = frozenset(
            code.wire
            for code in contract.taxonomy.shared_live_codes()
            if isinstance(code.wire, str)
        )
        self._recent = RecentIds()
        self._unread = 0
        self._occasions: Counter[str] = Counter()
        self._undecided: dict[str, Counter[str]] = {}
        self._judged = (0, 0)
        self._errors: Counter[frozenset[str]] = Counter()
        self._levels: Counter[tuple[str, str]] = Counter()
        self._used: Counter[Waiver] = Counter()
        self._causes: dict[Hashable, Cause] = {}
        self._unlisted: Counter[str] = Counter()
        self._codes: dict[str, Coverage] = {}
        self._skipped: dict[tuple[str, str], tuple[int, str]] = {}
        self._hosts: Counter[str] = Counter()
        self._own_notes: list[str] = []

    def add(self, exchange: Exchange, place: str | None = None) -> tuple[ReportedFinding, ...]:
        """Judge one exchange and count it; return its findings, masked. ``place``: where it is
        recorded.
        """
        self.exchanges += 1
        exchange = self._operations.name(exchange)
        inner = tuple(
            Observation(part, self._judge(part)) for part in stream_errors(exchange, self._wires)
        )
        judgement = excuse_uuid_version(self._echo, exchange, self._judge(exchange))
        self._count_host(exchange)
        found: list[Finding] = []
        for observation in (Observation(exchange, judgement, inner), *inner):
            self._occasions.update(observation.judgement.exercised)
            for address, reason in observation.judgement.undecided.items():
                self._undecided.setdefault(address, Counter())[reason] += 1
            self._errors[observation.exchange.lacks] += observation.judgement.is_error
            is_cut = observation.exchange.response.cut is not None
            self._unread += observation.judgement.is_error and is_cut
            errors, held = count_judged((observation,))
            self._judged = (self._judged[0] + errors, self._judged[1] + held)
            found += (
                replace(finding, level=self._crashes) if finding.clause == CLAUSE else finding
                for finding in observation.judgement.findings
            )
            found += self._check_relations(observation)
            self._count_code(observation)
        return tuple(
            self._add_finding(finding, place) for finding in found if self._selects(finding.clause)
        )

    def _judge(self, exchange: Exchange) -> Judgement:
        """Judge one exchange. Only a crash that fails the audit replaces its other findings."""
        judgement = judge(self.contract, exchange)
        return without_consequences(judgement) if self._folds else judgement

    def start_recording(self) -> None:
        """Begin another recording. It may repeat exchanges of earlier ones, so their ids are
        forgotten.
        """
        self._recent.clear()

    def skip(self, place: str, reason: str) -> None:
        """Count a record that is not judged."""
        file = place.rpartition(":")[0]
        listed = (file, reason) in self._skipped or len(self._skipped) < _SKIPPED
        key = (file, reason if listed else "")
        count, first = self._skipped.get(key, (0, place))
        self._skipped[key] = (count + 1, first)

    def note(self, text: str) -> None:
        """Add a note to the result."""
        self._own_notes.append(text)

    def result(self, target: str, *, seconds: float = 0.0, not_run: tuple[str, ...] = ()) -> Result:
        """Everything so far, masked. `conclude` is left to do."""
        taxonomy = self.contract.taxonomy
        clauses = {
            address: self._result(clause, clause.reason_not_applicable(taxonomy))
            for address, clause in self.contract.clauses.items()
            if self._selects(address)
        }
        coverage = {
            name: self._codes.get(name) or Coverage(name, reason="no observed answer has it")
            for name in coverable_codes(taxonomy)
        }
        return Result(
            target=target,
            taxonomy=f"{taxonomy.name} {taxonomy.version}",
            clauses=clauses,
            findings=sort_findings(cause.report() for cause in self._causes.values()),
            coverage=coverage,
            requests=self.exchanges,
            seconds=seconds,
            notes=tuple(self._notes()),
            not_run=(*not_run, *self._describe_unread()),
            errors=self._judged[0] or None,  # a recording of successes is complete
            held=self._judged[1],
            waivers={waiver: self._used[waiver] for waiver in self._waivers},
        )

    def _selects(self, clause: str) -> bool:
        return is_chosen(clause, self._only)

    def _result(self, clause: Clause, silent: str | None) -> ClauseResult:
        """The counts of a clause. ``silent``: why it does not apply to the taxonomy."""
        if silent is None and clause.relation and clause.address not in _CHECKABLE_RELATIONS:
            silent = "the clause needs requests that only `faultspec conform` sends"
        unexercised = (
            self._explain_missing_facts(clause)
            or f"no observed exchange allowed the suite to check it; needed: {clause.occasion}"
        )
        return ClauseResult(
            address=clause.address,
            title=clause.title,
            statements=clause.statements,
            occasions=0 if silent else self._occasions[clause.address],
            failures=self._levels[clause.address, "error"],
            warnings=self._levels[clause.address, "warning"],
            known=self._levels[clause.address, "known"],
            undecided=dict(self._undecided.get(clause.address, {})) if silent is None else {},
            not_exercised=(unexercised,) if silent is None else (),
            not_checkable=(silent,) if silent is not None else (),
        )

    def _explain_missing_facts(self, clause: Clause) -> str | None:
        """The parts of an exchange that the clause needs and all records of errors lack; None if
        one is complete enough.
        """
        lacking = [lacks for lacks, times in self._errors.items() if times]
        if not lacking or any(clause.judgeable(lacks) for lacks in lacking):
            return None
        facts = sorted(frozenset.union(*lacking) & {*(clause.needs or clause.reads)})
        words = dict.fromkeys(_FACTS.get(fact, f"the {fact}") for fact in facts)
        count = sum(self._errors.values())
        records = f"the records of {count} observed errors leave out"
        if count == 1:
            records = "the record of the one observed error leaves out"
        missing = " and ".join(words) or "the value it takes"
        return f"{records} {missing}; needed: {clause.occasion}"

    def _check_relations(self, observation: Observation) -> Iterator[Finding]:
        """Check the relations that need no requests of their own, and count their occasions."""
        lacks = observation.exchange.lacks
        if self._echo is None or not lacks.isdisjoint(
            ("request", "header-values", "body", f"headers/{self._echo.header.lower()}")
        ):
            return
        outcomes = check_echo(self.contract, self._echo, self._recent, observation)
        for outcome in outcomes:
            finding = outcome.finding
            repeats = finding is not None and outcome.clause == "correlation/unique"
            if repeats and finding is not None and same_exchange(finding.evidence):
                continue
            if finding is not None and self._folds and is_crash(observation.judgement):
                self._undecided.setdefault(outcome.clause, Counter())[EXPLAINED] += 1
                continue
            self._occasions[outcome.clause] += 1
            if finding is not None:
                yield with_statements(finding, self.contract.clauses)

    def _add_finding(self, finding: Finding, place: str | None) -> ReportedFinding:
        excuse = apply_waivers(finding, self._waivers, self._used)
        self._levels[finding.clause, finding.level if excuse is None else "known"] += 1
        places = (place,) if place is not None else ()
        reported = ReportedFinding(finding, waived=excuse, places=places)
        key = cause_of(reported)
        cause = self._causes.get(key)
        example = example_key(finding)
        if cause is not None and not cause.needs(finding, example):
            # Most records: nothing has to be masked.
            again = replace(reported, finding=cause.shown, examples=())
            cause.count(again)
            return again
        masked = mask_recorded(finding.evidence, self._sensitive).finding(finding)
        new = replace(reported, finding=masked, examples=())
        if cause is not None:
            cause.add_example(new, example)
        elif len(self._causes) < _FINDINGS:
            self._causes[key] = Cause(new)
            self._causes[key].add_example(new, example)
        else:
            self._unlisted[finding.clause] += 1
        return new

    def _count_code(self, observation: Observation) -> None:
        for code in observation.codes:
            self._count_one(observation, covered_code(self.contract, observation.exchange, code))

    def _count_one(self, observation: Observation, code: str) -> None:
        known = self._codes.get(code) or Coverage(code)
        status, operation = observation.exchange.response.status, observation.exchange.operation
        statuses, operations = known.statuses, known.operations
        if status is not None and status not in statuses:
            statuses = tuple(sorted((*statuses, status)))
        if operation is not None and operation not in operations:
            operations = join_texts(operations, (operation,))
        self._codes[code] = Coverage(code, known.count + 1, statuses, operations)

    def _count_host(self, exchange: Exchange) -> None:
        if "://" in exchange.request.target[:12]:
            host = exchange.request.target.split("/", 3)[2].rpartition("@")[2]
            if host in self._hosts or len(self._hosts) < _HOSTS:
                self._hosts[host] += 1

    def _describe_unread(self) -> Iterator[str]:
        """That errors were not judged by their bodies, though these came: a service must not pass
        with errors that nobody can read. The reasons may quote the service, and are left out.
        """
        if self._unread:
            errors = f"{self._unread} errors are not judged by their bodies, which are"
            if self._unread == 1:
                errors = "1 error is not judged by its body, which is"
            yield (
                f"{errors} longer than errors are, came with too many others, or cannot be decoded"
            )

    def _notes(self) -> Iterator[str]:
        yield from self._own_notes
        if len(self._hosts) > 1:
            most = ", ".join(f"{host} ({count})" for host, count in self._hosts.most_common(4))
            yield (
                f"answers of {len(self._hosts)} hosts were judged by one taxonomy: {most}; "
                "`faultspec audit --base URL` keeps one host"
            )
        for (file, reason), (count, first) in self._skipped.items():
            where = first if count == 1 else f"{count} records of {file}, the first at {first}"
            yield f"skipped {where}: {reason or 'other reasons'}"
        for clause, count in self._unlisted.items():
            yield f"{count} more findings of {clause} are not listed"
