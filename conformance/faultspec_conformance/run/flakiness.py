"""Failures that were observed once are asked for again: a failure that does not happen again is
flaky.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.probes import PROBES
from faultspec_conformance.run.schedule import ProbeRun, play, title
from faultspec_conformance.run.summarize import Place, place
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, Unanswered
from faultspec_conformance.session.observations import SWEEP, PartRecord
from faultspec_conformance.session.options import RunOptions

#: Clauses that one failure proves broken, however seldom it happens: a service crashed, a value
#: leaked, a resource exists twice, two answers have one id.
_PROVEN = ("service/no-crash", "leaks/", "idempotency/concurrent", "correlation/unique")


def flaky_places(
    session: HttpSession, runs: Iterable[ProbeRun], options: RunOptions
) -> frozenset[Place]:
    """Return the places of failures that were observed once, and not when the same was asked again.

    The probe that observed such a failure is played once more in a new session, on resources of its
    own. Requests of the sweep are sent once more if they change nothing. A failure is not flaky if
    it could not be asked for again, for want of a service or of requests.
    """
    if session.observations.ended is not None:
        return frozenset()
    parts = session.observations.parts
    counts = Counter(place(failure) for part in parts for failure in part.failures())
    once = {
        where for where, times in counts.items() if times == 1 and not where[0].startswith(_PROVEN)
    }
    again = anew(session)
    gone: set[Place] = set()
    for run in runs:
        gone |= _gone_of_probe(again, run, once & _places(run.record), options)
    for part in parts:
        for observation in part.exchanges if part.name == SWEEP else ():
            gone |= _gone_of_request(again, observation, once)
    return frozenset(gone)


def anew(session: HttpSession) -> HttpSession:
    """Return a session with the same service that has observed nothing yet."""
    return HttpSession(
        session.contract,
        session.config,
        session.driver,
        session.description,
        hold=session.hold,
    )


def _gone_of_probe(
    again: HttpSession, run: ProbeRun, once: set[Place], options: RunOptions
) -> set[Place]:
    """Play a probe again; return the places of failures that it could have observed again and did
    not.
    """
    if not once:
        return set()
    options.progress(f"{run.probe.name} again")
    again.turn = run.turn
    for probe in PROBES:
        needed = any(not again.knowledge.attempted(kind) for kind in run.turn)
        if probe.everywhere and probe is not run.probe and needed:
            again.begin(title(probe, run.turn), options.seed, again=True)
            play(again, probe)
    record = again.begin(title(run.probe, run.turn), options.seed, run.probe.name, again=True)
    play(again, run.probe)
    return {
        where
        for where in once - _places(record)
        if _occasions(record, where) >= _occasions(run.record, where)
    }


def _gone_of_request(again: HttpSession, observation: Observation, once: set[Place]) -> set[Place]:
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
        judgement = again.ask(exchange.request, caller, route=exchange.route).judgement
        missing = failures - {place(finding) for finding in judgement.findings}
        return {where for where in missing if where[0] in judgement.exercised}
    return set()


def _places(record: PartRecord) -> set[Place]:
    return {place(failure) for failure in record.failures()}


def _occasions(record: PartRecord, where: Place) -> int:
    """Return how often a part could check a clause there.

    A relation that held has no place, so it counts for each.
    """
    clause, operation = where
    answered = sum(
        observation.exchange.operation == operation
        and (clause in observation.judgement.exercised or clause == "service/alive")
        for observation in record.exchanges
    )
    return answered + sum(
        outcome.clause == clause and outcome.kind in ("passed", "failed")
        for outcome in record.outcomes
    )
