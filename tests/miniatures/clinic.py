"""A clinic with visits of two tenants. It records each failure under an id that the answer has.

The tenant of a failure, and an auditor, can read its record by that id. To others it is missing.
An auditor adds no visits.
All state belongs to the application that `make_app` returns.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from starlette.types import ASGIApp, Receive, Scope, Send

SINS: Mapping[str, str] = {
    "failure-id-leads-nowhere": "the id of a failure is not that of its record",
    "some-failures-unrecorded": "a failure of an unsupported method has no record",
    "one-id-for-all-failures": "every failure has the same id, and its record is the last one",
    "record-of-another-failure": "the id of a failure leads to the record of the one before",
    "any-id-shows-the-last-record": "an unknown id leads to the last record",
    "record-shown-to-other-tenant": "another tenant can read the record of a failure",
    "record-forbidden-to-other-tenant": "another tenant gets 403 for a record that exists",
    "records-unreadable-for-refusals": "the look-up refuses the id of an invalid request",
    "auditor-adds-visits": "an auditor, who may only read, can add a visit",
    "codes-renamed-in-records": "records name codes of their own, which no answer has",
    "record-written-later": "a record can be read at the second look-up",
}
"""The mistakes that `make_app` understands, each with what it does. The last two are allowed."""

CALLERS: Mapping[str, str] = {
    "Bearer iris-5c20d7": "iris",
    "Bearer juno-b1f6e4": "juno",
    "Bearer auditor-77ce02": "auditor",
}
"""The callers by their credentials. Each is a tenant."""


class Refused(Exception):
    """A failure that an answer reports to its caller."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


Reply = tuple[int, object]
"""A status, and the value of the body."""


@dataclass(slots=True)
class Clinic:
    """The visits and the records of failures."""

    sins: frozenset[str]
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    visits: dict[str, dict[str, str]] = field(default_factory=dict)
    records: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def answer(self, method: str, path: str, token: str, body: bytes) -> Reply:
        """Answer one request, and record its failure."""
        if path == "/openapi.json":
            return 200, DOCUMENT
        caller = CALLERS.get(token, "")
        try:
            return self.enter(method, path, caller, body)
        except Refused as refused:
            id = self.record(caller, refused.code)
            message = refused.code.replace("_", " ")
            return refused.status, {"code": refused.code, "message": message, "audit_id": id}

    def record(self, caller: str, code: str) -> str:
        """Record a failure; return its id."""
        number = 1 if "one-id-for-all-failures" in self.sins else next(self.numbers)
        id = f"failure-{number:08}"
        shown = code.upper()[:4] if "codes-renamed-in-records" in self.sins else code
        before = next(reversed(self.records.values()), {"code": code})["code"]
        record = {"id": id, "code": shown, "tenant": caller}
        if "record-of-another-failure" in self.sins:
            record["code"] = before
            self.records[f"before {id}"] = {**record, "code": code}
        if code != "unsupported" or "some-failures-unrecorded" not in self.sins:
            self.records[id] = record
        return id.replace("failure", "fault") if "failure-id-leads-nowhere" in self.sins else id

    def enter(self, method: str, path: str, caller: str, body: bytes) -> Reply:
        """Find the operation and the caller."""
        routes: tuple[tuple[str, Mapping[str, Callable[[str, str, bytes], Reply]]], ...] = (
            ("/visits", {"GET": self.listing, "POST": self.add}),
            ("/visits/([^/]+)", {"GET": self.read}),
            ("/failures/([^/]+)", {"GET": self.show}),
        )
        matches = ((re.fullmatch(route, path), methods) for route, methods in routes)
        match, methods = next(((one, known) for one, known in matches if one), (None, {}))
        if match is None:
            raise Refused(404, "not_found")
        handle = methods.get("GET" if method == "HEAD" else method)
        if handle is None:
            raise Refused(405, "unsupported")
        if not caller:
            raise Refused(401, "unknown_caller")
        return handle(caller, (*match.groups(), "")[0], body)

    def listing(self, caller: str, item: str, body: bytes) -> Reply:
        """The visits of the caller."""
        return 200, [one for one in self.visits.values() if one["tenant"] == caller]

    def add(self, caller: str, item: str, body: bytes) -> Reply:
        """Add a visit."""
        if caller == "auditor" and "auditor-adds-visits" not in self.sins:
            raise Refused(403, "forbidden")
        try:
            sent = json.loads(body)
        except (ValueError, RecursionError):
            raise Refused(400, "invalid_request") from None
        if not isinstance(sent, dict) or set(sent) != {"reason"}:
            raise Refused(400, "invalid_request")
        if not isinstance(sent["reason"], str) or not sent["reason"]:
            raise Refused(400, "invalid_request")
        visit = {"id": f"visit-{next(self.numbers):08}", **sent, "tenant": caller}
        self.visits[visit["id"]] = visit
        return 201, visit

    def read(self, caller: str, item: str, body: bytes) -> Reply:
        """One visit."""
        visit = self.visits.get(item)
        if visit is None or visit["tenant"] != caller:
            raise Refused(404, "not_found")
        return 200, visit

    def show(self, caller: str, item: str, body: bytes) -> Reply:
        """The record of one failure."""
        record = self.records.get(item)
        if record is None and "any-id-shows-the-last-record" in self.sins:
            return 200, next(reversed(self.records.values()))
        if record is None:
            raise Refused(404, "not_found")
        if "record-written-later" in self.sins and item not in self.asked:
            self.asked.add(item)
            raise Refused(404, "not_found")
        if record["tenant"] != caller and caller != "auditor":
            if "record-forbidden-to-other-tenant" in self.sins:
                raise Refused(403, "forbidden")
            if "record-shown-to-other-tenant" not in self.sins:
                raise Refused(404, "not_found")
        is_hidden = "records-unreadable-for-refusals" in self.sins
        if is_hidden and record["code"] == "invalid_request":
            raise Refused(400, "invalid_request")
        return 200, record


def make_app(sins: frozenset[str]) -> ASGIApp:
    """The service, with its own empty state. Raises ValueError for a sin that isn't one of
    `SINS`.
    """
    if unknown := sins - SINS.keys():
        raise ValueError(f"no such sin: {', '.join(sorted(unknown))}")
    clinic = Clinic(sins)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        token = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        status, value = clinic.answer(scope["method"], scope["path"], token, body)
        content = json.dumps(value).encode()
        headers = {"content-type": "application/json", "content-length": str(len(content))}
        if status == 401:
            headers["www-authenticate"] = "Bearer"
        if status == 405:
            headers["allow"] = "GET, POST" if scope["path"] == "/visits" else "GET"
        raw = [(name.encode(), text.encode()) for name, text in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        shown = b"" if scope["method"] == "HEAD" else content
        await send({"type": "http.response.body", "body": shown})

    return app


ID = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
VISIT: Mapping[str, object] = {
    "type": "object",
    "required": ["reason"],
    "properties": {"reason": {"type": "string", "minLength": 1}},
    "additionalProperties": False,
}
DONE: Mapping[str, object] = {"200": {"description": "Done"}}
DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Clinic", "version": "1"},
    "security": [{"bearer": []}],
    "paths": {
        "/visits": {
            "get": {"responses": DONE},
            "post": {
                "responses": {"201": {"description": "Done"}},
                "requestBody": {"content": {"application/json": {"schema": VISIT}}},
            },
        },
        "/visits/{id}": {"parameters": ID, "get": {"responses": DONE}},
        "/failures/{id}": {"parameters": ID, "get": {"responses": DONE}},
    },
    "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
}
