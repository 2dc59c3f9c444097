"""An archive of records, with pages, batches that are whole or refused, and exports that take a
while.

A tenant does not learn what another one has. A batch with a bad item is refused, and stores
nothing. An export has ended at its third reading; that of a broken kind has failed. All state
belongs to the application that `make_app` returns.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

SINS: Mapping[str, str] = {
    "export-failure-hidden": "a failed export says that it is done",
    "export-never-ends": "a failing export is running for ever",
    "refused-batch-keeps-good-items": "a batch with a bad item is refused, and its good items stay",
    "batch-drops-bad-items": "a batch with a bad item succeeds without it, and does not say so",
    "refused-batch-names-first": "a refused batch calls each bad item the first one",
    "long-batch-is-cut": "a batch of more than three items stores three, and does not say so",
    "page-skips-a-record": "each page leaves out the record that follows the page before",
    "page-repeats-a-record": "each page begins with the last record of the page before",
    "last-record-on-no-page": "no page follows if one record is left",
    "pages-never-end": "an empty page is followed by another one",
    "bad-cursor-restarts": "a cursor that cannot be read gives the first page",
    "tenant-taken-from-change": "a change gives a record to the tenant that it names",
    "id-taken-from-creation": "a new record has the id that its creation names",
    "null-title-crashes-the-list": "a title of null is stored, and the list crashes",
    "null-title-hides-the-record": "a title of null is stored, and the record cannot be read",
    "limit-shared-by-tenants": "the reports that one tenant reads count for all tenants",
}
"""The mistakes that `make_app` understands, each with what it does."""

CALLERS: Mapping[str, str] = {"Bearer amber-6f1e0d": "amber", "Bearer birch-90ab7c": "birch"}
"""The callers by their credentials. Each is a tenant."""

READINGS = 3
"""After so many readings an export has ended."""

REPORTS, WINDOW = 6, 2.0
"""So many reports a tenant may read in so many seconds."""


class Refused(Exception):
    """A failure that an answer reports to its caller."""

    def __init__(self, status: int, code: str, bad: list[int] | None = None) -> None:
        super().__init__(code)
        self.status, self.code = status, code
        self.details = {} if bad is None else {"details": {"bad_items": bad}}


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a known caller. ``item``: the id in its path."""

    tenant: str
    query: Mapping[str, str]
    body: bytes
    item: str = ""


Reply = tuple[int, object]
"""A status, and the value of the body."""


@dataclass(slots=True)
class Archive:
    """The records and exports."""

    sins: frozenset[str]
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    exports: dict[str, dict[str, object]] = field(default_factory=dict)
    clock: Callable[[], float] = time.time
    reported: dict[str, list[float]] = field(default_factory=dict)

    def answer(
        self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Answer one request."""
        if path == "/openapi.json":
            return 200, DOCUMENT
        try:
            return self.enter(method, path, query, headers, body)
        except Refused as refused:
            error = {"code": refused.code, "message": refused.code.replace("_", " ")}
            return refused.status, {"error": error | refused.details}

    def enter(
        self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Find the operation and the caller."""
        routes: tuple[tuple[str, Mapping[str, Callable[[Call], Reply]]], ...] = (
            ("/records", {"GET": self.listing, "POST": self.add}),
            ("/records/batch", {"POST": self.add_all}),
            ("/records/([^/]+)", {"GET": self.read, "PATCH": self.change}),
            ("/reports", {"GET": self.report}),
            ("/exports", {"POST": self.export}),
            ("/exports/([^/]+)", {"GET": self.exported}),
        )
        matches = ((re.fullmatch(route, path), methods) for route, methods in routes)
        match, methods = next(((one, known) for one, known in matches if one), (None, {}))
        if match is None:
            raise Refused(404, "not_found")
        handle = methods.get("GET" if method == "HEAD" else method)
        if handle is None:
            raise Refused(405, "unsupported")
        tenant = CALLERS.get(headers.get("authorization", ""))
        if tenant is None:
            raise Refused(401, "unknown_caller")
        return handle(Call(tenant, dict(parse_qsl(query)), body, *match.groups()))

    def listing(self, call: Call) -> Reply:
        """A page of the records of the tenant, and where the next one begins."""
        own = [one for one in self.records.values() if one["tenant"] == call.tenant]
        if any(one["title"] is None for one in own) and "null-title-crashes-the-list" in self.sins:
            raise Refused(500, "internal_error")
        size, start = call.query.get("limit", "50"), call.query.get("cursor", "after-0")
        if not re.fullmatch(r"after-[0-9]{1,9}", start) and "bad-cursor-restarts" in self.sins:
            start = "after-0"
        if not re.fullmatch(r"[1-9][0-9]?", size) or not re.fullmatch(r"after-[0-9]{1,9}", start):
            raise Refused(400, "invalid_request")
        begin = int(start.removeprefix("after-"))
        end = begin + int(size)
        page: dict[str, object] = {"records": own[begin:end]}
        left = len(own) - end
        if left > ("last-record-on-no-page" in self.sins) or "pages-never-end" in self.sins:
            page["next_cursor"] = f"after-{end + self.shift(end)}"
        return 200, page

    @property
    def lists_first(self) -> bool:
        """Whether each bad item of a batch is called the first one."""
        return "refused-batch-names-first" in self.sins

    def shift(self, end: int) -> int:
        """How far the next page begins from where it should."""
        if "page-repeats-a-record" in self.sins:
            return -1 if end > 1 else 0
        return 1 if "page-skips-a-record" in self.sins else 0

    def add(self, call: Call) -> Reply:
        """Keep a record."""
        return 201, self.kept(call, parsed(call.body))

    def add_all(self, call: Call) -> Reply:
        """Keep several records, or none."""
        items = parsed(call.body).get("items")
        if not isinstance(items, list) or not items:
            raise Refused(400, "invalid_request")
        good = [item for item in items if is_new(item)]
        if len(good) < len(items) and "batch-drops-bad-items" not in self.sins:
            if "refused-batch-keeps-good-items" in self.sins:
                for item in good:
                    self.kept(call, item)
            bad = [at for at, item in enumerate(items) if not is_new(item)]
            raise Refused(400, "invalid_request", bad[:1] * len(bad) if self.lists_first else bad)
        items = good[:3] if "long-batch-is-cut" in self.sins else good
        return 201, {"records": [self.kept(call, item) for item in items]}

    def kept(self, call: Call, body: Mapping[str, object]) -> dict[str, Any]:
        """A new record."""
        named = {"id"} & set(body) if "id-taken-from-creation" in self.sins else set[str]()
        if not is_new({name: value for name, value in body.items() if name not in named}):
            raise Refused(400, "invalid_request")
        record: dict[str, Any] = {
            "id": str(body["id"]) if named else f"record-{next(self.numbers):08}",
            "title": str(body["title"]),
            "tenant": call.tenant,
        }
        self.records[record["id"]] = record
        return record

    def read(self, call: Call) -> Reply:
        """One record."""
        record = self.found(call)
        if record["title"] is None and "null-title-hides-the-record" in self.sins:
            raise Refused(404, "not_found")
        return 200, record

    def found(self, call: Call) -> dict[str, Any]:
        """The record of a call; refuses with 404."""
        record = self.records.get(call.item)
        if record is None or record["tenant"] != call.tenant:
            raise Refused(404, "not_found")
        return record

    def change(self, call: Call) -> Reply:
        """Change the title of a record."""
        record, body = self.found(call), parsed(call.body)
        allowed = {"title"}
        if "tenant-taken-from-change" in self.sins:
            allowed |= {"tenant"}
        unchecked = {"null-title-crashes-the-list", "null-title-hides-the-record"} & self.sins
        fits = isinstance(body.get("title", ""), str) or (unchecked and body["title"] is None)
        if not body or not set(body) <= allowed or not fits:
            raise Refused(400, "invalid_request")
        record.update(body)
        return 200, record

    def report(self, call: Call) -> Reply:
        """A count of the records. Each tenant may ask for a few in a while."""
        counted = "all" if "limit-shared-by-tenants" in self.sins else call.tenant
        now = self.clock()
        recent = [one for one in self.reported.get(counted, []) if one > now - WINDOW]
        if len(recent) >= REPORTS:
            raise Refused(429, "too_many_reports")
        self.reported[counted] = [*recent, now]
        return 200, {"records": sum(one["tenant"] == call.tenant for one in self.records.values())}

    def export(self, call: Call) -> Reply:
        """Begin an export."""
        kind = parsed(call.body).get("kind")
        if kind not in ("records", "broken"):
            raise Refused(400, "invalid_request")
        export: dict[str, object] = {
            "id": f"export-{next(self.numbers):08}",
            "kind": kind,
            "tenant": call.tenant,
            "state": "running",
        }
        self.exports[str(export["id"])] = {**export, "readings": 0}
        return 202, export

    def exported(self, call: Call) -> Reply:
        """One export. It ends if it has been read often enough."""
        export = self.exports.get(call.item)
        if export is None or export["tenant"] != call.tenant:
            raise Refused(404, "not_found")
        readings = export["readings"] = int(str(export["readings"])) + 1
        if readings >= READINGS:
            self.end(export)
        return 200, {name: value for name, value in export.items() if name != "readings"}

    def end(self, export: dict[str, object]) -> None:
        """End an export, well or not."""
        if export["kind"] == "records" or "export-failure-hidden" in self.sins:
            export["state"] = "done"
        elif "export-never-ends" not in self.sins:
            export["state"] = "failed"
            export["failure"] = {"code": "export_failed", "message": "export failed"}


def make_app(sins: frozenset[str], clock: Callable[[], float] = time.time) -> ASGIApp:
    """The service, with its own empty state. Raises ValueError for a sin that isn't one of
    `SINS`.
    """
    if unknown := sins - SINS.keys():
        raise ValueError(f"no such sin: {', '.join(sorted(unknown))}")
    archive = Archive(sins, clock=clock)

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
        query = scope["query_string"].decode("latin-1")
        status, payload = archive.answer(scope["method"], scope["path"], query, headers, body)
        content = json.dumps(payload).encode()
        sent = {"content-type": "application/json", "content-length": str(len(content))}
        if status == 429:
            sent["retry-after"] = str(round(WINDOW))
        raw = [(name.encode(), value.encode()) for name, value in sent.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        shown = b"" if scope["method"] == "HEAD" else content
        await send({"type": "http.response.body", "body": shown})

    return app


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
    """Whether a body describes a new record."""
    title = body.get("title") if isinstance(body, dict) else None
    return isinstance(body, dict) and set(body) == {"title"} and isinstance(title, str)


def described(
    status: str, schema: Mapping[str, object] | None = None, *parameters: Mapping[str, object]
) -> dict[str, object]:
    """One operation of the OpenAPI document. ``schema``: that of its body."""
    operation: dict[str, object] = {
        "parameters": list(parameters),
        "responses": {status: {"description": "Done"}},
    }
    if schema is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return operation


def answering(operation: dict[str, Any], schema: Mapping[str, object]) -> dict[str, Any]:
    """An operation whose success has a body of a schema."""
    for response in operation["responses"].values():
        response["content"] = {"application/json": {"schema": schema}}
    return operation


def an_object(**members: object) -> dict[str, object]:
    """The schema of an object with these members, all of them required."""
    return {
        "type": "object",
        "required": list(members),
        "properties": members,
        "additionalProperties": False,
    }


ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 99}}
CURSOR = {"name": "cursor", "in": "query", "schema": {"type": "string"}}
NEW = an_object(title={"type": "string"})
CHANGE = {**NEW, "required": [], "minProperties": 1}
RECORD = {
    "type": "object",
    "required": ["id", "title", "tenant"],
    "properties": {
        "id": {"type": "string", "readOnly": True},
        "title": {"type": "string"},
        "tenant": {"type": "string"},
    },
}
BATCH = an_object(items={"type": "array", "minItems": 1, "items": NEW})
EXPORT = an_object(kind={"type": "string", "enum": ["records", "broken"]})
DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Archive", "version": "1"},
    "security": [{"bearer": []}],
    "paths": {
        "/records": {"get": described("200", None, LIMIT, CURSOR), "post": described("201", NEW)},
        "/records/batch": {"post": described("201", BATCH)},
        "/records/{id}": {
            "get": answering(described("200", None, ID), RECORD),
            "patch": answering(described("200", CHANGE, ID), RECORD),
        },
        "/reports": {"get": described("200")},
        "/exports": {"post": described("202", EXPORT)},
        "/exports/{id}": {"get": described("200", None, ID)},
    },
    "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
}
