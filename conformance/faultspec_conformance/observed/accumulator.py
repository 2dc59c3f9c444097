"""What is learnt from exchanges that the suite did not send: recorded ones, and those of a team's own tests.

Each is judged as it comes and forgotten; what is kept are counts, and the first example of each finding, already masked. So
the memory that a recording takes does not depend on its length.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from faultspec.contract.clauses import Clause
from faultspec.contract.model import Contract, paths_of
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange
from faultspec.judge import judge
from faultspec.openapi.service import Description
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    ReportedFinding,
    Result,
    both,
    ranked,
)
from faultspec_conformance.results.waivers import Waiver, excused
from faultspec_conformance.run.summarize import with_statements
from faultspec_conformance.sanitize.traffic_secrets import hiding
from faultspec_conformance.session.correlation import check_echo, echo_rule, lenient
from faultspec_conformance.session.observation import Observation, streamed

_RECENT = 10_000
"""Generated ids among which each must be unique. A service that repeats one soon repeats it often."""

_SHORT = 4096
"""Bytes of a body that are kept with a recent id."""

_FINDINGS = 2_000
"""Distinct findings that are kept: nobody reads more, and what is recorded could make any number of them."""

_SKIPPED = 20
"""Reasons of skipping that are told one by one."""

_HOSTS = 50
"""Hosts that are told apart."""

_FACTS: Mapping[str, str] = {
    "request": "what was asked, which an answer may repeat",
    "operation": "which operation it was",
    "headers": "their header fields",
    "header-values": "their header fields",
    "body": "their bodies",
    "shape": "their bodies",
    "code": "their codes",
    "flag": "whether they say that they are retriable",
    "boundary": "their boundaries",
    "details": "their details",
    "detail-values": "their details",
    "ids": "their ids",
    "message": "their messages",
    "identity": "who called",
    "elapsed": "how long they took",
}
"""What records may not say of errors, in words; of any other fact its name."""

_SEEN_IN_RECORDINGS = frozenset({"correlation/echo", "correlation/generated", "correlation/unique"})
"""Relations that can be read without a request of one's own."""


class Accumulator:
    """Counts what it is shown. Not to be shared by threads."""

    def __init__(
        self,
        contract: Contract,
        *,
        waivers: tuple[Waiver, ...] = (),
        only: str | None = None,
        description: Description | None = None,
    ) -> None:
        self.contract = contract
        self.exchanges = 0
        self._waivers = waivers
        self._only = only
        self._located = (
            _Located(description) if description is not None and description.operations else None
        )
        self._echo = echo_rule(contract.taxonomy)
        self._wires = frozenset(
            code.wire for code in contract.taxonomy.live_codes() if isinstance(code.wire, str)
        )
        self._recent = _Recent()
        self._occasions: Counter[str] = Counter()
        self._errors: Counter[frozenset[str]] = Counter()
        self._levels: Counter[tuple[str, str]] = Counter()
        self._used: Counter[Waiver] = Counter()
        self._findings: dict[str, ReportedFinding] = {}
        self._more: Counter[str] = Counter()
        self._codes: dict[str, Coverage] = {}
        self._skipped: dict[tuple[str, str], tuple[int, str]] = {}
        self._hosts: Counter[str] = Counter()

    def see(self, exchange: Exchange, place: str | None = None) -> tuple[ReportedFinding, ...]:
        """Judge one exchange and add it; what is wrong with it, masked. ``place``: where it is recorded."""
        self.exchanges += 1
        if self._located is not None and exchange.transport == "http" and exchange.route is None:
            exchange = self._located.exchange(exchange)
        inner = tuple(
            Observation(each, judge(self.contract, each))
            for each in streamed(exchange, self._wires)
        )
        sent = Observation(
            exchange, lenient(self._echo, exchange, judge(self.contract, exchange)), inner
        )
        self._host(exchange)
        found: list[Finding] = []
        for each in (sent, *inner):
            self._occasions.update(each.judgement.exercised)
            self._errors[each.exchange.lacks] += each.judgement.is_error
            found += each.judgement.findings
            found += self._relations(each)
            self._covered(each)
        return (
            tuple(self._added(each, place) for each in found if self._asked(each.clause))
            if found
            else ()
        )

    def next_recording(self) -> None:
        """What comes next was recorded elsewhere, maybe of the same exchanges: their ids are not compared with earlier ones."""
        self._recent.clear()

    def skip(self, place: str, reason: str) -> None:
        """Count something that is not judged."""
        file = place.rpartition(":")[0]
        key = (
            file,
            reason if (file, reason) in self._skipped or len(self._skipped) < _SKIPPED else "",
        )
        count, first = self._skipped.get(key, (0, place))
        self._skipped[key] = (count + 1, first)

    def result(self, target: str, *, seconds: float = 0.0, not_run: tuple[str, ...] = ()) -> Result:
        """Everything that was seen until now, masked, and not `settled`."""
        known, taxonomy = self.contract.clauses, self.contract.taxonomy
        results = {
            address: self._result(clause, clause.not_applicable(taxonomy))
            for address, clause in known.items()
            if self._asked(address)
        }
        return Result(
            target=target,
            taxonomy=f"{taxonomy.name} {taxonomy.version}",
            clauses=results,
            findings=ranked(self._findings.values()),
            coverage={
                code.name: self._codes.get(
                    code.name, Coverage(code.name, reason="nothing that was seen has it")
                )
                for code in taxonomy.live_codes()
            },
            requests=self.exchanges,
            seconds=seconds,
            notes=tuple(self._notes()),
            not_run=not_run,
            waivers={waiver: self._used[waiver] for waiver in self._waivers},
        )

    # ---- inside

    def _asked(self, clause: str) -> bool:
        return self._only is None or fnmatchcase(clause, self._only)

    def _result(self, clause: Clause, silent: str | None) -> ClauseResult:
        """The counts of a clause. ``silent``: why the taxonomy gives it no meaning."""
        if silent is None and clause.relation and clause.address not in _SEEN_IN_RECORDINGS:
            silent = "it takes requests of one's own, which `faultspec conform` sends"
        return ClauseResult(
            address=clause.address,
            title=clause.title,
            statements=clause.statements,
            occasions=self._occasions[clause.address],
            failures=self._levels[clause.address, "error"],
            warnings=self._levels[clause.address, "warning"],
            known=self._levels[clause.address, "known"],
            not_exercised=(
                self._untold(clause) or f"nothing that was seen gave occasion: {clause.occasion}",
            )
            if silent is None
            else (),
            not_checkable=(silent,) if silent is not None else (),
        )

    def _untold(self, clause: Clause) -> str | None:
        """Why no error that was seen is an occasion, where it is for what their records do not say."""
        lacking = [lacks for lacks, times in self._errors.items() if times]
        if not lacking or any(clause.judgeable(each) for each in lacking):
            return None
        facts = sorted(frozenset.union(*lacking) & {*(clause.needs or clause.reads)})
        words = (
            " and ".join(dict.fromkeys(_FACTS.get(each, f"the {each}") for each in facts))
            or "the value it takes"
        )
        errors = sum(self._errors.values())
        said = (
            "the record of the one error that was seen does"
            if errors == 1
            else f"the records of {errors} errors do"
        )
        return f"{said} not say {words}; it takes: {clause.occasion}"

    def _relations(self, sent: Observation) -> Iterator[Finding]:
        lacks = sent.exchange.lacks
        if self._echo is None or not lacks.isdisjoint(("request", "header-values", "body")):
            return
        if f"headers/{self._echo.header.lower()}" in lacks:
            return
        for outcome in check_echo(self.contract.taxonomy, self._echo, self._recent, sent):
            finding = outcome.finding
            if (
                outcome.clause == "correlation/unique"
                and finding is not None
                and _same(finding.evidence)
            ):
                continue  # one exchange that was recorded twice
            self._occasions[outcome.clause] += 1
            if finding is not None:
                yield with_statements(finding, self.contract.clauses)

    def _added(self, finding: Finding, place: str | None) -> ReportedFinding:
        excuse = excused(finding, self._waivers, self._used)
        self._levels[finding.clause, finding.level if excuse is None else "known"] += 1
        places = (place,) if place is not None else ()
        key = finding.fingerprint
        known = self._findings.get(key)
        if known is not None:
            again = replace(known, count=1, places=places)
            self._findings[key] = both(known, again)
            return again
        masked = hiding(finding.evidence).finding(finding)
        new = ReportedFinding(masked, waived=excuse, places=places)
        if len(self._findings) < _FINDINGS:
            self._findings[key] = new
        else:
            self._more[finding.clause] += 1
        return new

    def _covered(self, sent: Observation) -> None:
        if sent.code is None:
            return
        known = self._codes.get(sent.code) or Coverage(sent.code)
        status, operation = sent.exchange.response.status, sent.exchange.operation
        if (
            known.count
            and status in (None, *known.statuses)
            and operation in (None, *known.operations)
        ):
            self._codes[sent.code] = replace(known, count=known.count + 1)
            return
        statuses = {*known.statuses, *((status,) if status is not None else ())}
        operations = (*known.operations, *((operation,) if operation is not None else ()))
        self._codes[sent.code] = Coverage(
            sent.code, known.count + 1, tuple(sorted(statuses)), tuple(dict.fromkeys(operations))
        )

    def _host(self, exchange: Exchange) -> None:
        if "://" in exchange.request.target[:12]:
            host = exchange.request.target.split("/", 3)[2].rpartition("@")[2]
            if host in self._hosts or len(self._hosts) < _HOSTS:
                self._hosts[host] += 1

    def _notes(self) -> Iterator[str]:
        if len(self._hosts) > 1:
            most = ", ".join(f"{host} ({count})" for host, count in self._hosts.most_common(4))
            yield f"what {len(self._hosts)} hosts answered was judged by one taxonomy: {most}; `faultspec audit --base URL` keeps one"
        for (file, reason), (count, first) in self._skipped.items():
            where = first if count == 1 else f"{count} records of {file}, the first at {first}"
            yield f"skipped {where}: {reason or 'other reasons'}"
        for clause, count in self._more.items():
            yield f"{count} more findings of {clause} are not listed"


class _Recent(OrderedDict[str, Observation]):
    """The last ids that were generated, each with as much of its exchange as a report would show."""

    def __setitem__(self, key: str, sent: Observation) -> None:
        exchange = sent.exchange
        short = replace(
            exchange,
            request=replace(exchange.request, body=exchange.request.body[:_SHORT]),
            response=replace(exchange.response, body=exchange.response.body[:_SHORT]),
        )
        super().__setitem__(key, Observation(short, sent.judgement))
        if len(self) > _RECENT:
            self.popitem(last=False)


def _same(evidence: Iterable[Exchange]) -> bool:
    """Whether the exchanges are one: what asks and answers alike, to the byte, was recorded twice."""
    parts = [
        (
            exchange_.request.method,
            exchange_.request.target,
            exchange_.request.body[:_SHORT],
            exchange_.response.status,
            exchange_.response.headers,
            exchange_.response.body[:_SHORT],
        )
        for exchange_ in evidence
    ]
    return all(part == parts[0] for part in parts)


@dataclass(slots=True)
class _Located:
    """Finds the operation of a concrete path; ``known`` are answers already given."""

    description: Description
    known: dict[tuple[str, str], str | None] | None = None

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange with the template of its path, where the document has one."""
        self.known = {} if self.known is None or len(self.known) > _RECENT else self.known
        key = (exchange.request.method.upper(), paths_of(exchange)[-1])
        if key not in self.known:
            operation = self.description.at(*key)
            self.known[key] = operation.template if operation is not None else None
        template = self.known[key]
        return (
            exchange
            if template is None
            else replace(exchange, route=template, operation=f"{key[0]} {template}")
        )
