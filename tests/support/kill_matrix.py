"""Which clause catches which sin of the miniatures, what else the sin trips, and which sins nobody can be blamed for.

The miniatures know nothing of clauses; this is where the two meet. `docs/kill-matrix.md` is written from a run of it.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from faultspec_conformance.config import ServiceConfig, read
from miniatures import core_platform, vault
from miniatures.core_platform import CALLERS
from miniatures.serve import serving
from miniatures.sins import SINS, Sin, both, no_header, on, sinning, without
from miniatures.systems import LAPSES, over_http
from miniatures.wire import RAW_WRITE, Answer, Asked, rewriting
from paths import TESTS
from support import services

HERE = TESTS

NOTEBOOKS = HERE / "miniatures" / "notebooks.yaml"


@dataclass(frozen=True, slots=True)
class Kill:
    """A sin's fate: ``clause`` catches it, as a failure or as a ``warning``; ``also``: its declared consequences.

    A consequence that is a warning begins with ``~``. ``miniature``: whose sin it is.
    """

    clause: str
    also: tuple[str, ...] = ()
    warning: bool = False
    miniature: str = "notebooks"

    @property
    def tripped(self) -> frozenset[str]:
        """Everything that the sin must trip, no more and no less."""
        return frozenset({f"~{self.clause}" if self.warning else self.clause, *self.also})


def caught(clause: str, *also: str) -> Kill:
    """The run fails."""
    return Kill(clause, also)


def warned(clause: str, *also: str) -> Kill:
    """The run warns: the document recommends, or leaves room."""
    return Kill(clause, also, warning=True)


def of(miniature: str, kill: Kill) -> Kill:
    """The fate of a sin of a service other than the notebooks."""
    return replace(kill, miniature=miniature)


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
    )
}
"""Sins for clauses that those of the miniatures leave unproven."""


def _notebooks(sin: str | None) -> ASGIApp:
    if sin is not None and sin in MORE:
        return MORE[sin].apply(sinning())
    return sinning() if sin is None else sinning(sin)


def _vault(sin: str | None) -> ASGIApp:
    return vault.make_app(frozenset() if sin is None else frozenset({sin}))


Opened = Callable[[str | None], AbstractContextManager[ServiceConfig]]
"""Starts a service with a sin, or behaving, and says how it is judged; ends it."""


def served(
    config: Path, environment: Mapping[str, str], make: Callable[[str | None], ASGIApp]
) -> Opened:
    """A service over HTTP whose sins are applications of their own."""

    @contextmanager
    def opened(sin: str | None) -> Iterator[ServiceConfig]:
        with serving(make(sin)) as base:
            loaded = read(str(config), {**environment, "BASE_URL": base})
            assert loaded.target is not None, loaded.diagnostics
            yield loaded.target

    return opened


#: What stands between the suite and a process, found wherever the tests are run from.
_SINNING = f"import runpy, sys; sys.path.insert(0, {str(TESTS)!r}); runpy.run_module('miniatures.systems', run_name='__main__')"


def _of_system(system: str) -> Opened:
    """A service of `examples/`, with a sin between it and the suite."""

    @contextmanager
    def opened(sin: str | None) -> Iterator[ServiceConfig]:
        with services.started(
            system, over_http(sin) if sin is not None and system != "keenbench" else None
        ) as environment:
            found = services.target(system, environment)
            if sin is not None and system == "keenbench":
                found = replace(found, stdio=(sys.executable, "-c", _SINNING, sin, *found.stdio))
            yield found

    return opened


@dataclass(frozen=True, slots=True)
class Miniature:
    """A service to be judged, and its ``sins``, each with what it does; ``opened`` has it with one of them, or behaving."""

    taxonomy: Path
    sins: Mapping[str, str]
    opened: Opened


MINIATURES: Mapping[str, Miniature] = {
    "notebooks": Miniature(
        HERE.parent / "taxonomy.yaml",
        {name: sin.sentence for name, sin in (*SINS.items(), *MORE.items())},
        served(NOTEBOOKS, core_platform.ENVIRONMENT, _notebooks),
    ),
    "vault": Miniature(
        HERE / "miniatures" / "vault-taxonomy.yaml",
        vault.SINS,
        served(HERE / "miniatures" / "vault.yaml", vault.ENVIRONMENT, _vault),
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
"""The notebooks keep the Core Platform contract; the vault has one that gives a meaning to the clauses it has no use for; the
others are the services of `examples/`."""

# A table, one sin a line.
# fmt: off
KILLS: Mapping[str, Kill] = {
    "correlation-not-echoed": caught("correlation/echo"),
    "correlation-not-echoed-on-success": caught("correlation/echo", "correlation/header-equals-body"),
    "correlation-not-echoed-on-401": caught("correlation/echo"),
    "correlation-not-echoed-on-unknown-route": caught("correlation/echo"),
    "correlation-not-echoed-on-500": caught("correlation/echo"),
    "correlation-echoed-in-header-only": caught("correlation/header-equals-body", "correlation/echo"),
    "correlation-echoed-in-body-only": caught("correlation/header-equals-body", "correlation/echo"),
    "correlation-header-differs-when-generated": caught("correlation/header-equals-body"),
    "correlation-constant": caught("correlation/unique", "correlation/header-equals-body"),
    "correlation-of-the-request": caught("correlation/unique", "correlation/header-equals-body"),
    "correlation-is-uuid4": caught("ids/format", "correlation/header-equals-body", "headers/x-correlation-id"),
    "correlation-is-a-number": caught("ids/format", "headers/x-correlation-id", "correlation/header-equals-body"),
    "correlation-prefixed": caught("ids/format", "correlation/echo", "headers/x-correlation-id", "correlation/header-equals-body"),
    "correlation-header-missing": caught("headers/x-correlation-id"),
    "correlation-header-missing-on-success": warned("correlation/echo"),
    "correlation-header-missing-on-405": caught("headers/x-correlation-id"),
    "correlation-header-renamed": caught("headers/x-correlation-id", "~correlation/echo"),
    "correlation-header-twice": caught("correlation/echo", "headers/x-correlation-id"),
    "correlation-member-missing": caught("envelope/shape"),
    "correlation-member-null": caught("envelope/types", "framework/invalid-input", "framework/malformed-json", "framework/media-type"),
    "correlation-member-empty": caught("ids/format"),
    "correlation-member-camel-case": caught("envelope/shape"),
    "correlation-member-renamed": caught("envelope/shape"),
    "correlation-garbage-reflected": caught("correlation/invalid-inbound", "~correlation/invalid-inbound", "ids/format"),
    "correlation-length-unchecked": caught("correlation/invalid-inbound", "~correlation/invalid-inbound", "ids/format"),
    "correlation-uuid4-kept": warned("correlation/invalid-inbound"),
    "correlation-ulid-replaced": caught("correlation/echo"),
    "envelope-nested": caught("envelope/shape"),
    "envelope-in-a-list": caught("envelope/shape"),
    "envelope-as-array": caught("envelope/shape"),
    "envelope-encoded-twice": caught("envelope/shape"),
    "envelope-truncated": caught("envelope/json"),
    "envelope-nested-on-search": caught("envelope/shape", "framework/invalid-input"),
    "envelope-nested-on-5xx": caught("envelope/shape"),
    "envelope-extra-member": warned("envelope/additional"),
    "envelope-repeats-status": warned("envelope/additional"),
    "envelope-versioned": caught("envelope/shape"),
    "message-missing": caught("envelope/shape"),
    "message-null": caught("envelope/types"),
    "message-empty": caught("envelope/types"),
    "message-as-list": caught("framework/invalid-input", "envelope/types"),
    "message-as-object": caught("envelope/types"),
    "code-missing": caught("envelope/shape"),
    "code-numeric": caught("envelope/types"),
    "code-upper-case": caught("code/declared"),
    "code-kebab-case": caught("code/declared"),
    "code-of-the-service": caught("code/declared", "framework/unknown-id"),
    "code-prefixed": caught("code/declared"),
    "code-unknown-on-405": caught("framework/method", "code/declared"),
    "code-unknown-on-406": caught("framework/not-acceptable", "code/declared"),
    "code-unknown-on-413": caught("code/declared", "framework/oversized"),
    "code-unknown-on-unknown-route": caught("framework/unknown-route", "code/declared", "framework/not-acceptable"),
    "code-unknown-on-500": caught("code/declared"),
    "code-unknown-on-409": caught("code/declared"),
    "details-null": caught("envelope/types", "framework/method", "framework/not-acceptable", "framework/unknown-route"),
    "details-list": caught("envelope/types", "batch/bad-items"),
    "details-string": caught("envelope/types", "batch/bad-items"),
    "html-404": caught("framework/unknown-route", "envelope/json", "envelope/media-type", "framework/not-acceptable"),
    "plain-404": caught("framework/unknown-route", "envelope/json", "envelope/media-type", "framework/not-acceptable"),
    "framework-404": caught("framework/unknown-route", "envelope/shape", "framework/not-acceptable"),
    "plain-405": caught("framework/method", "envelope/json", "envelope/media-type"),
    "framework-405": caught("framework/method", "envelope/shape"),
    "plain-406": caught("framework/not-acceptable", "envelope/json", "envelope/media-type"),
    "plain-413": caught("framework/oversized", "envelope/json", "envelope/media-type"),
    "plain-431": caught("framework/oversized", "envelope/json", "envelope/media-type"),
    "html-414": caught("framework/oversized", "envelope/json", "envelope/media-type"),
    "plain-before-the-application": warned("framework/large-head"),
    "empty-415": caught("framework/media-type", "envelope/json"),
    "plain-500": caught("envelope/json", "envelope/media-type"),
    "html-503": caught("envelope/json", "envelope/media-type"),
    "html-504": caught("envelope/json", "envelope/media-type"),
    "empty-401": caught("envelope/json"),
    "framework-403": caught("envelope/shape"),
    "plain-429": caught("envelope/json", "envelope/media-type"),
    "plain-bad-json": caught("framework/malformed-json", "envelope/json", "envelope/media-type"),
    "framework-422": caught("framework/invalid-input", "envelope/shape"),
    "problem-json": caught("envelope/media-type", "envelope/shape"),
    "problem-media-type": caught("envelope/media-type"),
    "media-type-text": caught("envelope/media-type"),
    "media-type-missing": caught("envelope/media-type"),
    "media-type-html-on-500": caught("envelope/media-type"),
    "silent-failure": caught("envelope/absent-on-success", "batch/bad-items", "framework/invalid-input"),
    "nothing-found-told-as-error": caught("envelope/absent-on-success"),
    "silent-not-found": caught("framework/unknown-id", "envelope/absent-on-success"),
    "success-looks-like-an-envelope": caught("envelope/absent-on-success"),
    "login-redirect": caught("auth/missing", "auth/garbage"),
    "redirect-with-envelope": caught("envelope/absent-on-success", "auth/garbage", "auth/missing"),
    "unknown-route-200": caught("framework/unknown-route"),
    "unknown-method-200": caught("framework/method"),
    "unknown-method-501": caught("framework/method", "envelope/json", "envelope/media-type"),
    "wrong-method-as-404": warned("framework/method"),
    "not-found-as-400": caught("code/status", "framework/not-acceptable", "framework/unknown-id", "framework/unknown-route"),
    "not-found-as-403": caught("code/status", "framework/not-acceptable", "framework/unknown-route"),
    "not-found-as-410": caught("code/status", "framework/not-acceptable", "framework/unknown-id", "framework/unknown-route"),
    "conflict-as-400": caught("code/status"),
    "duplicate-as-400": caught("code/status"),
    "duplicate-as-422": caught("code/status"),
    "stale-as-409": caught("preconditions/stale", "code/status"),
    "stale-as-428": caught("code/status"),
    "media-type-as-400": caught("framework/media-type", "code/status"),
    "rate-limited-as-503": caught("code/status"),
    "rate-limited-as-403": caught("code/status"),
    "unauthenticated-as-403": caught("code/status", "auth/garbage", "auth/missing"),
    "unauthenticated-as-400": caught("code/status", "auth/garbage", "auth/missing"),
    "forbidden-as-401": caught("code/status", "headers/www-authenticate"),
    "scope-as-401": caught("code/status", "headers/www-authenticate"),
    "validation-as-422": caught("code/status", "framework/invalid-input"),
    "timeout-as-500": caught("code/status"),
    "timeout-as-408": caught("code/status"),
    "dependency-as-500": caught("code/status"),
    "dependency-as-424": caught("code/status"),
    "internal-error-as-503": caught("code/status"),
    "internal-error-as-400": caught("code/status"),
    "serialization-as-500": caught("code/status"),
    "constraint-as-500": caught("code/status"),
    "serialization-as-409": caught("code/status"),
    "bad-json-as-500": caught("framework/malformed-json"),
    "oversized-as-500": caught("framework/oversized"),
    "stale-told-as-conflict": caught("preconditions/stale", "retriable/agrees"),
    "media-type-told-as-validation": caught("framework/media-type"),
    "crash-told-as-invalid-request": caught("code/status", "provoke/code"),
    "bad-json-told-as-internal-error": caught("code/status", "framework/malformed-json"),
    "not-found-told-as-forbidden": caught("code/status", "framework/not-acceptable", "framework/unknown-id", "framework/unknown-route", "tenancy/concealed"),
    "unauthenticated-told-as-forbidden": caught("code/status"),
    "scope-told-as-unauthenticated": caught("code/status", "provoke/code"),
    "rate-limited-told-as-unavailable": caught("code/status", "provoke/code"),
    "timeout-told-as-internal-error": caught("code/status", "provoke/code", "retriable/agrees"),
    "scope-told-as-forbidden": caught("provoke/code"),
    "validation-told-as-constraint": caught("framework/invalid-input", "provoke/code"),
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
    "retry-after-milliseconds": warned("retry/recovers"),
    "retry-after-missing": caught("headers/retry-after"),
    "retry-after-only-in-details": caught("headers/retry-after", "~details/registered"),
    "retry-after-in-the-past": caught("headers/retry-after"),
    "retry-after-bad-on-503": caught("headers/retry-after"),
    "retry-after-too-short": caught("retry/recovers"),
    "rate-limit-never-recovers": caught("retry/recovers"),
    "challenge-missing": caught("headers/www-authenticate"),
    "challenge-missing-for-bad-token": caught("headers/www-authenticate"),
    "allow-missing": caught("headers/allow"),
    "allow-incomplete": warned("framework/method"),
    "allow-lists-the-refused-method": caught("framework/method", "headers/allow"),
    "head-with-body": caught("http/head-body"),
    "head-error-with-body": caught("http/head-body"),
    "head-always-200": caught("framework/unknown-route", "auth/missing"),
    "etag-missing-on-412": caught("headers/etag"),
    "expected-etag-missing": caught("details/required"),
    "expected-etag-differs": caught("details/validator"),
    "expected-etag-is-the-callers": caught("preconditions/recovers", "details/validator"),
    "expected-etag-as-object": caught("details/schema"),
    "etag-missing-on-read": caught("preconditions/recovers"),
    "etag-never-changes": caught("preconditions/stale"),
    "stale-write-accepted": caught("preconditions/stale"),
    "stale-put-accepted": caught("preconditions/stale"),
    "stale-patch-accepted": caught("preconditions/stale"),
    "stale-delete-accepted": caught("preconditions/stale"),
    "fresh-if-match-refused": caught("preconditions/recovers", "details/validator"),
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
    "replay-drops-etag": caught("idempotency/replay"),
    "replay-refused-as-conflict": caught("idempotency/replay"),
    "replay-inserts-silently": caught("idempotency/replay"),
    "key-looked-up-long-before": caught("idempotency/concurrent"),
    "key-shared-across-tenants": caught("idempotency/isolation"),
    "duplicate-accepted": caught("duplicates/refused"),
    "other-tenant-is-403": caught("tenancy/concealed"),
    "other-tenant-readable": caught("tenancy/concealed"),
    "other-tenant-export-readable": caught("tenancy/concealed"),
    "other-tenant-comment-accepted": caught("tenancy/concealed"),
    "other-tenants-on-later-pages": caught("tenancy/concealed"),
    "other-tenant-delete-accepted": caught("tenancy/concealed"),
    "other-tenant-shown-by-code": caught("tenancy/concealed", "code/status"),
    "other-tenant-shown-by-message": caught("tenancy/concealed"),
    "other-tenant-shown-by-details": caught("tenancy/concealed"),
    "other-tenant-shown-by-etag": caught("tenancy/concealed"),
    "other-tenant-shown-by-precondition": caught("tenancy/concealed"),
    "title-unique-across-tenants": caught("tenancy/concealed"),
    "tenant-id-in-message": caught("leaks/echoed-tenant"),
    "tenant-id-in-details": caught("leaks/echoed-tenant", "~details/registered"),
    "tenant-id-in-header": warned("leaks/echoed-tenant"),
    "tenant-id-in-body": caught("leaks/echoed-tenant", "~envelope/additional"),
    "stack-trace-python": caught("leaks/stack-trace"),
    "stack-trace-java": caught("leaks/stack-trace"),
    "stack-trace-node": caught("leaks/stack-trace"),
    "stack-trace-go": caught("leaks/stack-trace"),
    "stack-trace-dotnet": caught("leaks/stack-trace"),
    "stack-trace-ruby": caught("leaks/stack-trace"),
    "stack-trace-php": caught("leaks/stack-trace"),
    "stack-trace-in-details": caught("leaks/stack-trace", "~details/registered"),
    "stack-trace-in-header": caught("leaks/stack-trace"),
    "stack-trace-of-the-crash": caught("leaks/stack-trace", "leaks/echoed-tenant"),
    "debugger-page": caught("leaks/stack-trace", "envelope/json", "envelope/media-type"),
    "sql-error-in-message": caught("leaks/sql"),
    "connection-string-in-message": caught("leaks/connection-string"),
    "file-path-in-message": caught("leaks/path"),
    "private-address-in-message": caught("leaks/private-address"),
    "internal-host-in-message": caught("leaks/private-address"),
    "email-in-message": caught("leaks/email"),
    "access-key-in-message": caught("leaks/secret"),
    "service-token-in-message": caught("leaks/secret"),
    "exception-name-in-message": caught("leaks/sql"),
    "dependency-name-in-message": caught("leaks/internal-name"),
    "email-in-hint": caught("leaks/email"),
    "connection-string-in-hint": caught("leaks/connection-string"),
    "token-in-message": caught("leaks/canary"),
    "token-in-scope-message": caught("leaks/canary"),
    "token-in-challenge": caught("leaks/canary", "leaks/secret"),
    "input-in-message": caught("leaks/canary", "leaks/email", "leaks/secret"),
    "input-in-duplicate-message": caught("leaks/canary", "leaks/email"),
    "input-in-hint": caught("leaks/canary", "leaks/email", "leaks/secret"),
    "input-in-header": caught("leaks/canary", "leaks/email", "leaks/secret"),
    "query-in-message": caught("leaks/canary", "leaks/secret"),
    "path-in-message": caught("leaks/canary"),
    "value-in-message": caught("leaks/canary"),
    "limit-in-message": caught("leaks/canary"),
    "id-in-message": warned("leaks/canary"),
    "agent-in-message": caught("leaks/canary", "leaks/secret"),
    "queue-name-in-message": caught("leaks/connection-string"),
    "batch-all-bad-207": caught("batch/mixed-only"),
    "batch-all-good-207": caught("batch/mixed-only"),
    "batch-all-bad-200": caught("batch/bad-items", "envelope/absent-on-success"),
    "batch-mixed-200": caught("batch/mixed-only", "envelope/absent-on-success"),
    "batch-item-status-lies": caught("batch/items"),
    "batch-items-without-envelope": caught("batch/items"),
    "bad-items-missing": caught("batch/bad-items"),
    "bad-items-as-count": caught("details/schema"),
    "scope-ignored": caught("auth/scope", "provoke/code"),
    "scope-ignored-on-delete": caught("auth/scope"),
    "admin-open-to-all": caught("provoke/code"),
    "auth-ignored-on-search": caught("auth/missing"),
    "auth-ignored-on-export": caught("auth/missing"),
    "auth-ignored-on-head": caught("auth/missing"),
    "bad-token-accepted": caught("auth/garbage"),
    "unhandled-token-crash": caught("auth/garbage"),
    "oversized-accepted": caught("framework/oversized"),
    "media-type-ignored": caught("framework/media-type"),
    "media-type-ignored-on-patch": caught("framework/media-type"),
    "bad-json-as-empty": caught("framework/malformed-json"),
    "bad-json-as-200": caught("framework/malformed-json"),
    "invalid-field-accepted": caught("framework/invalid-input"),
    "limit-not-looked-at": caught("framework/invalid-input"),
    "charset-refused": caught("framework/media-type"),
    "null-crashes": caught("framework/malformed-json"),
    "depth-crashes": caught("framework/malformed-json"),
    "bytes-crash": caught("framework/malformed-json"),
    "nul-crashes": caught("framework/malformed-json"),
    "surrogate-crashes": caught("framework/malformed-json"),
    "options-crashes": caught("framework/method"),
    "wrong-method-501": caught("framework/method"),
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
    "creation-answers-the-first": caught("idempotency/distinct-keys", "provoke/code"),
    "no-id-unless-sent": caught("correlation/generated", "envelope/shape", "headers/x-correlation-id"),
    "old-room-fails": of("vault", caught("surface/known")),
    "old-shelf-fails": of("vault", caught("surface/known")),
    "status-inside-is-500": of("vault", caught("envelope/status")),
    "status-rewritten-by-proxy": of("vault", caught("envelope/status")),
    "reserved-code-sent": of("vault", caught("code/reserved", "provoke/code")),
    "removed-code-sent": of("vault", caught("code/reserved", "framework/unknown-id", "provoke/code")),
    "code-of-another-operation": of("vault", caught("code/operation")),
    "code-not-of-the-operation": of("vault", caught("code/operation")),
    "code-as-text": of("vault", caught("envelope/types", "idempotency/mismatch")),
    "layer-always-door": of("vault", caught("boundary/allowed")),
    "layer-invented": of("vault", caught("boundary/allowed")),
    "layer-of-own-code-wrong": of("vault", caught("boundary/allowed")),
    "reused-key-answers-first": of("vault", caught("idempotency/mismatch")),
    "reused-key-adds-another": of("vault", caught("idempotency/mismatch")),
    "reused-key-unreadable": of("vault", caught("idempotency/mismatch")),
    "rpc-version-left-out": of("keenbench", caught("rpc/response", "envelope/shape")),
    "rpc-result-beside-error": of("keenbench", caught("rpc/response", "envelope/shape")),
    "rpc-error-as-text": of("keenbench", caught("rpc/response", "envelope/shape", "rpc/unknown-method")),
    "rpc-id-as-text": of("keenbench", caught("rpc/id")),
    "rpc-id-lost-on-errors": of("keenbench", caught("rpc/id")),
    "rpc-text-id-lost-on-errors": of("keenbench", caught("rpc/id")),
    "rpc-text-id-lost-on-failures": of("keenbench", caught("rpc/id")),
    "rpc-id-zero-lost-on-errors": of("keenbench", caught("rpc/id")),
    "rpc-unknown-method-internal": of("keenbench", caught("rpc/unknown-method")),
    "rpc-unknown-method-application": of("keenbench", caught("rpc/unknown-method", "code/declared")),
    "rpc-unknown-method-succeeds": of("keenbench", caught("rpc/unknown-method")),
    "rpc-parse-error-as-invalid": of("keenbench", caught("rpc/parse-error")),
    "rpc-invalid-request-as-params": of("keenbench", caught("rpc/invalid-request", "rpc/batch")),
    "rpc-invalid-params-internal": of("keenbench", caught("rpc/invalid-params")),
    "rpc-invalid-params-accepted": of("keenbench", caught("rpc/invalid-params")),
    "rpc-batch-first-only": of("keenbench", caught("rpc/batch")),
    "rpc-batch-twice": of("keenbench", caught("rpc/batch")),
    "rpc-batch-strangers": of("keenbench", caught("rpc/batch")),
    "rpc-batch-empty-list": of("keenbench", caught("rpc/batch")),
    "rpc-notification-answered": of("keenbench", caught("rpc/notification")),
    "rpc-params-in-message": of("keenbench", caught("leaks/canary", "leaks/secret")),
    "rpc-method-in-message": of("keenbench", caught("leaks/canary")),
    "undeclared-code": of("keenbench", caught("code/declared")),
    "undeclared-subphase": of("keenbench", caught("envelope/types")),
    "undeclared-scope-hash": of("keenbench", warned("details/registered")),
    "phase-left-out": of("keenbench", caught("envelope/shape")),
    "actions-left-out": of("keenbench", caught("envelope/shape")),
    "nothing-tries-again": of("keenbench", caught("actions/agree")),
    "nothing-notified": of("keenbench", caught("surface/repeated")),
    "one-code-not-notified": of("keenbench", caught("surface/repeated")),
    "notified-as-another": of("keenbench", caught("surface/repeated")),
    "notified-in-another-phase": of("keenbench", caught("surface/repeated")),
    "notified-of-another-workbench": of("keenbench", caught("surface/repeated")),
    "another-codes-way-out": of("keenbench", caught("actions/agree")),
    "rate-limit-as-unavailable": of("keenbench", caught("provoke/code")),
    "raw-provider-error": of("keenbench", caught("leaks/connection-string")),
    "restore-as-write-failure": of("keenbench", caught("provoke/code", "actions/agree")),
    "message-of-a-page": of("keenbench", caught("envelope/types")),
    "consent-retryable": of("keenbench", caught("retriable/agrees")),
    "strict-marks-unknown": of("theodosia", caught("mcp/is-error")),
    "mark-lost": of("theodosia", caught("mcp/is-error")),
    "unknown-tool-result": of("theodosia", caught("mcp/unknown-tool")),
    "unknown-tool-marked": of("theodosia", warned("mcp/unknown-tool")),
    "arguments-as-text": of("theodosia", warned("mcp/invalid-arguments")),
    "arguments-as-crash": of("theodosia", caught("mcp/invalid-arguments")),
    "arguments-refused-by-another-number": of("theodosia", warned("mcp/invalid-arguments")),
    "trace-for-arguments": of("theodosia", caught("leaks/stack-trace")),
    "trace-for-arguments-as-text": of("theodosia", caught("leaks/stack-trace", "~mcp/invalid-arguments")),
    "token-for-arguments": of("theodosia", caught("leaks/secret")),
    "unknown-tool-as-crash": of("theodosia", warned("mcp/unknown-tool")),
    "trace-for-unknown-tool": of("theodosia", caught("leaks/stack-trace")),
    "unknown-tool-echoes": of("theodosia", caught("leaks/canary", "leaks/secret")),
    "trace-for-resource": of("theodosia", caught("leaks/stack-trace", "discovery/agrees")),
    "arguments-accepted": of("theodosia", caught("mcp/invalid-arguments")),
    "text-of-another-refusal": of("theodosia", warned("mcp/text")),
    "text-of-success": of("theodosia", warned("mcp/text")),
    "inputs-told-as-exception": of("theodosia", caught("provoke/code")),
    "success-offers-nothing": of("theodosia", caught("success/requires", "discovery/agrees", "navigation/not-offered", "navigation/offered")),
    "budget-as-text": of("theodosia", caught("details/schema")),
    "budget-not-kept": of("theodosia", caught("deadline/kept")),
    "unknown-offers-nothing": of("theodosia", caught("envelope/shape", "navigation/offered")),
    "sixth-refusal": of("theodosia", caught("code/declared", "navigation/not-offered")),
    "token-in-exception": of("theodosia", caught("leaks/secret")),
    "offered-and-refused": of("theodosia", caught("navigation/offered", "audit/recorded")),
    "unoffered-as-unknown": of("theodosia", caught("navigation/not-offered", "audit/recorded", "provoke/code")),
    "unoffered-succeeds": of("theodosia", caught("navigation/not-offered", "provoke/code")),
    "history-without-refusals": of("theodosia", caught("audit/recorded")),
    "history-without-reason": of("theodosia", caught("audit/recorded")),
    "next-is-stale": of("theodosia", caught("discovery/agrees")),
    "second-status-dropped": of("alknet", caught("discovery/agrees")),
    "schemas-of-status-500": of("alknet", caught("discovery/agrees")),
    "unauthorized-instead": of("alknet", caught("code/declared")),
    "rate-limit-as-500": of("alknet", caught("code/status")),
    "call-timeout-as-500": of("alknet", caught("code/status")),
    "undeclared-passed-on": of("alknet", caught("code/declared")),
    "details-unchecked": of("alknet", caught("details/schema")),
    "infrastructure-codes": of("alknet", caught("code/declared", "framework/invalid-input", "framework/malformed-json", "framework/media-type", "framework/method", "framework/oversized")),
    "raw-error-as-details": of("alknet", caught("envelope/types")),
    "absent-details-null": of("alknet", caught("envelope/types", "framework/invalid-input", "framework/malformed-json", "framework/media-type", "framework/method", "framework/oversized")),
    "crash-told": of("alknet", caught("leaks/connection-string")),
    "timeout-not-retryable": of("alknet", caught("retriable/agrees")),
    "missing-file-instead": of("alknet", caught("code/status", "provoke/code")),
    "always-retriable": of("aileron", caught("retriable/agrees")),
    "any-boundary": of("aileron", caught("boundary/allowed", "audit/recorded")),
    "any-class": of("aileron", caught("code/declared")),
    "status-of-no-class": of("aileron", caught("code/status")),
    "audit-id-optional": of("aileron", caught("envelope/shape")),
    "audit-not-written": of("aileron", caught("audit/recorded")),
    "audit-keys-renamed": of("aileron", caught("audit/recorded")),
    "retried-beyond": of("aileron", caught("details/schema", "audit/recorded")),
    "details-as-list": of("aileron", caught("envelope/types")),
    "error-as-text": of("aileron", caught("envelope/shape")),
    "error-wrapped": of("aileron", caught("envelope/shape")),
    "crud-envelope-on-install": of("aileron", caught("envelope/shape")),
    "approval-denied": of("aileron", caught("code/reserved", "audit/recorded", "provoke/code")),
    "key-in-message": of("aileron", caught("leaks/secret", "audit/recorded")),
}
# fmt: on

SURVIVORS: Mapping[str, str] = {
    "message-is-the-code": "where a message stops being human-readable is a matter of taste",
    "already-exists-told-as-conflict": "the document gives no rule to choose between the two codes of 409",
    "field-missing": "the taxonomy has `field` optional on every code, as the document's table does",
    "key-with-other-body-answers-first": "the document is silent on one key with two bodies, and so is the taxonomy",
    "failed-batch-keeps-items": "what a failed batch left behind is seen only by who lists everything",
    "accept-ignored": "RFC 9110 allows a service to disregard Accept",
}
"""Sins that trip nothing, each with the reason why that is right."""
