"""Which probes a run plays, and what each of them saw."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase

from faultspec_conformance.probes import OF_CALLS, OF_JSONRPC, OF_MCP, PROBES, UNITS, Asking, Probe
from faultspec_conformance.results.model import Shard
from faultspec_conformance.session.fixtures import restore
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.resources import ResourceKind


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """A probe that was run on some kinds of resource, and where in the world what it saw begins and ends."""

    probe: Probe[HttpSession]
    turn: tuple[ResourceKind, ...]
    exchanges: range
    outcomes: range


def chosen(
    probes: Iterable[Probe[Asking]], only: str | None, known: Iterable[str]
) -> tuple[Probe[Asking], ...]:
    """The probes that can exercise what is asked for: all of them, unless only relations are."""
    if only is None:
        return tuple(probes)
    known_only = (
        each.clauses for group in (PROBES, OF_CALLS, OF_JSONRPC, OF_MCP) for each in group
    )
    exclusive = {clause for clauses in known_only for clause in clauses}
    wanted = {each for each in known if fnmatchcase(each, only)}
    if wanted - exclusive:
        return tuple(probes)
    return tuple(probe for probe in probes if not probe.clauses or wanted & set(probe.clauses))


def mine(
    probes: tuple[Probe[HttpSession], ...], shard: Shard | None
) -> tuple[Probe[HttpSession], ...]:
    """The probes of a shard, to which units are dealt out by turns; those that others need are in all of them."""
    if shard is None:
        return probes
    return tuple(
        probe for probe in probes if probe.everywhere or shard.has(UNITS.index(probe.unit))
    )


def title(probe: Probe[HttpSession], turn: Iterable[ResourceKind]) -> str:
    """A probe with some kinds of resource, by name."""
    return " ".join((probe.name, *(each.name for each in turn)))


def played(world: HttpSession, probe: Probe[HttpSession], options: RunOptions) -> ProbeRun:
    """Run one probe, which depends on the seed and on no other probe's randomness."""
    if world.touched:
        world.begin(f"what {probe.name} needs", options.seed)
        with suppress(Unanswered):
            restore(world)
    unit = None if probe.everywhere else probe.unit
    world.begin(title(probe, world.turn), options.seed, unit)
    exchanges, outcomes = len(world.exchanges), len(world.outcomes)
    play(world, probe)
    world.repeated += world.exchanges[exchanges:] if probe.everywhere else ()
    return ProbeRun(
        probe,
        world.turn,
        range(exchanges, len(world.exchanges)),
        range(outcomes, len(world.outcomes)),
    )


def play(world: Asking, probe: Probe[Asking]) -> None:
    """Run one probe; what it could not ask becomes an outcome of its clauses."""
    try:
        for outcome in probe.run(world):
            world.outcomes.append(outcome)
    except Unanswered as error:
        world.outcomes += world.unanswered(error.no_answer, probe.clauses)
