"""One run of the suite: find the service, probe it, fold what was seen into a `Result`. Never raises for what a service does."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultspec.clauses import Clause
from faultspec.contract import Contract, contract
from faultspec.exchange import Exchange, Request, Response
from faultspec.finding import Finding
from faultspec.language.model import Taxonomy
from faultspec.meaning import meaningless
from faultspec_conformance import openapi
from faultspec_conformance.answers import Unanswered
from faultspec_conformance.callers import refused, unwelcome
from faultspec_conformance.dialogue import Dialogue, Rpc, Tools
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.drivers.http import SAFE_METHODS, Http
from faultspec_conformance.drivers.jsonrpc import Peer, Remote
from faultspec_conformance.drivers.stdio import Process
from faultspec_conformance.kinds import Kind
from faultspec_conformance.masking import Masking, masking
from faultspec_conformance.openapi import Description
from faultspec_conformance.probes import OF_A_KIND, OF_CALLS, OF_JSONRPC, OF_MCP, PROBES, Asking, Probe
from faultspec_conformance.processes import Failed
from faultspec_conformance.relations import unspoken_over
from faultspec_conformance.seen import Seen
from faultspec_conformance.target import Target
from faultspec_conformance.tokens import seeded
from faultspec_conformance.upstreams import Upstream, attended
from faultspec_conformance.verdict import (
    ClauseResult,
    Coverage,
    Reported,
    Result,
    Shard,
    counted,
    folded,
    ranked,
    settled,
)
from faultspec_conformance.waivers import Waiver, unknown_clauses
from faultspec_conformance.world import World

if TYPE_CHECKING:
    from faultspec_conformance.drivers.mcp import Mcp

#: So many kinds of resource are tested with everything else: the author's choice, or the simplest. The others come after.
_KINDS = 4

#: Where services commonly publish their document, when nobody says.
_USUAL_PLACES = ("/openapi.json", "/openapi.yaml", "/swagger.json", "/v1/openapi.json", "/api/openapi.json")


def quiet(name: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to run. ``only``: a pattern of clause addresses; ``progress`` hears the name of each part as it begins.

    ``seed``: with one, a run asks a service in the same state the same; with None what must be new is new in every run.
    ``waivers``: those in force here. ``shard``: the part of the run that this one is; None is all of it.
    """

    seed: int | None = None
    sweep: bool = True
    shard: Shard | None = None
    only: str | None = None
    waivers: tuple[Waiver, ...] = ()
    today: date | None = None
    progress: Callable[[str], None] = quiet


@dataclass(frozen=True, slots=True)
class Report:
    """A result ready to be shown: everything in it is masked. ``base`` is the address for command lines.

    ``only``: the pattern of clause addresses that it was asked for. ``source``: the file that the run was configured by.
    ``interrupted``: somebody stopped the run, and this is what was seen until then.
    """

    result: Result
    base: str
    only: str | None = None
    source: str | None = None
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Nothing could be judged, for ``reason``. ``hint``: what to do, where it is more than starting the service."""

    reason: str
    hint: str | None = None


def run(target: Target, taxonomy: Taxonomy, options: Options = Options()) -> Report | Unreachable:
    """Judge one service, which the file may start, and whose upstreams it may script."""
    if target.transport != "http":
        return by_name(target, taxonomy, options)
    try:
        with attended(target) as upstreams:
            return over_http(target, taxonomy, options, upstreams)
    except Failed as error:
        return Unreachable(str(error), "check `target` and `upstreams` in the configuration")


def over_http(
    target: Target, taxonomy: Taxonomy, options: Options, upstreams: Mapping[str, Upstream]
) -> Report | Unreachable:
    """Judge a service over HTTP that runs already, by probes and by generated traffic."""
    unfit = no_address(target.http)
    if unfit is not None:
        return Unreachable(
            f"{target.http} is no address of a service: {unfit}", "give it as http://HOST:PORT or https://HOST"
        )
    parts = urlsplit(target.http)
    base = f"{parts.scheme}://{parts.netloc}"
    with Http(base, target.limits) as driver:
        described = describe(target, driver, parts.path)
        if isinstance(described, Unreachable):
            return described
        description, notes = (Description(), ()) if isinstance(described, NoAnswer) else described
        world = World(
            taxonomy=taxonomy,
            contract=contract(taxonomy),
            target=target,
            description=description,
            driver=driver,
            random=Random(options.seed or 0),
            upstreams=upstreams,
        )
        known = world.contract.clauses
        world.notes += notes
        interrupted, generated = False, 0
        flaky: frozenset[Place] = frozenset()
        if isinstance(described, NoAnswer):
            world.lost(Exchange(described.request, Response(None)), described)
            world.ended = f"the first request was not answered: {described.reason}"
        else:
            done: list[Part] = []
            try:
                done += probed(world, options, known)
                if options.sweep and (options.shard is None or options.shard.has(len(PROBES))):
                    generated = generate(world, options)
                flaky = unrepeated(world, done, options)
            except KeyboardInterrupt:
                interrupted = True
                world.ended = "the run was interrupted"
        world.notes += provokable(world)
        not_run = (*refused_identities(world), *world.not_run, *(("the run was interrupted",) if interrupted else ()))
        seen = fold(world, known, options, flaky, notes=tuple(world.notes), not_run=not_run)
        result = replace(seen if options.shard is not None else settled(seen, today(options)), generated=generated)
        hidden = hiding(world)
        return Report(hidden.result(result), hidden.text(base), options.only, target.path, interrupted)


def by_name(target: Target, taxonomy: Taxonomy, options: Options) -> Report | Unreachable:
    """Judge a service whose methods or tools are called by name, by probes."""
    rules = contract(taxonomy)
    known = rules.clauses
    try:
        with dialled(target) as driver:
            if not driver.listens():
                return Unreachable(f"cannot connect to {target.address}")
            world, played = spoken(driver, taxonomy, rules, target, options)
            if options.seed is not None:
                world.tokens = seeded(f"{options.seed}/tokens")
            interrupted = False
            try:
                for part in played:
                    part()
            except KeyboardInterrupt:
                interrupted = True
                world.ended = "the run was interrupted"
    except ImportError as error:
        return Unreachable(f"judging MCP needs {error.name or 'mcp'}", "pip install 'faultspec[conformance,mcp]'")
    except OSError as error:
        return Unreachable(f"{target.address} cannot be started: {error.strerror or error}", "check `target`")
    world.notes += provokable(world)
    not_run = (*world.not_run, *(("the run was interrupted",) if interrupted else ()))
    hidden = hiding(world)
    seen = fold(world, known, options, frozenset(), notes=tuple(world.notes), not_run=not_run)
    result = seen if options.shard is not None else settled(seen, today(options))
    return Report(hidden.result(result), hidden.text(target.address), options.only, target.path, interrupted)


def dialled(target: Target) -> "Peer | Mcp":
    """The way to a service whose methods or tools are called by name. Raises ImportError where its library is missing."""
    if target.transport == "stdio":
        return Process(target.stdio, target.limits, framing=target.framing, cwd=target.directory)
    if target.transport == "jsonrpc":
        return Remote(target.jsonrpc, target.limits)
    from faultspec_conformance.drivers.mcp import Mcp  # an extra of its own: nobody else needs the library

    return Mcp(target.mcp, target.limits)


def spoken(
    driver: "Peer | Mcp", taxonomy: Taxonomy, rules: Contract, target: Target, options: Options
) -> tuple[Dialogue, Iterator[Callable[[], None]]]:
    """The run over a driver, and its parts: the calls of the file, the probes of the protocol, the recipes."""
    samples, recipes = OF_CALLS
    if isinstance(driver, Peer):
        rpc = Rpc(taxonomy, rules, target, driver)
        return rpc, _parts(rpc, (samples, *OF_JSONRPC, recipes), options)
    tools = Tools(taxonomy, rules, target, driver, Random(options.seed or 0))
    return tools, _parts(tools, (samples, *OF_MCP, recipes), options)


def _parts(world: Asking, probes: tuple[Probe[Asking], ...], options: Options) -> Iterator[Callable[[], None]]:
    mine = [
        each for turn, each in enumerate(probes) if each.everywhere or options.shard is None or options.shard.has(turn)
    ]
    for probe in chosen(mine, options.only, world.contract.clauses):
        options.progress(probe.name)
        yield partial(play, world, probe)


def today(options: Options) -> date:
    """The day by which waivers expire."""
    return options.today or date.today()


@dataclass(frozen=True, slots=True)
class Part:
    """A probe that was run on some kinds of resource, and where in the world what it saw begins and ends."""

    probe: Probe[World]
    turn: tuple[Kind, ...]
    exchanges: range
    outcomes: range


def probed(world: World, options: Options, known: Iterable[str]) -> Iterator[Part]:
    """Run the probes: all of them with the first few kinds of resource, those of one kind with the others."""
    world.turn = world.kinds[:_KINDS]
    for probe in chosen(mine(PROBES, options.shard), options.only, known):
        options.progress(probe.name)
        yield played(world, probe, options)
    yield from other_kinds(world, options, known)


def mine(probes: tuple[Probe[World], ...], shard: Shard | None) -> tuple[Probe[World], ...]:
    """The probes of a shard, which are dealt out by turns; those that others need are in all of them."""
    if shard is None:
        return probes
    turns = {each.name: index for index, each in enumerate(PROBES)}
    return tuple(each for each in probes if each.everywhere or shard.has(turns[each.name]))


def generate(world: World, options: Options) -> int:
    """Send generated traffic; how many requests that took."""
    from faultspec_conformance.sweep import sweep  # what needs schemathesis stays out of a run of probes only

    options.progress("sweep")
    before = world.driver.requests
    world.begin("sweep", options.seed)
    swept = sweep(world, seed=options.seed or 0)
    world.notes += swept.notes
    world.not_run += swept.not_run
    return world.driver.requests - before


def no_address(url: str) -> str | None:
    """Why nothing can be asked at a URL; None where something can."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https"):
        return "its scheme is neither http nor https"
    if not parts.hostname or any(each.isspace() for each in url):
        return "it has no host" if not parts.hostname else "it has a blank in it"
    return "port 0 is none" if port == 0 else None


def describe(target: Target, driver: Http, path: str) -> tuple[Description, tuple[str, ...]] | Unreachable | NoAnswer:
    """The service's OpenAPI document, and the proof that somebody answers at all.

    Where nobody listens, nothing can be judged; where somebody listens and does not answer, that is what is to be told.
    """
    where = target.openapi
    if target.openapi_file is not None:
        try:
            text = Path(target.openapi_file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            return Unreachable(f"the OpenAPI document {target.openapi_file} cannot be read: {error}")
        document, problem = openapi.parse(text)
        if document is None:
            return Unreachable(f"{target.openapi_file} is no OpenAPI document: {problem}")
        alive = driver.send(_get("/"))
        if isinstance(alive, NoAnswer):
            return _unheard(alive)
        return openapi.understood(document, path)
    places = [where] if where is not None else [path + each for each in _USUAL_PLACES] if target.path is None else ["/"]
    reason = ""
    for place in places:
        answer = _fetched(place, target, driver)
        if isinstance(answer, NoAnswer):
            return Unreachable(answer.reason) if place.startswith("http") else _unheard(answer)
        if where is None and target.path is not None:
            return Description(base=path.rstrip("/")), (
                "no OpenAPI document is given, so only what the configuration names is asked",
            )
        status = answer.status or 0
        if status in (401, 403) and where is not None:
            hint = "it is fetched without credentials: save it, and give the file, such as `openapi: openapi.json`"
            return Unreachable(f"the OpenAPI document {place} was answered {status}", hint)
        document, problem = (
            openapi.parse(answer.body.decode("utf-8", "replace")) if status == 200 else (None, f"{status}")
        )
        if document is not None:
            return openapi.understood(document, path)
        reason = f"{place} holds no OpenAPI document ({problem})"
    if where is not None:
        hint = "check `openapi`: give the document's path, URL or file, or `none` where there is no document"
        return Unreachable(reason, hint)
    return Description(base=path.rstrip("/")), (f"no OpenAPI document was found at {', '.join(places)}",)


def _unheard(answer: NoAnswer) -> Unreachable | NoAnswer:
    return answer if answer.kind in ("closed", "garbled", "timeout") else Unreachable(answer.reason)


def _fetched(place: str, target: Target, driver: Http) -> Response | NoAnswer:
    if not place.startswith("http"):
        return driver.send(_get(place))
    parts = urlsplit(place)
    base = f"{parts.scheme}://{parts.netloc}"
    request = _get(parts.path + (f"?{parts.query}" if parts.query else ""))
    if base == driver.base:
        return driver.send(request)
    with Http(base, replace(target.limits, requests=1)) as other:
        return other.send(request)


def _get(path: str) -> Request:
    return Request("GET", path, (("Accept", "application/json, */*;q=0.8"), ("User-Agent", "faultspec-conform")))


def chosen(probes: Iterable[Probe[Asking]], only: str | None, known: Iterable[str]) -> tuple[Probe[Asking], ...]:
    """The probes that can exercise what is asked for: all of them, unless only relations are."""
    if only is None:
        return tuple(probes)
    known_only = (each.clauses for group in (PROBES, OF_CALLS, OF_JSONRPC, OF_MCP) for each in group)
    exclusive = {clause for clauses in known_only for clause in clauses}
    wanted = {each for each in known if fnmatchcase(each, only)}
    if wanted - exclusive:
        return tuple(probes)
    return tuple(probe for probe in probes if not probe.clauses or wanted & set(probe.clauses))


def played(world: World, probe: Probe[World], options: Options) -> Part:
    """Run one probe, which depends on the seed and on no other probe's randomness."""
    world.begin(" ".join((probe.name, *(each.name for each in world.turn))), options.seed)
    exchanges, outcomes = len(world.exchanges), len(world.outcomes)
    play(world, probe)
    return Part(probe, world.turn, range(exchanges, len(world.exchanges)), range(outcomes, len(world.outcomes)))


def play(world: Asking, probe: Probe[Asking]) -> None:
    """Run one probe; what it could not ask becomes an outcome of its clauses."""
    try:
        for outcome in probe.run(world):
            world.outcomes.append(outcome)
    except Unanswered as error:
        world.outcomes += world.unanswered(error.no_answer, probe.clauses)


def other_kinds(world: World, options: Options, known: Iterable[str]) -> Iterator[Part]:
    """Test the kinds of resource after the first few, one probe after another, with half of the requests that are left."""
    later = world.kinds[_KINDS:]
    ceiling = (world.driver.requests + world.driver.limits.requests) // 2
    for probe in chosen(mine(OF_A_KIND, options.shard), options.only, known) if later else ():
        options.progress(f"{probe.name} of other resources")
        for kind in later:
            if world.driver.requests >= ceiling:
                names = ", ".join(each.name for each in later[later.index(kind) :])
                world.notes.append(f"the limit of requests leaves out {probe.name} of {names}")
                return
            world.turn = (kind,)
            yield played(world, probe, options)


Place = tuple[str, str | None]
"""What is compared when the same is asked again: a clause and an operation."""


def place(finding: Finding) -> Place:
    """Where a finding was made."""
    return finding.clause, finding.operation


def unrepeated(world: World, parts: Iterable[Part], options: Options) -> frozenset[Place]:
    """Failures that were seen once and not again when the same was asked again: those are flaky.

    The probe that saw one is run once more in a world of its own, on resources of its own; what the sweep saw is sent once
    more where that changes nothing. What was not asked again, for want of a service or of requests, is not called flaky, nor
    is a leak: what got out once is out.
    """
    if world.ended is not None:
        return frozenset()
    found = Counter(place(each) for each in failures(world, range(len(world.exchanges)), range(len(world.outcomes))))
    once = {each for each, times in found.items() if times == 1 and not each[0].startswith("leaks/")}
    again = anew(world)
    gone: set[Place] = set()
    begun = 0
    for part in parts:
        mine = once & {place(each) for each in failures(world, part.exchanges, part.outcomes)}
        begun = part.exchanges.stop
        if not mine:
            continue
        options.progress(f"{part.probe.name} again")
        again.turn = part.turn
        for probe in PROBES:
            if probe.everywhere and probe is not part.probe and any(each.name not in again.made for each in part.turn):
                again.begin(f"{probe.name} again", options.seed)
                play(again, probe)
        again.begin(f"{part.probe.name} again", options.seed)
        exchanges, outcomes = len(again.exchanges), len(again.outcomes)
        play(again, part.probe)
        second = range(exchanges, len(again.exchanges)), range(outcomes, len(again.outcomes))
        there = {place(each) for each in failures(again, *second)}
        gone |= {
            each
            for each in mine - there
            if occasions(again, each, *second) >= occasions(world, each, part.exchanges, part.outcomes)
        }
    for sent in world.exchanges[begun:]:
        mine = once & {place(each) for each in sent.judgement.findings if each.level == "error"}
        if not mine or sent.exchange.transport != "http" or sent.exchange.request.method not in SAFE_METHODS:
            continue
        with suppress(Unanswered):
            who = world.target.identity(sent.exchange.identity)
            answer = again.ask(sent.exchange.request, who, route=sent.exchange.route)
            there = {place(each) for each in answer.judgement.findings}
            gone |= {each for each in mine - there if each[0] in answer.judgement.exercised}
    return frozenset(gone)


def anew(world: World) -> World:
    """A world of the same service in which nothing has been asked yet."""
    return World(world.taxonomy, world.contract, world.target, world.driver, world.description, world.random)


def failures(world: World, exchanges: range, outcomes: range) -> Iterator[Finding]:
    """What was found of level error in these parts of a world."""
    for index in exchanges:
        yield from (each for each in world.exchanges[index].judgement.findings if each.level == "error")
    for index in outcomes:
        finding = world.outcomes[index].finding
        if finding is not None and finding.level == "error":
            yield finding


def occasions(world: World, where: Place, exchanges: range, outcomes: range) -> int:
    """How often a clause could be checked there; a relation that held does not say where, so it counts for every place."""
    clause, operation = where
    seen = [world.exchanges[index] for index in exchanges]
    told = [world.outcomes[index] for index in outcomes]
    answered = sum(
        sent.exchange.operation == operation and (clause in sent.judgement.exercised or clause == "service/alive")
        for sent in seen
    )
    return answered + sum(each.clause == clause and each.kind in ("held", "broken") for each in told)


def hiding(world: Seen) -> Masking:
    """What must not be shown of a run: credentials, what came from the environment, what was planted."""
    planted = ((each.value, _STANDS_FOR[each.kind]) for each in world.planted if each.kind in _STANDS_FOR)
    return masking(world.target.identities.values(), [*world.target.secrets, *planted])


#: What is shown in place of a canary. That of a plain one has its form, so that a command line asks for the same again; the
#: id that names nothing is shown, since another one might be refused for its form.
_STANDS_FOR: Mapping[str, str] = {
    "secret": "CANARY-secret",
    "email": "CANARY-email",
    "address": f"faultspec-{'x' * 12}",
    "value": f"faultspec-{'x' * 12}",
}


def fold(
    world: Seen,
    known: Mapping[str, Clause],
    options: Options,
    flaky: frozenset[Place],
    *,
    notes: tuple[str, ...],
    not_run: tuple[str, ...],
) -> Result:
    """Everything that was seen as one value that merges, neither masked nor `settled` yet."""
    findings: list[tuple[Finding, str | None]] = []
    occasions: Counter[str] = Counter()
    if world.exchanges:
        occasions["service/alive"] += 1
    for sent in world.exchanges:
        occasions.update(sent.judgement.exercised)
        findings += ((each, None) for each in sent.judgement.findings)
    reasons: dict[str, dict[str, dict[str, None]]] = {}
    for outcome in world.outcomes:
        if outcome.kind in ("held", "broken"):
            occasions[outcome.clause] += 1
        if outcome.finding is not None:
            findings.append((_with_statements(outcome.finding, known), outcome.form))
        if outcome.reason:
            reasons.setdefault(outcome.clause, {}).setdefault(outcome.kind, {})[outcome.reason] = None
    used: Counter[Waiver] = Counter()
    reported = [
        replace(_reported(each, options.waivers, used), flaky=place(each) in flaky, form=form)
        for each, form in findings
    ]
    silent = {**unspoken_over(world.target.transport), **meaningless(world.taxonomy)}
    results: dict[str, ClauseResult] = {}
    for address, clause in known.items():
        if options.only is not None and not fnmatchcase(address, options.only):
            continue
        why = reasons.get(address, {})
        unspoken = silent.get(address) or silent.get(address.partition("/")[0])
        unreached = (world.ended,) if world.ended is not None and unspoken is None else ()
        results[address] = ClauseResult(
            address=address,
            title=clause.title,
            statements=clause.statements,
            occasions=occasions[address],
            not_run=tuple(dict.fromkeys((*why.get("could_not_run", ()), *unreached))),
            not_exercised=tuple(why.get("not_exercised", ())),
            not_checkable=(*why.get("not_checkable", ()), *((unspoken,) if unspoken else ())),
            idle=f"nothing gave occasion: {clause.applies}",
        )
    if options.only is None:
        for name, obligation in world.taxonomy.obligations.items():
            address = f"obligations/{name}"
            results[address] = ClauseResult(
                address, obligation.text, obligation.source.statements, not_checkable=(obligation.reason,)
            )
    kept = [each for each in reported if each.finding.clause in results]
    for each in kept:
        results[each.finding.clause] = counted(results[each.finding.clause], each)
    ordinary, forms = formed(world)
    whole = options.only is None
    return Result(
        target=world.target.address,
        taxonomy=f"{world.taxonomy.name} {world.taxonomy.version}",
        clauses=results,
        findings=ranked(folded(kept)),
        coverage=covered(world),
        requests=world.driver.requests,
        seconds=world.driver.elapsed,
        notes=tuple(dict.fromkeys(notes)),
        failures=tuple(unknown_clauses(options.waivers, known)) if whole else (),
        not_run=tuple(dict.fromkeys(not_run)),
        waivers={each: used[each] for each in options.waivers} if whole else {},
        ordinary=ordinary,
        forms=forms,
        shards=() if options.shard is None else (options.shard,),
    )


def formed(world: Seen) -> tuple[int, Mapping[str, int]]:
    """How many errors there were, those apart that a probe of the framework asked for; and how many break each clause."""
    asked = {
        id(each) for outcome in world.outcomes if outcome.form and outcome.finding for each in outcome.finding.evidence
    }
    ordinary = [sent for sent in world.exchanges if sent.judgement.is_error and id(sent.exchange) not in asked]
    broken = Counter(
        clause
        for sent in ordinary
        for clause in {each.clause for each in sent.judgement.findings if each.level == "error"}
    )
    return len(ordinary), broken


def provokable(world: Seen) -> Iterator[str]:
    """The codes that were seen although the file declares that they can't be brought about."""
    seen = {sent.code for sent in world.exchanges}
    for recipe in world.target.recipes:
        if recipe.not_provokable is not None and recipe.code in seen:
            yield f"{recipe.code} is declared not_provokable ({recipe.not_provokable}), and was observed"


def refused_identities(world: World) -> tuple[str, ...]:
    """The callers of the file whose credentials the service does not take; who shall be refused is not among them."""
    expected = unwelcome(world)
    said = (refused(world, each) for each in world.identities() if each.name not in expected)
    return tuple(each for each in said if each is not None)


def _with_statements(finding: Finding, known: Mapping[str, Clause]) -> Finding:
    clause = known.get(finding.clause)
    return finding if finding.statements or clause is None else replace(finding, statements=clause.statements)


def _reported(finding: Finding, waivers: tuple[Waiver, ...], used: Counter[Waiver]) -> Reported:
    waiver = next((each for each in waivers if each.covers(finding)), None)
    if waiver is not None:
        used[waiver] += 1
    return Reported(finding, waived=waiver.reason if waiver is not None else None)


def covered(world: Seen) -> dict[str, Coverage]:
    """What was seen of every code, in order of declaration."""
    statuses: dict[str, set[int]] = {}
    operations: dict[str, dict[str, None]] = {}
    counts: Counter[str] = Counter()
    for sent in world.exchanges:
        if sent.code is None:
            continue
        counts[sent.code] += 1
        if sent.exchange.response.status is not None:
            statuses.setdefault(sent.code, set()).add(sent.exchange.response.status)
        if sent.exchange.operation is not None:
            operations.setdefault(sent.code, {})[sent.exchange.operation] = None
    declared = {recipe.code: recipe.not_provokable for recipe in world.target.recipes if recipe.not_provokable}
    tried = {recipe.code for recipe in world.target.recipes if recipe.steps}
    found: dict[str, Coverage] = {}
    for code in world.taxonomy.live_codes():
        reason = declared.get(code.name)
        if world.target.transport == "http" and not code.http.statuses and not code.http.rules:
            reason = code.http.reason or "the code never travels on HTTP"
        explained = reason is not None
        if reason is None and code.name in tried:
            reason = world.unmet.get(code.name) or world.ended
        elif reason is None:
            reason = "nothing general brings it about, and `provoke` has no recipe for it"
            if not world.writable:
                reason += " (and nothing may be written)"
        found[code.name] = Coverage(
            code=code.name,
            count=counts[code.name],
            statuses=tuple(sorted(statuses.get(code.name, ()))),
            operations=tuple(operations.get(code.name, ())),
            reason=None if counts[code.name] else reason,
            explained=explained,
        )
    return found
