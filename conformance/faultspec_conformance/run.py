"""One run of the suite: find the service, probe it, fold what was seen into a `Result`. Never raises for what a service does."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from faultspec.clauses import Clause
from faultspec.contract import contract
from faultspec.exchange import Exchange, Request, Response
from faultspec.finding import Finding
from faultspec.language.model import Taxonomy
from faultspec_conformance import openapi
from faultspec_conformance.answers import Unanswered
from faultspec_conformance.callers import refused, unwelcome
from faultspec_conformance.drivers.http import Http, NoAnswer
from faultspec_conformance.masking import Masking, masking
from faultspec_conformance.openapi import Description
from faultspec_conformance.probes import OF_A_KIND, PROBES, Probe
from faultspec_conformance.processes import Failed
from faultspec_conformance.relations import meaningless
from faultspec_conformance.target import Target
from faultspec_conformance.upstreams import Upstream, attended
from faultspec_conformance.verdict import ClauseResult, Coverage, Reported, Result, folded
from faultspec_conformance.waivers import Waiver, stale, unknown_clauses
from faultspec_conformance.world import World

#: So many kinds of resource are tested with everything else: the author's choice, or the simplest. The others come after.
_KINDS = 4

#: Where services commonly publish their document, when nobody says.
_USUAL_PLACES = ("/openapi.json", "/openapi.yaml", "/swagger.json", "/v1/openapi.json", "/api/openapi.json")


def quiet(name: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to run. ``only``: a pattern of clause addresses; ``progress`` hears the name of each part as it begins."""

    seed: int = 0
    sweep: bool = True
    only: str | None = None
    waivers: tuple[Waiver, ...] = ()
    today: date | None = None
    progress: Callable[[str], None] = quiet


@dataclass(frozen=True, slots=True)
class Report:
    """A result ready to be shown: everything in it is masked. ``base`` is the address for command lines.

    ``interrupted``: somebody stopped the run, and this is what was seen until then.
    """

    result: Result
    base: str
    clauses: Mapping[str, Clause]
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Nothing could be judged, for ``reason``. ``hint``: what to do, where it is more than starting the service."""

    reason: str
    hint: str | None = None


def run(target: Target, taxonomy: Taxonomy, options: Options = Options()) -> Report | Unreachable:
    """Judge one service, which the file may start, and whose upstreams it may script."""
    try:
        with attended(target) as upstreams:
            return judged(target, taxonomy, options, upstreams)
    except Failed as error:
        return Unreachable(str(error), "check `target` and `upstreams` in the configuration")


def judged(
    target: Target, taxonomy: Taxonomy, options: Options, upstreams: Mapping[str, Upstream]
) -> Report | Unreachable:
    """Judge one service that runs already."""
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
            random=Random(options.seed),
            upstreams=upstreams,
        )
        known = world.contract.clauses
        world.notes += notes
        interrupted, generated = False, 0
        if isinstance(described, NoAnswer):
            world.lost(Exchange(described.request, Response(None)), described)
            world.ended = f"the first request was not answered: {described.reason}"
        else:
            try:
                probed(world, options, known)
                generated = generate(world, options) if options.sweep else 0
            except KeyboardInterrupt:
                interrupted = True
                world.ended = "the run was interrupted"
        world.notes += provokable(world)
        not_run = (*refused_identities(world), *world.not_run, *(("the run was interrupted",) if interrupted else ()))
        result = replace(fold(world, known, options, notes=tuple(world.notes), not_run=not_run), generated=generated)
        hidden = hiding(world)
        return Report(hidden.result(result), hidden.text(base), known, interrupted)


def probed(world: World, options: Options, known: Iterable[str]) -> None:
    """Run the probes: all of them with the first few kinds of resource, those of one kind with the others."""
    world.turn = world.kinds[:_KINDS]
    for probe in chosen(PROBES, options.only, known):
        options.progress(probe.name)
        play(world, probe)
    world.notes += other_kinds(world, options, known)


def generate(world: World, options: Options) -> int:
    """Send generated traffic; how many requests that took."""
    from faultspec_conformance.sweep import sweep  # what needs schemathesis stays out of a run of probes only

    options.progress("sweep")
    before = world.driver.requests
    swept = sweep(world, seed=options.seed)
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
        return openapi.read(document, base=path or None), ()
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
            return openapi.read(document, base=path or None), ()
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


def chosen(probes: Iterable[Probe], only: str | None, known: Iterable[str]) -> tuple[Probe, ...]:
    """The probes that can exercise what is asked for: all of them, unless only relations are."""
    if only is None:
        return tuple(probes)
    exclusive = {clause for probe in PROBES for clause in probe.clauses}
    wanted = {each for each in known if fnmatchcase(each, only)}
    if wanted - exclusive:
        return tuple(probes)
    return tuple(probe for probe in probes if not probe.clauses or wanted & set(probe.clauses))


def play(world: World, probe: Probe) -> None:
    """Run one probe; what it could not ask becomes an outcome of its clauses."""
    try:
        for outcome in probe.run(world):
            world.outcomes.append(outcome)
    except Unanswered as error:
        world.outcomes += world.unanswered(error.no_answer, probe.clauses)


def other_kinds(world: World, options: Options, known: Iterable[str]) -> Iterator[str]:
    """Test the kinds of resource after the first few, one probe after another, with half of the requests that are left."""
    later = world.kinds[_KINDS:]
    ceiling = (world.driver.requests + world.driver.limits.requests) // 2
    for probe in chosen(OF_A_KIND, options.only, known) if later else ():
        options.progress(f"{probe.name} of other resources")
        for kind in later:
            if world.driver.requests >= ceiling:
                names = ", ".join(each.name for each in later[later.index(kind) :])
                yield f"the limit of requests leaves out {probe.name} of {names}"
                return
            world.turn = (kind,)
            play(world, probe)


def hiding(world: World) -> Masking:
    """What must not be shown of a run: credentials, what came from the environment, what was planted."""
    # The plain ones look like nothing, and a command line with another address or id would ask for something else.
    planted = ((each.value, f"CANARY-{each.kind}") for each in world.planted if each.kind in ("secret", "email"))
    return masking(world.target.identities.values(), [*world.target.secrets, *planted])


def fold(
    world: World, known: Mapping[str, Clause], options: Options, *, notes: tuple[str, ...], not_run: tuple[str, ...]
) -> Result:
    """Everything that was seen as one value, not masked yet."""
    findings: list[Finding] = []
    occasions: Counter[str] = Counter()
    if world.exchanges:
        occasions["service/alive"] += 1
    for sent in world.exchanges:
        occasions.update(sent.judgement.exercised)
        findings += sent.judgement.findings
    reasons: dict[str, dict[str, dict[str, None]]] = {}
    everywhere = formless(world)
    for outcome in world.outcomes:
        if outcome.form in everywhere:
            continue
        if outcome.kind in ("held", "broken"):
            occasions[outcome.clause] += 1
        if outcome.finding is not None:
            findings.append(_with_statements(outcome.finding, known))
        if outcome.reason:
            reasons.setdefault(outcome.clause, {}).setdefault(outcome.kind, {})[outcome.reason] = None
    used: Counter[Waiver] = Counter()
    reported = [_reported(each, options.waivers, used) for each in findings]
    failing = Counter(each.finding.clause for each in reported if each.level == "error" and each.waived is None)
    waived = Counter(each.finding.clause for each in reported if each.waived is not None)
    warned = Counter(each.finding.clause for each in reported if each.level == "warning" and each.waived is None)
    silent = meaningless(world.taxonomy)
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
            failures=failing[address],
            warnings=warned[address],
            known=waived[address],
            not_run=tuple(dict.fromkeys((*why.get("could_not_run", ()), *unreached))),
            not_exercised=tuple(why.get("not_exercised", ()))
            or (() if unspoken or why else (f"nothing gave occasion: {clause.applies}",)),
            not_checkable=(*why.get("not_checkable", ()), *((unspoken,) if unspoken else ())),
        )
    if options.only is None:
        for name, obligation in world.taxonomy.obligations.items():
            address = f"obligations/{name}"
            results[address] = ClauseResult(
                address, obligation.text, obligation.source.statements, not_checkable=(obligation.reason,)
            )
    kept = [each for each in reported if each.finding.clause in results]
    exercised = {address for address, each in results.items() if each.occasions}
    today = options.today or date.today()
    failures = (*unknown_clauses(options.waivers, known), *stale(options.waivers, used, exercised, today))
    return Result(
        target=world.target.http,
        taxonomy=f"{world.taxonomy.name} {world.taxonomy.version}",
        clauses=results,
        findings=_sorted(folded(kept)),
        coverage=covered(world),
        requests=world.driver.requests,
        seconds=world.driver.elapsed,
        notes=tuple(dict.fromkeys(notes)),
        failures=failures if options.only is None else (),
        not_run=tuple(dict.fromkeys(not_run)),
    )


def formless(world: World) -> frozenset[str]:
    """The clauses of form that most answers break, those apart that a probe of the framework asked for.

    What such answers lack is one mistake, told by its own clause, not one for every situation.
    """
    asked = {
        id(each) for outcome in world.outcomes if outcome.form and outcome.finding for each in outcome.finding.evidence
    }
    ordinary = [sent for sent in world.exchanges if sent.judgement.is_error and id(sent.exchange) not in asked]
    broken = Counter(
        clause
        for sent in ordinary
        for clause in {each.clause for each in sent.judgement.findings if each.level == "error"}
    )
    return frozenset(clause for clause, times in broken.items() if 2 * times > len(ordinary))


def provokable(world: World) -> Iterator[str]:
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


def _sorted(findings: tuple[Reported, ...]) -> tuple[Reported, ...]:
    return tuple(
        sorted(
            findings,
            key=lambda each: (
                each.waived is not None,
                each.level,
                each.finding.clause,
                each.finding.operation or "",
                each.finding.status or 0,
                each.finding.code or "",
                each.finding.pointer or "",
            ),
        )
    )


def covered(world: World) -> dict[str, Coverage]:
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
        if not code.http.statuses and not code.http.rules:
            reason = code.http.reason or "the code never travels on HTTP"
        explained = reason is not None
        if reason is None and code.name in tried:
            reason = world.unmet.get(code.name) or world.ended or "its recipe did not bring it about"
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
