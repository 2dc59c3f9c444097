"""Notebooks of two tenants: a service that keeps the Core Platform error contract, written from the
document alone.

What the document leaves open is decided so: 405, 406, 413, 414 and 431 speak as `invalid_request`;
`constraint_violation` is 422 and `serialization_failure` 503; a malformed inbound correlation id is
replaced; an Idempotency-Key that comes back with another request is a `conflict`; every 4xx and 5xx
is `no-store`, 429 too; `stale_read` says `retryable: true` in the sense of the document's own
example: after a refetch.

The header `X-Fault` is the documented switch that makes any route behind a token fail with one of
`FAULTS`. All state belongs to the application that `make_app` returns.
"""

import asyncio
import hashlib
import json
import math
import os
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

BODY_LIMIT = 64 * 1024
"""Bytes of a request body, above which the answer is 413."""
HEADER_LIMIT = 8 * 1024
"""Characters of one header value (431) or of the request target (414)."""
SEARCH_LIMIT, SEARCH_WINDOW = 5, 1
"""Requests per token and window, and the window in seconds: short, so that waiting for it costs a
test one second.
"""
REPLAY_WINDOW = 24 * 60 * 60
"""Seconds for which an Idempotency-Key is remembered."""

LOOKUP = 0.1
"""Seconds between a look-up and what is done by it, where nothing keeps others from coming in
between.
"""

UUID7 = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE
)
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")

CODES = (
    "invalid_request",
    "validation_failed",
    "unsupported_media_type",
    "unauthenticated",
    "forbidden",
    "scope_insufficient",
    "not_found",
    "conflict",
    "already_exists",
    "rate_limited",
    "timeout",
    "dependency_unavailable",
    "internal_error",
    "constraint_violation",
    "serialization_failure",
    "stale_read",
)
RETRYABLE = frozenset(
    {"rate_limited", "timeout", "dependency_unavailable", "serialization_failure", "stale_read"}
)

FAULTS: Mapping[str, tuple[int, str, Mapping[str, str]]] = {
    "dependency_unavailable": (
        503,
        "A service behind this one is unavailable",
        {"Retry-After": "1"},
    ),
    "timeout": (504, "The operation took too long", {}),
    "serialization_failure": (503, "The write collided with another one", {}),
    "constraint_violation": (422, "The change breaks a rule of the stored data", {}),
    "internal_error": (500, "Something went wrong on our side", {}),
}

SWITCHES = frozenset(
    {
        "admin-open-to-all",
        "batch-all-bad-207",
        "batch-all-good-207",
        "batch-items-without-envelope",
        "batch-mixed-200",
        "change-not-stored",
        "change-clears-the-title",
        "change-looked-up-long-before",
        "creation-not-stored",
        "creation-stored-twice",
        "deleted-still-listed",
        "deletion-answered-404",
        "deletion-not-made",
        "deletion-removes-the-oldest",
        "duplicate-accepted",
        "etag-never-changes",
        "existing-id-of-nothing",
        "failed-batch-keeps-items",
        "fresh-if-match-refused",
        "invalid-change-counts-a-page",
        "invalid-field-accepted",
        "key-looked-up-long-before",
        "key-of-a-comment-looked-up-long-before",
        "key-shared-across-tenants",
        "keys-kept-for-the-last-ten",
        "key-with-other-body-answers-first",
        "offset-one-too-far",
        "other-tenant-comment-accepted",
        "other-tenant-delete-accepted",
        "other-tenant-export-readable",
        "other-tenant-is-403",
        "other-tenant-readable",
        "other-tenant-shown-by-code",
        "other-tenant-shown-by-details",
        "other-tenant-shown-by-etag",
        "other-tenant-shown-by-message",
        "other-tenant-shown-by-precondition",
        "other-tenants-on-later-pages",
        "rate-limit-never-recovers",
        "replay-adds-a-member",
        "replay-answers-200",
        "replay-drops-etag",
        "replay-forgotten-once-made",
        "replay-inserts-silently",
        "replay-makes-another",
        "replay-refused-as-conflict",
        "replay-shows-the-present",
        "refused-title-kept",
        "retry-after-too-short",
        "search-across-tenants",
        "stack-trace-of-the-crash",
        "delete-looked-up-long-before",
        "stale-delete-deletes",
        "stream-just-ends",
        "tenant-id-in-body",
        "title-looked-up-long-before",
        "title-taken-by-change",
        "title-unique-across-tenants",
        "unhandled-token-crash",
        "unknown-deletion-succeeds",
        "webhook-accepts-what-it-lost",
    }
)
"""The sins that need another behaviour, not another rendering: the names that `make_app`
understands.
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whom a token speaks for."""

    tenant: str
    scopes: frozenset[str]


READER, EDITOR, ADMIN = (
    frozenset({"read"}),
    frozenset({"read", "write"}),
    frozenset({"read", "write", "admin"}),
)

TOKENS: Mapping[str, tuple[str, Caller]] = {
    "NOTEBOOKS_BIRCH_EDITOR": (
        "tok-birch-editor-5d1f7a90c2e84b36",
        Caller("tnt-birch-7f3a91", EDITOR),
    ),
    "NOTEBOOKS_BIRCH_READER": (
        "tok-birch-reader-0b9c4e57d1a2f863",
        Caller("tnt-birch-7f3a91", READER),
    ),
    "NOTEBOOKS_BIRCH_ADMIN": (
        "tok-birch-admin-e2740f6db85c1939",
        Caller("tnt-birch-7f3a91", ADMIN),
    ),
    "NOTEBOOKS_CEDAR_EDITOR": (
        "tok-cedar-editor-94ce20ab7f1d5e68",
        Caller("tnt-cedar-c06e42", EDITOR),
    ),
}
"""By the name of the environment variable that carries it in `notebooks.yaml`: a token and its
caller.
"""

ENVIRONMENT: Mapping[str, str] = {name: token for name, (token, _) in TOKENS.items()} | {
    "NOTEBOOKS_BIRCH_TENANT": "tnt-birch-7f3a91",
    "NOTEBOOKS_CEDAR_TENANT": "tnt-cedar-c06e42",
}
"""The variables that `notebooks.yaml` takes from the environment, except the address of the
service.
"""

CALLERS: Mapping[str, Caller] = dict(TOKENS.values())
NOBODY = Caller("", frozenset())


@dataclass(frozen=True, slots=True)
class Notebook:
    """A stored notebook; `revision` counts its writes."""

    id: str
    tenant: str
    title: str
    pages: int
    archived: bool
    revision: int

    def shown(self) -> dict[str, object]:
        """The representation: all but the tenant."""
        return {
            "id": self.id,
            "title": self.title,
            "pages": self.pages,
            "archived": self.archived,
            "revision": self.revision,
        }

    def etag(self) -> str:
        """A strong validator that changes with every write."""
        state = f"{self.title}/{self.pages}/{self.archived}/{self.revision}"
        return f'"{hashlib.sha256(state.encode()).hexdigest()[:16]}"'


@dataclass(frozen=True, slots=True)
class Reply:
    """A success; `about` is the id of the notebook that it made or changed."""

    status: int
    payload: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    media_type: str = "application/json"

    def body(self) -> bytes:
        """The bytes on the wire: text as it is, everything else as JSON."""
        if self.payload is None:
            return b""
        return (
            self.payload.encode()
            if isinstance(self.payload, str)
            else json.dumps(self.payload).encode()
        )


class Refused(Exception):
    """A failure that an answer reports to its caller.

    `details` is left out of the envelope where nothing is worth saying; otherwise it always says
    `retryable`.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        details: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        self.headers = headers or {}

    def envelope(self, correlation_id: str) -> dict[str, object]:
        """The canonical envelope."""
        envelope: dict[str, object] = {
            "code": self.code,
            "message": self.message,
            "correlation_id": correlation_id,
        }
        if self.details is not None:
            envelope["details"] = {"retryable": self.code in RETRYABLE, **self.details}
        return envelope


@dataclass(frozen=True, slots=True)
class Known:
    """The state of the service at some time: notebooks, and the outcomes of writes."""

    shelf: Mapping[str, "Notebook"]
    remembered: Mapping[tuple[str, str], "Remembered"]


@dataclass(frozen=True, slots=True)
class Call:
    """One request that has come past the door; `known` is what it looks things up in."""

    method: str
    path: str
    notebook: str
    query: QueryParams
    headers: Headers
    body: bytes
    caller: Caller
    token: str
    correlation_id: str
    known: Known


@dataclass(frozen=True, slots=True)
class Operation:
    """A handler and what the door asks of a request before it runs."""

    handle: Callable[[Call], Reply]
    scope: str | None = "read"
    takes_body: bool = False
    produces: str = "application/json"
    limited: bool = False


@dataclass(frozen=True, slots=True)
class Remembered:
    """The outcome of a write under an Idempotency-Key."""

    at: float
    fingerprint: tuple[str, str, str, bytes]
    outcome: Reply | Refused


def make_app(
    sins: frozenset[str] = frozenset(), *, clock: Callable[[], float] = time.time
) -> ASGIApp:
    """The service, with its own empty state; `clock` gives seconds since the epoch.

    Raises ValueError for a sin that isn't one of `SWITCHES`.
    """
    if unknown := sins - SWITCHES:
        raise ValueError(f"no such switch: {', '.join(sorted(unknown))}")
    service = Service(sins, clock)
    tables: dict[str, dict[str, Operation]] = {
        "/healthz": {"GET": Operation(lambda _: Reply(200, {"status": "ok"}), scope=None)},
        "/openapi.json": {"GET": Operation(lambda _: Reply(200, openapi()), scope=None)},
        "/notebooks": {
            "GET": Operation(service.listing),
            "POST": Operation(service.create, "write", takes_body=True),
        },
        "/notebooks/batch": {"POST": Operation(service.create_many, "write", takes_body=True)},
        "/notebooks/{notebook}": {
            "GET": Operation(service.read),
            "PUT": Operation(service.write, "write", takes_body=True),
            "PATCH": Operation(service.write, "write", takes_body=True),
            "DELETE": Operation(service.delete, "write"),
        },
        "/notebooks/{notebook}/export": {
            "GET": Operation(service.export, produces="text/event-stream")
        },
        "/notebooks/{notebook}/comments": {
            "POST": Operation(service.comment, "write", takes_body=True)
        },
        "/search": {"GET": Operation(service.search, limited=True)},
        "/admin/quota": {"GET": Operation(service.quota, "admin")},
        "/hooks/printers": {"POST": Operation(service.printed, "write", takes_body=True)},
    }
    routes = [Route(path, Door(service, operations)) for path, operations in tables.items()]
    return Router(routes, redirect_slashes=False, default=Door(service, None))


@dataclass(frozen=True, slots=True)
class Door:
    """Everything that is the same for every operation of a path; no operations at all mean an
    unknown path.
    """

    service: "Service"
    operations: Mapping[str, Operation] | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        body = await read_at_most(request, BODY_LIMIT)
        correlation_id = self.service.correlation_id(request.headers.getlist("x-correlation-id"))
        known = await self.service.known(request)
        try:
            reply = self.answer(request, body, correlation_id, known)
        except Refused as refused:
            reply = refusal_reply(refused, correlation_id)
        except Exception as crash:
            reply = refusal_reply(self.service.crashed(crash), correlation_id)
        content = reply.body()
        headers = {"X-Correlation-Id": correlation_id, **reply.headers}
        if reply.status not in {204, 304}:
            headers |= {"Content-Type": reply.media_type, "Content-Length": str(len(content))}
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": raw})
        await send(
            {"type": "http.response.body", "body": b"" if request.method == "HEAD" else content}
        )

    def answer(
        self, request: Request, body: bytes | None, correlation_id: str, known: Known
    ) -> Reply:
        """Check what can be checked without the handler, then run it."""
        if self.operations is None:
            raise Refused(404, "not_found", "There is nothing at this address")
        if len(request.url.path) + len(request.url.query) > HEADER_LIMIT:
            raise Refused(414, "invalid_request", "The address is too long")
        if any(len(value) > HEADER_LIMIT for value in request.headers.values()):
            raise Refused(431, "invalid_request", "A header is too long")
        allow = ", ".join(
            [*self.operations, *(["HEAD"] if "GET" in self.operations else []), "OPTIONS"]
        )
        if request.method == "OPTIONS":
            return Reply(204, headers={"Allow": allow})
        operation = self.operations.get("GET" if request.method == "HEAD" else request.method)
        if operation is None:
            raise Refused(
                405,
                "invalid_request",
                "This method is not available here",
                headers={"Allow": allow},
            )
        token, caller = (
            ("", NOBODY) if operation.scope is None else self.service.authenticate(request.headers)
        )
        if body is None:
            raise Refused(413, "invalid_request", f"The body is larger than {BODY_LIMIT} bytes", {})
        call = Call(
            method=request.method,
            path=request.url.path,
            notebook=request.path_params.get("notebook", ""),
            query=request.query_params,
            headers=request.headers,
            body=body,
            caller=caller,
            token=token,
            correlation_id=correlation_id,
            known=known,
        )
        self.service.authorise(call, operation)
        if not accepts(request.headers.get("accept", "*/*"), operation.produces):
            raise Refused(
                406, "invalid_request", f"This operation answers in {operation.produces}", {}
            )
        if operation.limited:
            self.service.count(call)
        if operation.scope is not None and operation.produces == "application/json":
            self.service.fail_on_request(call)
        if operation.takes_body and media_type(request.headers) != "application/json":
            raise Refused(415, "unsupported_media_type", "Send application/json", {})
        if operation.scope != "write":
            return operation.handle(call)
        return self.service.once(call, operation.handle)


class Service:
    """The notebooks and what is remembered about their callers."""

    def __init__(self, sins: frozenset[str], clock: Callable[[], float]) -> None:
        self.sins = sins
        self.clock = clock
        self.shelf: dict[str, Notebook] = {}
        self.deleted: list[Notebook] = []
        self.remembered: dict[tuple[str, str], Remembered] = {}
        self.windows: dict[str, tuple[float, int]] = {}

    async def known(self, request: Request) -> Known:
        """The current state."""
        known = Known(dict(self.shelf), dict(self.remembered))
        asked = f"{request.method} {request.url.path}"
        if ("key-looked-up-long-before" in self.sins and "idempotency-key" in request.headers) or (
            "key-of-a-comment-looked-up-long-before" in self.sins and asked.endswith("/comments")
        ):
            pass
        elif "title-looked-up-long-before" in self.sins and asked == "POST /notebooks":
            known = replace(known, remembered=self.remembered)
        elif "change-looked-up-long-before" in self.sins and request.method in {"PUT", "PATCH"}:
            pass
        elif "delete-looked-up-long-before" not in self.sins or request.method != "DELETE":
            return Known(self.shelf, self.remembered)
        await asyncio.sleep(LOOKUP)
        return known

    def correlation_id(self, inbound: list[str]) -> str:
        """The inbound id when there is exactly one and it is well formed, else a new UUID version
        7.
        """
        if len(inbound) == 1 and (UUID7.fullmatch(inbound[0]) or ULID.fullmatch(inbound[0])):
            return inbound[0]
        return uuid7(self.clock())

    def authenticate(self, headers: Headers) -> tuple[str, Caller]:
        """The token and its caller; refuses with 401."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if token and token not in CALLERS and "unhandled-token-crash" in self.sins:
            raise KeyError(token)
        if scheme.lower() == "bearer" and token in CALLERS:
            return token, CALLERS[token]
        challenge = 'Bearer realm="notebooks"' + (', error="invalid_token"' if token else "")
        raise Refused(
            401,
            "unauthenticated",
            "A valid bearer token is required",
            None,
            {"WWW-Authenticate": challenge},
        )

    def authorise(self, call: Call, operation: Operation) -> None:
        """Refuse with 403: the answer distinguishes a missing scope from a missing role."""
        if operation.scope is None or operation.scope in call.caller.scopes:
            return
        if operation.scope == "admin":
            if "admin-open-to-all" not in self.sins:
                raise Refused(403, "forbidden", "Only an administrator may do this", {})
            return
        raise Refused(
            403,
            "scope_insufficient",
            "The token does not allow writing",
            {"hint": "Use a token that may write"},
        )

    def count(self, call: Call) -> None:
        """Refuse with 429 what is over the rate of a token."""
        now = self.clock()
        length = SEARCH_WINDOW * (3600 if "rate-limit-never-recovers" in self.sins else 1)
        length *= 8 if "retry-after-too-short" in self.sins else 1
        start, seen = self.windows.get(call.token, (now, 0))
        if now - start >= length:
            start, seen = now, 0
        if seen >= SEARCH_LIMIT:
            wait = min(math.ceil(start + length - now), SEARCH_WINDOW)
            details = {"limit": SEARCH_LIMIT, "window_sec": SEARCH_WINDOW}
            raise Refused(
                429,
                "rate_limited",
                "Too many searches",
                details,
                {"Retry-After": str(max(wait, 1))},
            )
        self.windows[call.token] = (start, seen + 1)

    def fail_on_request(self, call: Call) -> None:
        """Obey the fault switch."""
        code = call.headers.get("x-fault", "")
        if call.path == "/hooks/printers" and "webhook-accepts-what-it-lost" in self.sins:
            return
        if code == "internal_error":
            raise RuntimeError(f"cannot lease page buffer for tenant {call.caller.tenant}")
        if code in FAULTS:
            status, message, headers = FAULTS[code]
            raise Refused(status, code, message, {}, headers)

    def crashed(self, crash: Exception) -> Refused:
        """Return the answer to an unexpected exception; it shows nothing of the exception."""
        status, message, _ = FAULTS["internal_error"]
        if "stack-trace-of-the-crash" in self.sins:
            import traceback

            message = "".join(traceback.format_exception(crash))
        return Refused(status, "internal_error", message, {})

    def once(self, call: Call, handle: Callable[[Call], Reply]) -> Reply:
        """Run a write once for an Idempotency-Key, and tell its outcome again on a replay."""
        key = call.headers.get("idempotency-key")
        if key is None:
            return handle(call)
        if not 1 <= len(key) <= 255:
            raise invalid("Idempotency-Key", "An Idempotency-Key has 1 to 255 characters")
        slot = ("" if "key-shared-across-tenants" in self.sins else call.caller.tenant, key)
        fingerprint = (call.method, call.path, call.headers.get("if-match", ""), call.body)
        known = call.known.remembered.get(slot)
        if known is not None and self.clock() - known.at < REPLAY_WINDOW:
            if known.fingerprint == fingerprint or (
                "key-with-other-body-answers-first" in self.sins
                and isinstance(known.outcome, Reply)
            ):
                if "replay-forgotten-once-made" in self.sins:
                    del self.remembered[slot]
                return self.replay(call, known.outcome)
            if isinstance(known.outcome, Reply):
                message = "The Idempotency-Key was used for another request"
                raise Refused(
                    409, "conflict", message, {"existing_id": self.pointer(known.outcome.about)}
                )
        try:
            outcome: Reply | Refused = handle(call)
        except Refused as refused:
            outcome = refused
        self.remembered[slot] = Remembered(self.clock(), fingerprint, outcome)
        if "keys-kept-for-the-last-ten" in self.sins and len(self.remembered) > 10:
            del self.remembered[next(iter(self.remembered))]
        if isinstance(outcome, Refused):
            raise outcome
        return outcome

    def replay(self, call: Call, outcome: Reply | Refused) -> Reply:
        """The remembered outcome once more."""
        if isinstance(outcome, Refused):
            raise outcome
        if "replay-refused-as-conflict" in self.sins:
            raise Refused(
                409, "conflict", "This request was already made", {"existing_id": outcome.about}
            )
        if outcome.about in self.shelf and self.sins & {
            "replay-makes-another",
            "replay-inserts-silently",
        }:
            first = self.shelf[outcome.about]
            second = self.keep(replace(first, id=str(uuid.uuid4())))
            if "replay-makes-another" in self.sins:
                return self.made(second)
        if "replay-shows-the-present" in self.sins and outcome.about in self.shelf:
            outcome = replace(outcome, payload=self.shelf[outcome.about].shown())
        if "replay-answers-200" in self.sins:
            outcome = replace(outcome, status=200)
        if "replay-drops-etag" in self.sins:
            outcome = replace(
                outcome, headers={k: v for k, v in outcome.headers.items() if k != "ETag"}
            )
        if "replay-adds-a-member" in self.sins and isinstance(outcome.payload, dict):
            outcome = replace(outcome, payload={**outcome.payload, "replayed": True})
        return outcome

    def keep(self, notebook: Notebook) -> Notebook:
        """Store a notebook."""
        self.shelf[notebook.id] = notebook
        return notebook

    def pointer(self, existing: str) -> str:
        """The id that `details.existing_id` tells."""
        return str(uuid.uuid4()) if "existing-id-of-nothing" in self.sins else existing

    def etag(self, notebook: Notebook) -> str:
        """The validator of a notebook."""
        return '"notebook"' if "etag-never-changes" in self.sins else notebook.etag()

    def made(self, notebook: Notebook) -> Reply:
        """The answer to a creation."""
        headers = {"Location": f"/notebooks/{notebook.id}", "ETag": self.etag(notebook)}
        return Reply(201, notebook.shown(), headers, notebook.id)

    def find(self, call: Call) -> Notebook:
        """The notebook of the path; another tenant's is as absent as one that never was."""
        early = call.method == "DELETE" or "change-looked-up-long-before" in self.sins
        shelf = call.known.shelf if early else self.shelf
        notebook = shelf.get(call.notebook)
        absent = Refused(404, "not_found", "There is no such notebook", {})
        if notebook is None:
            raise absent
        if notebook.tenant == call.caller.tenant:
            return notebook
        if "other-tenant-readable" in self.sins and call.method in {"GET", "HEAD"}:
            return notebook
        if "other-tenant-export-readable" in self.sins and call.path.endswith("/export"):
            return notebook
        if "other-tenant-comment-accepted" in self.sins and call.path.endswith("/comments"):
            return notebook
        if "other-tenant-delete-accepted" in self.sins and call.method == "DELETE":
            return notebook
        if "other-tenant-is-403" in self.sins:
            raise Refused(403, "forbidden", "You may not see this notebook", {})
        if "other-tenant-shown-by-code" in self.sins:
            raise Refused(404, "forbidden", absent.message, {})
        if "other-tenant-shown-by-message" in self.sins:
            raise Refused(404, "not_found", "This notebook is kept in another workspace", {})
        if "other-tenant-shown-by-details" in self.sins:
            raise Refused(
                404, "not_found", absent.message, {"hint": "Ask its owner to share it with you"}
            )
        if "other-tenant-shown-by-etag" in self.sins:
            raise Refused(404, "not_found", absent.message, {}, {"ETag": self.etag(notebook)})
        if "other-tenant-shown-by-precondition" in self.sins:
            self.match(call, notebook)
        raise absent

    def match(self, call: Call, notebook: Notebook) -> None:
        """Refuse with 412 a write that was made against another revision."""
        wanted, unwanted, etag = (
            call.headers.get("if-match"),
            call.headers.get("if-none-match"),
            self.etag(notebook),
        )
        stale = wanted is not None and wanted.strip() != "*" and etag not in entity_tags(wanted)
        present = unwanted is not None and (
            unwanted.strip() == "*" or etag in entity_tags(unwanted)
        )
        if "fresh-if-match-refused" in self.sins and wanted is not None:
            stale = True
        if stale or present:
            details = {
                "expected_etag": etag,
                "hint": "GET the notebook again and repeat the change",
            }
            raise Refused(412, "stale_read", "The notebook has changed", details, {"ETag": etag})

    def drafted(self, call: Call, payload: object, base: Notebook | None) -> Notebook:
        """The notebook that a payload describes, on top of `base` where a change may leave members
        out.
        """
        if not isinstance(payload, dict):
            raise invalid("items", "A notebook is an object")
        title = payload.get("title", base.title if base else None)
        pages = payload.get("pages", base.pages if base else 0)
        archived = payload.get("archived", base.archived if base else False)
        if (
            not isinstance(title, str)
            or not 1 <= len(title) <= 80
            or not title.strip()
            or has_surrogates(title)
        ):
            raise invalid("title", "`title` must be a text of 1 to 80 characters")
        if not isinstance(pages, int) or isinstance(pages, bool) or not 0 <= pages <= 1000:
            if "invalid-field-accepted" not in self.sins:
                raise invalid("pages", "`pages` must be a whole number from 0 to 1000")
            pages = 0
        if not isinstance(archived, bool):
            raise invalid("archived", "`archived` must be true or false")
        notebook_id = base.id if base else str(uuid.uuid4())
        for other in call.known.shelf.values():
            near = other.tenant == call.caller.tenant or "title-unique-across-tenants" in self.sins
            if (
                near
                and other.title == title
                and other.id != notebook_id
                and "duplicate-accepted" not in self.sins
                and not (base is not None and "title-taken-by-change" in self.sins)
            ):
                if base is not None and "refused-title-kept" in self.sins:
                    self.keep(replace(base, title=title))
                details = {"existing_id": self.pointer(other.id)}
                raise Refused(409, "already_exists", "A notebook with this title exists", details)
        return Notebook(
            notebook_id,
            call.caller.tenant,
            title,
            pages,
            archived,
            base.revision + 1 if base else 1,
        )

    def listing(self, call: Call) -> Reply:
        """GET /notebooks."""
        limit = call.query.get("limit", "100")
        if not re.fullmatch(r"[0-9]{1,3}", limit) or not 1 <= int(limit) <= 100:
            raise invalid("limit", "`limit` must be a whole number from 1 to 100")
        offset = call.query.get("offset", "0")
        if not re.fullmatch(r"[0-9]{1,6}", offset):
            raise invalid("offset", "`offset` must be a whole number from 0 to 999999")
        later = int(offset) > 0 and "other-tenants-on-later-pages" in self.sins
        own = [
            each.shown()
            for each in self.shelf.values()
            if later or each.tenant == call.caller.tenant
        ]
        if "deleted-still-listed" in self.sins:
            own += [each.shown() for each in self.deleted if each.tenant == call.caller.tenant]
        first = int(offset) + (int(offset) > 0 and "offset-one-too-far" in self.sins)
        return Reply(200, {"items": own[first:][: int(limit)]})

    def create(self, call: Call) -> Reply:
        """POST /notebooks."""
        notebook = self.drafted(call, parsed(call.body), None)
        if "creation-not-stored" in self.sins:
            return self.made(notebook)
        if "creation-stored-twice" in self.sins:
            self.keep(replace(notebook, id=str(uuid.uuid4())))
        return self.made(self.keep(notebook))

    def create_many(self, call: Call) -> Reply:
        """POST /notebooks/batch: 201 when all succeed, one envelope when all fail, 207 only for
        both at once.
        """
        items = parsed(call.body).get("items")
        if not isinstance(items, list) or not 1 <= len(items) <= 20:
            raise invalid("items", "`items` must be a list of 1 to 20 notebooks")
        responses: list[dict[str, object]] = []
        bad: list[dict[str, object]] = []
        made: list[str] = []
        for index, item in enumerate(items):
            try:
                notebook = self.keep(self.drafted(call, item, None))
            except Refused as refused:
                bad.append(
                    {
                        "index": index,
                        "code": refused.code,
                        "field": (refused.details or {}).get("field", "title"),
                    }
                )
                body: object = refused.envelope(call.correlation_id)
                if "batch-items-without-envelope" in self.sins:
                    body = refused.message
                responses.append({"status": refused.status, "body": body})
            else:
                made.append(notebook.id)
                responses.append({"status": 201, "body": notebook.shown()})
        if not made and "batch-all-bad-207" not in self.sins:
            if "failed-batch-keeps-items" in self.sins:
                self.keep(
                    Notebook(
                        str(uuid.uuid4()),
                        call.caller.tenant,
                        f"Untitled {len(self.shelf)}",
                        0,
                        False,
                        1,
                    )
                )
            raise Refused(
                400,
                "validation_failed",
                "No item could be kept",
                {"field": "items", "bad_items": bad},
            )
        status = 207 if bad or "batch-all-good-207" in self.sins else 201
        if bad and made and "batch-mixed-200" in self.sins:
            status = 200
        return Reply(status, {"responses": responses}, about=made[0] if made else "")

    def read(self, call: Call) -> Reply:
        """GET /notebooks/{notebook}."""
        notebook = self.find(call)
        etag = self.etag(notebook)
        if etag in entity_tags(call.headers.get("if-none-match", "")):
            return Reply(304, headers={"ETag": etag})
        return Reply(200, notebook.shown(), {"ETag": etag})

    def write(self, call: Call) -> Reply:
        """PUT and PATCH /notebooks/{notebook}: a PATCH may leave members out."""
        payload = parsed(call.body)
        notebook = self.find(call)
        self.match(call, notebook)
        if notebook.archived and payload.get("archived") is not False:
            raise Refused(
                409,
                "conflict",
                "The notebook is archived",
                {"existing_id": self.pointer(notebook.id)},
            )
        if call.method == "PUT":
            payload = {"title": None, "pages": 0, "archived": False} | payload
        if "invalid-change-counts-a-page" in self.sins:
            self.keep(replace(notebook, pages=notebook.pages + 1))
        changed = self.drafted(call, payload, notebook)
        if "change-clears-the-title" in self.sins and "title" not in payload:
            changed = replace(changed, title="")
        if "change-not-stored" not in self.sins or call.method == "PUT":
            self.keep(changed)
        return Reply(200, changed.shown(), {"ETag": self.etag(changed)}, changed.id)

    def delete(self, call: Call) -> Reply:
        """DELETE /notebooks/{notebook}."""
        if "unknown-deletion-succeeds" in self.sins and call.notebook not in self.shelf:
            return Reply(204)
        notebook = self.find(call)
        if "stale-delete-deletes" in self.sins:
            self.shelf.pop(notebook.id, None)
        self.match(call, notebook)
        conditional = "if-match" in call.headers
        if "deletion-not-made" in self.sins and conditional:
            return Reply(204, about=notebook.id)
        self.shelf.pop(notebook.id, None)
        self.deleted.append(notebook)
        if "deletion-answered-404" in self.sins and conditional:
            raise Refused(404, "not_found", "There is no such notebook", {})
        if "deletion-removes-the-oldest" in self.sins:
            own = (each for each in self.shelf.values() if each.tenant == notebook.tenant)
            self.shelf.pop(next(own, notebook).id, None)
        return Reply(204, about=notebook.id)

    def export(self, call: Call) -> Reply:
        """GET /notebooks/{notebook}/export: a fault comes in the middle, as an event with the
        envelope.
        """
        notebook = self.find(call)
        code = call.headers.get("x-fault", "")
        last = notebook.pages // 2 if code in FAULTS else notebook.pages
        events = [
            event("page", {"offset": number, "text": f"Page {number}"})
            for number in range(1, last + 1)
        ]
        if code in FAULTS and "stream-just-ends" not in self.sins:
            broken = Refused(FAULTS[code][0], code, FAULTS[code][1], {"offset": last})
            events.append(event("error", broken.envelope(call.correlation_id)))
        elif code not in FAULTS:
            events.append(event("end", {"pages": notebook.pages}))
        return Reply(200, "".join(events), media_type="text/event-stream")

    def comment(self, call: Call) -> Reply:
        """POST /notebooks/{notebook}/comments."""
        notebook = self.find(call)
        words = parsed(call.body).get("text")
        if not isinstance(words, str) or not 1 <= len(words) <= 500 or has_surrogates(words):
            raise invalid("text", "`text` must be a text of 1 to 500 characters")
        return Reply(
            201,
            {"id": str(uuid.uuid4()), "notebook": notebook.id, "text": words},
            about=notebook.id,
        )

    def search(self, call: Call) -> Reply:
        """GET /search."""
        wanted = call.query.get("q", "")
        if not 1 <= len(wanted) <= 100:
            raise invalid("q", "`q` must have 1 to 100 characters")
        own = [
            each
            for each in self.shelf.values()
            if each.tenant == call.caller.tenant or "search-across-tenants" in self.sins
        ]
        return Reply(200, {"items": [each.shown() for each in own if wanted in each.title]})

    def quota(self, call: Call) -> Reply:
        """GET /admin/quota."""
        return Reply(
            200,
            {"kept": sum(1 for each in self.shelf.values() if each.tenant == call.caller.tenant)},
        )

    def printed(self, call: Call) -> Reply:
        """POST /hooks/printers: 202 once the event is kept."""
        if parsed(call.body).get("event") not in {"printed", "jammed"}:
            raise invalid("event", "`event` must be printed or jammed")
        kept = str(uuid.uuid4())
        return Reply(202, {"id": kept}, about=kept)


async def read_at_most(request: Request, limit: int) -> bytes | None:
    """The whole body, or None when it is larger; always read to its end, so that the answer can be
    received.
    """
    kept, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= limit:
            kept.append(chunk)
    return b"".join(kept) if size <= limit else None


def refusal_reply(refused: Refused, correlation_id: str) -> Reply:
    """A refusal as an answer."""
    return Reply(
        refused.status,
        refused.envelope(correlation_id),
        {"Cache-Control": "no-store", **refused.headers},
    )


def invalid(name: str, message: str) -> Refused:
    """A `validation_failed` for one field."""
    return Refused(400, "validation_failed", message, {"field": name})


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; refuses with 400."""
    try:
        payload = json.loads(body.decode(), parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise Refused(400, "invalid_request", "The body is not JSON", {}) from None
    if not isinstance(payload, dict):
        raise Refused(400, "invalid_request", "The body must be a JSON object", {})
    return payload


def no_constant(name: str) -> NoReturn:
    """NaN and the infinities are Python's idea of JSON only."""
    raise ValueError(name)


def has_surrogates(text: str) -> bool:
    """Whether a text that came out of JSON escapes can't be written as UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def media_type(headers: Headers) -> str:
    """The media type of the body without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def accepts(header: str, produced: str) -> bool:
    """Whether an Accept header admits a media type."""
    for part in header.split(","):
        wanted, *parameters = (each.strip().lower() for each in part.split(";"))
        if any(re.fullmatch(r"q=0(\.0*)?", each) for each in parameters):
            continue
        if wanted in {"", "*/*", produced, produced.partition("/")[0] + "/*"}:
            return True
    return False


def entity_tags(header: str) -> frozenset[str]:
    """The entity tags of a precondition; weak ones are kept as they are, so they match nothing
    strong.
    """
    return frozenset(re.findall(r'(?:W/)?"[^"]*"', header))


def event(name: str, data: object) -> str:
    """One server-sent event."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


def uuid7(seconds: float) -> str:
    """A UUID version 7 for a moment."""
    number = (int(seconds * 1000) << 80) | int.from_bytes(os.urandom(10), "big")
    number = (number & ~(0xF << 76)) | (7 << 76)
    return str(uuid.UUID(int=(number & ~(0x3 << 62)) | (0x2 << 62)))


EXAMPLE_ID = "018f3c5e-8a6b-7c2d-9e1f-2a3b4c5d6e7f"

TYPICAL: Mapping[int, tuple[str, ...]] = {
    400: ("invalid_request", "validation_failed"),
    401: ("unauthenticated",),
    403: ("forbidden", "scope_insufficient"),
    404: ("not_found",),
    405: ("invalid_request",),
    406: ("invalid_request",),
    409: ("conflict", "already_exists"),
    412: ("stale_read",),
    413: ("invalid_request",),
    415: ("unsupported_media_type",),
    422: ("constraint_violation",),
    429: ("rate_limited",),
    500: ("internal_error",),
    503: ("dependency_unavailable", "serialization_failure"),
    504: ("timeout",),
}
"""The codes that this service sends, by status."""


def openapi() -> dict[str, object]:
    """The service's own OpenAPI 3.1 document."""
    read, write = (401, 406, 422, 500, 503, 504), (400, 401, 403, 406, 413, 415, 422, 500, 503, 504)
    notebook, draft = (
        {"$ref": "#/components/schemas/Notebook"},
        {"$ref": "#/components/schemas/Draft"},
    )
    change = {"$ref": "#/components/schemas/Change"}
    items = {
        "type": "object",
        "required": ["items"],
        "properties": {"items": {"type": "array", "items": notebook}},
    }
    batch = {
        "type": "object",
        "required": ["items"],
        "properties": {"items": {"type": "array", "minItems": 1, "maxItems": 20, "items": draft}},
    }
    outcomes = {
        "type": "object",
        "required": ["responses"],
        "properties": {
            "responses": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["status", "body"],
                    "properties": {"status": {"type": "integer"}},
                },
            }
        },
    }
    hook = {
        "type": "object",
        "required": ["event"],
        "properties": {"event": {"enum": ["printed", "jammed"]}},
    }
    one = [
        {
            "name": "notebook",
            "in": "path",
            "required": True,
            "schema": {"type": "string", "format": "uuid"},
        }
    ]
    q = {
        "name": "q",
        "in": "query",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 100},
    }
    limit = {
        "name": "limit",
        "in": "query",
        "schema": {"type": "integer", "minimum": 1, "maximum": 100},
    }
    offset = {
        "name": "offset",
        "in": "query",
        "schema": {"type": "integer", "minimum": 0, "maximum": 999999},
    }
    comment = {
        "type": "object",
        "required": ["text"],
        "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 500}},
    }
    sample = {"title": "Field notes", "pages": 12}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Notebooks", "version": "1.0.0"},
        "security": [{"bearer": []}],
        "paths": {
            "/healthz": {"get": described("health", 200, {"type": "object"}, (), public=True)},
            "/openapi.json": {
                "get": described("description", 200, {"type": "object"}, (), public=True)
            },
            "/notebooks": {
                "get": described(
                    "listNotebooks", 200, items, (400, *read), parameters=[limit, offset]
                ),
                "post": described(
                    "createNotebook",
                    201,
                    notebook,
                    (*write, 409),
                    body=draft,
                    example=sample,
                    etag=True,
                ),
            },
            "/notebooks/batch": {
                "post": described(
                    "createNotebooks",
                    201,
                    outcomes,
                    (*write, 409),
                    body=batch,
                    example={"items": [sample]},
                    mixed=outcomes,
                ),
            },
            "/notebooks/{notebook}": {
                "parameters": one,
                "get": described(
                    "readNotebook",
                    200,
                    notebook,
                    (*read, 404),
                    etag=True,
                    parameters=[header("If-None-Match")],
                ),
                **{
                    method: described(
                        name,
                        200,
                        notebook,
                        (*write, 404, 409, 412),
                        body=schema,
                        example=sample,
                        etag=True,
                        parameters=[header("If-Match")],
                    )
                    for method, name, schema in (
                        ("put", "replaceNotebook", draft),
                        ("patch", "changeNotebook", change),
                    )
                },
                "delete": described(
                    "deleteNotebook",
                    204,
                    None,
                    (400, 401, 403, 404, 406, 409, 412, 422, 500, 503, 504),
                    parameters=[header("If-Match"), header("Idempotency-Key", maxLength=255)],
                ),
            },
            "/notebooks/{notebook}/export": {
                "parameters": one,
                "get": described(
                    "exportNotebook",
                    200,
                    {"type": "string"},
                    (401, 404, 406),
                    media="text/event-stream",
                ),
            },
            "/notebooks/{notebook}/comments": {
                "parameters": one,
                "post": described(
                    "comment",
                    201,
                    {"type": "object"},
                    (*write, 404, 409),
                    body=comment,
                    example={"text": "Well put"},
                ),
            },
            "/search": {
                "get": described("searchNotebooks", 200, items, (400, *read, 429), parameters=[q])
            },
            "/admin/quota": {"get": described("readQuota", 200, {"type": "object"}, (*read, 403))},
            "/hooks/printers": {
                "post": described(
                    "printed",
                    202,
                    {"type": "object"},
                    (*write, 409),
                    body=hook,
                    example={"event": "printed"},
                )
            },
        },
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Notebook": NOTEBOOK,
                "Draft": DRAFT,
                "Change": {**DRAFT, "required": []},
                "Error": ERROR,
            },
            "responses": {
                f"Error{status}": error_response(status, codes) for status, codes in TYPICAL.items()
            },
        },
    }


DRAFT: dict[str, object] = {
    "type": "object",
    "required": ["title"],
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 80, "pattern": "\\S"},
        "pages": {"type": "integer", "minimum": 0, "maximum": 1000},
        "archived": {"type": "boolean"},
    },
}
NOTEBOOK: dict[str, object] = {
    "type": "object",
    "required": ["id", "title", "pages", "archived", "revision"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "title": {"type": "string"},
        "pages": {"type": "integer"},
        "archived": {"type": "boolean"},
        "revision": {"type": "integer"},
    },
}
ERROR: dict[str, object] = {
    "type": "object",
    "required": ["code", "message", "correlation_id"],
    "properties": {
        "code": {"enum": list(CODES)},
        "message": {"type": "string", "minLength": 1},
        "correlation_id": {"type": "string", "minLength": 26, "maxLength": 36},
        "details": {
            "type": "object",
            "properties": {
                "field": {"type": "string"},
                "retryable": {"type": "boolean"},
                "hint": {"type": "string"},
                "limit": {"type": "number"},
                "window_sec": {"type": "number"},
                "expected_etag": {"type": "string"},
                "existing_id": {"type": "string", "format": "uuid"},
                "bad_items": {"type": "array"},
                "offset": {"type": "integer"},
            },
        },
    },
}


def header(name: str, **schema: object) -> dict[str, object]:
    """An optional request header."""
    return {"name": name, "in": "header", "schema": {"type": "string", **schema}}


def described(
    name: str,
    status: int,
    schema: Mapping[str, object] | None,
    errors: tuple[int, ...],
    *,
    body: Mapping[str, object] | None = None,
    example: object = None,
    parameters: list[dict[str, Any]] | None = None,
    etag: bool = False,
    mixed: Mapping[str, object] | None = None,
    media: str = "application/json",
    public: bool = False,
) -> dict[str, object]:
    """One operation of the OpenAPI document."""
    headers = {"X-Correlation-Id": {"schema": {"type": "string"}}}
    if etag:
        headers["ETag"] = {"schema": {"type": "string"}}
    success: dict[str, object] = {"description": "Done", "headers": headers}
    if schema is not None:
        success["content"] = {media: {"schema": schema}}
    responses: dict[str, object] = {str(status): success}
    if mixed is not None:
        responses["207"] = {
            "description": "Some succeeded, some failed",
            "content": {media: {"schema": mixed}},
        }
    if name == "readNotebook":
        responses["304"] = {"description": "Unchanged"}
    for each in sorted((*errors, 405) if not public else (405, 406)):
        responses[str(each)] = {"$ref": f"#/components/responses/Error{each}"}
    asked = [*(parameters or []), header("X-Correlation-Id")]
    if not public:
        asked.append({"name": "X-Fault", "in": "header", "schema": {"enum": list(FAULTS)}})
    operation: dict[str, object] = {
        "operationId": name,
        "parameters": asked,
        "responses": responses,
    }
    if public:
        operation["security"] = []
    if body is not None:
        asked.append(header("Idempotency-Key", maxLength=255))
        content = {"schema": body, "example": example}
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def error_response(status: int, codes: tuple[str, ...]) -> dict[str, object]:
    """A response of the OpenAPI document for one status."""
    headers: dict[str, object] = {
        "X-Correlation-Id": {"required": True, "schema": {"type": "string"}},
        "Cache-Control": {"required": True, "schema": {"const": "no-store"}},
    }
    for only, name in (
        (429, "Retry-After"),
        (401, "WWW-Authenticate"),
        (405, "Allow"),
        (412, "ETag"),
    ):
        if status == only:
            headers[name] = {"required": True, "schema": {"type": "string"}}
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/Error"},
            {"properties": {"code": {"enum": list(codes)}}},
        ]
    }
    example = {"code": codes[0], "message": "What went wrong", "correlation_id": EXAMPLE_ID}
    content = {"application/json": {"schema": schema, "example": example}}
    return {"description": " or ".join(codes), "headers": headers, "content": content}
