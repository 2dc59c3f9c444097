"""Which probes a run plays, and what each of them observed."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from faultspec.contract.clauses import is_chosen
from faultspec_conformance.probes import (
    END_SESSION,
    OF_ALL_OPERATIONS,
    OF_CALLS,
    OF_JSONRPC,
    OF_MCP,
    PROBES,
    UNITS,
    Probe,
    SessionT,
)
from faultspec_conformance.results.defects import describe_defect
from faultspec_conformance.results.model import Outcome, Shard
from faultspec_conformance.session.fixtures import restore
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered, conclude_silence, not_exercised
from faultspec_conformance.session.observations import NotRun, PartRecord
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.resources import ResourceKind


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """A probe that was played on some kinds of resource, and the record of what it observed."""

    probe: Probe[HttpSession]
    turn: tuple[ResourceKind, ...]
    record: PartRecord


def select(
    probes: Iterable[Probe[SessionT]], only: str | None, known: Iterable[str]
) -> tuple[Probe[SessionT], ...]:
    """Return the probes that can exercise the clauses of the patterns ``only``.

    Any probe can exercise a clause about a single exchange, and one that is played everywhere may
    judge the requests of the others. So probes are left out only if the patterns name
    other relations alone.
    """
    if only is None:
        return tuple(probes)
    groups = (PROBES, OF_CALLS, OF_JSONRPC, OF_MCP, END_SESSION)
    relations = {
        clause
        for group in groups
        for probe in group
        for clause in probe.clauses
        if not probe.everywhere
    }
    wanted = {clause for clause in known if is_chosen(clause, only)}
    if wanted - relations:
        return tuple(probes)
    return tuple(probe for probe in probes if not probe.clauses or wanted & set(probe.clauses))


def needs_sweep(only: str | None, known: Iterable[str]) -> bool:
    """Whether a clause of the patterns ``only`` can be judged from generated traffic alone.

    Clauses of probes need requests that the probes send, but any answer may have a leak.
    """
    if only is None:
        return True
    relations = {clause for probe in (*PROBES, *OF_ALL_OPERATIONS) for clause in probe.clauses}
    return any(
        is_chosen(clause, only) and (clause not in relations or clause.startswith("leaks/"))
        for clause in known
    )


def select_shard(
    probes: tuple[Probe[HttpSession], ...], shard: Shard | None
) -> tuple[Probe[HttpSession], ...]:
    """Return the probes of a shard.

    Units are dealt out in turn; probes that others need are in every shard.
    """
    if shard is None:
        return probes
    return tuple(
        probe for probe in probes if probe.everywhere or shard.has(UNITS.index(probe.unit))
    )


def title(probe: Probe[HttpSession], turn: Iterable[ResourceKind]) -> str:
    """Return the name of a probe with the names of the kinds it is played on."""
    return " ".join((probe.name, *(kind.name for kind in turn)))


def run_probe(session: HttpSession, probe: Probe[HttpSession], options: RunOptions) -> ProbeRun:
    """Play one probe, on new resources if earlier probes changed the shared ones."""
    if session.knowledge.touched:
        session.begin(f"what {probe.name} needs", options.seed)
        with suppress(Unanswered):
            restore(session)
    record = session.begin(
        title(probe, session.turn),
        options.seed,
        None if probe.everywhere else probe.unit,
        shared=probe.everywhere,
    )
    play(session, probe)
    return ProbeRun(probe, session.turn, record)


def play(session: SessionT, probe: Probe[SessionT]) -> None:
    """Play one probe and record its results.

    If a request gets no answer, its clauses could not run. Neither could they after an exception,
    which is a defect of ours. The run goes on.
    """
    observations = session.observations
    try:
        session.record_results(probe.run(session))
    except Unanswered as error:
        _record_unanswered(session, probe, error)
    except Exception as error:
        reason = describe_defect(error, probe.name)
        observations.add([NotRun(reason)])
        observations.add(Outcome(clause, "could_not_run", reason) for clause in probe.clauses)


def _record_unanswered(session: SessionT, probe: Probe[SessionT], error: Unanswered) -> None:
    observations = session.observations
    answer = error.no_answer
    if answer.kind == "budget":
        observations.mark_incomplete()
    if answer.kind != "read-only":
        ignored = () if error.asked is None else ("service/alive",)
        observations.add(conclude_silence(clause, error) for clause in probe.clauses or ignored)
        return
    reached = {outcome.clause for outcome in observations.current.outcomes}
    observations.add(
        not_exercised(clause, answer.reason) for clause in probe.clauses if clause not in reached
    )
