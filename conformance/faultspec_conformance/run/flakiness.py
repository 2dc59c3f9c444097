"""Failures that were observed once are asked for again: a failure that does not happen again is
flaky.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from faultspec.contract import crashes
from faultspec.exchange.finding import Finding
from faultspec_conformance.drivers import LoggedRequest
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.probes import PROBES
from faultspec_conformance.run.schedule import ProbeRun, play, title
from faultspec_conformance.run.summarize import Place, place
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, Unanswered
from faultspec_conformance.session.observations import SWEEP, PartRecord
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.requests import RequestSpec

#: Clauses that one failure proves broken, however seldom it happens: a service crashed, a value
#: leaked, a resource exists twice, two answers have one id.
_PROVEN = (
    *(crashes.CLAUSE, "leaks/", "correlation/unique"),
    *("idempotency/concurrent", "duplicates/concurrent", "preconditions/concurrent"),
    "provoke/parallel",
)

#: Failures of the boundary between tenants by which an answer shows what another one has. A list
#: that has grown may show other items first when it is asked again.
_SHOWN = frozenset({"list", "page", "cursor", "filter", "shown"})

#: Clauses about input that the document forbids. Once accepted, it is accepted.
_FORBIDDEN = frozenset({"framework/invalid-input", "framework/malformed-json"})

#: Statuses of refusals that concern the moment or the caller, not the request. So does 401.
_REFUSALS = frozenset({429, 502, 503, 504})

#: One of this many requests of the limit is kept for asking again, whatever the run needed before.
RESERVE = 10


def flaky_places(
    session: HttpSession, runs: Iterable[ProbeRun], options: RunOptions
) -> frozenset[Place]:
    """Return the places of failures that were observed once, and not when the same was asked again.

    The probe that observed such a failure is played once more in a new session, on resources of its
    own. Requests of the sweep are sent once more if they change nothing. A failure is flaky only if
    the same occasion came again, and the answer was right. Another refusal in its place proves
    nothing, and neither does a request that could not be sent.
    """
    if session.observations.ended is not None:
        return frozenset()
    failures = [one for part in session.observations.parts for one in part.failures()]
    counts = Counter(map(place, failures))
    once = {place(one) for one in failures if counts[place(one)] == 1 and not _is_proven(one)}
    again = renew_session(session)
    driver = session.driver
    limits = driver.limits
    # The same number in every run, so that the verdict does not depend on how many are left.
    most = driver.requests + session.config.limits.requests // RESERVE
    driver.limits = replace(limits, requests=min(most, session.config.limits.requests))
    try:
        with driver.log_as("confirm"):
            return _find_gone(again, session, runs, once=once, options=options)
    finally:
        driver.limits = limits


def _is_proven(failure: Finding) -> bool:
    """Whether one occurrence proves that a clause is broken."""
    accepted = failure.status is not None and failure.status < 400
    is_shown = failure.clause.startswith("tenancy/") and failure.variant in _SHOWN
    is_accepted = failure.clause in _FORBIDDEN and accepted
    return failure.clause.startswith(_PROVEN) or is_shown or is_accepted


def _find_gone(
    again: HttpSession,
    session: HttpSession,
    runs: Iterable[ProbeRun],
    *,
    once: set[Place],
    options: RunOptions,
) -> frozenset[Place]:
    gone: set[Place] = set()
    for run in runs:
        gone |= _repeat_probe(again, run, once & _places(run.record), options)
    for part in session.observations.parts:
        for observation in part.exchanges if part.name == SWEEP else ():
            gone |= _repeat_request(again, observation, once)
    return frozenset(gone)


def renew_session(session: HttpSession) -> HttpSession:
    """Return a session with the same service that has observed nothing yet."""
    return HttpSession(
        session.contract,
        session.config,
        session.driver,
        session.description,
        hold=session.hold,
        logins=session.logins,
    )


def _repeat_probe(
    again: HttpSession, run: ProbeRun, once: set[Place], options: RunOptions
) -> set[Place]:
    """Play a probe again; return the places of failures that it could have observed again and did
    not.
    """
    if not once:
        return set()
    options.progress(f"{run.probe.name} again")
    again.turn = run.turn
    first = list(again.driver.log)
    for probe in PROBES:
        needed = any(not again.knowledge.has_attempted(kind) for kind in run.turn)
        if probe.everywhere and probe is not run.probe and needed:
            again.begin(title(probe, run.turn), options.seed, again=True)
            play(again, probe)
    record = again.begin(title(run.probe, run.turn), options.seed, run.probe.name, again=True)
    play(again, run.probe)
    second = again.driver.log[len(first) :]
    return {
        where
        for where in once - _places(record)
        if _has_held_again(run.record, record, where)
        and _count_decided(second, record, where) >= _count_decided(first, record, where)
    }


def _repeat_request(again: HttpSession, observation: Observation, once: set[Place]) -> set[Place]:
    """Send a request of the sweep again; return the places of failures that its answer could have
    had and did not.
    """
    exchange = observation.exchange
    findings = observation.judgement.findings
    failures = once & {place(finding) for finding in findings if finding.level == "error"}
    if not failures or exchange.transport != "http" or exchange.request.method not in SAFE_METHODS:
        return set()
    with suppress(Unanswered):
        caller = again.config.identity(exchange.identity)
        method, target = exchange.request.method, exchange.request.target
        again.driver.part = SWEEP
        spec = RequestSpec(method, exchange.route or target, caller, route=exchange.route)
        answer = again.ask(exchange.request, spec)
        missing = failures - {place(finding) for finding in answer.judgement.findings}
        return {where for where in missing if _is_occasion(answer, observation, where[0])}
    return set()


def _places(record: PartRecord) -> set[Place]:
    return {place(failure) for failure in record.failures()}


def _has_held_again(first: PartRecord, again: PartRecord, where: Place) -> bool:
    """Whether the second record has the occasion of a failure of the first as often, and the clause
    held.

    A relation that held has no place, so each counts.
    """
    clause, operation = where
    relations = [_count_relations(record, clause) for record in (first, again)]
    failing = [
        observation
        for observation in first.exchanges
        if any(place(finding) == where for finding in observation.judgement.findings)
    ]
    if not failing:
        if clause == "service/alive":
            return _count_answers(again, operation) > _count_answers(first, operation)
        return relations[1] >= relations[0]
    occasions = [
        sum(_is_occasion(observation, failing[0], clause) for observation in record.exchanges)
        for record in (first, again)
    ]
    return occasions[1] >= occasions[0]


def _count_relations(record: PartRecord, clause: str) -> int:
    return sum(outcome.clause == clause and outcome.is_decided for outcome in record.outcomes)


def _count_decided(log: Iterable[LoggedRequest], record: PartRecord, where: Place) -> int:
    """How many requests of the part decided the clause on the operation. Another refusal in place
    of an answer decides nothing.
    """
    clause, operation = where
    return sum(
        entry.part == record.name and entry.operation == operation and clause in entry.decided
        for entry in log
    )


def _count_answers(record: PartRecord, operation: str | None) -> int:
    """How many answers an operation gave, without refusals that an ordinary request does not
    get.
    """
    return sum(
        observation.exchange.operation == operation
        and observation.status not in _REFUSALS
        and not (observation.status == 401 and observation.exchange.identity is not None)
        for observation in record.exchanges
    )


def _is_occasion(observation: Observation, failing: Observation, clause: str) -> bool:
    """Whether an answer met the occasion of a failing one: the same operation, surface and class of
    status, and no refusal of another kind. The clause of a status asks for the same code instead.
    """
    answer, failed = observation.exchange, failing.exchange
    if answer.operation != failed.operation or clause not in observation.judgement.exercised:
        return False
    if observation.judgement.surface != failing.judgement.surface:
        return False
    if clause == "code/status" and failing.code is not None:
        return observation.code == failing.code
    refused = observation.status in _REFUSALS | {401} and observation.status != failing.status
    return observation.status // 100 == failing.status // 100 and not refused
