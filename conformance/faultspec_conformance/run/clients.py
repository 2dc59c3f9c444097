"""Judging clients: a fault server answers as a taxonomy declares, and the client's next requests
are judged.

The configuration gives the command of a client and the request that it makes. The taxonomy decides
what the client should do: by the client action of the code, its retry policy, its effect,
`Retry-After`, and the idempotency of the request.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random

from faultspec.contract.clauses import client_clauses
from faultspec.contract.keys import carried_key
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Finding, Level
from faultspec.exchange.model import Exchange, Request, Response, first_header
from faultspec.judge import judge
from faultspec.language.model import Code, Taxonomy
from faultspec.language.routes import compile_route
from faultspec.language.values import shorten
from faultspec.runtime.retry import Policy, scale_policy
from faultspec_conformance.config import ClientConfig, ServiceConfig
from faultspec_conformance.drivers import ALL_BODIES, Driver, LoggedRequest
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.drivers.processes import StartFailed, run_process
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.faults.jitter import ROUNDS, Wait, band_positions, judge_jitter, suffice
from faultspec_conformance.faults.replies import Unanswerable, render_failure
from faultspec_conformance.faults.retry_observer import (
    RETRY_AFTER_ONLY,
    Kind,
    RetryReport,
    observe_retries,
)
from faultspec_conformance.faults.script import Fault, Schedule, Script
from faultspec_conformance.faults.server import FaultServer, Served
from faultspec_conformance.results.conclusion import conclude
from faultspec_conformance.results.model import Coverage, Outcome, Report
from faultspec_conformance.run.client_tries import Read, check_refetch, is_refusal, read_try
from faultspec_conformance.run.summarize import build_session_masking, mask_result, summarize
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.correlation import echo_rule, is_valid_id
from faultspec_conformance.session.observation import Observation, not_exercised, passed
from faultspec_conformance.session.observations import Note, NotRun
from faultspec_conformance.session.options import RunOptions, Unreachable, day_of_run

#: The value of the `Retry-After` that the client must observe: the fewest seconds that differ from
#: none.
_WAIT = "1"

#: Tries beyond the allowed number after which a client is stopped: more would show nothing new.
_BEYOND = 3

#: Reads of a client that are kept, the last ones: a client may read without end.
_READS = 1_000

#: Tries to observe if no policy limits them.
_UNLIMITED = 10

#: Seconds between two checks whether a client has ended.
_INTERVAL = 0.01

#: The clause that each departure from a policy breaks.
_CLAUSES: Mapping[Kind, str] = {
    "ineligible": "client/gives-up",
    "unsafe": "client/unsafe",
    "attempts": "client/attempts",
    "abandoned": "client/retries",
    "early": "client/waits",
    "late": "client/waits",
    "hint": "client/retry-after",
}

Launch = Callable[[ClientConfig, str, Callable[[], bool]], str | None]
"""Runs a client against an address until it ends or the function returns true. Raises StartFailed.

Returns why the client was stopped too early, or None.
"""


def judge_clients(
    target: ServiceConfig, taxonomy: Taxonomy, options: RunOptions, launch: Launch | None = None
) -> Report | Unreachable:
    """Judge the clients of a configuration."""
    known = client_clauses(taxonomy)
    applicable = {
        address
        for address, clause in known.items()
        if clause.reason_not_applicable(taxonomy) is None
    }
    folder = Path(target.path or ".").resolve().parent
    start = launch or _create_launch(folder, time.monotonic() + target.limits.seconds)
    waivers = tuple(
        waiver
        for waiver in options.waivers
        if any(fnmatchcase(address, waiver.clause) for address in known)
    )
    interrupted = False
    # The driver sends nothing: the clients send the requests.
    session = Session(build_contract(taxonomy), target, Driver(target.limits))
    try:
        for client in target.clients:
            options.progress(
                f"{' '.join(client.command)} ({client.request.method} {client.request.path})"
            )
            found = _ClientWatch(session, client, start).outcomes()
            session.observations.add(outcome for outcome in found if outcome.clause in applicable)
    except StartFailed as error:
        return Unreachable(str(error), "check `client.command` in the configuration")
    except KeyboardInterrupt:
        interrupted = True
        session.observations.end("the run was interrupted")
    session.driver.requests = len(session.observations.exchanges)
    if session.observations.ended is not None:
        session.observations.add([NotRun(session.observations.ended)])
    summary = summarize(session, known, replace(options, waivers=waivers), frozenset())
    # The errors are those of the fault server.
    result = conclude(replace(summary, errors=None), day_of_run(options), only=options.only)
    result = replace(
        result,
        target=", ".join(" ".join(client.command) for client in target.clients),
        clauses={address: clause for address, clause in result.clauses.items() if address in known},
        coverage={code: _explain(coverage) for code, coverage in result.coverage.items()},
    )
    return Report(
        mask_result(build_session_masking(session), result, session.contract.sensitive),
        base="",
        only=options.only,
        source=target.path,
        interrupted=interrupted,
    )


def _explain(coverage: Coverage) -> Coverage:
    if coverage.explained:
        return coverage
    reason = "no request of the configured clients can have this error as its answer"
    return replace(coverage, reason=None if coverage.observed else reason)


def _create_launch(folder: Path, until: float) -> Launch:
    """``until``: when the time of the run is spent."""

    def launch(client: ClientConfig, url: str, is_done: Callable[[], bool]) -> str | None:
        deadline = time.monotonic() + client.seconds
        left = until - time.monotonic()
        with run_process(client.command, {client.env: url}, folder, left) as started:
            while started.process.poll() is None and not is_done():
                if time.monotonic() > deadline:
                    return f"the client had not ended after {client.seconds:g} s"
                time.sleep(_INTERVAL)
        return None

    return launch


@dataclass(frozen=True, slots=True)
class _ClientRun:
    """One run of a client: its tries of the configured request, its reads of anything else, and why
    it was stopped.
    """

    tries: tuple[Served, ...]
    reads: tuple[Read, ...]
    stopped: str | None


class _ClientWatch:
    """One client, which runs once for each failure of its request."""

    def __init__(self, session: Session, client: ClientConfig, launch: Launch) -> None:
        self.session = session
        self.client = client
        self.launch = launch
        self.clauses = client_clauses(session.taxonomy)
        self.command = " ".join(client.command)
        self.name = f"{client.request.method} {client.request.path}"
        self.operation = f"{client.request.method} {client.request.path.partition('?')[0]}"
        self.waits: dict[str, list[Wait]] = {}
        self.punctual = True
        self.keys: dict[str, Observation] = {}

    @property
    def contract(self) -> Contract:
        """The contract by which the fault server answers."""
        return self.session.contract

    def count_positions(self) -> int:
        """How many waits so far can show jitter."""
        return sum(len(band_positions(waits)) for waits in self.waits.values())

    def outcomes(self) -> Iterator[Outcome]:
        """Run the client for every code, then once more for jitter if necessary."""
        rehearsal = self.run(Script(), 1)
        if self.is_over():
            return
        if not rehearsal.tries:
            reason = rehearsal.stopped or "the client ended without one"
            self.session.observations.add(
                [NotRun(f"{self.command} does not send {self.name}: {reason}")]
            )
            return
        request = rehearsal.tries[0].request
        most, repeated = 0, None
        for code, fault in self.codes(request):
            for variant, times in self.variants(code, fault, request):
                if self.is_over():
                    return
                before = self.count_positions()
                yield from self.play(code, variant, times)
                gained = self.count_positions() - before
                if gained > most:
                    most, repeated = gained, (code, variant)
        yield from self.check_jitter(repeated)

    def is_over(self) -> bool:
        """Whether the time of the run is spent, or its requests have too many bytes. Then the run
        ends, and what the client did last is not judged: it was stopped.
        """
        driver = self.session.driver
        if driver.remaining > 0 and driver.received <= ALL_BODIES:
            return False
        reason = f"the budget of {driver.limits.seconds:g} seconds is spent"
        if driver.received > ALL_BODIES:
            reason = f"the requests of clients have more than {ALL_BODIES // 1024**2} MB"
        self.session.observations.end(reason)
        return True

    def codes(self, request: Request) -> Iterator[tuple[Code, Fault]]:
        """Every code that may answer the request, with the first status that may."""
        operation = self.contract.operation(Exchange(request, Response(None)))
        own = tuple(operation.errors.values()) if operation is not None else ()
        for code in (*own, *self.session.taxonomy.shared_live_codes()):
            is_stale = code.client_action == "refetch"
            for status in (None, *(code.http.allowed_statuses() if is_stale else ())):
                fault = Fault(code.name, status)
                try:
                    answer = render_failure(self.contract, request, fault, "v1")
                except Unanswerable:
                    continue
                if not is_stale or is_refusal(answer.status, request):
                    yield code, fault
                    break

    def variants(
        self, code: Code, fault: Fault, request: Request
    ) -> Iterator[tuple[Fault, int | None]]:
        """The failure without end and without a wait; and once, with a wait, if the client may go
        on.
        """
        answer = render_failure(self.contract, request, fault, "v1")
        claim = self.contract.claim(Exchange(request, answer))
        surface = claim.surface if claim is not None else None
        rules = self.contract.headers(code, answer.status or 0, surface).get("retry-after", ())
        shortest = "0" if any(rule.presence == "required" for rule in rules) else ""
        policy = self.policy(code)
        yield fault._replace(retry_after=shortest), None
        if code.client_action == "refetch":
            yield fault, 1
        if code.client_action == "retry":
            hints = code.details.keys() & {key.name for key in self.session.taxonomy.retry_hints}
            is_asked = bool(rules or hints)
            is_honoured = is_asked and (policy is None or policy.retry_after.honor)
            yield fault._replace(retry_after=_WAIT if is_honoured else shortest), 1

    def policy(self, code: Code) -> Policy | None:
        """The policy of a code, scaled for this client."""
        named = self.session.taxonomy.retry_policies.get(code.retry or "")
        return scale_policy(named.policy, self.client.scale) if named is not None else None

    def run(self, script: Script, expected: int) -> _ClientRun:
        """Run the client once. It is stopped after a few tries more than expected, and once all
        its requests have too many bytes; what it sends until it has ended is not kept.
        """
        schedule = Schedule(script, Random(0))
        tries: list[Served] = []
        reads: deque[Read] = deque(maxlen=_READS)

        driver = self.session.driver

        def is_done() -> bool:
            is_full = driver.received > ALL_BODIES
            return is_full or len(tries) > expected + _BEYOND or driver.remaining <= 0

        def keep(served: Served) -> None:
            if served.due and not is_done():
                tries.append(served)
                driver.received += served.request.size
            elif served.due:
                return
            elif served.request.method in SAFE_METHODS:
                reads.append(Read(served.at, first_header(served.response.headers, "ETag")))

        route = compile_route(self.operation)
        server = FaultServer(self.contract, schedule, route=route, on_served=keep)
        with serving(server) as url:
            stopped = self.launch(self.client, url, is_done)
        return _ClientRun(tuple(tries), tuple(reads), stopped)

    def play(self, code: Code, fault: Fault, times: int | None) -> Iterator[Outcome]:
        """Answer the client with one failure, and judge what it does."""
        policy = self.policy(code)
        limit = policy.max_attempts if policy is not None else None
        played = self.run(Script((fault,), times=times), limit or _UNLIMITED)
        sent = [self.observe(served) for served in played.tries]
        self.session.observations.record(*sent)
        self.log(sent)
        if self.is_over():
            return
        where = f"the server answered {fault}{'' if times is None else ' once'} to {self.name}"
        if not sent:
            reason = f"{self.command} did not send {self.name} when it was to fail with {fault}"
            self.session.observations.add([NotRun(reason)])
            return
        if played.stopped is not None:
            self.session.observations.add([NotRun(f"{where}: {played.stopped}")])
        yield from self.check_correlation_ids(sent)
        if code.client_action == "refetch":
            yield self.judge_refetch(where, played, sent)
            return
        tries = [
            read_try(self.session, code, served, observation)
            for served, observation in zip(played.tries, sent, strict=True)
        ]
        complete = [each for each in tries if each is not None]
        if len(complete) < len(tries):
            reason = (
                f"{where}, and the taxonomy leaves open whether the policy {code.retry} applies"
            )
            yield not_exercised("client/gives-up", reason)
            return
        report = observe_retries(policy or RETRY_AFTER_ONLY, complete, timed=policy is not None)
        if policy is not None:
            self.waits.setdefault(policy.name, []).extend(report.waits)
        yield from self.judge_retries(report, where, sent, is_stopped=played.stopped is not None)
        yield from self.check_keys(where, sent)

    def log(self, received: Sequence[Observation]) -> None:
        """Log the requests of the client."""
        driver = self.session.driver
        for observation in received:
            driver.log.append(LoggedRequest(self.name, self.command))
            self.session.log_answer(driver.log[-1], observation)

    def observe(self, served: Served) -> Observation:
        """A request to the fault server and its answer, with the judgement."""
        exchange = Exchange(served.request, served.response, operation=self.operation)
        return Observation(exchange, judge(self.contract, exchange))

    def breach(
        self, clause: str, message: str, *evidence: Observation, level: Level = "error"
    ) -> Outcome:
        """The clause is broken. The first exchange of the evidence is the failure that was
        played.
        """
        finding = Finding(
            clause,
            message,
            level=level,
            operation=self.name,
            code=evidence[0].code,
            status=evidence[0].status,
            evidence=tuple(observation.exchange for observation in evidence),
        )
        return Outcome(clause, "failed", finding=finding)

    def judge_retries(
        self, report: RetryReport, where: str, sent: Sequence[Observation], *, is_stopped: bool
    ) -> Iterator[Outcome]:
        """The clauses about retries that the tries of one call keep or break."""
        breaches = [
            breach for breach in report.breaches if breach.kind != "abandoned" or not is_stopped
        ]
        broken = {_CLAUSES[breach.kind]: breach for breach in reversed(breaches)}
        self.punctual = self.punctual and "client/waits" not in broken
        for clause in dict.fromkeys(_CLAUSES[kind] for kind in sorted(report.exercised)):
            if clause not in broken:
                yield passed(clause)
        for clause, breach in broken.items():
            # A client that gives up early may have a reason. One that never retries ignores the
            # contract.
            gave_up = breach.kind == "abandoned" and breach.number > 0
            yield self.breach(
                clause,
                f"{where}: {breach.message}",
                *sent[: max(1, breach.number + 1)],
                level="warning" if gave_up else "error",
            )

    def judge_refetch(self, where: str, played: _ClientRun, sent: Sequence[Observation]) -> Outcome:
        """Whether the client reads again between a refusal and its next try, and uses the new
        validator.
        """
        clause = "client/refetches"
        if self.client.request.method in SAFE_METHODS:
            return not_exercised(clause, f"{self.name} only reads")
        problem = check_refetch(played.tries, played.reads)
        if problem is None:
            return passed(clause)
        if problem.number is None:
            return not_exercised(clause, f"{where}, {problem.message}")
        return self.breach(clause, f"{where}, {problem.message}", *sent[: problem.number + 1])

    def check_keys(self, where: str, sent: Sequence[Observation]) -> Iterator[Outcome]:
        """Whether the tries of a call share one idempotency key, which no other call has."""
        rule = self.session.contract.key_rule(sent[0].exchange)
        if rule is None or self.client.request.method not in rule.methods:
            return
        keys = [carried_key(rule.key, observation.exchange) for observation in sent]
        if keys[0] is None:
            return  # client/unsafe judges retries without a key
        earlier = self.keys.setdefault(keys[0], sent[0])
        if len(set(keys)) > 1:
            message = (
                f"{where}: the {len(keys)} tries of one call have {len(set(keys))} values of "
                f"{rule.key}; expected one value"
            )
            yield self.breach("client/key", message, *sent)
        elif earlier is not sent[0]:
            yield self.breach(
                "client/key",
                f"two calls have the same {rule.key}; expected two values",
                earlier,
                sent[0],
            )
        elif len(keys) > 1:
            yield passed("client/key")

    def check_correlation_ids(self, sent: Sequence[Observation]) -> Iterator[Outcome]:
        """Whether the correlation ids of the client have the declared format."""
        echo = echo_rule(self.session.taxonomy)
        if echo is None:
            return
        for observation in sent:
            value = observation.exchange.request_header(echo.header)
            if value is not None and not is_valid_id(echo, value):
                formats = ", ".join(echo.field.schema.format)
                quoted = shorten(value)
                message = f"{echo.header} is `{quoted}`, which does not have the format {formats}"
                yield self.breach("client/correlation", message, observation)
                return
            if value is not None:
                yield passed("client/correlation")

    def check_jitter(self, repeated: tuple[Code, Fault] | None) -> Iterator[Outcome]:
        """Whether the waits are jittered. The failure with most waits is repeated until they
        suffice.
        """
        clause = "client/jitter"
        if self.clauses[clause].reason_not_applicable(self.session.taxonomy) or not self.punctual:
            return
        half = self.session.driver.remaining / 2  # the other clients need time too
        for _ in range(ROUNDS):
            is_spent = self.session.driver.remaining < half
            if repeated is None or is_spent or suffice(self.count_positions()):
                break
            yield from self.play(*repeated, None)
        report = judge_jitter(self.waits, self.client.scale)
        if report.note is not None and report.note not in self.session.observations.notes:
            self.session.observations.add([Note(report.note)])
        for message in report.late:
            yield self.breach("client/waits", message, self.session.observations.exchanges[-1])
        match report.jitter:
            case "unclear":
                yield not_exercised(clause, report.reason)
            case "missing":
                yield self.breach(clause, report.reason, self.session.observations.exchanges[-1])
            case "present":
                yield passed(clause)
