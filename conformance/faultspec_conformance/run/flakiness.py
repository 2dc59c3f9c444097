"""What failed once is asked again: a failure that does not happen again is flaky."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from faultspec.exchange.finding import Finding
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.probes import PROBES
from faultspec_conformance.run.schedule import ProbeRun, play, title
from faultspec_conformance.run.summarize import Place, place
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.options import RunOptions

#: Clauses of which one failure is proof, however seldom it comes about.
_PROVEN = ("leaks/", "idempotency/concurrent", "correlation/unique")


def flaky_places(
    world: HttpSession, parts: Iterable[ProbeRun], options: RunOptions
) -> frozenset[Place]:
    """Failures that were seen once and not again when the same was asked again: those are flaky.

    The probe that saw one is run once more in a world of its own, on resources of its own; what the sweep saw is sent once
    more where that changes nothing. What was not asked again, for want of a service or of requests, is not called flaky, nor
    is what is proven by once: what got out is out, what was written twice at the same time is there twice, and so is an id that was given
    twice.
    """
    if world.ended is not None:
        return frozenset()
    found = Counter(
        place(failure)
        for failure in failures(world, range(len(world.exchanges)), range(len(world.outcomes)))
    )
    once = {each for each, times in found.items() if times == 1 and not each[0].startswith(_PROVEN)}
    again = anew(world)
    gone: set[Place] = set()
    begun = 0
    for part in parts:
        mine = once & {place(failure) for failure in failures(world, part.exchanges, part.outcomes)}
        begun = part.exchanges.stop
        if not mine:
            continue
        options.progress(f"{part.probe.name} again")
        again.turn = part.turn
        for probe in PROBES:
            if (
                probe.everywhere
                and probe is not part.probe
                and any(each.name not in again.made for each in part.turn)
            ):
                again.begin(title(probe, part.turn), options.seed, again=True)
                play(again, probe)
        again.begin(title(part.probe, part.turn), options.seed, part.probe.name, again=True)
        exchanges, outcomes = len(again.exchanges), len(again.outcomes)
        play(again, part.probe)
        second = range(exchanges, len(again.exchanges)), range(outcomes, len(again.outcomes))
        there = {place(failure) for failure in failures(again, *second)}
        gone |= {
            each
            for each in mine - there
            if occasions(again, each, *second)
            >= occasions(world, each, part.exchanges, part.outcomes)
        }
    for sent in world.exchanges[begun:]:
        mine = once & {
            place(finding) for finding in sent.judgement.findings if finding.level == "error"
        }
        if (
            not mine
            or sent.exchange.transport != "http"
            or sent.exchange.request.method not in SAFE_METHODS
        ):
            continue
        with suppress(Unanswered):
            who = world.target.identity(sent.exchange.identity)
            answer = again.ask(sent.exchange.request, who, route=sent.exchange.route)
            there = {place(finding) for finding in answer.judgement.findings}
            gone |= {each for each in mine - there if each[0] in answer.judgement.exercised}
    return frozenset(gone)


def anew(world: HttpSession) -> HttpSession:
    """A world of the same service in which nothing has been asked yet."""
    return HttpSession(
        world.taxonomy, world.contract, world.target, world.driver, world.description, world.random
    )


def failures(world: HttpSession, exchanges: range, outcomes: range) -> Iterator[Finding]:
    """What was found of level error in these parts of a world."""
    for index in exchanges:
        yield from (
            each for each in world.exchanges[index].judgement.findings if each.level == "error"
        )
    for index in outcomes:
        finding = world.outcomes[index].finding
        if finding is not None and finding.level == "error":
            yield finding


def occasions(world: HttpSession, where: Place, exchanges: range, outcomes: range) -> int:
    """How often a clause could be checked there; a relation that held does not say where, so it counts for every place."""
    clause, operation = where
    seen = [world.exchanges[index] for index in exchanges]
    told = [world.outcomes[index] for index in outcomes]
    answered = sum(
        sent.exchange.operation == operation
        and (clause in sent.judgement.exercised or clause == "service/alive")
        for sent in seen
    )
    return answered + sum(
        each.clause == clause and each.kind in ("held", "broken") for each in told
    )
