"""One run of the suite: find the service, probe it, and summarize the observations as a report.

Nothing that a service does raises an exception.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from faultspec.contract.clauses import Clause
from faultspec.contract.model import Contract, build_contract, with_known_lines
from faultspec.exchange.model import Exchange, Response
from faultspec.language.model import Taxonomy
from faultspec.openapi.service import Description, placeholders, shape_of
from faultspec_conformance.config import Identity, ServiceConfig
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.drivers.jsonrpc import Peer, Remote
from faultspec_conformance.drivers.processes import Running, StartFailed
from faultspec_conformance.drivers.stdio import Process
from faultspec_conformance.probes import (
    AFTER_ALL_OPERATIONS,
    BEGIN_SESSION,
    END_SESSION,
    OF_A_KIND,
    OF_ALL_OPERATIONS,
    OF_CALLS,
    OF_FAILURES,
    OF_JSONRPC,
    OF_MCP,
    OUTPUT_SCHEMAS,
    OUTPUTS,
    PROBES,
    REPEATED_ERRORS,
    SINKS,
    UNITS,
    WRITTEN,
    Probe,
)
from faultspec_conformance.results.conclusion import conclude, fail_expired_waivers
from faultspec_conformance.results.defects import describe_defect
from faultspec_conformance.results.model import Outcome, Report
from faultspec_conformance.run.deadline import DeadlineReached, RunDeadline, require_result
from faultspec_conformance.run.document import DocumentHold, hold_to_document
from faultspec_conformance.run.exploration import Describe, describe_service
from faultspec_conformance.run.flakiness import RESERVE, flaky_places, renew_session
from faultspec_conformance.run.lost import Keeping
from faultspec_conformance.run.schedule import (
    ProbeRun,
    needs_sweep,
    play,
    run_probe,
    select,
    select_shard,
)
from faultspec_conformance.run.summarize import (
    Place,
    build_session_masking,
    mask_result,
    provokable,
    summarize,
)
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.calls import CallSession, RpcSession, ToolSession
from faultspec_conformance.session.credentials import (
    confirm_refusal,
    drop_own_parameters,
    loss,
    refusal,
)
from faultspec_conformance.session.discovery import (
    address_problem,
    without_skipped,
)
from faultspec_conformance.session.endings import without_endings
from faultspec_conformance.session.http import RENEWED, HttpSession
from faultspec_conformance.session.observation import Unanswered, not_exercised
from faultspec_conformance.session.observations import SWEEP, Note, NotRun
from faultspec_conformance.session.options import (
    RunOptions,
    Unreachable,
    day_of_run,
    ignore_report,
)
from faultspec_conformance.session.sinks import open_sinks
from faultspec_conformance.session.upstreams import ScriptedUpstream, run_upstreams

if TYPE_CHECKING:
    from faultspec_conformance.drivers.mcp import McpDriver

AnyCallSession = TypeVar("AnyCallSession", bound=CallSession)

#: Kinds of resource that every probe tests at least, the simplest ones; the others come later.
_KINDS = 4

#: One of this many requests of the limit is kept by the generated traffic for the probes after it,
#: but at most half of those that are left.
_LOOK_BACK = 16

#: Why a run that called unknown routes only does not succeed.
_NOTHING_KNOWN = (
    "the operations of the service: no document describes them, and no answer leads to one; name "
    "paths with `--path /orders/17`, or the document with `--openapi PATH`"
)

#: Seconds beyond its limit after which a run computes no result any more. The one that it kept
#: takes its place.
_CLOSING = 1.0

INTERRUPTED = "the run was interrupted"
"""Why what is left of a run could not run."""

#: Why probes send nothing to some operations.
_ENDING = "each may end the session of the caller, remove the caller or change credentials"


def run(
    target: ServiceConfig, taxonomy: Taxonomy, options: RunOptions = RunOptions()
) -> Report | Unreachable:
    """Judge one service. The configuration may start it and script its upstreams.

    Raises ResultLate if the result takes too long after the limit of seconds.
    """
    try:
        with run_upstreams(target) as around:
            if around.started is not None:
                options.announce("process", around.started.process.pid)
            if target.transport != "http":
                return judge_calls(target, taxonomy, options, started=around.started)
            return judge_http(target, taxonomy, options, around.upstreams, started=around.started)
    except StartFailed as error:
        hint = error.hint or "check `target` and `upstreams` in the configuration"
        return Unreachable(str(error), hint)


def _ignore_session(session: HttpSession) -> None:
    """Inspect nothing."""


def judge_http(
    target: ServiceConfig,
    taxonomy: Taxonomy,
    options: RunOptions,
    upstreams: Mapping[str, ScriptedUpstream],
    *,
    started: Running | None = None,
    connect: Callable[[str, Limits], HttpDriver] = HttpDriver,
    describe: Describe = describe_service,
    inspect: Callable[[HttpSession], None] = _ignore_session,
) -> Report | Unreachable:
    """Judge a running service over HTTP, by probes and by generated traffic.

    ``started``: the process of the service, if the suite started it. ``connect`` creates the driver
    for a base URL. ``describe`` finds what is known of the service. ``inspect`` is called
    with the session after its last request.
    """
    unfit = address_problem(target.http)
    if unfit is not None:
        return Unreachable(
            f"{target.http} is not the address of a service: {unfit}",
            "write http://HOST:PORT or https://HOST",
        )
    parts = urlsplit(target.http)
    base = f"{parts.scheme}://{parts.netloc}"
    with connect(base, target.limits) as driver:
        deadline = RunDeadline(driver.remaining)
        closing = RunDeadline(driver.remaining + _CLOSING)
        options.announce("deadline", driver.remaining)
        session = HttpSession(
            with_known_lines(build_contract(taxonomy)), target, driver, Description()
        )
        done = _Done()
        try:
            with deadline:
                opened = _open_session(session, started, upstreams, describe)
        except DeadlineReached:
            opened = _Opened(session)
            _end_by_deadline(session, "while it read the OpenAPI document")
        except KeyboardInterrupt:
            opened = _Opened(session)
            done.interrupted = True
            session.observations.end(INTERRUPTED)
        if isinstance(opened, Unreachable):
            return opened
        session, held = opened.session, opened.held
        known = session.contract.clauses
        _keep_reports(session, known, options, base)
        if session.observations.ended is None:
            _run_parts(session, options, deadline, done)
        with require_result(closing):
            session.observations.add(map(NotRun, report_refused_identities(session)))
            session.observations.add(unended_logins(session))
            session.check_process()
            session.observations.add(held.check_observed() if held is not None else ())
            inspect(session)
            report = build_report(
                session, known, options, base=base, flaky=done.flaky, interrupted=done.interrupted
            )
        return replace(report, result=replace(report.result, generated=done.generated))


@dataclass(frozen=True, slots=True)
class _Opened:
    """A session that knows the document of its service, and what holds answers to the document."""

    session: HttpSession
    held: DocumentHold | None = None


@dataclass(slots=True)
class _Done:
    """How far a run came. ``generated``: requests of the sweep."""

    interrupted: bool = False
    generated: int = 0
    flaky: frozenset[Place] = frozenset()


def _run_parts(
    session: HttpSession, options: RunOptions, deadline: RunDeadline, done: _Done
) -> None:
    """Run the probes and the sweep, and repeat what failed, until the deadline or Ctrl-C."""
    driver, known = session.driver, session.contract.clauses
    limits, description = driver.limits, session.description
    kept = limits.requests // RESERVE
    driver.limits = replace(limits, requests=limits.requests - kept)
    played: list[ProbeRun] = []
    try:
        with deadline:
            probed = _describe_probed(session)
            session.description = probed
            played += run_probes(session, options, known)
            session.description = description
            if options.sweep and (options.shard is None or options.shard.has(len(UNITS))):
                session.description = probed
                played += run_probes_of_all_operations(session, options, known, OF_ALL_OPERATIONS)
                session.description = description
                done.generated = run_sweep(session, options)
                session.description = probed
                played += run_probes_of_all_operations(
                    session, options, known, AFTER_ALL_OPERATIONS
                )
            session.description = probed
            if session.sinks:
                for probe in (REPEATED_ERRORS, SINKS):
                    session.begin(probe.name, options.seed)
                    play(session, probe)
            done.flaky = flaky_places(session, played, options)
    except DeadlineReached:
        _end_by_deadline(session, f"during {driver.part or 'the probes'}")
    except KeyboardInterrupt:
        done.interrupted = True
        session.observations.end(INTERRUPTED)
    driver.limits = limits
    session.description = description


def _open_session(
    bare: HttpSession,
    started: Running | None,
    upstreams: Mapping[str, ScriptedUpstream],
    describe: Describe,
) -> _Opened | Unreachable:
    """Describe the service, and open the session of the run with what is known. ``bare``: a session
    without it.
    """
    driver, target = bare.driver, bare.config
    driver.part = "document"
    with driver.log_as("document"):
        described = describe(target, driver)
    if isinstance(described, Unreachable):
        return described
    description, notes = Description(), tuple[str, ...]()
    if not isinstance(described, NoAnswer):
        description, notes = without_skipped(target, *described)
        description = drop_own_parameters(description, target.identities.values())
    session = HttpSession(
        contract=bare.contract,
        config=target,
        driver=driver,
        description=description,
        upstreams=upstreams,
        started=started,
    )
    session.sinks = open_sinks(target, bare.contract)
    session.observations.add(map(Note, notes))
    if target.path is None and not session.inventory.operations:
        session.observations.add([NotRun(_NOTHING_KNOWN)])
    held = hold_to_document(session)
    session.observations.add(held.contradictions() if held is not None else ())
    if isinstance(described, NoAnswer):
        session.record_missing(Exchange(described.request, Response(None)), described)
        session.observations.end(
            f"the service did not answer the first request: {described.reason}"
        )
    return _Opened(session, held)


def _end_by_deadline(session: Session, when: str) -> None:
    """Record that the time of the run was spent before its work was done."""
    seconds = f"{session.driver.limits.seconds:g} seconds"
    session.observations.end(f"the budget of {seconds} is spent")
    session.observations.mark_incomplete()
    session.observations.add([Note(f"the run was stopped at its limit of {seconds}, {when}")])


def _describe_probed(session: HttpSession) -> Description:
    """The description for probes, and a note about the operations that it leaves out."""
    fixed = frozenset(session.config.values)
    items = frozenset(
        shape_of(kind.item)
        for kind in session.kinds
        if kind.item is not None
        and kind.operation("create") is not None
        and fixed.isdisjoint(placeholders(kind.item))
    )
    probed, endings = without_endings(session.description, items)
    if session.caller.anonymous or not endings:
        return session.description
    session.observations.add([Note(f"the probes leave out {', '.join(endings)}: {_ENDING}")])
    return probed


def judge_calls(
    target: ServiceConfig,
    taxonomy: Taxonomy,
    options: RunOptions,
    *,
    started: Running | None = None,
) -> Report | Unreachable:
    """Judge a service whose methods or tools are called by name: JSON-RPC or MCP. ``started``: the
    process of a service at an address, if the suite started it.
    """
    rules = with_known_lines(build_contract(taxonomy))
    known, sinks = rules.clauses, open_sinks(target, rules)
    has_events = any(one.transport == "event" for one in taxonomy.surfaces.values())
    try:
        with create_driver(target, logs=has_events) as driver:
            # A process that ended at once says why when it is called.
            if not driver.listens() and not isinstance(driver, Process) and not target.mcp_command:
                return Unreachable(f"cannot connect to {target.address}")
            options.announce("deadline", driver.remaining)
            closing = RunDeadline(driver.remaining + _CLOSING)
            session, parts = start_call_session(driver, rules, target, options)
            session.sinks, session.started = sinks, started
            _keep_reports(session, known, options, target.address)
            interrupted = False
            try:
                with RunDeadline(driver.remaining):
                    for part in parts:
                        part()
            except DeadlineReached:
                _end_by_deadline(session, f"during {driver.part}")
            except KeyboardInterrupt:
                interrupted = True
                session.observations.end(INTERRUPTED)
    except ImportError as error:
        return Unreachable(
            f"judging MCP needs {error.name or 'mcp'}", "pip install 'faultspec[conformance,mcp]'"
        )
    except OSError as error:
        return Unreachable(
            f"{target.address} cannot be started: {error.strerror or error}", "check `target`"
        )
    with require_result(closing):
        return build_report(
            session,
            known,
            options,
            base=target.address,
            flaky=frozenset(),
            interrupted=interrupted,
        )


def build_report(
    session: Session,
    known: Mapping[str, Clause],
    options: RunOptions,
    *,
    base: str,
    flaky: frozenset[Place],
    interrupted: bool,
) -> Report:
    """The masked report of a run. That of a shard is concluded when it is merged with the
    others.
    """
    session.observations.add(provokable(session))
    for sink in session.sinks:
        sink.close()
    if interrupted:
        session.observations.add([NotRun(INTERRUPTED)])
    return _build_report(
        session,
        known,
        options,
        base=base,
        flaky=flaky,
        interrupted=interrupted,
        spare=session.driver.remaining,
    )


def _keep_reports(
    session: Session, known: Mapping[str, Clause], options: RunOptions, base: str
) -> None:
    """Keep reports of what the session observed so far, as the run goes on."""

    def build() -> Report:
        return _build_report(
            session, known, options, base=base, flaky=frozenset(), interrupted=False
        )

    if options.keep is not ignore_report:
        session.observations.on_record = Keeping(build, options.keep)


def _build_report(
    session: Session,
    known: Mapping[str, Clause],
    options: RunOptions,
    *,
    base: str,
    flaky: frozenset[Place],
    interrupted: bool,
    spare: float = 0.0,
) -> Report:
    summary = summarize(session, known, options, flaky)
    day = day_of_run(options)
    result = (
        conclude(summary, day, only=options.only)
        if options.shard is None
        else fail_expired_waivers(summary, day)
    )
    hidden = build_session_masking(session)
    return Report(
        mask_result(hidden, result, session.contract.sensitive, spare=spare),
        base=hidden.text(base),
        only=options.only,
        source=session.config.path,
        interrupted=interrupted,
        day=day,
        seed=options.seed,
    )


def create_driver(target: ServiceConfig, *, logs: bool = False) -> "Peer | McpDriver":
    """The driver of a service over JSON-RPC or MCP. Raises ImportError if its library is
    missing. ``logs``: an MCP server is asked for all of its log messages.
    """
    if target.transport == "stdio":
        return Process(
            target.stdio,
            target.limits,
            framing=target.framing,
            cwd=target.directory,
            replies=target.session.replies,
        )
    if target.transport == "jsonrpc":
        return Remote(target.jsonrpc, target.limits)
    # The library is an optional extra.
    from faultspec_conformance.drivers.mcp import McpDriver

    return McpDriver(
        target.mcp_command or target.mcp,
        target.limits,
        cwd=target.directory,
        revision=target.revision,
        logs=logs,
        replies=target.session.replies,
    )


def start_call_session(
    driver: "Peer | McpDriver", rules: Contract, target: ServiceConfig, options: RunOptions
) -> tuple[CallSession, Iterator[Callable[[], None]]]:
    """The session of a driver, and the parts of its run: sample calls, probes of the protocol,
    recipes.
    """
    samples, recipes, *after = OF_CALLS
    if isinstance(driver, Peer):
        rpc = RpcSession(rules, target, driver)
        first: tuple[Probe[RpcSession], ...] = (BEGIN_SESSION, samples, *OF_JSONRPC, recipes)
        return rpc, _parts(
            rpc, (*first, *OF_FAILURES, *after, *END_SESSION, SINKS, OUTPUTS, WRITTEN), options
        )
    tools = ToolSession(rules, target, driver)
    begun: tuple[Probe[ToolSession], ...] = (samples, *OF_MCP, recipes, *after)
    return tools, _parts(tools, (*begun, OUTPUT_SCHEMAS, SINKS, OUTPUTS, WRITTEN), options)


def _parts(
    session: AnyCallSession, probes: tuple[Probe[AnyCallSession], ...], options: RunOptions
) -> Iterator[Callable[[], None]]:
    own = [
        probe
        for turn, probe in enumerate(probes)
        if probe.everywhere or options.shard is None or options.shard.has(turn)
    ]
    for probe in select(own, options.only, session.contract.clauses):
        options.progress(probe.name)
        session.begin_part(probe.name, options.seed)
        yield partial(play, session, probe)


def run_probes(
    session: HttpSession, options: RunOptions, known: Iterable[str]
) -> Iterator[ProbeRun]:
    """Run all probes on the first kinds of resource, and those of one kind on the others."""
    session.turn = session.kinds[: _first_kinds(session)]
    for probe in select(select_shard(PROBES, options.shard), options.only, known):
        options.progress(probe.name)
        yield run_probe(session, probe, options)
    yield from run_probes_of_other_kinds(session, options, known)


def _first_kinds(session: HttpSession) -> int:
    """The number of kinds that every probe tests: all that the file declares, which come first, and
    four in any case.
    """
    return max(_KINDS, len(session.config.resources))


def run_probes_of_all_operations(
    session: HttpSession,
    options: RunOptions,
    known: Iterable[str],
    probes: tuple[Probe[HttpSession], ...],
) -> Iterator[ProbeRun]:
    """Run probes that ask every operation, or look back at the generated traffic."""
    session.turn = session.kinds[: _first_kinds(session)]
    for probe in select(probes, options.only, known):
        options.progress(probe.name)
        yield run_probe(session, probe, options)


def run_sweep(session: HttpSession, options: RunOptions) -> int:
    """Send generated traffic if a chosen clause can be judged from it alone. Returns the number of
    requests.
    """
    wanted = session.config.sweep.requests > 0
    if not wanted or not needs_sweep(options.only, session.contract.clauses):
        return 0
    # A run of probes only needs no schemathesis.
    from faultspec_conformance.run.sweep import sweep

    options.progress("sweep")
    driver = session.driver
    before, limits = driver.requests, driver.limits
    kept = max(0, min(limits.requests // _LOOK_BACK, (limits.requests - before) // 2))
    driver.limits = replace(limits, requests=limits.requests - kept)
    session.begin(SWEEP, options.seed, SWEEP)
    try:
        swept = sweep(session, seed=options.seed or 0)
    except Exception as error:  # the run goes on without it
        session.observations.add([NotRun(describe_defect(error, SWEEP))])
        session.observations.mark_incomplete()
        return session.driver.requests - before
    finally:
        driver.limits = limits
    session.observations.add(map(Note, swept.notes))
    session.observations.add(map(NotRun, swept.not_run))
    if not swept.complete:
        session.observations.mark_incomplete()
    return session.driver.requests - before


def run_probes_of_other_kinds(
    session: HttpSession, options: RunOptions, known: Iterable[str]
) -> Iterator[ProbeRun]:
    """Test the kinds of resource after the first few, probe by probe, with half of the requests
    that are left.
    """
    later = session.kinds[_first_kinds(session) :]
    ceiling = (session.driver.requests + session.driver.limits.requests) // 2
    left_out = "the limit of requests leaves out"
    remedy = "raise `limits.requests`, or declare them under `resources`, which come first"
    for probe in (
        select(select_shard(OF_A_KIND, options.shard), options.only, known) if later else ()
    ):
        options.progress(f"{probe.name} of other resources")
        for kind in later:
            if session.driver.requests >= ceiling:
                names = ", ".join(other.name for other in later[later.index(kind) :])
                session.observations.add([Note(f"{left_out} {probe.name} of {names}; {remedy}")])
                session.observations.mark_incomplete()
                return
            session.turn = (kind,)
            yield run_probe(session, probe, options)


def report_refused_identities(session: HttpSession) -> tuple[str, ...]:
    """A sentence for each identity whose credentials the service refuses, always or since a
    request of the run, unless a refusal is expected.

    An ordinary request of the identity confirms it first, so that the verdict does not depend on
    the shard.
    """
    exchanges = session.observations.exchanges
    session.driver.part = "credentials"
    suspects = [
        (identity, refusal(session, identity, exchanges) or loss(session, identity, exchanges))
        for identity in session.identities
    ]
    confirmed = (
        _confirm_refusal(session, identity, reason)
        for identity, reason in suspects
        if reason is not None
        and identity.name not in session.refused
        and identity.name not in session.logins.failed  # reported when its logins failed
    )
    return tuple(reason for reason in confirmed if reason is not None)


def unended_logins(session: HttpSession) -> Iterator[Outcome]:
    """Say why no login was repeated, if identities have logins."""
    if any(identity.login is not None for identity in session.identities) and not any(
        outcome.clause == RENEWED for outcome in session.observations.outcomes
    ):
        yield not_exercised(RENEWED, "no session that a login began has ended during the run")


def _confirm_refusal(session: HttpSession, who: Identity, why: str) -> str | None:
    beside = renew_session(session)  # shards judge the same exchanges
    if session.observations.ended is not None:
        beside.observations.end(session.observations.ended)
    try:
        with session.driver.log_as("confirm"):
            return why if confirm_refusal(beside, who, why) is not None else None
    except Unanswered:
        return why
