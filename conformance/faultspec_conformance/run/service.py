"""One run of the suite: find the service, probe it, fold what was seen into a `Result`. Never raises for what a service does."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from faultspec.contract.clauses import Clause
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Response
from faultspec.language.model import Taxonomy
from faultspec.openapi.service import Description
from faultspec_conformance.config import Identity, ServiceConfig
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.drivers.jsonrpc import Peer, Remote
from faultspec_conformance.drivers.processes import StartFailed
from faultspec_conformance.drivers.stdio import Process
from faultspec_conformance.probes import (
    OF_A_KIND,
    OF_CALLS,
    OF_FAILURES,
    OF_JSONRPC,
    OF_MCP,
    PROBES,
    UNITS,
    Probe,
)
from faultspec_conformance.results.model import Report, overdue, settled
from faultspec_conformance.run.flakiness import anew, flaky_places
from faultspec_conformance.run.schedule import ProbeRun, of_shard, play, run_probe, select
from faultspec_conformance.run.summarize import Place, hiding, provokable, shown, summarize
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.calls import CallSession, RpcSession, ToolSession
from faultspec_conformance.session.credentials import confirmed_refusal, refusal, unwelcome
from faultspec_conformance.session.discovery import describe, no_address
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.observations import SWEEP, Note, NotRun
from faultspec_conformance.session.options import RunOptions, Unreachable, today
from faultspec_conformance.session.upstreams import ScriptedUpstream, attended

if TYPE_CHECKING:
    from faultspec_conformance.drivers.mcp import McpDriver

Talking = TypeVar("Talking", bound=CallSession)

#: So many kinds of resource are tested with everything else: the author's choice, or the simplest. The others come after.
_KINDS = 4


def run(
    target: ServiceConfig, taxonomy: Taxonomy, options: RunOptions = RunOptions()
) -> Report | Unreachable:
    """Judge one service, which the file may start, and whose upstreams it may script."""
    if target.transport != "http":
        return by_name(target, taxonomy, options)
    try:
        with attended(target) as upstreams:
            return over_http(target, taxonomy, options, upstreams)
    except StartFailed as error:
        return Unreachable(str(error), "check `target` and `upstreams` in the configuration")


def over_http(
    target: ServiceConfig,
    taxonomy: Taxonomy,
    options: RunOptions,
    upstreams: Mapping[str, ScriptedUpstream],
    *,
    connect: Callable[[str, Limits], HttpDriver] = HttpDriver,
) -> Report | Unreachable:
    """Judge a service over HTTP that runs already, by probes and by generated traffic.

    ``connect`` makes the driver for a base URL.
    """
    unfit = no_address(target.http)
    if unfit is not None:
        return Unreachable(
            f"{target.http} is no address of a service: {unfit}",
            "give it as http://HOST:PORT or https://HOST",
        )
    parts = urlsplit(target.http)
    base = f"{parts.scheme}://{parts.netloc}"
    with connect(base, target.limits) as driver:
        described = describe(target, driver, parts.path)
        if isinstance(described, Unreachable):
            return described
        description, notes = (Description(), ()) if isinstance(described, NoAnswer) else described
        world = HttpSession(
            contract=build_contract(taxonomy),
            config=target,
            driver=driver,
            description=description,
            upstreams=upstreams,
        )
        known = world.contract.clauses
        world.observations.add(map(Note, notes))
        interrupted, generated = False, 0
        flaky: frozenset[Place] = frozenset()
        if isinstance(described, NoAnswer):
            world.missing(Exchange(described.request, Response(None)), described)
            world.observations.end(f"the first request was not answered: {described.reason}")
        else:
            done: list[ProbeRun] = []
            try:
                done += probed(world, options, known)
                if options.sweep and (options.shard is None or options.shard.has(len(UNITS))):
                    generated = generate(world, options)
                flaky = flaky_places(world, done, options)
            except KeyboardInterrupt:
                interrupted = True
                world.observations.end("the run was interrupted")
        world.observations.add(map(NotRun, refused_identities(world)))
        report = concluded(world, known, options, base, flaky, interrupted=interrupted)
        return replace(report, result=replace(report.result, generated=generated))


def by_name(target: ServiceConfig, taxonomy: Taxonomy, options: RunOptions) -> Report | Unreachable:
    """Judge a service whose methods or tools are called by name, by probes."""
    rules = build_contract(taxonomy)
    known = rules.clauses
    try:
        with dialled(target) as driver:
            if not driver.listens():
                return Unreachable(f"cannot connect to {target.address}")
            world, played = spoken(driver, taxonomy, rules, target, options)
            interrupted = False
            try:
                for part in played:
                    part()
            except KeyboardInterrupt:
                interrupted = True
                world.observations.end("the run was interrupted")
    except ImportError as error:
        return Unreachable(
            f"judging MCP needs {error.name or 'mcp'}", "pip install 'faultspec[conformance,mcp]'"
        )
    except OSError as error:
        return Unreachable(
            f"{target.address} cannot be started: {error.strerror or error}", "check `target`"
        )
    return concluded(world, known, options, target.address, frozenset(), interrupted=interrupted)


def concluded(
    world: Session,
    known: Mapping[str, Clause],
    options: RunOptions,
    base: str,
    flaky: frozenset[Place],
    *,
    interrupted: bool,
) -> Report:
    """What was seen as a report, masked; that of a shard is left to be settled with the others."""
    world.observations.add(provokable(world))
    if interrupted:
        world.observations.add([NotRun("the run was interrupted")])
    seen = summarize(world, known, options, flaky)
    day = today(options)
    result = (
        overdue(seen, day) if options.shard is not None else settled(seen, day, only=options.only)
    )
    hidden = hiding(world)
    return Report(
        shown(hidden, result), hidden.text(base), options.only, world.config.path, interrupted
    )


def dialled(target: ServiceConfig) -> "Peer | McpDriver":
    """The way to a service whose methods or tools are called by name. Raises ImportError where its library is missing."""
    if target.transport == "stdio":
        return Process(target.stdio, target.limits, framing=target.framing, cwd=target.directory)
    if target.transport == "jsonrpc":
        return Remote(target.jsonrpc, target.limits)
    from faultspec_conformance.drivers.mcp import (
        McpDriver,
    )  # an extra of its own: nobody else needs the library

    return McpDriver(target.mcp, target.limits)


def spoken(
    driver: "Peer | McpDriver",
    taxonomy: Taxonomy,
    rules: Contract,
    target: ServiceConfig,
    options: RunOptions,
) -> tuple[CallSession, Iterator[Callable[[], None]]]:
    """The run over a driver, and its parts: the calls of the file, the probes of the protocol, the recipes."""
    samples, recipes, *after = OF_CALLS
    if isinstance(driver, Peer):
        rpc = RpcSession(rules, target, driver)
        return rpc, _parts(rpc, (samples, *OF_JSONRPC, recipes, *OF_FAILURES, *after), options)
    tools = ToolSession(rules, target, driver)
    return tools, _parts(tools, (samples, *OF_MCP, recipes, *after), options)


def _parts(
    world: Talking, probes: tuple[Probe[Talking], ...], options: RunOptions
) -> Iterator[Callable[[], None]]:
    mine = [
        each
        for turn, each in enumerate(probes)
        if each.everywhere or options.shard is None or options.shard.has(turn)
    ]
    for probe in select(mine, options.only, world.contract.clauses):
        options.progress(probe.name)
        world.begin_part(probe.name, options.seed)
        yield partial(play, world, probe)


def probed(world: HttpSession, options: RunOptions, known: Iterable[str]) -> Iterator[ProbeRun]:
    """Run the probes: all of them with the first few kinds of resource, those of one kind with the others."""
    world.turn = world.kinds[:_KINDS]
    for probe in select(of_shard(PROBES, options.shard), options.only, known):
        options.progress(probe.name)
        yield run_probe(world, probe, options)
    yield from other_kinds(world, options, known)


def generate(world: HttpSession, options: RunOptions) -> int:
    """Send generated traffic; how many requests that took."""
    from faultspec_conformance.run.sweep import (
        sweep,
    )  # what needs schemathesis stays out of a run of probes only

    options.progress("sweep")
    before = world.driver.requests
    world.begin(SWEEP, options.seed, SWEEP)
    swept = sweep(world, seed=options.seed or 0)
    world.observations.add(map(Note, swept.notes))
    world.observations.add(map(NotRun, swept.not_run))
    if not swept.complete:
        world.observations.cut()
    return world.driver.requests - before


def other_kinds(
    world: HttpSession, options: RunOptions, known: Iterable[str]
) -> Iterator[ProbeRun]:
    """Test the kinds of resource after the first few, one probe after another, with half of the requests that are left."""
    later = world.kinds[_KINDS:]
    ceiling = (world.driver.requests + world.driver.limits.requests) // 2
    for probe in select(of_shard(OF_A_KIND, options.shard), options.only, known) if later else ():
        options.progress(f"{probe.name} of other resources")
        for kind in later:
            if world.driver.requests >= ceiling:
                names = ", ".join(each.name for each in later[later.index(kind) :])
                world.observations.add(
                    [Note(f"the limit of requests leaves out {probe.name} of {names}")]
                )
                world.observations.cut()
                return
            world.turn = (kind,)
            yield run_probe(world, probe, options)


def refused_identities(world: HttpSession) -> tuple[str, ...]:
    """The callers of the file whose credentials the service does not take; who shall be refused is not among them.

    Each is asked for something ordinary before that is said of him: whatever else this part of the run has asked of him.
    """
    expected = unwelcome(world)
    suspect = [
        (identity, refusal(world, identity, world.observations.exchanges))
        for identity in world.identities
    ]
    said = (
        _confirmed(world, who, why)
        for who, why in suspect
        if why is not None and who.name not in expected
    )
    return tuple(each for each in said if each is not None)


def _confirmed(world: HttpSession, who: Identity, why: str) -> str | None:
    beside = anew(world)  # so that nothing is judged in one part of a run that is not in another
    if world.observations.ended is not None:
        beside.observations.end(world.observations.ended)
    try:
        return confirmed_refusal(beside, who, why)
    except Unanswered:
        return why
