"""Lockers of callers who log in. A token ends after some requests; searches are limited.

Another owner of the same house must not learn that a locker exists. Creations, deletions and
batches take a key; only successes are remembered under it. No two lockers of an owner have one
label. A locker is closed if the request names its current ETag. All state belongs to the
application that `make_app` returns.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count

from starlette.types import ASGIApp, Receive, Scope, Send

SINS: Mapping[str, str] = {
    "new-token-ignored": "the token of a second login is not accepted",
    "second-login-crashes": "the second login of a caller answers 500",
    "wait-not-enough": "a search is refused for longer than its Retry-After says",
    "deletion-replayed-as-missing": "a deletion that is sent again under its key gets 404",
    "key-refused-on-deletion": "a deletion with a key gets 400, and one without it succeeds",
    "refusal-remembered": "a refusal is remembered under its key, though its reason is gone",
    "old-etag-closes": "a locker is closed whatever ETag the request names",
    "old-etag-refused-and-closed": "an old ETag is refused, and the locker is closed",
    "taken-batch-keeps-its-first-items": "a batch with a taken label is refused, and lockers stay",
    "batch-repeats-labels": "a batch makes lockers with labels that are taken",
    "batch-replayed-as-new": "a batch that is sent again under its key makes other lockers",
    "other-owner-forbidden": "another owner of the house gets 403 for a locker that exists",
    "other-owner-deletes": "another owner of the house can delete a locker that they cannot read",
    "language-mislabelled": "the message for a missing locker is German beside `Content-Language: en`",
    "other-owner-sees-all": "another owner of the house is a warden, who may see all lockers",
}
"""The mistakes that `make_app` understands, each with what it does. The last one is allowed."""

PASSWORDS: Mapping[str, str] = {
    "LOCKERS_ADA": "ada-opens-71c0de55",
    "LOCKERS_EVE": "eve-opens-2f9d3c66",
    "LOCKERS_BOB": "bob-opens-b2a94f38",
}
"""By the name of the environment variable that carries it in `lockers.yaml`."""

HOUSES: Mapping[str, str] = {"ada": "north", "eve": "north", "bob": "south"}
LASTS = 25
"""Requests after which a token ends."""
SEARCHES = 1
"""Searches a second."""
PENALTY = 30.0
"""Seconds for which `wait-not-enough` refuses."""


class Refused(Exception):
    """A failure that an answer reports to its caller."""

    def __init__(self, status: int, code: str, **headers: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code
        self.payload = {"code": code, "message": code.replace("_", " ")}
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. ``payload`` None: without a body."""

    status: int
    payload: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a known caller."""

    who: str
    method: str
    headers: Mapping[str, str]
    body: bytes
    locker: str = ""


class Lockers:
    """The lockers, tokens and remembered keys."""

    def __init__(self, sins: frozenset[str], clock: Callable[[], float]) -> None:
        self.sins, self.clock = sins, clock
        self.numbers, self.logins = count(1), dict[str, int]()
        self.tokens: dict[str, tuple[str, int]] = {}
        self.lockers: dict[str, dict[str, str]] = {}
        self.remembered: dict[tuple[str, str], Reply] = {}
        self.searches: dict[str, list[float]] = {}
        self.limited_until: dict[str, float] = {}
        self.routes: tuple[tuple[str, Mapping[str, Callable[[Call], Reply]]], ...] = (
            ("/lockers", {"GET": self.listing, "POST": self.add}),
            ("/lockers/batch", {"POST": self.add_all}),
            ("/lockers/([^/]+)", {"GET": self.read, "DELETE": self.remove}),
            ("/lockers/([^/]+)/closing", {"POST": self.close}),
            ("/search", {"GET": self.search}),
        )

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request."""
        if path == "/openapi.json":
            return Reply(200, DOCUMENT)
        try:
            return self.enter(method, path, headers, body)
        except Refused as refused:
            payload = dict(refused.payload)
            if "language-mislabelled" in self.sins and refused.code == "not_found":
                payload["message"] = "nicht gefunden"
            return Reply(refused.status, payload, {**refused.headers, "content-language": "en"})

    def enter(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Log in, or find the operation and check the token."""
        if path == "/login" and method == "POST":
            return self.log_in(body)
        matches = ((re.fullmatch(route, path), methods) for route, methods in self.routes)
        match, methods = next(((one, known) for one, known in matches if one), (None, {}))
        if match is None:
            raise Refused(404, "not_found")
        handle = methods.get("GET" if method == "HEAD" else method)
        if handle is None:
            raise Refused(405, "unsupported", allow=", ".join(methods))
        who, left = self.tokens.get(headers.get("authorization", ""), ("", 0))
        if left <= 0:
            raise Refused(401, "unknown_caller")
        self.tokens[headers["authorization"]] = who, left - 1
        call = Call(who, method, headers, body, *match.groups())
        return handle(call) if method in ("GET", "HEAD") else self.once(path, call, handle)

    def log_in(self, body: bytes) -> Reply:
        """Give the caller a new token, which ends the one before."""
        sent = parsed(body)
        name, password = sent.get("name"), sent.get("password")
        if PASSWORDS.get(f"LOCKERS_{name}".upper()) != password or not isinstance(name, str):
            raise Refused(401, "unknown_caller")
        number = self.logins[name] = self.logins.get(name, 0) + 1
        if number > 1 and "second-login-crashes" in self.sins:
            raise Refused(500, "broken")
        token = f"token-{name}-{next(self.numbers):06}"
        if number == 1 or "new-token-ignored" not in self.sins:
            self.tokens[f"Bearer {token}"] = name, LASTS
        return Reply(200, {"token": token})

    def once(self, path: str, call: Call, handle: Callable[[Call], Reply]) -> Reply:
        """Do a write once for an Idempotency-Key; only successes are remembered."""
        key = call.headers.get("idempotency-key")
        if key is None:
            return handle(call)
        if call.method == "DELETE" and "key-refused-on-deletion" in self.sins:
            raise Refused(400, "invalid_request")
        forgets = ("deletion-replayed-as-missing" in self.sins and call.method == "DELETE") or (
            "batch-replayed-as-new" in self.sins and path.endswith("/batch")
        )
        slot = (call.who, key)
        if slot not in self.remembered or forgets:
            try:
                self.remembered[slot] = handle(call)
            except Refused as refused:
                if "refusal-remembered" in self.sins:
                    self.remembered[slot] = Reply(refused.status, refused.payload)
                raise
        return self.remembered[slot]

    def listing(self, call: Call) -> Reply:
        """The lockers of the caller."""
        return Reply(200, [one for one in self.lockers.values() if one["owner"] == call.who])

    def add(self, call: Call) -> Reply:
        """Make a locker."""
        return Reply(201, self.made(call, parsed(call.body)))

    def add_all(self, call: Call) -> Reply:
        """Make several lockers, or none."""
        items = parsed(call.body).get("items")
        if not isinstance(items, list) or not items or not all(map(is_new, items)):
            raise Refused(400, "invalid_request")
        labels = [item["label"] for item in items]
        own = {one["label"] for one in self.lockers.values() if one["owner"] == call.who}
        if (own & {*labels} or len({*labels}) < len(labels)) and not self.looks_late:
            raise Refused(409, "taken")
        return Reply(201, {"items": [self.made(call, item) for item in items]})

    @property
    def looks_late(self) -> bool:
        """Whether labels of a batch are looked up one by one, or not at all."""
        return bool(self.sins & {"taken-batch-keeps-its-first-items", "batch-repeats-labels"})

    def made(self, call: Call, body: Mapping[str, object]) -> dict[str, str]:
        """A new locker."""
        if not is_new(body):
            raise Refused(400, "invalid_request")
        own = (one for one in self.lockers.values() if one["owner"] == call.who)
        is_taken = any(one["label"] == body["label"] for one in own)
        if is_taken and not ("batch-repeats-labels" in self.sins and "items" in parsed(call.body)):
            raise Refused(409, "taken")
        locker = {
            "id": f"locker-{next(self.numbers):08}",
            "label": str(body["label"]),
            "owner": call.who,
            "state": "open",
        }
        self.lockers[locker["id"]] = locker
        return locker

    def found(self, call: Call) -> dict[str, str]:
        """The locker that the caller may reach."""
        locker = self.lockers.get(call.locker)
        if locker is None:
            raise Refused(404, "not_found")
        if locker["owner"] == call.who:
            return locker
        if HOUSES[locker["owner"]] == HOUSES[call.who]:
            if "other-owner-sees-all" in self.sins:
                return locker
            if "other-owner-deletes" in self.sins and call.method == "DELETE":
                return locker
            if "other-owner-forbidden" in self.sins:
                raise Refused(403, "forbidden")
        raise Refused(404, "not_found")

    def read(self, call: Call) -> Reply:
        """One locker."""
        locker = self.found(call)
        return Reply(200, locker, {"etag": tag_of(locker)})

    def close(self, call: Call) -> Reply:
        """Close one locker that the caller has read."""
        locker = self.found(call)
        current = call.headers.get("if-match") in (None, tag_of(locker))
        if current or "old-etag-closes" in self.sins or "old-etag-refused-and-closed" in self.sins:
            locker["state"] = "closed"
        if not current and "old-etag-closes" not in self.sins:
            raise Refused(412, "changed")
        return Reply(200, dict(locker))

    def remove(self, call: Call) -> Reply:
        """Remove one locker."""
        del self.lockers[self.found(call)["id"]]
        return Reply(204)

    def search(self, call: Call) -> Reply:
        """Search nothing, a few times a second."""
        now = self.clock()
        recent = [at for at in self.searches.get(call.who, []) if at > now - 1]
        if now < self.limited_until.get(call.who, 0.0):
            raise Refused(429, "limited", retry_after="1")
        if len(recent) >= SEARCHES:
            if "wait-not-enough" in self.sins:
                self.limited_until[call.who] = now + PENALTY
            raise Refused(429, "limited", retry_after="1")
        self.searches[call.who] = [*recent, now]
        return Reply(200, [])


def make_app(sins: frozenset[str], clock: Callable[[], float]) -> ASGIApp:
    """The service, with its own empty state. Raises ValueError for a sin that isn't one of
    `SINS`.
    """
    if unknown := sins - SINS.keys():
        raise ValueError(f"no such sin: {', '.join(sorted(unknown))}")
    lockers = Lockers(sins, clock)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        reply = lockers.answer(scope["method"], scope["path"], headers, body)
        content = b"" if reply.payload is None else json.dumps(reply.payload).encode()
        sent = {**reply.headers}
        if reply.payload is not None:
            sent |= {"content-type": "application/json", "content-length": str(len(content))}
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": raw})
        shown = b"" if scope["method"] == "HEAD" else content
        await send({"type": "http.response.body", "body": shown})

    return app


def tag_of(locker: Mapping[str, str]) -> str:
    """The validator of a locker."""
    return f'"{locker["id"]}-{locker["state"]}"'


def parsed(body: bytes) -> dict[str, object]:
    """The JSON object in a body; refuses with 400."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "invalid_request") from None
    if not isinstance(value, dict):
        raise Refused(400, "invalid_request")
    return value


def is_new(body: object) -> bool:
    """Whether a body describes a new locker."""
    label = body.get("label") if isinstance(body, dict) else None
    return isinstance(body, dict) and set(body) == {"label"} and isinstance(label, str)


def described(status: str, schema: Mapping[str, object] | None = None) -> dict[str, object]:
    """One operation of the OpenAPI document. ``schema``: that of its body."""
    operation: dict[str, object] = {"responses": {status: {"description": "Done"}}}
    if schema is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return operation


NEW: Mapping[str, object] = {
    "type": "object",
    "required": ["label"],
    "properties": {"label": {"type": "string"}},
    "additionalProperties": False,
}
ID = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
ITEMS = {"type": "array", "minItems": 1, "items": NEW}
DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Lockers", "version": "1"},
    "security": [{"bearer": []}],
    "paths": {
        "/lockers": {"get": described("200"), "post": described("201", NEW)},
        "/lockers/batch": {
            "post": described(
                "201", {"type": "object", "required": ["items"], "properties": {"items": ITEMS}}
            )
        },
        "/lockers/{id}": {
            "parameters": ID,
            "get": described("200"),
            "delete": described("204"),
        },
        "/lockers/{id}/closing": {
            "post": {
                **described("200"),
                "parameters": [
                    *ID,
                    {"name": "If-Match", "in": "header", "schema": {"type": "string"}},
                ],
            }
        },
        "/search": {
            "get": {
                **described("200"),
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
            }
        },
    },
    "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
}
