"""Mistakes that real teams make with the Core Platform contract, one at a time.

Most sins change the answers or the requests of the behaving service from outside; those that need
another behaviour are switches of `core_platform.make_app` under the same name. Many are narrow (one
status, one route), as real defects are.
"""

import hashlib
import json
import re
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from .clock import Unhurried
from .core_platform import CALLERS, RETRYABLE, SWITCHES, ULID, UUID7, make_app, uuid7
from .wire import RAW_WRITE, Answer, Asked, Wrapper, readdressing, rewriting

Envelope = dict[str, Any]
Change = Callable[[Asked, Answer], Answer]


@dataclass(frozen=True, slots=True)
class Sin:
    """One mistake.

    `statements` are the statements of the document that it breaks (C…, and T1–T6 for the
    companion's checklist). `report_only` gives the reason why no one may fail a service for it: the
    document is silent or soft there.
    """

    name: str
    sentence: str
    statements: tuple[str, ...]
    apply: Wrapper
    report_only: str | None = None


def sinning(*names: str, clock: Callable[[], float] | None = None) -> ASGIApp:
    """A fresh service that commits these sins; none at all: the behaving one. Raises KeyError for
    an unknown name.
    """
    chosen = [SINS[name] for name in names]
    app = make_app(frozenset(names) & SWITCHES, clock=clock or Unhurried())
    for sin in chosen:
        app = sin.apply(app)
    return app


# ---- how to say which answers and what happens to them


def envelope_of(answer: Answer) -> Envelope | None:
    """The envelope in an answer, if it is an error with one."""
    body = answer.json() if answer.status >= 400 else None
    return body if isinstance(body, dict) and "code" in body else None


def on(
    change: Change,
    *,
    status: int | Iterable[int] | None = None,
    code: str | None = None,
    path: str | None = None,
    method: str | None = None,
    every: bool = False,
) -> Wrapper:
    """Apply a change to the error answers that fit (to all answers with `every`); `path` is a
    regular expression.
    """
    statuses = (
        None if status is None else frozenset([status] if isinstance(status, int) else status)
    )

    def fits(asked: Asked, answer: Answer) -> bool:
        envelope = envelope_of(answer)
        return (
            (every or answer.status >= 400)
            and (statuses is None or answer.status in statuses)
            and (code is None or (envelope is not None and envelope["code"] == code))
            and (path is None or re.fullmatch(path, asked.path) is not None)
            and (method is None or asked.method == method)
        )

    return rewriting(lambda asked, answer: change(asked, answer) if fits(asked, answer) else answer)


def envelope(edit: Callable[[Envelope], object]) -> Change:
    """Replace the envelope by another JSON value."""

    def change(_: Asked, answer: Answer) -> Answer:
        before = envelope_of(answer)
        return answer if before is None else answer.with_json(edit(before))

    return change


def member(name: str, value: object) -> Change:
    """Set a top-level member."""
    return envelope(lambda before: {**before, name: value})


def without(*names: str) -> Change:
    """Drop top-level members."""
    return envelope(
        lambda before: {key: value for key, value in before.items() if key not in names}
    )


def renamed(old: str, new: str) -> Change:
    """Rename a top-level member."""
    return envelope(
        lambda before: {new if key == old else key: value for key, value in before.items()}
    )


def detail(
    name: str, value: object | Callable[[Any], object], *, only_present: bool = True
) -> Change:
    """Set a member of the details, by default only where it is; a callable gets the old value."""

    def edit(before: Envelope) -> Envelope:
        details = before.get("details") or {}
        if only_present and name not in details:
            return before
        after = value(details.get(name)) if callable(value) else value
        return {**before, "details": {**details, name: after}}

    return envelope(edit)


def without_detail(name: str) -> Change:
    """Drop a member of the details."""

    def edit(before: Envelope) -> Envelope:
        details = before.get("details")
        if not isinstance(details, dict):
            return before
        return {**before, "details": {key: value for key, value in details.items() if key != name}}

    return envelope(edit)


def says(message: str | Callable[[Asked], str]) -> Change:
    """Replace the message."""
    return lambda asked, answer: member(
        "message", message if isinstance(message, str) else message(asked)
    )(asked, answer)


def status(number: int, code: str | None = None) -> Change:
    """Another status, and another code if given."""

    def change(asked: Asked, answer: Answer) -> Answer:
        moved = replace(answer, status=number)
        return moved if code is None else member("code", code)(asked, moved)

    return change


def header(name: str, value: str | Callable[[Asked, Answer], str]) -> Change:
    """Set a header."""
    return lambda asked, answer: answer.with_header(
        name, value if isinstance(value, str) else value(asked, answer)
    )


def no_header(name: str) -> Change:
    """Drop a header."""
    return lambda _, answer: answer.without_header(name)


def text(media_type: str, body: str) -> Change:
    """Another body altogether."""
    return lambda _, answer: answer.with_text(media_type, body)


def both(*changes: Change) -> Change:
    """One change after the other."""

    def change(asked: Asked, answer: Answer) -> Answer:
        for each in changes:
            answer = each(asked, answer)
        return answer

    return change


def unchanged(app: ASGIApp) -> ASGIApp:
    """For a sin that is a switch of the service itself."""
    return app


def asking(
    change: Callable[[Asked], Asked], *, path: str | None = None, method: str | None = None
) -> Wrapper:
    """Change the requests that fit before the service sees them."""

    def changed(asked: Asked) -> Asked:
        fits = (path is None or re.fullmatch(path, asked.path)) and (
            method is None or re.fullmatch(method, asked.method)
        )
        return change(asked) if fits else asked

    return readdressing(changed)


# ---- facts about requests

NOTEBOOK = r"/notebooks/(?!batch$)[^/]+"
EXPORT = NOTEBOOK + "/export"
COMMENTS = NOTEBOOK + "/comments"
EDITOR_OF = {
    caller.tenant: token
    for token, caller in CALLERS.items()
    if {"write"} <= caller.scopes and "admin" not in caller.scopes
}
SOMEONE = next(iter(CALLERS))
KNOWN = rf"/healthz|/openapi\.json|/notebooks|/notebooks/batch|{NOTEBOOK}|{EXPORT}|{COMMENTS}|/search|/admin/quota|/hooks/printers"
UNKNOWN = rf"(?!(?:{KNOWN})$).*"


def bearer(asked: Asked) -> str:
    """The token of a request."""
    return (asked.header("authorization") or "").partition(" ")[2]


def as_editor(asked: Asked) -> Asked:
    """The request as if its tenant's editor had made it."""
    caller = CALLERS.get(bearer(asked))
    return (
        asked
        if caller is None
        else asked.with_header("authorization", f"Bearer {EDITOR_OF[caller.tenant]}")
    )


def as_someone(asked: Asked) -> Asked:
    """The request as if it had come with a valid token, where it had none."""
    return (
        asked
        if bearer(asked) in CALLERS
        else asked.with_header("authorization", f"Bearer {SOMEONE}")
    )


def tenant(asked: Asked) -> str:
    """The tenant of the caller."""
    caller = CALLERS.get(bearer(asked))
    return caller.tenant if caller else "tnt-none"


def planted(asked: Asked) -> str:
    """The part of the request where canaries are planted: its body or its query."""
    return asked.body.decode("utf-8", "replace")[:400] or asked.target.partition("?")[2]


def rejected(asked: Asked, answer: Answer) -> object:
    """The value of the member that an answer calls invalid."""
    body, named = (
        json.loads(asked.body),
        (envelope_of(answer) or {}).get("details", {}).get("field"),
    )
    return body.get(named) if isinstance(body, dict) else body


def inbound(asked: Asked) -> str:
    """The correlation id of a request, whatever it looks like."""
    return asked.header("x-correlation-id") or ""


def well_formed(value: str) -> bool:
    """Whether the document admits a correlation id."""
    return bool(UUID7.fullmatch(value) or ULID.fullmatch(value))


# ---- correlation


def correlated(
    choose: Callable[[Asked, str], str], *, in_header: bool = True, in_body: bool = True
) -> Change:
    """Choose the correlation id anew, given the one that was to be sent."""

    def change(asked: Asked, answer: Answer) -> Answer:
        value = choose(asked, answer.header("x-correlation-id") or "")
        if in_header:
            answer = answer.with_header("x-correlation-id", value)
        return member("correlation_id", value)(asked, answer) if in_body else answer

    return change


def fresh(_: Asked, __: str) -> str:
    """A new id."""
    return uuid7(time.time())


def of_the_request(asked: Asked, sent: str) -> str:
    """An id that is computed from the method and the address."""
    if well_formed(inbound(asked)):
        return sent
    hashed = hashlib.sha256(f"{asked.method} {asked.target}".encode()).hexdigest()
    return f"{hashed[:8]}-{hashed[8:12]}-7{hashed[12:15]}-8{hashed[15:18]}-{hashed[18:30]}"


def kept(reflectable: Callable[[str], bool]) -> Wrapper:
    """Keep inbound ids that the behaving service replaces."""
    return on(
        correlated(lambda asked, sent: inbound(asked) if reflectable(inbound(asked)) else sent),
        every=True,
    )


def header_twice(_: Asked, answer: Answer) -> Answer:
    """The gateway and the service each add the header."""
    return replace(answer, headers=(*answer.headers, ("x-correlation-id", uuid7(time.time()))))


# ---- before the application


def short_headed(app: ASGIApp) -> ASGIApp:
    """A server that takes 16 KiB of header section, and says so itself."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or sum(len(name) + len(value) for name, value in scope["headers"]) < 16 * 1024
        ):
            await app(scope, receive, send)
            return
        await send(
            {
                "type": "http.response.start",
                "status": 400,
                "headers": [(b"content-type", b"text/plain")],
            }
        )
        await send({"type": "http.response.body", "body": b"Invalid HTTP request received."})

    return wrapped


def crashing(fits: Callable[[Asked], bool]) -> Wrapper:
    """A request that fits crashes the service; the crash has the declared form of any crash."""

    def change(asked: Asked, answer: Answer) -> Answer:
        if not fits(asked):
            return answer
        error = {"code": "internal_error", "message": "Something went wrong on our side"}
        crashed = replace(answer.with_header("content-type", "application/json"), status=500)
        crashed = crashed.with_header("cache-control", "no-store")
        return crashed.with_json({**error, "correlation_id": answer.header("x-correlation-id")})

    return rewriting(change)


# ---- whole shapes


def problem(before: Envelope) -> Envelope:
    """RFC 9457."""
    return {
        "type": f"https://errors.example.com/{before['code']}",
        "title": before["message"],
        "detail": before["message"],
    }


def fastapi(before: Envelope) -> Envelope:
    """The answer of FastAPI itself to an invalid field."""
    name = (before.get("details") or {}).get("field", "body")
    return {
        "detail": [
            {"type": "value_error", "loc": ["body", name], "msg": before["message"], "input": None}
        ]
    }


def finds_nothing(_: Asked, answer: Answer) -> Answer:
    """The envelope in place of an empty list."""
    body = answer.json()
    if answer.status != 200 or not isinstance(body, dict) or body.get("items"):
        return answer
    error = {
        "code": "not_found",
        "message": "Nothing found",
        "correlation_id": answer.header("x-correlation-id"),
    }
    return answer.with_json(error)


def silently(_: Asked, answer: Answer) -> Answer:
    """The error with a status of success."""
    return replace(answer, status=200)


def wrapped_success(_: Asked, answer: Answer) -> Answer:
    """A success that looks like an envelope."""
    body = answer.json()
    if answer.status >= 400 or not isinstance(body, dict) or "openapi" in body:
        return answer
    error = {"code": "ok", "message": "Done", "correlation_id": answer.header("x-correlation-id")}
    return answer.with_json({**body, **error})


def spa(asked: Asked, answer: Answer) -> Answer:
    """The single-page application's index for every unknown address."""
    page = "<!doctype html><title>Notebooks</title><div id=app></div>"
    return replace(answer, status=200).with_text("text/html; charset=utf-8", page)


def login(_: Asked, answer: Answer) -> Answer:
    """A redirect to a page for people."""
    return replace(answer, status=302).with_header("location", "/login").with_text("text/html", "")


def html(title: str) -> Change:
    """A page that a proxy or a framework made."""
    page = f"<html><head><title>{title}</title></head><body><center><h1>{title}</h1></center></body></html>"
    return text("text/html", page)


def head_body(fits: Callable[[Answer], bool]) -> Wrapper:
    """Answer HEAD like GET, body and all; on a real connection past the server, which would hold it
    back.
    """

    def wrap(app: ASGIApp) -> ASGIApp:
        async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["method"] != "HEAD":
                await app(scope, receive, send)
                return
            sent: list[dict[str, Any]] = []

            async def collect(message: Any) -> None:
                sent.append(message)

            await app({**scope, "method": "GET"}, receive, collect)
            body = b"".join(message.get("body", b"") for message in sent[1:])
            if not fits(Answer(sent[0]["status"], (), body)):
                body = b""
            await send(sent[0])
            if write := scope.get("extensions", {}).get(RAW_WRITE):
                write(body)
                body = b""
            await send({"type": "http.response.body", "body": body})

        return wrapped

    return wrap


# ---- limits and preconditions


def echo_if_match(asked: Asked, answer: Answer) -> Answer:
    """Tell the caller the tag that it sent instead of the one it needs."""
    stale = asked.header("if-match")
    return (
        answer
        if stale is None
        else both(header("etag", stale), detail("expected_etag", stale))(asked, answer)
    )


def allow_shorter(_: Asked, answer: Answer) -> Answer:
    """Only the first method of the path, as a router does that keeps one route per method."""
    return answer.with_header("allow", (answer.header("allow") or "").partition(",")[0])


def allow_refused(asked: Asked, answer: Answer) -> Answer:
    """Every method there is, the refused one too."""
    return answer.with_header(
        "allow", f"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, {asked.method}"
    )


def empty_if_unreadable(asked: Asked) -> Asked:
    """A body that doesn't parse is an empty one."""
    try:
        json.loads(asked.body)
    except (ValueError, RecursionError):
        return replace(asked, body=b"{}")
    return asked


def shortened(asked: Asked) -> Asked:
    """An oversized body is accepted: as what would have been in it."""
    return replace(asked, body=b'{"title": "Long"}') if len(asked.body) > 65536 else asked


# ---- batches and streams


def batch_item_lies(asked: Asked, answer: Answer) -> Answer:
    """Every item has the status of a success."""
    body = answer.json()
    return answer.with_json({"responses": [{**item, "status": 200} for item in body["responses"]]})


def own_ids(_: Asked, answer: Answer) -> Answer:
    """The outcomes of a batch, each envelope with a new id."""
    body = answer.json()

    def anew(item: Any) -> Any:
        if item["status"] < 400:
            return item
        return {**item, "body": {**item["body"], "correlation_id": uuid7(time.time())}}

    return answer.with_json({"responses": [anew(item) for item in body["responses"]]})


def in_stream(change: Callable[[Envelope], tuple[str, str]]) -> Change:
    """Rewrite the error event of a stream into another event name and data."""

    def rewrite(_: Asked, answer: Answer) -> Answer:
        def event(match: re.Match[str]) -> str:
            name, data = change(json.loads(match[1]))
            return f"event: {name}\ndata: {data}\n\n"

        return replace(
            answer,
            body=re.sub(r"event: error\ndata: (.*)\n\n", event, answer.body.decode()).encode(),
        )

    return rewrite


def of_stream(change: Callable[[Envelope], tuple[str, str]]) -> Wrapper:
    """The export, with another error event."""
    return on(in_stream(change), path=EXPORT, every=True)


def error_event(edit: Callable[[Envelope], object]) -> Wrapper:
    """The export, with another value in the error event."""
    return of_stream(lambda before: ("error", json.dumps(edit(before))))


def without_offset(before: Envelope) -> Envelope:
    """The envelope without details.offset."""
    return {
        **before,
        "details": {key: value for key, value in before["details"].items() if key != "offset"},
    }


# ---- tenants and leaks

TRACES: Mapping[str, str] = {
    "python": 'Traceback (most recent call last):\n  File "/srv/notebooks/store.py", line 88, in keep\n    row = cur.fetchone()\n'
    "psycopg.errors.UndefinedColumn: column n.shelf does not exist",
    "java": 'java.lang.NullPointerException: Cannot invoke "Shelf.pages()"\n\tat com.acme.notebooks.ShelfService.keep'
    "(ShelfService.java:88)\n\tat java.base/java.lang.Thread.run(Thread.java:1583)",
    "node": "TypeError: Cannot read properties of undefined (reading 'pages')\n    at keep (/app/dist/shelf.js:88:17)\n"
    "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
    "go": "runtime error: invalid memory address or nil pointer dereference\n\ngoroutine 41 [running]:\nmain.(*Shelf).Keep(0x0)\n"
    "\t/build/notebooks/shelf.go:88 +0x1d",
    "dotnet": "System.NullReferenceException: Object reference not set to an instance of an object.\n"
    "   at Acme.Notebooks.Shelf.Keep(Notebook n) in /src/Shelf.cs:line 88",
    "ruby": "NoMethodError: undefined method `pages' for nil:NilClass\n/app/models/shelf.rb:88:in `keep'\n"
    "/usr/local/bundle/gems/puma-6.4.2/lib/puma/server.rb:472:in `handle_request'",
    "php": "PHP Fatal error:  Uncaught Error: Call to a member function pages() on null in /var/www/notebooks/Shelf.php:88\n"
    "Stack trace:\n#0 /var/www/notebooks/index.php(12): Shelf->keep()\n#1 {main}",
}

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJub3RlYm9va3Mtc3ZjIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
UNIQUE = 'duplicate key value violates unique constraint "notebooks_tenant_title_key"\nDETAIL:  Key (title) already exists.'
DSN = "could not connect: postgres://notebooks:hunter2-rA9x@db-primary:5432/notebooks"


def hidden_500(change: Change) -> Wrapper:
    """A change of the answer to an internal error."""
    return on(change, code="internal_error")


def _all() -> Iterable[Sin]:
    def sin(
        name: str,
        sentence: str,
        statements: str,
        apply: Wrapper = unchanged,
        report_only: str | None = None,
    ) -> Sin:
        return Sin(name, sentence, tuple(statements.split()), apply, report_only)

    # A table: one sin, one line, whatever its length.
    # fmt: off
    # correlation
    yield sin("correlation-not-echoed", "every answer gets a new id, whatever came in", "C4 T3", asking(lambda a: a.without_header("x-correlation-id")))
    yield sin("correlation-not-echoed-on-success", "only the error handler knows the inbound id", "C4 T3", rewriting(lambda a, r: r if r.status >= 400 else correlated(fresh, in_body=False)(a, r)))
    yield sin("correlation-not-echoed-on-401", "authentication runs before the correlation middleware", "C4 T3", on(correlated(fresh), status=401))
    yield sin("correlation-not-echoed-on-unknown-route", "the router answers before the correlation middleware", "C4 C26 T3", on(correlated(fresh), path=UNKNOWN))
    yield sin("correlation-not-echoed-on-500", "the crash handler has lost the request's context", "C4 T3", on(correlated(fresh), status=500))
    yield sin("correlation-echoed-in-header-only", "the gateway echoes the header, the service invents the body's id", "C4", on(correlated(fresh, in_header=False)))
    yield sin("correlation-echoed-in-body-only", "the service echoes, the gateway overwrites the header", "C4", on(correlated(fresh, in_body=False)))
    yield sin("correlation-header-differs-when-generated", "header and body generate an id each", "C4", on(lambda a, r: r if well_formed(inbound(a)) else correlated(fresh, in_header=False)(a, r)))
    yield sin("correlation-constant", "the generated id is made once, at start-up", "C3 C4", on(correlated(lambda a, s: s if well_formed(inbound(a)) else "018f3c5e-8a6b-7c2d-9e1f-2a3b4c5d6e7f"), every=True))
    yield sin("correlation-of-the-request", "the generated id is a hash of the method and the address", "C4", on(correlated(of_the_request), every=True))
    yield sin("correlation-is-uuid4", "generated ids are UUID version 4", "C3", on(correlated(lambda a, s: s if well_formed(inbound(a)) else str(uuid.uuid4())), every=True))
    yield sin("correlation-is-a-number", "generated ids are numbers from a sequence", "C3", on(correlated(lambda a, s: s if well_formed(inbound(a)) else str(time.time_ns())), every=True))
    yield sin("correlation-prefixed", "the gateway puts its name before the inbound id", "C3 C4", on(correlated(lambda _, s: f"gw-{s}"), every=True))
    yield sin("correlation-header-missing", "errors carry the id in the body only", "C4 T3", on(no_header("x-correlation-id")))
    yield sin("correlation-header-missing-on-success", "successes carry no id", "C4 T3", rewriting(lambda a, r: r if r.status >= 400 else r.without_header("x-correlation-id")))
    yield sin("correlation-header-missing-on-405", "the framework's 405 passes no middleware", "C4 C26", on(no_header("x-correlation-id"), status=405))
    yield sin("correlation-header-renamed", "the header is called X-Request-Id", "C4", on(lambda a, r: r.with_header("x-request-id", r.header("x-correlation-id") or "").without_header("x-correlation-id"), every=True))
    yield sin("correlation-header-twice", "gateway and service each add the header", "C4", on(header_twice))
    yield sin("correlation-member-missing", "the envelope has no id", "C1 C3", on(without("correlation_id")))
    yield sin("correlation-member-null", "the id is null when none came in", "C3", on(lambda a, r: r if inbound(a) else member("correlation_id", None)(a, r)))
    yield sin("correlation-member-empty", "the id is empty when none came in", "C3", on(lambda a, r: r if inbound(a) else member("correlation_id", "")(a, r)))
    yield sin("correlation-member-camel-case", "the JSON serialiser has a naming policy", "C1 C3", on(renamed("correlation_id", "correlationId")))
    yield sin("correlation-member-renamed", "the id is called request_id, as before the standard", "C1 C3", on(renamed("correlation_id", "request_id")))
    yield sin("correlation-garbage-reflected", "any inbound id is sent back as it is", "C3 C4", kept(bool))
    yield sin("correlation-length-unchecked", "only the alphabet of an inbound id is looked at", "C3 C4", kept(lambda value: bool(re.fullmatch("[0-9A-Za-z-]{26,}", value))))
    yield sin("correlation-uuid4-kept", "any inbound UUID is taken, of whatever version", "C3 C4", kept(lambda value: bool(re.fullmatch("[0-9a-f-]{36}", value))))
    yield sin("correlation-ulid-replaced", "only a UUID is taken from the caller", "C4", on(lambda a, r: correlated(fresh)(a, r) if ULID.fullmatch(inbound(a)) else r, every=True))

    # envelope
    yield sin("envelope-nested", "the envelope sits under `error`", "C1", on(envelope(lambda e: {"error": e})))
    yield sin("envelope-in-a-list", "errors come as a list", "C1", on(envelope(lambda e: {"errors": [e]})))
    yield sin("envelope-as-array", "the body is an array with one error", "C1", on(envelope(lambda e: [e])))
    yield sin("envelope-encoded-twice", "the body is a JSON string that contains JSON", "C1", on(envelope(json.dumps)))
    yield sin("envelope-truncated", "the connection's buffer cuts the body", "C1 C15", on(lambda a, r: replace(r, body=r.body[: len(r.body) // 2])))
    yield sin("envelope-nested-on-search", "one old route still speaks the old shape", "C1", on(envelope(lambda e: {"error": e}), path="/search"))
    yield sin("envelope-nested-on-5xx", "only the crash handler was forgotten in the migration", "C1", on(envelope(lambda e: {"error": e}), status=range(500, 600)))
    yield sin("envelope-extra-member", "the framework adds a timestamp", "C1", on(member("timestamp", "2025-01-01T00:00:00Z")), "the document does not forbid further members")
    yield sin("envelope-repeats-status", "the body repeats the HTTP status", "C1", on(lambda a, r: member("status", r.status)(a, r)), "the document does not forbid further members")
    yield sin("envelope-versioned", "the whole envelope is wrapped with an api version", "C1", on(envelope(lambda e: {"version": "v1", "data": e})))
    yield sin("message-missing", "no message", "C1", on(without("message")))
    yield sin("message-null", "the message is null", "C1", on(member("message", None)))
    yield sin("message-empty", "the message is empty", "C1", on(member("message", "")))
    yield sin("message-as-list", "validation sends a list of messages", "C1", on(envelope(lambda e: {**e, "message": [e["message"]]}), code="validation_failed"))
    yield sin("message-as-object", "the message is a map of languages", "C1", on(envelope(lambda e: {**e, "message": {"en": e["message"]}})))
    yield sin("message-is-the-code", "the message repeats the code", "C1", on(envelope(lambda e: {**e, "message": e["code"]})), "'human-readable' has no exact border")
    yield sin("code-missing", "no code", "C1 C7", on(without("code")))
    yield sin("code-numeric", "the code is the HTTP status", "C1 C7", on(lambda a, r: member("code", r.status)(a, r)))
    yield sin("code-upper-case", "the enum's constant names are sent", "C7", on(envelope(lambda e: {**e, "code": e["code"].upper()})))
    yield sin("code-kebab-case", "codes are written with hyphens", "C7", on(envelope(lambda e: {**e, "code": e["code"].replace("_", "-")})))
    yield sin("code-of-the-service", "a code per service: notebook_not_found", "C8 C7", on(member("code", "notebook_not_found"), code="not_found", path=NOTEBOOK))
    yield sin("code-prefixed", "codes carry the name of the service", "C8 C7", on(envelope(lambda e: {**e, "code": f"notebooks.{e['code']}"})))
    yield sin("code-unknown-on-405", "405 got a code of its own", "C7 C27", on(member("code", "method_not_allowed"), status=405))
    yield sin("code-unknown-on-406", "406 got a code of its own", "C7 C27", on(member("code", "not_acceptable"), status=406))
    yield sin("code-unknown-on-413", "413 got a code of its own", "C7 C27", on(member("code", "payload_too_large"), status=413))
    yield sin("code-unknown-on-unknown-route", "an unknown route got a code of its own", "C7 C26", on(member("code", "route_not_found"), path=UNKNOWN))
    yield sin("code-unknown-on-500", "the crash handler says server_error", "C7", on(member("code", "server_error"), status=500))
    yield sin("code-unknown-on-409", "a duplicate is called duplicate", "C7 C8", on(member("code", "duplicate"), code="already_exists"))
    yield sin("details-null", "empty details are sent as null", "C1", on(envelope(lambda e: {**e, "details": e.get("details")}), status=(401, 404, 405)))
    yield sin("details-list", "details are a list of objects", "C1", on(envelope(lambda e: {**e, "details": [e.get("details", {})]})))
    yield sin("details-string", "details are a sentence", "C1", on(envelope(lambda e: {**e, "details": "See the documentation"})))
    yield sin("html-404", "unknown routes get the framework's HTML page", "C26 C15 C1", on(html("404 Not Found"), path=UNKNOWN))
    yield sin("plain-404", "unknown routes get the framework's plain text", "C26 C15 C1", on(text("text/plain; charset=utf-8", "Not Found"), path=UNKNOWN))
    yield sin("framework-404", "unknown routes get the framework's JSON", "C26 C1", on(text("application/json", '{"detail":"Not Found"}'), path=UNKNOWN))
    yield sin("plain-405", "a wrong method gets the framework's plain text", "C26 C27 C15", on(text("text/plain; charset=utf-8", "Method Not Allowed"), status=405))
    yield sin("framework-405", "a wrong method gets the framework's JSON", "C26 C27", on(text("application/json", '{"detail":"Method Not Allowed"}'), status=405))
    yield sin("plain-406", "content negotiation is the framework's", "C26 C27 C15", on(text("text/plain", "Not Acceptable"), status=406))
    yield sin("plain-413", "the body limit is the proxy's", "C26 C27 C15", on(html("413 Request Entity Too Large"), status=413))
    yield sin("plain-431", "the header limit is the proxy's", "C26 C27 C15", on(text("text/plain", "Request Header Fields Too Large"), status=431))
    yield sin("html-414", "the address limit is the proxy's", "C26 C27 C15", on(html("414 Request-URI Too Large"), status=414))
    yield sin("empty-415", "a wrong media type gets an empty body", "C26 C1 C15", on(lambda a, r: replace(r.without_header("content-type"), body=b""), status=415))
    yield sin("plain-before-the-application", "what the server refuses never meets the application, and gets the server's plain text", "C26 C15", short_headed)
    yield sin("plain-500", "a crash gets the server's plain text", "C26 C15 C1", on(text("text/plain; charset=utf-8", "Internal Server Error"), status=500))
    yield sin("search-crashes", "a search crashes, in the declared form", "C7", crashing(lambda asked: asked.path == "/search"))
    yield sin("html-503", "an unavailable dependency gets the proxy's page", "C26 C15", on(html("503 Service Temporarily Unavailable"), status=503))
    yield sin("html-504", "a timeout gets the proxy's page", "C26 C15", on(html("504 Gateway Time-out"), status=504))
    yield sin("empty-401", "a missing token gets an empty body", "C1 C15", on(lambda a, r: replace(r.without_header("content-type"), body=b""), status=401))
    yield sin("framework-403", "a refused token gets the framework's JSON", "C26 C1", on(text("application/json", '{"detail":"Not authenticated"}'), status=403))
    yield sin("plain-429", "the rate limiter is a middleware with its own text", "C26 C1 C15", on(text("text/plain", "Rate limit exceeded: 5 per 1 second"), status=429))
    yield sin("plain-bad-json", "the body parser answers by itself", "C26 C15 C1", on(text("text/plain", "Bad Request"), code="invalid_request", status=400))
    yield sin("framework-422", "an invalid field gets the framework's 422", "C9 C26 C1", on(both(status(422), envelope(fastapi)), code="validation_failed"))
    yield sin("problem-json", "errors follow RFC 9457 instead", "C1 C15", on(both(header("content-type", "application/problem+json"), lambda a, r: envelope(lambda e: {**problem(e), "status": r.status})(a, r))))
    yield sin("problem-media-type", "the envelope is sent as application/problem+json", "C15", on(header("content-type", "application/problem+json")))
    yield sin("media-type-text", "the envelope is sent as text/plain", "C15", on(header("content-type", "text/plain; charset=utf-8")))
    yield sin("media-type-missing", "the envelope has no Content-Type", "C15", on(no_header("content-type")))
    yield sin("media-type-html-on-500", "the crash handler sends JSON as HTML", "C15", on(header("content-type", "text/html"), status=500))

    # success and failure told apart
    yield sin("silent-failure", "an invalid field is answered with 200 and the envelope", "C2 C9 T1 T2", on(silently, code="validation_failed"))
    yield sin("nothing-found-told-as-error", "a search that finds nothing is answered with 200 and an envelope", "C2 T1", on(finds_nothing, path="/search", every=True))
    yield sin("silent-not-found", "a missing notebook is answered with 200 and the envelope", "C2 C9 T1", on(silently, code="not_found", path=NOTEBOOK))
    yield sin("success-looks-like-an-envelope", "successes carry code, message and correlation_id too", "C2 T1", rewriting(wrapped_success))
    yield sin("login-redirect", "a missing token is redirected to a page for people", "C9 C26", on(login, status=401))
    yield sin("redirect-with-envelope", "a missing token is redirected, with the envelope as the body", "C2 T1", on(both(status(302), header("location", "/login")), status=401))
    yield sin("unknown-route-200", "unknown routes get the web application", "C26 C9", on(spa, path=UNKNOWN))
    yield sin("unknown-method-200", "an unknown method is treated as GET", "C26 C27", asking(lambda a: replace(a, method="GET", body=b""), method="(?!(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$).*"))
    yield sin("unknown-method-501", "an unknown method is not implemented", "C26 C27", rewriting(lambda a, r: r if a.method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} else both(status(501), text("text/html", "<h1>501 Not Implemented</h1>"))(a, r)))
    yield sin("wrong-method-as-404", "a wrong method is an unknown route", "C27", on(both(status(404, "not_found"), no_header("allow")), status=405))

    # status and code
    moved = (
        ("not-found-as-400", "a missing notebook is a bad request", "not_found", 400),
        ("not-found-as-403", "whatever is missing is forbidden", "not_found", 403),
        ("not-found-as-410", "a missing notebook is gone", "not_found", 410),
        ("conflict-as-400", "a conflict is a bad request", "conflict", 400),
        ("duplicate-as-400", "a duplicate is a bad request", "already_exists", 400),
        ("duplicate-as-422", "a duplicate can't be processed", "already_exists", 422),
        ("stale-as-409", "a failed precondition is a conflict by its status", "stale_read", 409),
        ("stale-as-428", "a failed precondition is a missing one", "stale_read", 428),
        ("media-type-as-400", "a wrong media type is a bad request", "unsupported_media_type", 400),
        ("rate-limited-as-503", "too many requests mean unavailable", "rate_limited", 503),
        ("rate-limited-as-403", "too many requests are forbidden", "rate_limited", 403),
        ("unauthenticated-as-403", "a missing token is forbidden", "unauthenticated", 403),
        ("unauthenticated-as-400", "a missing token is a bad request", "unauthenticated", 400),
        ("forbidden-as-401", "a missing role asks for another login", "forbidden", 401),
        ("scope-as-401", "a missing scope asks for another login", "scope_insufficient", 401),
        ("validation-as-422", "an invalid field can't be processed", "validation_failed", 422),
        ("timeout-as-500", "a timeout is an internal error by its status", "timeout", 500),
        ("timeout-as-408", "a timeout is the client's", "timeout", 408),
        ("dependency-as-500", "an unavailable dependency is an internal error by its status", "dependency_unavailable", 500),
        ("dependency-as-424", "an unavailable dependency is a failed one", "dependency_unavailable", 424),
        ("internal-error-as-503", "a crash is an unavailable service", "internal_error", 503),
        ("internal-error-as-400", "a crash is the client's fault", "internal_error", 400),
        ("serialization-as-500", "a write collision is a crash by its status", "serialization_failure", 500),
        ("constraint-as-500", "a broken constraint is a crash by its status", "constraint_violation", 500),
    )
    for name, sentence, code, number in moved:
        yield sin(name, sentence, "C10 T2" if code in {"serialization_failure", "constraint_violation"} else "C9 T2", on(status(number), code=code))
    yield sin("serialization-as-409", "a write collision is a conflict by its status", "C10", on(status(409), code="serialization_failure"), "the document maps it nowhere: 503 is a ruling")
    yield sin("bad-json-as-500", "the JSON parser's exception is nobody's", "C9 C26", on(status(500, "internal_error"), code="invalid_request", status=400))
    yield sin("oversized-as-500", "a large body crashes its reader", "C26 C27", on(status(500, "internal_error"), status=413))
    yield sin("stale-told-as-conflict", "a failed precondition is a conflict altogether", "C9 C14 T5", on(lambda a, r: both(status(409, "conflict"), no_header("etag"), without_detail("expected_etag"), detail("existing_id", a.path.rpartition("/")[2], only_present=False))(a, r), code="stale_read"))
    yield sin("media-type-told-as-validation", "a wrong media type fails validation", "C9", on(both(status(400, "validation_failed"), detail("field", "body", only_present=False)), code="unsupported_media_type"))
    yield sin("crash-told-as-invalid-request", "the crash handler knows one code", "C9", on(member("code", "invalid_request"), status=500))
    yield sin("bad-json-told-as-internal-error", "400 with the code of a crash", "C9", on(member("code", "internal_error"), code="invalid_request", status=400))
    yield sin("not-found-told-as-forbidden", "404 with the code of 403", "C9", on(member("code", "forbidden"), code="not_found"))
    yield sin("unauthenticated-told-as-forbidden", "401 with the code of 403", "C9", on(member("code", "forbidden"), status=401))
    yield sin("scope-told-as-unauthenticated", "403 with the code of 401", "C9", on(member("code", "unauthenticated"), code="scope_insufficient"))
    yield sin("rate-limited-told-as-unavailable", "429 with the code of 503", "C9", on(member("code", "dependency_unavailable"), code="rate_limited"))
    yield sin("timeout-told-as-internal-error", "504 with the code of 500", "C9", on(member("code", "internal_error"), code="timeout"))
    yield sin("already-exists-told-as-conflict", "the duplicate has the other code of 409", "C9", on(member("code", "conflict"), code="already_exists"), "the document gives no rule to choose between the two")
    yield sin("scope-told-as-forbidden", "the missing scope has the other code of 403", "C9", on(member("code", "forbidden"), code="scope_insufficient"), "the document gives no rule to choose between the two")
    yield sin("validation-told-as-constraint", "an invalid field is reported as a constraint of the database, 422", "C9", on(status(422, "constraint_violation"), code="validation_failed"))
    yield sin("validation-told-as-invalid-request", "the invalid field has the other code of 400", "C9", on(member("code", "invalid_request"), code="validation_failed"), "the document gives no rule to choose between the two")

    # headers
    store = "cache-control"
    yield sin("no-store-missing", "errors have no Cache-Control", "C13", on(no_header(store)))
    yield sin("no-cache-instead", "errors are no-cache", "C13", on(header(store, "no-cache")))
    yield sin("private-instead", "errors are private with max-age=0", "C13", on(header(store, "private, max-age=0, must-revalidate")))
    yield sin("errors-cacheable", "the CDN's default is put on everything", "C13", on(header(store, "public, max-age=60")))
    yield sin("no-store-in-pragma", "errors have Pragma instead", "C13", on(both(no_header(store), header("pragma", "no-store"))))
    yield sin("no-store-misspelt", "the directive is written no_store", "C13", on(header(store, "no_store")))
    narrow: tuple[tuple[str, str, int | range], ...] = (
        ("401", "authentication runs outside the header middleware", 401),
        ("404", "the negative cache keeps 404", 404),
        ("405", "the framework's 405 passes no middleware", 405),
        ("429", "the table says 'respect Retry-After' for 429", 429),
        ("500", "the crash handler is outside the header middleware", 500),
        ("503", "the table says 'retry with backoff' for 503", range(502, 505)),
    )
    for suffix, sentence, statuses in narrow:
        yield sin(f"no-store-missing-on-{suffix}", sentence, "C13", on(no_header(store), status=statuses))
    yield sin("no-store-missing-on-unknown-route", "the router answers before the header middleware", "C13 C26", on(no_header(store), path=UNKNOWN))
    bad_waits: tuple[tuple[str, str, str | Callable[[Asked, Answer], str]], ...] = (
        ("garbage", "a word for people", "soon"),
        ("empty", "an empty value", ""),
        ("negative", "the wait has passed before it is computed", "-1"),
        ("decimal", "the wait is a float", "0.84"),
        ("with-unit", "the wait has a unit", "1s"),
        ("iso-date", "the moment is written as ISO 8601", "2030-01-01T00:00:00Z"),
        ("epoch", "the moment is seconds since the epoch", lambda *_: str(int(time.time()) + 1)),
        ("milliseconds", "the wait is in milliseconds", "1000"),
    )
    for suffix, sentence, wait in bad_waits:
        yield sin(f"retry-after-{suffix}", sentence, "C12", on(header("retry-after", wait), status=429))
    yield sin("retry-after-missing", "429 has no Retry-After", "C12 T4", on(no_header("retry-after"), status=429))
    yield sin("retry-after-only-in-details", "the wait is in the details only", "C12 T4 C5", on(both(no_header("retry-after"), detail("retry_after", 1, only_present=False)), status=429))
    yield sin("retry-after-in-the-past", "the date has passed", "C12", on(header("retry-after", lambda *_: formatdate(time.time() - 3600, usegmt=True)), status=429))
    yield sin("retry-after-bad-on-503", "503 has a Retry-After that is none", "C12", on(header("retry-after", "a few seconds"), status=503))
    yield sin("keys-kept-for-the-last-ten", "keys are kept for the last ten writes, not for 24 hours", "C20", unchanged)
    yield sin("search-across-tenants", "a search finds the notebooks of all tenants", "C24", unchanged)
    yield sin("delete-looked-up-long-before", "between the look-up of a notebook and its deletion others come in", "C23")
    yield sin("stale-delete-deletes", "a stale DELETE is refused after the notebook is gone", "C14", unchanged)
    yield sin("retry-after-too-short", "after the wait the caller is still limited", "C12 T4")
    yield sin("rate-limit-never-recovers", "every refusal is followed by another for an hour", "C12 T4")
    yield sin("challenge-missing", "401 has no WWW-Authenticate", "C26", on(no_header("www-authenticate"), status=401))
    yield sin("challenge-of-another-scheme", "401 asks for a password, and the document for a token", "C26", on(header("www-authenticate", 'Basic realm="notebooks"'), status=401))
    yield sin("challenge-missing-for-bad-token", "only a missing token gets the challenge", "C26", on(lambda a, r: r.without_header("www-authenticate") if bearer(a) else r, status=401))
    yield sin("allow-missing", "405 has no Allow", "C26 C27", on(no_header("allow"), status=405))
    yield sin("allow-incomplete", "Allow lists the first method of the path only", "C26 C27", on(allow_shorter, status=405))
    yield sin("allow-lists-the-refused-method", "Allow lists every method there is", "C26 C27", on(allow_refused, status=405))
    yield sin("head-with-body", "HEAD is answered with the body of GET", "C26", head_body(lambda _: True))
    yield sin("head-error-with-body", "HEAD of what is missing is answered with the envelope", "C26", head_body(lambda answer: answer.status >= 400))
    yield sin("head-always-200", "HEAD of what is missing succeeds", "C9", on(status(200), method="HEAD"))

    # preconditions
    yield sin("etag-missing-on-412", "412 has no ETag", "C14", on(no_header("etag"), status=412))
    yield sin("expected-etag-missing", "412 doesn't say what was expected", "C14 C5", on(without_detail("expected_etag"), status=412))
    yield sin("expected-etag-differs", "header and details disagree", "C14", on(detail("expected_etag", '"0000000000000000"'), status=412))
    yield sin("expected-etag-is-the-callers", "412 repeats the stale tag", "C14 T5", on(echo_if_match, status=412))
    yield sin("expected-etag-as-object", "the tag is sent with its kind", "C5 C14", on(detail("expected_etag", lambda old: {"strong": old}), status=412))
    yield sin("etag-missing-on-read", "GET has no ETag, so nobody can write safely", "C14 T5", on(no_header("etag"), method="GET", path=NOTEBOOK, every=True))
    yield sin("etag-never-changes", "the tag stays the same through a write: the stale writer wins", "C14 T5")
    yield sin("stale-write-accepted", "If-Match is ignored", "C14 T5", asking(lambda a: a.without_header("if-match")))
    yield sin("stale-put-accepted", "If-Match is ignored by PUT", "C14 T5", asking(lambda a: a.without_header("if-match"), method="PUT"))
    yield sin("stale-patch-accepted", "If-Match is ignored by PATCH", "C14 T5", asking(lambda a: a.without_header("if-match"), method="PATCH"))
    yield sin("stale-delete-accepted", "If-Match is ignored by DELETE", "C14 T5", asking(lambda a: a.without_header("if-match"), method="DELETE"))
    yield sin("fresh-if-match-refused", "the tag that GET gave is refused as well", "C14 T5")

    # details
    yield sin("limit-as-text", "details.limit is text", "C5", on(detail("limit", str), code="rate_limited"))
    yield sin("window-as-text", "details.window_sec is text with a unit", "C5", on(detail("window_sec", lambda old: f"{old}s"), code="rate_limited"))
    yield sin("limit-of-the-example", "details.limit and details.window_sec are those of the document's example", "C5", on(both(detail("limit", 2000), detail("window_sec", 60)), code="rate_limited"))
    yield sin("limit-understated", "details.limit is the rate of another service", "C5", on(detail("limit", 1), code="rate_limited"))
    yield sin("window-of-an-hour", "details.window_sec is an hour", "C5", on(detail("window_sec", 3600), code="rate_limited"))
    yield sin("retry-after-beyond-the-window", "the wait is nine times the window, after which requests are served", "C5 C12", on(header("Retry-After", "9"), status=429))
    yield sin("window-renamed", "the window is called windowSec", "C5", on(both(without_detail("window_sec"), detail("windowSec", 1, only_present=False)), code="rate_limited"))
    yield sin("retryable-as-text", "details.retryable is text", "C5", on(detail("retryable", lambda old: str(old).lower())))
    yield sin("retryable-as-number", "details.retryable is 0 or 1", "C5", on(detail("retryable", int)))
    yield sin("retryable-always-true", "every error may be retried", "C16", on(detail("retryable", True)))
    yield sin("retryable-always-false", "no error may be retried", "C16", on(detail("retryable", False)))
    for code in ("rate_limited", "timeout", "dependency_unavailable", "serialization_failure", "validation_failed", "internal_error", "not_found"):
        word = "not retryable" if code in RETRYABLE else "retryable"
        flipped = code not in RETRYABLE
        yield sin(f"{code.replace('_', '-')}-says-{word.replace(' ', '-')}", f"{code} is reported as {word}", "C16", on(detail("retryable", flipped), code=code))
    yield sin("hint-as-list", "details.hint is a list", "C5", on(detail("hint", lambda old: [old])))
    yield sin("field-missing", "an invalid field isn't named", "C5", on(without_detail("field"), code="validation_failed"))
    yield sin("field-of-another-member", "an invalid field is called by the name of the next one", "C5", on(detail("field", lambda old: {"title": "pages", "pages": "archived", "limit": "offset", "text": "title"}.get(old, old)), code="validation_failed"))
    yield sin("field-as-list", "details.field is a path in pieces", "C5", on(detail("field", lambda old: ["body", old]), code="validation_failed"))
    yield sin("detail-key-invented", "the details carry a key that nobody registered", "C5", on(detail("error_type", "ValidationError", only_present=False), code="validation_failed"), "'Keys are stable where defined': further keys are not forbidden")
    yield sin("existing-id-missing-on-duplicate", "a duplicate isn't pointed at", "C22", on(without_detail("existing_id"), code="already_exists"))
    yield sin("existing-id-missing-on-conflict", "a conflict isn't pointed at", "C22", on(without_detail("existing_id"), code="conflict"))
    yield sin("existing-id-as-object", "the pointer is an object", "C5 C22", on(detail("existing_id", lambda old: {"id": old})))
    yield sin("existing-id-of-nothing", "the pointer leads nowhere", "C22")

    # idempotency
    yield sin("idempotency-key-ignored", "the replay is judged as a new request, hence a duplicate", "C20 T6", asking(lambda a: a.without_header("idempotency-key")))
    yield sin("idempotency-key-ignored-on-changes", "only creation knows the key: a replayed change is stale", "C20 T6", asking(lambda a: a.without_header("idempotency-key"), method="PUT|PATCH|DELETE"))
    yield sin("idempotency-key-ignored-by-batch", "only single creation knows the key", "C20 T6", asking(lambda a: a.without_header("idempotency-key"), path="/notebooks/batch"))
    yield sin("idempotency-key-ignored-on-comments", "a replayed comment is made again", "C20 T6", asking(lambda a: a.without_header("idempotency-key"), path=COMMENTS))
    yield sin("idempotency-key-refused", "a write with a key is a bad request", "C20", asking(lambda a: replace(a, body=b"") if a.header("idempotency-key") else a, method="POST|PUT|PATCH"))
    yield sin("replay-makes-another", "a replay makes a second notebook", "C20 T6")
    yield sin("replay-answers-200", "a replay has another status", "C20 T6")
    yield sin("replay-adds-a-member", "a replay says so in the body", "C20 T6")
    yield sin("replay-forgotten-once-made", "a replay uses up what was remembered, so the next one is a new request", "C20 T6")
    yield sin("replay-shows-the-present", "a replay shows the notebook as it is by then", "C20 T6")
    yield sin("replay-drops-etag", "a replay has no ETag", "C20")
    yield sin("replay-refused-as-conflict", "a replay is a conflict", "C20 T6")
    yield sin("replay-inserts-silently", "a replay answers as before and stores a second copy", "C20", unchanged, "seen only by who lists all notebooks")
    yield sin("key-looked-up-long-before", "between the look-up of a key and the write others come in", "C20 T6")
    yield sin("key-of-a-comment-looked-up-long-before", "the same for the key of a comment alone", "C20 T6")
    yield sin("key-shared-across-tenants", "the key is looked up without the tenant: another tenant gets the result", "C20 C23 C24")
    yield sin("key-with-other-body-answers-first", "a key with another body gets the first result", "C20", unchanged, "the document is silent on a key that comes with another body")
    yield sin("duplicate-accepted", "two notebooks may have one title", "C22")
    yield sin("title-taken-by-change", "a change may give a notebook the title of another one", "C22")
    yield sin("refused-title-kept", "a change to the title of another notebook is refused and made", "C22")
    yield sin("title-looked-up-long-before", "between the look-up of a title and the write others come in", "C22")

    # tenants
    yield sin("other-tenant-is-403", "another tenant's notebook is forbidden", "C23")
    yield sin("other-tenant-readable", "the lookup forgets the tenant", "C23")
    yield sin("other-tenant-export-readable", "the export forgets the tenant", "C23")
    yield sin("other-tenant-comment-accepted", "commenting forgets the tenant", "C23")
    yield sin("offset-one-too-far", "a page that begins behind the first notebook begins one too far", "C26")
    yield sin("other-tenants-on-later-pages", "all pages of the list but the first forget the tenant", "C23")
    yield sin("other-tenant-delete-accepted", "the deletion forgets the tenant", "C23")
    yield sin("other-tenant-shown-by-code", "404, but with the code forbidden", "C23 C9")
    yield sin("other-tenant-shown-by-message", "404, but the message knows better", "C23")
    yield sin("other-tenant-shown-by-details", "404, but with a hint", "C23")
    yield sin("other-tenant-shown-by-etag", "404, but with the notebook's ETag", "C23")
    yield sin("other-tenant-shown-by-precondition", "If-Match is compared before the tenant", "C23")
    yield sin("title-unique-across-tenants", "a title that another tenant has is a duplicate, with its id", "C23")
    yield sin("tenant-id-in-message", "the message names the tenant", "C24", on(says(lambda a: f"There is no such notebook in {tenant(a)}"), code="not_found", path=NOTEBOOK))
    yield sin("tenant-id-in-details", "the details carry the tenant", "C24 C5", on(lambda a, r: detail("tenant_id", tenant(a), only_present=False)(a, r), code="validation_failed"))
    yield sin("tenant-id-in-header", "every answer has an X-Tenant-Id", "C24", on(header("x-tenant-id", lambda a, _: tenant(a)), every=True), "the document bans it from the body; of headers it says nothing")
    yield sin("tenant-id-in-body", "every envelope carries the tenant", "C24 C1", on(lambda a, r: member("tenant_id", tenant(a))(a, r), code="conflict"))

    # leaks
    for runtime, trace in TRACES.items():
        yield sin(f"stack-trace-{runtime}", f"a crash is answered with its {runtime} stack trace", "C25", hidden_500(says(trace)))
    yield sin("stack-trace-in-details", "a crash is answered with its stack trace in the details", "C25 C5", hidden_500(detail("trace", TRACES["python"].splitlines(), only_present=False)))
    yield sin("stack-trace-in-header", "a crash puts its trace in a debugging header", "C25", hidden_500(header("x-debug-trace", TRACES["python"].replace("\n", " | "))))
    yield sin("stack-trace-of-the-crash", "the crash handler formats the exception", "C25 C24")
    yield sin("debugger-page", "a crash gets the framework's debugging page", "C25 C26 C15", hidden_500(text("text/html", f"<html><body><h1>500</h1><pre>{TRACES['python']}</pre></body></html>")))
    leaked = (
        ("sql-error", "the database's error text is the message", UNIQUE, "already_exists"),
        ("connection-string", "the message holds a connection string with its password", DSN, "dependency_unavailable"),
        ("file-path", "the message holds a path on the server", "cannot open /srv/notebooks/data/shelf.db", "internal_error"),
        ("private-address", "the message holds a private address", "connect to 10.3.7.21:5432 timed out", "timeout"),
        ("internal-host", "the message holds a host inside the cluster", "redis-0.redis.prod.svc.cluster.local: no route", "dependency_unavailable"),
        ("email", "the message holds the e-mail address of the owner", "Locked by jane.doe@customer.example.com", "conflict"),
        ("access-key", "the message holds a cloud key", "S3 refused AKIAIOSFODNN7EXAMPLE", "dependency_unavailable"),
        ("service-token", "the message holds the service's own token", f"upstream refused Bearer {JWT}", "dependency_unavailable"),
        ("exception-name", "the message is the exception's class", "psycopg.errors.SerializationFailure", "serialization_failure"),
        ("dependency-name", "the message names the dependency", "Timed out waiting for payments-db (PostgreSQL 15.4)", "timeout"),
    )
    for name, sentence, message, code in leaked:
        yield sin(f"{name}-in-message", sentence, "C25", on(says(message), code=code))
    yield sin("email-in-hint", "the hint holds an e-mail address", "C25", on(detail("hint", "Ask jane.doe@customer.example.com", only_present=False), code="forbidden"))
    yield sin("connection-string-in-hint", "the hint holds a connection string with its password", "C25", hidden_500(detail("hint", DSN, only_present=False)))
    yield sin("token-in-message", "a refused token is repeated", "C25", on(says(lambda a: f"The token {bearer(a)!r} is not valid"), status=401))
    yield sin("token-in-scope-message", "the token whose scope is missing is repeated", "C25", on(says(lambda a: f"{bearer(a)} does not allow writing"), code="scope_insufficient"))
    yield sin("token-in-challenge", "the challenge repeats the token", "C25", on(header("www-authenticate", lambda a, _: f'Bearer error="invalid_token", token="{bearer(a)}"'), status=401))
    yield sin("input-in-message", "the message repeats what was sent", "C25", on(says(lambda a: f"Not valid: {planted(a)}"), status=400))
    yield sin("input-in-duplicate-message", "the message repeats the title that was sent", "C25", on(says(lambda a: f"Exists already: {planted(a)}"), code="already_exists"))
    yield sin("input-in-hint", "the hint repeats what was sent", "C25", on(lambda a, r: detail("hint", f"You sent {planted(a)}", only_present=False)(a, r), status=400))
    yield sin("input-in-header", "a debugging header repeats what was sent", "C25", on(header("x-debug-input", lambda a, _: re.sub("[^ -~]", "?", planted(a))), status=400))
    yield sin("query-in-message", "the message repeats the query", "C25", on(says(lambda a: f"Not valid: {a.target}"), path="/search", code="validation_failed"))
    yield sin("path-in-message", "the message repeats the unknown address", "C25", on(says(lambda a: f"No route for {a.path}"), path=UNKNOWN))
    yield sin("value-in-message", "the message repeats the value that is not valid", "C25", on(lambda a, r: says(f"{rejected(a, r)!r} is not valid")(a, r), path="/notebooks", method="POST", code="validation_failed"))
    yield sin("limit-in-message", "the message repeats the query's value that is not valid", "C25", on(says(lambda a: f"Not a number: {a.target.partition('limit=')[2].partition('&')[0]}"), path="/notebooks", method="GET", code="validation_failed"))
    yield sin("id-in-message", "the message repeats the id that names nothing", "C25", on(says(lambda a: f"There is no notebook {a.path.split('/')[2]}"), path=NOTEBOOK, code="not_found"), "an id is what its caller calls the notebook")
    yield sin("agent-in-message", "a crash repeats all headers", "C25", hidden_500(says(lambda a: "; ".join(f"{key}: {value}" for key, value in a.headers))))
    yield sin("queue-name-in-message", "a failed webhook names the queue", "C25", on(says("enqueue to amqp://printers.jobs.v2.dlq failed"), path="/hooks/printers", status=503))

    # batches
    yield sin("batch-all-bad-207", "a batch in which everything failed is 207", "C28")
    yield sin("batch-all-good-207", "a batch in which everything succeeded is 207", "C28")
    yield sin("batch-all-bad-200", "a batch in which everything failed is 200", "C28 C2", on(silently, path="/notebooks/batch", code="validation_failed"))
    yield sin("batch-mixed-200", "a batch in which something failed is 200", "C28 C2")
    yield sin("batch-item-status-lies", "the failed item has the status of a success", "C28", on(batch_item_lies, path="/notebooks/batch", status=207, every=True))
    yield sin("batch-items-without-envelope", "failed items are bare sentences", "C28 C1")
    yield sin("bad-items-missing", "a failed batch doesn't list its bad items", "C28 C5", on(without_detail("bad_items")))
    yield sin("bad-items-all-the-first", "each bad item is called the first", "C28 C5", on(detail("bad_items", lambda old: [{**item, "index": 0} for item in old])))
    yield sin("batch-outcomes-shifted", "the outcomes of a batch belong to the items before", "C28", on(lambda _, r: r.with_json({"responses": [*r.json()["responses"][1:], *r.json()["responses"][:1]]}), status=207, every=True))
    yield sin("bad-items-as-count", "bad items are a number", "C5 C28", on(detail("bad_items", len)))
    yield sin("failed-batch-keeps-items", "a failed batch leaves something behind", "C28")

    # who may do what
    yield sin("scope-ignored", "a token that may only read writes", "C9", asking(as_editor, method="POST|PUT|PATCH"))
    yield sin("scope-ignored-on-delete", "a token that may only read deletes", "C9", asking(as_editor, method="DELETE"))
    yield sin("admin-open-to-all", "the route for administrators asks for no role", "C9")
    yield sin("auth-ignored-on-search", "one route asks for no token", "C9", asking(as_someone, path="/search"))
    yield sin("auth-ignored-on-export", "the export asks for no token", "C9 C23", asking(as_someone, path=EXPORT))
    yield sin("auth-ignored-on-head", "HEAD asks for no token", "C9", asking(as_someone, method="HEAD"))
    yield sin("bad-token-accepted", "a token is only looked at for its presence", "C9", asking(lambda a: as_someone(a) if bearer(a) else a))
    yield sin("unhandled-token-crash", "an unknown token is a key that isn't there", "C9")

    # what frameworks do
    yield sin("oversized-accepted", "there is no limit on the body", "C26 C27", asking(shortened, path="/notebooks"))
    yield sin("media-type-ignored", "any media type is read as JSON", "C9", asking(lambda a: a.with_header("content-type", "application/json") if a.body else a))
    yield sin("media-type-ignored-on-patch", "PATCH reads any media type as JSON", "C9", asking(lambda a: a.with_header("content-type", "application/json"), method="PATCH"))
    yield sin("bad-json-as-empty", "a body that doesn't parse is an empty one", "C9 C26", asking(empty_if_unreadable, method="POST|PUT|PATCH"))
    yield sin("bad-json-as-200", "a body that doesn't parse succeeds", "C9 C2", on(both(status(200), text("application/json", "{}")), code="invalid_request", status=400))
    yield sin("creation-not-stored", "a creation succeeds and nothing is stored", "C22")
    yield sin("creation-stored-twice", "a creation stores two notebooks", "C20")
    yield sin("change-not-stored", "a PATCH succeeds and changes nothing", "C14")
    yield sin("change-clears-the-title", "a PATCH without a title clears the title", "C14")
    yield sin("deletion-not-made", "a deletion with If-Match succeeds and removes nothing", "C23")
    yield sin("deletion-removes-the-oldest", "a deletion removes the oldest notebook too", "C23")
    yield sin("deleted-still-listed", "the list shows deleted notebooks", "C23")
    yield sin("change-looked-up-long-before", "between the look-up of a notebook and the write of a change others come in", "C22")
    yield sin("unknown-deletion-succeeds", "the deletion of what never existed is answered 204", "C23")
    yield sin("deletion-answered-404", "a deletion with If-Match removes the notebook and answers 404", "C23")
    yield sin("invalid-change-counts-a-page", "a change that is not valid is refused and adds a page", "C9")
    yield sin("invalid-field-accepted", "a number out of range is silently corrected", "C9")
    yield sin("accept-ignored", "Accept is not looked at", "C26 C27", asking(lambda a: a.without_header("accept")), "RFC 9110 allows to disregard Accept")

    yield sin("limit-not-looked-at", "a limit that is not a number is ignored", "C9", asking(lambda a: replace(a, target=re.sub("limit=[^&]*[^0-9&][^&]*", "limit=5", a.target)), path="/notebooks", method="GET"))
    yield sin("charset-refused", "JSON with a charset is another media type", "C9", asking(lambda a: a.with_header("content-type", "text/x") if ";" in (a.header("content-type") or "") else a))
    yield sin("null-crashes", "null is read as an object", "C9 C26", crashing(lambda a: a.body == b"null"))
    yield sin("depth-crashes", "the parser runs out of stack", "C9 C26", crashing(lambda a: a.body.count(b"[") > 1000))
    yield sin("bytes-crash", "a body that is not UTF-8 is decoded unseen", "C9 C26", crashing(lambda a: b"\xff" in a.body))
    yield sin("nul-crashes", "the database takes no NUL", "C9 C26", crashing(lambda a: b"u0000" in a.body))
    yield sin("surrogate-crashes", "half a surrogate pair cannot be encoded", "C9 C26", crashing(lambda a: b"ud800" in a.body))
    yield sin("options-crashes", "nobody thought of OPTIONS", "C26", crashing(lambda a: a.method == "OPTIONS"))
    yield sin("wrong-method-501", "a method that the path does not have is not implemented", "C26", on(status(501, "internal_error"), status=405))
    yield sin("allow-empty", "405 allows nothing", "C26", on(header("allow", ""), status=405))
    yield sin("header-line-twice", "gateway and service each add the same id", "C4", on(lambda _, r: replace(r, headers=(*r.headers, ("x-correlation-id", r.header("x-correlation-id") or "")))))
    yield sin("stored-after-all", "a second line allows to store what the first one forbids", "C13", on(lambda _, r: replace(r, headers=(*r.headers, ("cache-control", "max-age=60")))), "the stricter directive holds")
    yield sin("batch-items-have-ids-of-their-own", "every failed item of a batch has an id of its own", "C4 C28", on(own_ids, path="/notebooks/batch", status=207, every=True))

    # streams and webhooks
    yield sin("stream-error-as-text", "the error event is a sentence", "C30 C1", of_stream(lambda before: ("error", before["message"])))
    yield sin("stream-error-nested", "the error event wraps the envelope", "C30 C1", error_event(lambda before: {"error": before}))
    yield sin("stream-error-without-offset", "the error event doesn't say where the stream broke", "C30 C5", error_event(without_offset))
    yield sin("stream-offset-null", "the offset is null", "C30 C5", error_event(lambda before: {**before, "details": {**before["details"], "offset": None}}))
    yield sin("stream-error-in-data", "the error is sent among the data", "C30", of_stream(lambda before: ("page", json.dumps(before))))
    yield sin("stream-correlation-differs", "the error event has an id of its own", "C30 C4", error_event(lambda before: {**before, "correlation_id": uuid7(time.time())}))
    yield sin("stream-just-ends", "the stream breaks without a word", "C30")
    yield sin("webhook-accepts-what-it-lost", "a webhook is accepted although it can't be queued", "C29", unchanged, "durability can't be seen from outside")
    yield sin("webhook-own-shape", "a refused webhook has a shape of its own", "C1 C26", on(envelope(lambda e: {"ok": False, "error": e["message"]}), path="/hooks/printers"))
    # fmt: on


SINS: Mapping[str, Sin] = {sin.name: sin for sin in _all()}
