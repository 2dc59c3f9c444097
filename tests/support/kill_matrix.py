"""Which clause catches which sin of the miniatures, and which sins trip no clause.

The miniatures know nothing of clauses; this is where the two meet. What else a sin trips stands in
`tests/goldens/kill-matrix.yaml`. `docs/kill-matrix.md` is written from both.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from fcntl import LOCK_EX, flock
from functools import cache, partial
from pathlib import Path
from typing import Literal

import yaml
from starlette.types import ASGIApp, Receive, Scope, Send

from faultspec import language
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import ServiceConfig, read_config
from faultspec_conformance.drivers import Limits
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.results.model import Result
from faultspec_conformance.run.service import judge_http, run
from faultspec_conformance.session.options import RunOptions, Unreachable
from miniatures import (
    archive,
    clinic,
    core_platform,
    lending,
    lockers,
    parcels,
    vault,
    workshop,
)
from miniatures.core_platform import CALLERS
from miniatures.serve import serving_on
from miniatures.sins import SINS, Sin, both, detail, no_header, on, sinning, status, without
from miniatures.systems import LAPSES
from miniatures.systems import over_http as lapsing
from miniatures.wire import RAW_WRITE, Answer, Asked, rewriting
from paths import ROOT, TESTS
from support import services
from support.in_process import Clock, InProcess

NOTEBOOKS = TESTS / "miniatures" / "notebooks.yaml"
CONSEQUENCES = TESTS / "goldens" / "kill-matrix.yaml"


@dataclass(frozen=True, slots=True)
class Kill:
    """``clause`` catches a sin of a ``miniature``, as a failure or as a ``warning``."""

    clause: str
    warning: bool = False
    miniature: str = "notebooks"

    @property
    def finding(self) -> str:
        """The clause, as `tripped` writes it."""
        return f"~{self.clause}" if self.warning else self.clause


def caught(clause: str, *, of: str = "notebooks") -> Kill:
    """The run fails."""
    return Kill(clause, miniature=of)


def warned(clause: str, *, of: str = "notebooks") -> Kill:
    """The run warns: the document recommends, or leaves room."""
    return Kill(clause, warning=True, miniature=of)


def _hangs_up(app: ASGIApp) -> ASGIApp:
    """One route writes something to the connection that is no HTTP."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        write = scope.get("extensions", {}).get(RAW_WRITE)
        if scope["type"] == "http" and scope["path"] == "/admin/quota" and write:
            write(b"panic: quota\r\n\r\n")
        await app(scope, receive, send)

    return wrapped


def _always_the_first(app: ASGIApp) -> ASGIApp:
    """Every creation of a tenant is answered with the first one."""
    first: dict[str, Answer] = {}

    def change(asked: Asked, answer: Answer) -> Answer:
        if asked.method != "POST" or asked.path != "/notebooks" or answer.status != 201:
            return answer
        caller = CALLERS[(asked.header("authorization") or "").partition(" ")[2]]
        remembered = first.setdefault(caller.tenant, answer)
        return remembered.with_header("x-correlation-id", answer.header("x-correlation-id") or "")

    return rewriting(change)(app)


def _cut_in_half(asked: Asked, answer: Answer) -> Answer:
    """A success of which the second half of the body was never written."""
    return replace(answer, body=answer.body[: len(answer.body) // 2])


def _only_sent_ids(asked: Asked, answer: Answer) -> Answer:
    """The answer without an id, where the request had none."""
    if asked.header("x-correlation-id"):
        return answer
    return both(no_header("x-correlation-id"), without("correlation_id"))(asked, answer)


MORE: Mapping[str, Sin] = {
    each.name: each
    for each in (
        Sin(
            "panics-on-one-route", "one route writes a panic to the connection", ("C26",), _hangs_up
        ),
        Sin(
            "creation-answers-the-first",
            "every creation is answered with the first one",
            ("C20",),
            _always_the_first,
        ),
        Sin(
            "no-id-unless-sent",
            "a 401 has an id only if the request had one",
            ("C4",),
            on(_only_sent_ids, status=401),
        ),
        Sin(
            "oversized-as-invalid",
            "a body beyond the limit is refused as invalid",
            ("C26",),
            on(
                both(status(400, "validation_failed"), detail("field", "body", only_present=False)),
                status=413,
            ),
        ),
        Sin(
            "creation-blames-the-request",
            "a creation without credentials is refused as invalid",
            ("C26",),
            on(status(400, "invalid_request"), status=401, method="POST"),
        ),
        Sin(
            "deletion-forbidden",
            "a deletion of what is not there is forbidden",
            ("C23",),
            on(status(403, "forbidden"), code="not_found", method="DELETE"),
        ),
        Sin(
            "cut-success",
            "the body of a 200 about notebooks ends in its middle",
            ("C26",),
            on(_cut_in_half, status=200, path=r"/notebooks.*", every=True),
        ),
    )
}
"""Sins for clauses that those of the miniatures leave unproven."""


def _notebooks(sin: str | None, clock: Callable[[], float]) -> ASGIApp:
    if sin is not None and sin in MORE:
        return MORE[sin].apply(sinning(clock=clock))
    return sinning(*([] if sin is None else [sin]), clock=clock)


def _vault(sin: str | None, clock: Callable[[], float]) -> ASGIApp:
    return vault.make_app(frozenset() if sin is None else frozenset({sin}))


def _lending(sin: str | None, clock: Callable[[], float]) -> ASGIApp:
    return lending.lending(*([] if sin is None else [sin]))


def _parcels(sin: str | None, clock: Callable[[], float]) -> ASGIApp:
    return parcels.parcels(() if sin is None else (sin,))


def _archive(sin: str | None, clock: Callable[[], float]) -> ASGIApp:
    return archive.make_app(frozenset() if sin is None else frozenset({sin}), clock)


def _clinic(sin: str | None, clock: Callable[[], float]) -> ASGIApp:
    return clinic.make_app(frozenset() if sin is None else frozenset({sin}))


def _lockers(sin: str | None, clock: Callable[[], float]) -> ASGIApp:
    return lockers.make_app(frozenset() if sin is None else frozenset({sin}), clock)


def _workshop(sin: str | None, clock: Callable[[], float]) -> ASGIApp:
    return workshop.make_app(frozenset() if sin is None else frozenset({sin}))


Connect = Callable[[str, Limits], HttpDriver]
"""Makes the driver of a run over HTTP."""

Opened = Callable[[str | None, bool], AbstractContextManager[tuple[ServiceConfig, Connect]]]
"""Starts a service with a sin, or behaving; yields its configuration and the way to it; ends it.

With True, requests go over connections; with False, those of a service over HTTP stay in the
process.
"""


@contextmanager
def reached(
    app: ASGIApp, clock: Clock | None, *, lifespan: Literal["on", "off"] = "off"
) -> Iterator[tuple[str, Connect]]:
    """The address of an application that is served, and the way to it: within the process where
    there is a clock.
    """
    with serving_on(app, lifespan=lifespan) as (base, loop):
        if clock is None:
            yield base, HttpDriver
        else:
            yield (
                base,
                partial(
                    HttpDriver,
                    clock=clock,
                    pause=clock.pause,
                    transport=InProcess(app, loop, clock),
                ),
            )


def served(
    config: Path,
    environment: Mapping[str, str],
    make: Callable[[str | None, Callable[[], float]], ASGIApp],
) -> Opened:
    """A service over HTTP whose sins are applications of their own."""

    @contextmanager
    def opened(sin: str | None, wired: bool) -> Iterator[tuple[ServiceConfig, Connect]]:
        clock = None if wired else Clock()
        with reached(make(sin, clock or time.time), clock) as (base, connect):
            loaded = read_config(str(config), {**environment, "BASE_URL": base})
            assert loaded.target is not None, loaded.diagnostics
            yield loaded.target, connect

    return opened


#: What stands between the suite and a process, found wherever the tests are run from.
_SINNING = f"import runpy, sys; sys.path.insert(0, {str(TESTS)!r}); runpy.run_module('miniatures.systems', run_name='__main__')"


def _of_system(system: str) -> Opened:
    """A service of `examples/`, with a sin between it and the suite."""

    @contextmanager
    def opened(sin: str | None, wired: bool) -> Iterator[tuple[ServiceConfig, Connect]]:
        over = lapsing(sin) if sin is not None and system != "keenbench" else None
        if not wired and system in services.OVER_HTTP:
            clock = Clock()
            app = services.application(system, clock)
            with reached(app if over is None else over(app), clock) as (base, connect):
                yield services.target(system, services.environment(BASE_URL=base)), connect
            return
        with services.started(system, over) as environment:
            found = services.target(system, environment)
            if sin is not None and system == "keenbench":
                found = replace(found, stdio=(sys.executable, "-c", _SINNING, sin, *found.stdio))
            yield found, HttpDriver

    return opened


PROBES_ONLY = RunOptions(sweep=False)
OF_ALL_OPERATIONS = RunOptions()
"""With the probes that ask every operation. The file of the miniature asks for no generated
traffic.
"""


@dataclass(frozen=True, slots=True)
class Miniature:
    """A service to be judged, and its ``sins``, each with what it does; ``opened`` has it with one
    of them, or behaving. ``options``: with which probes it is judged.
    """

    taxonomy: Path
    sins: Mapping[str, str]
    opened: Opened
    options: RunOptions = PROBES_ONLY


MINIATURES: Mapping[str, Miniature] = {
    "notebooks": Miniature(
        ROOT / "taxonomy.yaml",
        {name: sin.sentence for name, sin in (*SINS.items(), *MORE.items())},
        served(NOTEBOOKS, core_platform.ENVIRONMENT, _notebooks),
    ),
    "vault": Miniature(
        TESTS / "miniatures" / "vault-taxonomy.yaml",
        vault.SINS,
        served(TESTS / "miniatures" / "vault.yaml", vault.ENVIRONMENT, _vault),
    ),
    "lending": Miniature(
        TESTS / "miniatures" / "lending-taxonomy.yaml",
        {name: each for name, each in lending.SINS.items() if name not in lending.GENERATED},
        served(TESTS / "miniatures" / "lending.yaml", {}, _lending),
    ),
    "lockers": Miniature(
        TESTS / "miniatures" / "lockers-taxonomy.yaml",
        lockers.SINS,
        served(TESTS / "miniatures" / "lockers.yaml", lockers.PASSWORDS, _lockers),
    ),
    "archive": Miniature(
        TESTS / "miniatures" / "archive-taxonomy.yaml",
        archive.SINS,
        served(TESTS / "miniatures" / "archive.yaml", {}, _archive),
    ),
    "clinic": Miniature(
        TESTS / "miniatures" / "clinic-taxonomy.yaml",
        clinic.SINS,
        served(TESTS / "miniatures" / "clinic.yaml", {}, _clinic),
    ),
    "parcels": Miniature(
        TESTS / "miniatures" / "parcels-taxonomy.yaml",
        parcels.SINS,
        served(TESTS / "miniatures" / "parcels.yaml", {}, _parcels),
        OF_ALL_OPERATIONS,
    ),
    "workshop": Miniature(
        TESTS / "miniatures" / "workshop-taxonomy.yaml",
        workshop.SINS,
        served(TESTS / "miniatures" / "workshop.yaml", {}, _workshop),
        OF_ALL_OPERATIONS,
    ),
    **{
        system: Miniature(
            services.EXAMPLES / system / "taxonomy.yaml",
            {name: each.sentence for name, each in LAPSES.items() if each.system == system},
            _of_system(system),
        )
        for system in services.SYSTEMS
    },
}
"""The notebooks keep the Core Platform contract; the vault has one that gives a meaning to the
clauses it has no use for; the lending library breaks its own document; the lockers have logins; the
archive has pages and exports; the clinic records failures by id; the parcels and the workshop
are judged by the probes of all operations too; the others are the services of `examples/`.
"""

WIRED = frozenset({"panics-on-one-route"})
"""Sins that show only on a connection: they write past the HTTP library, or are of the server and
not of the application.
"""


@cache
def taxonomy(miniature: str) -> Taxonomy:
    """The taxonomy that a miniature keeps."""
    loaded = language.load(str(MINIATURES[miniature].taxonomy))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def judge(
    target: ServiceConfig,
    rules: Taxonomy,
    connect: Connect = HttpDriver,
    options: RunOptions = PROBES_ONLY,
) -> Result:
    """The result of a run on a service that is served already."""
    report = (
        judge_http(target, rules, options, {}, connect=connect)
        if target.transport == "http"
        else run(target, rules, options)
    )
    assert not isinstance(report, Unreachable), report.reason
    return report.result


def judged(miniature: str, sin: str | None = None, *, wired: bool = False) -> Result:
    """Judge a miniature with this sin, by probes alone; over a connection where asked for, or where
    the sin needs one.
    """
    with MINIATURES[miniature].opened(sin, wired or sin in WIRED) as (target, connect):
        return judge(target, taxonomy(miniature), connect, MINIATURES[miniature].options)


def findings(result: Result) -> frozenset[str]:
    """The clauses that a result has findings of; warnings begin with `~`."""
    return frozenset(
        f"{'' if judgement.level == 'error' else '~'}{judgement.finding.clause}"
        for judgement in result.findings
    )


def sinner(name: str) -> str:
    """The miniature that a sin is one of."""
    return next(miniature for miniature, each in MINIATURES.items() if name in each.sins)


@cache
def consequences() -> Mapping[str, list[str]]:
    """The other clauses that each sin breaks, from the golden file."""
    found: dict[str, list[str]] = yaml.safe_load(CONSEQUENCES.read_text(encoding="utf-8"))
    return found


def expected(name: str) -> frozenset[str]:
    """Everything that a sin must trip, no more and no less: its clause and its consequences."""
    if name not in KILLS:
        return frozenset()
    return frozenset({KILLS[name].finding, *consequences().get(name, ())})


def record(name: str, tripped: frozenset[str]) -> None:
    """Write the consequences of a sin into the golden file, which other processes write too."""
    with CONSEQUENCES.open("r+", encoding="utf-8") as file:
        flock(file, LOCK_EX)
        known = {**yaml.safe_load(file), name: sorted(tripped - {KILLS[name].finding})}
        rows = (
            yaml.safe_dump({sin: known.get(sin)}, default_flow_style=None, width=1000)
            for sin in KILLS
            if known.get(sin)
        )
        file.seek(0)
        file.write("".join([_HEADER, *rows]))
        file.truncate()


_HEADER = """\
# What each sin trips beside its clause; `~` stands before a warning. Written by
# `FAULTSPEC_WRITE=1 python -m pytest -m "" tests/systems/test_kill_matrix.py`.
"""

# A table, one sin a line.
# fmt: off
KILLS: Mapping[str, Kill] = {
    "correlation-not-echoed": caught("correlation/echo"),
    "correlation-not-echoed-on-success": caught("correlation/echo"),
    "correlation-not-echoed-on-401": caught("correlation/echo"),
    "correlation-not-echoed-on-unknown-route": caught("correlation/echo"),
    "correlation-not-echoed-on-500": caught("correlation/echo"),
    "correlation-echoed-in-header-only": caught("correlation/header-equals-body"),
    "correlation-echoed-in-body-only": caught("correlation/header-equals-body"),
    "correlation-header-differs-when-generated": caught("correlation/header-equals-body"),
    "correlation-constant": caught("correlation/unique"),
    "correlation-of-the-request": caught("correlation/unique"),
    "correlation-is-uuid4": caught("ids/format"),
    "correlation-is-a-number": caught("ids/format"),
    "correlation-prefixed": caught("ids/format"),
    "correlation-header-missing": caught("headers/x-correlation-id"),
    "correlation-header-missing-on-success": warned("correlation/echo"),
    "correlation-header-missing-on-405": caught("headers/x-correlation-id"),
    "correlation-header-renamed": caught("headers/x-correlation-id"),
    "correlation-header-twice": caught("correlation/echo"),
    "correlation-member-missing": caught("envelope/shape"),
    "correlation-member-null": caught("envelope/types"),
    "correlation-member-empty": caught("ids/format"),
    "correlation-member-camel-case": caught("envelope/shape"),
    "correlation-member-renamed": caught("envelope/shape"),
    "correlation-garbage-reflected": caught("correlation/invalid-inbound"),
    "correlation-length-unchecked": caught("correlation/invalid-inbound"),
    "correlation-uuid4-kept": warned("correlation/invalid-inbound"),
    "correlation-ulid-replaced": caught("correlation/echo"),
    "envelope-nested": caught("envelope/shape"),
    "envelope-in-a-list": caught("envelope/shape"),
    "envelope-as-array": caught("envelope/shape"),
    "envelope-encoded-twice": caught("envelope/shape"),
    "envelope-truncated": caught("envelope/json"),
    "envelope-nested-on-search": caught("envelope/shape"),
    "envelope-nested-on-5xx": caught("envelope/shape"),
    "envelope-extra-member": warned("envelope/additional"),
    "envelope-repeats-status": warned("envelope/additional"),
    "envelope-versioned": caught("envelope/shape"),
    "message-missing": caught("envelope/shape"),
    "message-null": caught("envelope/types"),
    "message-empty": caught("envelope/types"),
    "message-as-list": caught("framework/invalid-input"),
    "message-as-object": caught("envelope/types"),
    "code-missing": caught("envelope/shape"),
    "code-numeric": caught("envelope/types"),
    "code-upper-case": caught("code/declared"),
    "code-kebab-case": caught("code/declared"),
    "code-of-the-service": caught("code/declared"),
    "code-prefixed": caught("code/declared"),
    "code-unknown-on-405": caught("framework/method"),
    "code-unknown-on-406": caught("framework/not-acceptable"),
    "code-unknown-on-413": caught("code/declared"),
    "code-unknown-on-unknown-route": caught("framework/unknown-route"),
    "code-unknown-on-500": caught("code/declared"),
    "code-unknown-on-409": caught("code/declared"),
    "details-null": caught("envelope/types"),
    "details-list": caught("envelope/types"),
    "details-string": caught("envelope/types"),
    "html-404": caught("framework/unknown-route"),
    "plain-404": caught("framework/unknown-route"),
    "framework-404": caught("framework/unknown-route"),
    "plain-405": caught("framework/method"),
    "framework-405": caught("framework/method"),
    "plain-406": caught("framework/not-acceptable"),
    "plain-413": caught("framework/oversized"),
    "plain-431": caught("framework/oversized"),
    "html-414": caught("framework/oversized"),
    "plain-before-the-application": warned("framework/large-head"),
    "empty-415": caught("framework/media-type"),
    "plain-500": caught("envelope/json"),
    "search-crashes": caught("service/no-crash"),
    "html-503": caught("envelope/json"),
    "html-504": caught("envelope/json"),
    "empty-401": caught("envelope/json"),
    "framework-403": caught("envelope/shape"),
    "plain-429": caught("envelope/json"),
    "plain-bad-json": caught("framework/malformed-json"),
    "framework-422": caught("framework/invalid-input"),
    "problem-json": caught("envelope/media-type"),
    "problem-media-type": caught("envelope/media-type"),
    "media-type-text": caught("envelope/media-type"),
    "media-type-missing": caught("envelope/media-type"),
    "media-type-html-on-500": caught("envelope/media-type"),
    "silent-failure": caught("envelope/absent-on-success"),
    "nothing-found-told-as-error": caught("envelope/absent-on-success"),
    "silent-not-found": caught("framework/unknown-id"),
    "success-looks-like-an-envelope": caught("envelope/absent-on-success"),
    "login-redirect": caught("auth/missing"),
    "redirect-with-envelope": caught("envelope/absent-on-success"),
    "unknown-route-200": caught("framework/unknown-route"),
    "unknown-method-200": caught("framework/method"),
    "unknown-method-501": caught("framework/method"),
    "wrong-method-as-404": warned("framework/method"),
    "not-found-as-400": caught("code/status"),
    "not-found-as-403": caught("code/status"),
    "not-found-as-410": caught("code/status"),
    "conflict-as-400": caught("code/status"),
    "duplicate-as-400": caught("code/status"),
    "duplicate-as-422": caught("code/status"),
    "stale-as-409": caught("preconditions/stale"),
    "stale-as-428": caught("code/status"),
    "media-type-as-400": caught("framework/media-type"),
    "rate-limited-as-503": caught("code/status"),
    "rate-limited-as-403": caught("code/status"),
    "unauthenticated-as-403": caught("code/status"),
    "unauthenticated-as-400": caught("code/status"),
    "forbidden-as-401": caught("code/status"),
    "scope-as-401": caught("code/status"),
    "validation-as-422": caught("code/status"),
    "timeout-as-500": caught("code/status"),
    "timeout-as-408": caught("code/status"),
    "dependency-as-500": caught("code/status"),
    "dependency-as-424": caught("code/status"),
    "internal-error-as-503": caught("code/status"),
    "internal-error-as-400": caught("code/status"),
    "serialization-as-500": caught("code/status"),
    "constraint-as-500": caught("code/status"),
    "serialization-as-409": caught("code/status"),
    "bad-json-as-500": caught("service/no-crash"),
    "oversized-as-500": caught("service/no-crash"),
    "stale-told-as-conflict": caught("preconditions/stale"),
    "media-type-told-as-validation": caught("framework/media-type"),
    "crash-told-as-invalid-request": caught("code/status"),
    "bad-json-told-as-internal-error": caught("service/no-crash"),
    "not-found-told-as-forbidden": caught("code/status"),
    "unauthenticated-told-as-forbidden": caught("code/status"),
    "scope-told-as-unauthenticated": caught("code/status"),
    "rate-limited-told-as-unavailable": caught("code/status"),
    "timeout-told-as-internal-error": caught("code/status"),
    "scope-told-as-forbidden": caught("provoke/code"),
    "validation-told-as-constraint": caught("framework/invalid-input"),
    "validation-told-as-invalid-request": caught("provoke/code"),
    "no-store-missing": caught("headers/cache-control"),
    "no-cache-instead": caught("headers/cache-control"),
    "private-instead": caught("headers/cache-control"),
    "errors-cacheable": caught("headers/cache-control"),
    "no-store-in-pragma": caught("headers/cache-control"),
    "no-store-misspelt": caught("headers/cache-control"),
    "no-store-missing-on-401": caught("headers/cache-control"),
    "no-store-missing-on-404": caught("headers/cache-control"),
    "no-store-missing-on-405": caught("headers/cache-control"),
    "no-store-missing-on-429": caught("headers/cache-control"),
    "no-store-missing-on-500": caught("headers/cache-control"),
    "no-store-missing-on-503": caught("headers/cache-control"),
    "no-store-missing-on-unknown-route": caught("headers/cache-control"),
    "retry-after-garbage": caught("headers/retry-after"),
    "retry-after-empty": caught("headers/retry-after"),
    "retry-after-negative": caught("headers/retry-after"),
    "retry-after-decimal": caught("headers/retry-after"),
    "retry-after-with-unit": caught("headers/retry-after"),
    "retry-after-iso-date": caught("headers/retry-after"),
    "retry-after-epoch": caught("headers/retry-after"),
    "retry-after-missing": caught("headers/retry-after"),
    "retry-after-only-in-details": caught("headers/retry-after"),
    "retry-after-in-the-past": caught("headers/retry-after"),
    "retry-after-bad-on-503": caught("headers/retry-after"),
    "retry-after-too-short": caught("retry/recovers"),
    "keys-kept-for-the-last-ten": caught("idempotency/replay"),
    "search-across-tenants": caught("tenancy/concealed"),
    "delete-looked-up-long-before": caught("provoke/parallel"),
    "stale-delete-deletes": caught("preconditions/stale"),
    "retry-after-milliseconds": caught("retry/limit"),
    "limit-of-the-example": caught("retry/limit"),
    "limit-understated": caught("retry/limit"),
    "window-of-an-hour": caught("retry/limit"),
    "retry-after-beyond-the-window": caught("retry/limit"),
    "rate-limit-never-recovers": caught("retry/recovers"),
    "challenge-missing": caught("headers/www-authenticate"),
    "failed-batch-keeps-items": caught("writes/refused"),
    "invalid-change-counts-a-page": caught("writes/refused"),
    "deletion-answered-404": caught("writes/refused"),
    "creation-not-stored": caught("writes/created"),
    "creation-stored-twice": caught("writes/created"),
    "change-not-stored": caught("writes/updated"),
    "change-clears-the-title": caught("writes/updated"),
    "deletion-not-made": caught("writes/deleted"),
    "deletion-removes-the-oldest": caught("writes/deleted"),
    "deleted-still-listed": caught("writes/deleted"),
    "change-looked-up-long-before": caught("preconditions/concurrent"),
    "unknown-deletion-succeeds": warned("framework/unknown-id"),
    "challenge-of-another-scheme": caught("document/challenge"),
    "challenge-missing-for-bad-token": caught("headers/www-authenticate"),
    "allow-missing": caught("headers/allow"),
    "allow-incomplete": warned("framework/method"),
    "allow-lists-the-refused-method": caught("framework/method"),
    "head-with-body": caught("http/head-body"),
    "head-error-with-body": caught("http/head-body"),
    "head-always-200": caught("framework/unknown-route"),
    "etag-missing-on-412": caught("headers/etag"),
    "expected-etag-missing": caught("details/required"),
    "expected-etag-differs": caught("details/validator"),
    "expected-etag-is-the-callers": caught("preconditions/recovers"),
    "expected-etag-as-object": caught("details/schema"),
    "etag-missing-on-read": caught("preconditions/recovers"),
    "etag-never-changes": caught("preconditions/stale"),
    "stale-write-accepted": caught("preconditions/stale"),
    "stale-put-accepted": caught("preconditions/stale"),
    "stale-patch-accepted": caught("preconditions/stale"),
    "stale-delete-accepted": caught("preconditions/stale"),
    "fresh-if-match-refused": caught("preconditions/recovers"),
    "limit-as-text": caught("details/schema"),
    "window-as-text": caught("details/schema"),
    "window-renamed": warned("details/registered"),
    "retryable-as-text": caught("details/schema"),
    "retryable-as-number": caught("details/schema"),
    "retryable-always-true": caught("retriable/agrees"),
    "retryable-always-false": caught("retriable/agrees"),
    "rate-limited-says-not-retryable": caught("retriable/agrees"),
    "timeout-says-not-retryable": caught("retriable/agrees"),
    "dependency-unavailable-says-not-retryable": caught("retriable/agrees"),
    "serialization-failure-says-not-retryable": caught("retriable/agrees"),
    "validation-failed-says-retryable": caught("retriable/agrees"),
    "internal-error-says-retryable": caught("retriable/agrees"),
    "not-found-says-retryable": caught("retriable/agrees"),
    "hint-as-list": caught("details/schema"),
    "field-as-list": caught("details/schema"),
    "field-of-another-member": caught("details/field"),
    "detail-key-invented": warned("details/registered"),
    "existing-id-missing-on-duplicate": caught("details/required"),
    "existing-id-missing-on-conflict": caught("details/required"),
    "existing-id-as-object": caught("details/schema"),
    "existing-id-of-nothing": caught("duplicates/existing-id"),
    "idempotency-key-ignored": caught("idempotency/replay"),
    "idempotency-key-ignored-on-changes": caught("idempotency/replay"),
    "idempotency-key-ignored-by-batch": caught("idempotency/replay"),
    "idempotency-key-ignored-on-comments": caught("idempotency/replay"),
    "idempotency-key-refused": caught("idempotency/replay"),
    "replay-makes-another": caught("idempotency/replay"),
    "replay-answers-200": caught("idempotency/replay"),
    "replay-adds-a-member": caught("idempotency/replay"),
    "replay-forgotten-once-made": caught("idempotency/replay"),
    "replay-shows-the-present": caught("idempotency/replay"),
    "replay-drops-etag": caught("idempotency/replay"),
    "replay-refused-as-conflict": caught("idempotency/replay"),
    "replay-inserts-silently": caught("idempotency/replay"),
    "key-looked-up-long-before": caught("idempotency/concurrent"),
    "key-of-a-comment-looked-up-long-before": caught("idempotency/concurrent"),
    "key-shared-across-tenants": caught("idempotency/isolation"),
    "duplicate-accepted": caught("duplicates/refused"),
    "title-taken-by-change": caught("duplicates/refused"),
    "refused-title-kept": caught("writes/refused"),
    "title-looked-up-long-before": caught("duplicates/concurrent"),
    "other-tenant-is-403": caught("tenancy/concealed"),
    "other-tenant-readable": caught("tenancy/concealed"),
    "other-tenant-export-readable": caught("tenancy/concealed"),
    "other-tenant-comment-accepted": caught("tenancy/concealed"),
    "other-tenants-on-later-pages": caught("tenancy/concealed"),
    "other-tenant-delete-accepted": caught("tenancy/concealed"),
    "other-tenant-shown-by-code": caught("tenancy/concealed"),
    "other-tenant-shown-by-message": caught("tenancy/concealed"),
    "other-tenant-shown-by-details": caught("tenancy/concealed"),
    "other-tenant-shown-by-etag": caught("tenancy/concealed"),
    "other-tenant-shown-by-precondition": caught("tenancy/concealed"),
    "title-unique-across-tenants": caught("tenancy/concealed"),
    "tenant-id-in-message": caught("leaks/echoed-tenant"),
    "tenant-id-in-details": caught("leaks/echoed-tenant"),
    "tenant-id-in-header": warned("leaks/echoed-tenant"),
    "tenant-id-in-body": caught("leaks/echoed-tenant"),
    "stack-trace-python": caught("leaks/stack-trace"),
    "stack-trace-java": caught("leaks/stack-trace"),
    "stack-trace-node": caught("leaks/stack-trace"),
    "stack-trace-go": caught("leaks/stack-trace"),
    "stack-trace-dotnet": caught("leaks/stack-trace"),
    "stack-trace-ruby": caught("leaks/stack-trace"),
    "stack-trace-php": caught("leaks/stack-trace"),
    "stack-trace-in-details": caught("leaks/stack-trace"),
    "stack-trace-in-header": caught("leaks/stack-trace"),
    "stack-trace-of-the-crash": caught("leaks/stack-trace"),
    "debugger-page": caught("leaks/stack-trace"),
    "sql-error-in-message": caught("leaks/sql"),
    "connection-string-in-message": caught("leaks/connection-string"),
    "file-path-in-message": caught("leaks/path"),
    "private-address-in-message": caught("leaks/private-address"),
    "internal-host-in-message": caught("leaks/private-address"),
    "email-in-message": caught("leaks/email"),
    "access-key-in-message": caught("leaks/secret"),
    "service-token-in-message": caught("leaks/secret"),
    "exception-name-in-message": caught("leaks/stack-trace"),
    "dependency-name-in-message": caught("leaks/internal-name"),
    "email-in-hint": caught("leaks/email"),
    "connection-string-in-hint": caught("leaks/connection-string"),
    "token-in-message": caught("leaks/canary"),
    "token-in-scope-message": caught("leaks/canary"),
    "token-in-challenge": caught("leaks/canary"),
    "input-in-message": caught("leaks/canary"),
    "input-in-duplicate-message": caught("leaks/canary"),
    "input-in-hint": caught("leaks/canary"),
    "input-in-header": caught("leaks/canary"),
    "query-in-message": caught("leaks/canary"),
    "path-in-message": caught("leaks/canary"),
    "value-in-message": caught("leaks/canary"),
    "limit-in-message": caught("leaks/canary"),
    "id-in-message": warned("leaks/canary"),
    "agent-in-message": caught("leaks/canary"),
    "queue-name-in-message": caught("leaks/connection-string"),
    "batch-all-bad-207": caught("batch/mixed-only"),
    "batch-all-good-207": caught("batch/mixed-only"),
    "batch-all-bad-200": caught("batch/bad-items"),
    "batch-mixed-200": caught("batch/mixed-only"),
    "batch-item-status-lies": caught("batch/items"),
    "batch-items-without-envelope": caught("batch/items"),
    "bad-items-missing": caught("batch/bad-items"),
    "bad-items-as-count": caught("details/schema"),
    "bad-items-all-the-first": caught("batch/named-items"),
    "batch-outcomes-shifted": caught("batch/named-items"),
    "scope-ignored": caught("auth/scope"),
    "scope-ignored-on-delete": caught("auth/scope"),
    "admin-open-to-all": caught("provoke/code"),
    "auth-ignored-on-search": caught("auth/missing"),
    "auth-ignored-on-export": caught("auth/missing"),
    "auth-ignored-on-head": caught("auth/missing"),
    "bad-token-accepted": caught("auth/garbage"),
    "unhandled-token-crash": caught("service/no-crash"),
    "oversized-accepted": caught("framework/oversized"),
    "media-type-ignored": caught("framework/media-type"),
    "media-type-ignored-on-patch": caught("framework/media-type"),
    "bad-json-as-empty": caught("framework/malformed-json"),
    "bad-json-as-200": caught("framework/malformed-json"),
    "invalid-field-accepted": caught("framework/invalid-input"),
    "limit-not-looked-at": caught("framework/invalid-input"),
    "charset-refused": caught("framework/media-type"),
    "null-crashes": caught("service/no-crash"),
    "depth-crashes": caught("service/no-crash"),
    "bytes-crash": caught("service/no-crash"),
    "nul-crashes": caught("service/no-crash"),
    "surrogate-crashes": caught("service/no-crash"),
    "options-crashes": caught("service/no-crash"),
    "wrong-method-501": caught("service/no-crash"),
    "allow-empty": caught("framework/method"),
    "header-line-twice": caught("headers/x-correlation-id"),
    "stored-after-all": warned("headers/cache-control"),
    "batch-items-have-ids-of-their-own": caught("correlation/header-equals-body"),
    "stream-error-as-text": caught("stream/announced"),
    "stream-error-nested": caught("stream/announced"),
    "stream-error-without-offset": caught("stream/offset"),
    "stream-offset-null": caught("details/schema"),
    "stream-error-in-data": caught("stream/announced"),
    "stream-correlation-differs": caught("correlation/echo"),
    "stream-just-ends": caught("stream/announced"),
    "webhook-accepts-what-it-lost": caught("provoke/code"),
    "webhook-own-shape": caught("envelope/shape"),
    "panics-on-one-route": caught("service/alive"),
    "creation-answers-the-first": caught("idempotency/distinct-keys"),
    "no-id-unless-sent": caught("correlation/generated"),
    "oversized-as-invalid": caught("framework/oversized"),
    "creation-blames-the-request": caught("auth/missing"),
    "deletion-forbidden": caught("tenancy/concealed"),
    "cut-success": caught("success/content"),
    "page-skips-a-record": caught("lists/pages", of="archive"),
    "page-repeats-a-record": caught("lists/pages", of="archive"),
    "last-record-on-no-page": caught("lists/pages", of="archive"),
    "pages-never-end": caught("lists/pages", of="archive"),
    "bad-cursor-restarts": warned("lists/cursor", of="archive"),
    "tenant-taken-from-change": caught("writes/server-owned", of="archive"),
    "id-taken-from-creation": caught("writes/server-owned", of="archive"),
    "null-title-crashes-the-list": caught("writes/readable", of="archive"),
    "null-title-hides-the-record": caught("writes/readable", of="archive"),
    "limit-shared-by-tenants": caught("retry/scope", of="archive"),
    "offset-one-too-far": caught("lists/pages"),
    "failure-id-leads-nowhere": caught("audit/resolves", of="clinic"),
    "some-failures-unrecorded": caught("audit/resolves", of="clinic"),
    "one-id-for-all-failures": caught("ids/unique", of="clinic"),
    "record-of-another-failure": caught("audit/resolves", of="clinic"),
    "any-id-shows-the-last-record": caught("audit/resolves", of="clinic"),
    "record-shown-to-other-tenant": caught("audit/concealed", of="clinic"),
    "record-forbidden-to-other-tenant": caught("audit/concealed", of="clinic"),
    "auditor-adds-visits": caught("auth/scope", of="clinic"),
    "records-unreadable-for-refusals": caught("audit/resolves", of="clinic"),
    "new-token-ignored": caught("auth/renewed", of="lockers"),
    "second-login-crashes": caught("service/no-crash", of="lockers"),
    "wait-not-enough": caught("retry/recovers", of="lockers"),
    "deletion-replayed-as-missing": caught("idempotency/replay", of="lockers"),
    "key-refused-on-deletion": caught("idempotency/replay", of="lockers"),
    "batch-replayed-as-new": caught("idempotency/replay", of="lockers"),
    "taken-batch-keeps-its-first-items": caught("writes/refused", of="lockers"),
    "batch-repeats-labels": caught("duplicates/refused", of="lockers"),
    "refusal-remembered": caught("idempotency/replay", of="lockers"),
    "old-etag-closes": caught("preconditions/stale", of="lockers"),
    "old-etag-refused-and-closed": caught("preconditions/stale", of="lockers"),
    "language-mislabelled": caught("code/language", of="lockers"),
    "other-owner-forbidden": caught("tenancy/concealed", of="lockers"),
    "other-owner-deletes": caught("tenancy/concealed", of="lockers"),
    "old-room-fails": caught("surface/known", of="vault"),
    "old-shelf-fails": caught("surface/known", of="vault"),
    "status-inside-is-500": caught("envelope/status", of="vault"),
    "status-rewritten-by-proxy": caught("envelope/status", of="vault"),
    "reserved-code-sent": caught("code/reserved", of="vault"),
    "removed-code-sent": caught("code/reserved", of="vault"),
    "code-after-its-sunset": caught("code/sunset", of="vault"),
    "code-of-another-operation": caught("code/operation", of="vault"),
    "code-not-of-the-operation": caught("code/operation", of="vault"),
    "code-as-text": caught("envelope/types", of="vault"),
    "layer-always-door": caught("boundary/allowed", of="vault"),
    "layer-invented": caught("boundary/allowed", of="vault"),
    "layer-of-own-code-wrong": caught("boundary/allowed", of="vault"),
    "reused-key-answers-first": caught("idempotency/mismatch", of="vault"),
    "reused-key-compares-labels": caught("idempotency/mismatch", of="vault"),
    "reused-key-adds-another": caught("idempotency/mismatch", of="vault"),
    "reused-key-unreadable": caught("idempotency/mismatch", of="vault"),
    "jam-sticks": caught("fault/recovers", of="vault"),
    "key-of-a-jam-forgotten": caught("idempotency/after-failure", of="vault"),
    "jam-after-adding": caught("idempotency/after-failure", of="vault"),
    "door-without-challenge": caught("http/authenticate", of="vault"),
    "allow-names-the-refused": caught("http/allow", of="vault"),
    "refused-type-accepted": caught("http/accept", of="vault"),
    "part-without-range": caught("http/partial-content", of="vault"),
    "upgrade-unnamed": caught("http/upgrade", of="vault"),
    "nothing-has-a-length": caught("http/no-content", of="vault"),
    "jam-until-soon": caught("http/retry-after", of="vault"),
    "head-not-taken": caught("http/head", of="vault"),
    "head-of-nothing": caught("http/head", of="vault"),
    "tag-without-quotes": caught("http/fields", of="vault"),
    "not-modified-loses-tag": caught("http/not-modified", of="vault"),
    "not-modified-for-any-tag": caught("http/not-modified", of="vault"),
    "not-modified-is-412": caught("http/not-modified", of="vault"),
    "not-modified-on-item-alone": caught("http/not-modified", of="vault"),
    "member-named-wrong": caught("provoke/expected", of="vault"),
    "reset-ignored": caught("retriable/until", of="vault"),
    "rpc-version-left-out": caught("rpc/response", of="keenbench"),
    "rpc-result-beside-error": caught("rpc/response", of="keenbench"),
    "rpc-error-as-text": caught("rpc/response", of="keenbench"),
    "rpc-id-as-text": caught("rpc/id", of="keenbench"),
    "rpc-id-lost-on-errors": caught("rpc/id", of="keenbench"),
    "rpc-text-id-lost-on-errors": caught("rpc/id", of="keenbench"),
    "rpc-text-id-lost-on-failures": caught("rpc/id", of="keenbench"),
    "rpc-id-zero-lost-on-errors": caught("rpc/id", of="keenbench"),
    "rpc-unknown-method-internal": caught("service/no-crash", of="keenbench"),
    "rpc-unknown-method-application": caught("rpc/unknown-method", of="keenbench"),
    "rpc-unknown-method-succeeds": caught("rpc/unknown-method", of="keenbench"),
    "rpc-parse-error-as-invalid": caught("rpc/parse-error", of="keenbench"),
    "rpc-invalid-request-as-params": caught("rpc/invalid-request", of="keenbench"),
    "rpc-invalid-params-internal": caught("service/no-crash", of="keenbench"),
    "rpc-invalid-params-accepted": caught("rpc/invalid-params", of="keenbench"),
    "rpc-batch-first-only": caught("rpc/batch", of="keenbench"),
    "rpc-batch-twice": caught("rpc/batch", of="keenbench"),
    "rpc-batch-strangers": caught("rpc/batch", of="keenbench"),
    "rpc-batch-empty-list": caught("rpc/batch", of="keenbench"),
    "rpc-notification-answered": caught("rpc/notification", of="keenbench"),
    "rpc-params-in-message": caught("leaks/canary", of="keenbench"),
    "undeclared-code": caught("code/declared", of="keenbench"),
    "undeclared-subphase": caught("envelope/types", of="keenbench"),
    "undeclared-scope-hash": warned("details/registered", of="keenbench"),
    "phase-left-out": caught("envelope/shape", of="keenbench"),
    "actions-left-out": caught("envelope/shape", of="keenbench"),
    "nothing-tries-again": caught("actions/agree", of="keenbench"),
    "nothing-notified": caught("surface/repeated", of="keenbench"),
    "one-code-not-notified": caught("surface/repeated", of="keenbench"),
    "notified-as-another": caught("surface/repeated", of="keenbench"),
    "notified-in-another-phase": caught("surface/repeated", of="keenbench"),
    "notified-of-another-workbench": caught("surface/repeated", of="keenbench"),
    "another-codes-way-out": caught("actions/agree", of="keenbench"),
    "a-report-that-is-not-there": caught("references/exist", of="keenbench"),
    "a-way-out-dropped": caught("actions/agree", of="keenbench"),
    "rate-limit-as-unavailable": caught("provoke/code", of="keenbench"),
    "raw-provider-error": caught("leaks/connection-string", of="keenbench"),
    "restore-as-write-failure": caught("provoke/code", of="keenbench"),
    "message-of-a-page": caught("envelope/types", of="keenbench"),
    "consent-retryable": caught("retriable/agrees", of="keenbench"),
    "strict-marks-unknown": caught("mcp/is-error", of="theodosia"),
    "mark-lost": caught("mcp/is-error", of="theodosia"),
    "unknown-tool-result": caught("mcp/unknown-tool", of="theodosia"),
    "unknown-tool-marked": warned("mcp/unknown-tool", of="theodosia"),
    "arguments-as-text": warned("mcp/invalid-arguments", of="theodosia"),
    "arguments-as-crash": caught("mcp/invalid-arguments", of="theodosia"),
    "arguments-refused-by-another-number": warned("mcp/invalid-arguments", of="theodosia"),
    "arguments-refused-without-words": caught("mcp/error-text", of="theodosia"),
    "state-as-number": caught("mcp/output-schema", of="theodosia"),
    "trace-for-arguments": caught("leaks/stack-trace", of="theodosia"),
    "trace-for-arguments-as-text": caught("leaks/stack-trace", of="theodosia"),
    "token-for-arguments": caught("leaks/secret", of="theodosia"),
    "unknown-tool-as-crash": warned("mcp/unknown-tool", of="theodosia"),
    "trace-for-unknown-tool": caught("leaks/stack-trace", of="theodosia"),
    "unknown-tool-echoes": caught("leaks/canary", of="theodosia"),
    "trace-for-resource": caught("leaks/stack-trace", of="theodosia"),
    "arguments-accepted": caught("mcp/invalid-arguments", of="theodosia"),
    "text-of-another-refusal": warned("mcp/text", of="theodosia"),
    "text-of-success": warned("mcp/text", of="theodosia"),
    "inputs-told-as-exception": caught("provoke/code", of="theodosia"),
    "success-offers-nothing": caught("success/requires", of="theodosia"),
    "budget-as-text": caught("details/schema", of="theodosia"),
    "budget-not-kept": caught("deadline/kept", of="theodosia"),
    "unknown-offers-nothing": caught("envelope/shape", of="theodosia"),
    "sixth-refusal": caught("code/declared", of="theodosia"),
    "token-in-exception": caught("leaks/secret", of="theodosia"),
    "offered-and-refused": caught("navigation/offered", of="theodosia"),
    "unoffered-as-unknown": caught("navigation/not-offered", of="theodosia"),
    "unoffered-succeeds": caught("navigation/not-offered", of="theodosia"),
    "history-without-refusals": caught("audit/recorded", of="theodosia"),
    "history-without-reason": caught("audit/recorded", of="theodosia"),
    "next-is-stale": caught("discovery/agrees", of="theodosia"),
    "second-status-dropped": caught("discovery/agrees", of="alknet"),
    "schemas-of-status-500": caught("discovery/agrees", of="alknet"),
    "unauthorized-instead": caught("code/declared", of="alknet"),
    "rate-limit-as-500": caught("code/status", of="alknet"),
    "call-timeout-as-500": caught("code/status", of="alknet"),
    "undeclared-passed-on": caught("code/declared", of="alknet"),
    "declared-as-undeclared": caught("code/original", of="alknet"),
    "details-unchecked": caught("details/schema", of="alknet"),
    "infrastructure-codes": caught("code/declared", of="alknet"),
    "raw-error-as-details": caught("envelope/types", of="alknet"),
    "list-is-partial": caught("document/status", of="lending"),
    "pages-as-text": caught("document/schema", of="lending"),
    "book-as-plain-text": caught("document/media-type", of="lending"),
    "creation-without-location": caught("document/headers", of="lending"),
    "missing-book-in-other-words": caught("framework/unknown-id", of="lending"),
    "pin-comes-back": caught("leaks/confidential", of="lending"),
    "pin-is-shown-later": caught("leaks/confidential", of="lending"),
    "fraction-crashes": caught("service/no-crash", of="lending"),
    "broken-escape-crashes": caught("service/no-crash", of="lending"),
    "repeated-limit-crashes": caught("service/no-crash", of="lending"),
    "document-of-other-errors": warned("document/agrees", of="lending"),
    "export-failure-hidden": caught("provoke/code", of="archive"),
    "export-never-ends": caught("provoke/state", of="archive"),
    "refused-batch-keeps-good-items": caught("writes/refused", of="archive"),
    "batch-drops-bad-items": caught("batch/complete", of="archive"),
    "refused-batch-names-first": caught("batch/named-items", of="archive"),
    "long-batch-is-cut": caught("batch/complete", of="archive"),
    "longest-label-crashes": caught("service/no-crash", of="parcels"),
    "shortest-label-crashes": caught("service/no-crash", of="parcels"),
    "greatest-limit-crashes": caught("service/no-crash", of="parcels"),
    "least-weight-crashes": caught("service/no-crash", of="parcels"),
    "greatest-weight-crashes": caught("service/no-crash", of="parcels"),
    "full-tags-crash": caught("service/no-crash", of="parcels"),
    "empty-tags-crash": caught("service/no-crash", of="parcels"),
    "rare-size-crashes": caught("service/no-crash", of="parcels"),
    "empty-note-crashes": caught("service/no-crash", of="parcels"),
    "null-note-crashes": caught("service/no-crash", of="parcels"),
    "bare-parcel-crashes": caught("service/no-crash", of="parcels"),
    "whole-parcel-crashes": caught("service/no-crash", of="parcels"),
    "longest-code-crashes": caught("service/no-crash", of="parcels"),
    "longest-desk-crashes": caught("service/no-crash", of="parcels"),
    "emoji-in-a-note-crashes": caught("service/no-crash", of="parcels"),
    "limit-excludes-its-maximum": warned("document/bounds", of="parcels"),
    "weight-unchecked-on-labels": caught("framework/invalid-input", of="parcels"),
    "text-read-on-labels": caught("framework/media-type", of="parcels"),
    "overweight-keeps-the-label": caught("writes/refused", of="parcels"),
    "large-labels-in-other-words": caught("framework/oversized", of="parcels"),
    "absent-details-null": caught("envelope/types", of="alknet"),
    "crash-told": caught("leaks/connection-string", of="alknet"),
    "timeout-not-retryable": caught("retriable/agrees", of="alknet"),
    "missing-file-instead": caught("code/status", of="alknet"),
    "always-retriable": caught("retriable/agrees", of="aileron"),
    "any-boundary": caught("boundary/allowed", of="aileron"),
    "any-class": caught("code/declared", of="aileron"),
    "status-of-no-class": caught("code/status", of="aileron"),
    "audit-id-optional": caught("envelope/shape", of="aileron"),
    "audit-not-written": caught("audit/recorded", of="aileron"),
    "audit-keys-renamed": caught("audit/recorded", of="aileron"),
    "error-in-message": caught("envelope/nested", of="aileron"),
    "error-in-details": caught("envelope/nested", of="aileron"),
    "tool-text-without-id": caught("rendering/form", of="aileron"),
    "tool-text-of-no-class": caught("rendering/form", of="aileron"),
    "tool-text-in-prose": caught("provoke/code", of="aileron"),
    "tool-text-by-assistant": caught("rendering/form", of="aileron"),
    "tool-text-not-audited": caught("audit/recorded", of="aileron"),
    "retried-beyond": caught("details/schema", of="aileron"),
    "details-as-list": caught("envelope/types", of="aileron"),
    "error-as-text": caught("envelope/shape", of="aileron"),
    "error-wrapped": caught("envelope/shape", of="aileron"),
    "crud-envelope-on-install": caught("envelope/shape", of="aileron"),
    "approval-denied": caught("code/reserved", of="aileron"),
    "key-in-message": caught("leaks/secret", of="aileron"),
    "loans-race": caught("idempotency/concurrent", of="workshop"),
    "repairs-race": caught("idempotency/concurrent", of="workshop"),
    "cursor-shows-other-tenant": caught("tenancy/concealed", of="workshop"),
    "loans-of-any-tool-listed": caught("tenancy/concealed", of="workshop"),
    "batch-kept-on-the-last-page": caught("writes/refused", of="workshop"),
    "repair-keeps-the-etag": caught("preconditions/stale", of="workshop"),
    "version-counted-from-body": caught("writes/server-owned", of="workshop"),
    "long-note-is-cut": caught("writes/created", of="workshop"),
    "name-confirmed-and-cut": caught("writes/created", of="workshop"),
    "loans-of-every-tool-listed": caught("lists/filter", of="workshop"),
    "newest-loan-not-listed": caught("lists/filter", of="workshop"),
    "least-version-ignored": caught("lists/filter", of="workshop"),
    "names-not-compared": caught("lists/filter", of="workshop"),
    "key-not-required": caught("idempotency/required", of="workshop"),
    "missing-key-called-invalid": caught("idempotency/required", of="workshop"),
    "longest-note-crashes-a-change": caught("service/no-crash", of="workshop"),
}
# fmt: on

SURVIVORS: Mapping[str, str] = {
    "loans-refused-while-lending": "a service may ask to wait while an equal request is handled",
    "cursor-bound-to-its-tenant": "a service may refuse a cursor that it gave to another caller",
    "note-loses-its-spaces": "a service may remove the spaces around a text",
    "names-compared-in-part": "a parameter may search for a part of a name",
    "message-is-the-code": "where a message stops being human-readable is a matter of taste",
    "already-exists-told-as-conflict": "the document gives no rule to choose between the two codes of 409",
    "field-missing": "the taxonomy has `field` optional on every code, as the document's table does",
    "key-with-other-body-answers-first": "the document is silent on one key with two bodies, and so is the taxonomy",
    "codes-renamed-in-records": "records may name failures in words of their own",
    "record-written-later": "a record may be written after the answer",
    "other-owner-sees-all": "a caller may be allowed to see what others own; the file declares no roles",
    "accept-ignored": "RFC 9110 allows a service to disregard Accept",
}
"""Sins that trip nothing, each with the reason why that is right."""
