"""A workshop that lends tools, for two tenants: a tool can be lent once, and repaired once.

A change of a tool needs its ETag. Lists have pages of a few items. A creation needs a key, under
which a replay gets the same answer. All state belongs to the application that `make_app` returns.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

SINS: Mapping[str, str] = {
    "loans-race": "equal requests at once lend one tool several times under one key",
    "repairs-race": "equal requests at once repair one tool several times under one key",
    "cursor-shows-other-tenant": "a page after another tenant's cursor shows that tenant's tools",
    "loans-of-any-tool-listed": "the loans of another tenant's tool are listed",
    "batch-kept-on-the-last-page": "a batch with a bad item is refused, and its good items stay",
    "repair-keeps-the-etag": "a repair changes the tool, and its ETag stays",
    "version-counted-from-body": "the version of a change is counted up from the one in its body",
    "long-note-is-cut": "a note of more than 64 characters is stored without its end",
    "longest-note-crashes-a-change": "a change to a note of the greatest length crashes",
    "key-not-required": "a tool is added without a key",
    "missing-key-called-invalid": "a loan without a key is refused as not valid",
    "loans-of-every-tool-listed": "the loans of one tool are those of all tools of the tenant",
    "newest-loan-not-listed": "the loans of one tool lack its newest one",
    "least-version-ignored": "tools of any version are listed where a least one is asked for",
    "names-not-compared": "tools of any name are listed where one is asked for",
    "name-confirmed-and-cut": "an answer confirms a new name, of which only the beginning is kept",
    "loans-refused-while-lending": "a loan is refused while an equal one is being made",
    "cursor-bound-to-its-tenant": "a cursor of another tenant is refused",
    "note-loses-its-spaces": "spaces around a note are removed",
    "names-compared-in-part": "tools are listed whose names contain the one that is asked for",
}
"""The mistakes that `make_app` understands, each with what it does. The last four are allowed."""

CALLERS: Mapping[str, str] = {"Bearer oak-4d81c7": "oak", "Bearer pine-e07b52": "pine"}
"""The callers by their credentials. Each is a tenant."""

LOOKUP = 0.1
"""Seconds between a look-up and what is done by it, where nothing keeps others from coming in
between.
"""

PAGE, NOTE = 5, 120
"""The most items of a page, and the most characters of a note."""

Reply = tuple[int, object]
"""A status, and the value of the body."""


class Refused(Exception):
    """A failure that an answer reports to its caller."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a known caller. ``item``: the id in its path. ``early``: whether it looks
    things up before others that came at the same time have ended.
    """

    tenant: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    item: str = ""
    early: bool = False


@dataclass(slots=True)
class Workshop:
    """The tools, loans and repairs."""

    sins: frozenset[str]
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    loans: dict[str, dict[str, Any]] = field(default_factory=dict)
    lent: set[str] = field(default_factory=set)
    replies: dict[tuple[str, str], Reply] = field(default_factory=dict)
    pending: set[tuple[str, str]] = field(default_factory=set)

    async def answer(
        self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Answer one request."""
        if path == "/openapi.json":
            return 200, DOCUMENT
        try:
            return await self.enter(method, path, query, headers, body)
        except Refused as refused:
            message = refused.code.replace("_", " ")
            return refused.status, {"code": refused.code, "message": message}

    async def enter(
        self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Find the operation and the caller."""
        routes: tuple[tuple[str, Mapping[str, Callable[[Call], Reply]]], ...] = (
            ("/tools", {"GET": self.listing, "POST": self.add}),
            ("/tools/batch", {"POST": self.add_all}),
            ("/tools/([^/]+)", {"GET": self.read, "PATCH": self.change}),
            ("/tools/([^/]+)/repairs", {"POST": self.repair}),
            ("/loans", {"GET": self.lent_out, "POST": self.lend}),
            ("/loans/([^/]+)", {"GET": self.loan}),
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
        parsed_query = dict(parse_qsl(query))
        if method != "POST":
            return handle(Call(tenant, parsed_query, headers, body, *match.groups()))
        slot = tenant, headers.get("idempotency-key", "")
        if slot in self.replies:
            return self.replies[slot]
        if not slot[1] and path != "/tools/batch":
            self.require_key(path)
        racing = f"{path.rpartition('/')[2]}-race" in self.sins
        call = Call(tenant, parsed_query, headers, body, *match.groups(), early=racing)
        if racing:
            known = set(self.lent)
            await asyncio.sleep(LOOKUP)
            self.lent &= known
        if slot[1] and path == "/loans" and "loans-refused-while-lending" in self.sins:
            if slot in self.pending:
                raise Refused(409, "in_use")
            self.pending.add(slot)
            await asyncio.sleep(LOOKUP)
        try:
            reply = handle(call)
        finally:
            self.pending.discard(slot)
        if slot[1]:
            self.replies[slot] = reply
        return reply

    def require_key(self, path: str) -> None:
        """Refuse a write without a key."""
        if path == "/tools" and "key-not-required" in self.sins:
            return
        called_invalid = path == "/loans" and "missing-key-called-invalid" in self.sins
        raise Refused(400, "invalid_request" if called_invalid else "key_missing")

    # ---- tools

    def listing(self, call: Call) -> Reply:
        """A page of the tools of the tenant, and where the next one begins."""
        cursor = call.query.get("cursor", f"{call.tenant}-0")
        owner, _, start = cursor.rpartition("-")
        if owner != call.tenant and "cursor-bound-to-its-tenant" in self.sins:
            raise Refused(400, "invalid_request")
        shown = owner if "cursor-shows-other-tenant" in self.sins else call.tenant
        own = [tool for tool in self.tools.values() if tool["tenant"] == shown]
        return self.page(call, [tool for tool in own if self.chosen(call, tool)], start)

    def chosen(self, call: Call, tool: Mapping[str, Any]) -> bool:
        """Whether a tool has the name and the least version that are asked for."""
        least, name = call.query.get("min_version", "1"), call.query.get("name", tool["name"])
        if not re.fullmatch(r"[0-9]{1,9}", least):
            raise Refused(400, "invalid_request")
        is_new = tool["version"] >= int(least) or "least-version-ignored" in self.sins
        in_part = "names-compared-in-part" in self.sins and name in tool["name"]
        return is_new and (name == tool["name"] or in_part or "names-not-compared" in self.sins)

    def page(self, call: Call, items: list[dict[str, Any]], start: str = "0") -> Reply:
        """A page of some items."""
        size = call.query.get("limit", "3")
        if not re.fullmatch(rf"[1-{PAGE}]", size) or not re.fullmatch(r"[0-9]{1,9}", start):
            raise Refused(400, "invalid_request")
        end = int(start) + int(size)
        page: dict[str, object] = {"items": [public(one) for one in items[int(start) : end]]}
        if end < len(items):
            page["next_cursor"] = f"{call.tenant}-{end}"
        return 200, page

    def add(self, call: Call) -> Reply:
        """Keep a tool."""
        tool = self.kept(call, parsed(call.body))
        shown = public(tool)
        if "name-confirmed-and-cut" in self.sins:
            tool["name"] = tool["name"][:5]
        return 201, shown

    def add_all(self, call: Call) -> Reply:
        """Keep several tools, or none."""
        items = parsed(call.body).get("items")
        if not isinstance(items, list) or not items:
            raise Refused(400, "invalid_request")
        good = [item for item in items if fits(item, whole=True)]
        if len(good) < len(items):
            if "batch-kept-on-the-last-page" in self.sins:
                for item in good:
                    self.kept(call, item)
            raise Refused(400, "invalid_request")
        return 201, {"items": [public(self.kept(call, item)) for item in items]}

    def kept(self, call: Call, body: Mapping[str, Any]) -> dict[str, Any]:
        """A new tool."""
        if not fits(body, whole=True):
            raise Refused(400, "invalid_request")
        name = f"tool-{next(self.numbers):08}"
        tool = {"id": name, "tenant": call.tenant, "version": 1, "changes": 1, "repairs": 0}
        self.tools[name] = {**tool, "name": body["name"], "note": self.noted(body.get("note", ""))}
        return self.tools[name]

    def noted(self, note: str) -> str:
        """A note as it is stored."""
        note = note.strip() if "note-loses-its-spaces" in self.sins else note
        return note[:64] if "long-note-is-cut" in self.sins else note

    def found(self, call: Call, name: object) -> dict[str, Any]:
        """A tool of the tenant; refuses with 404."""
        tool = self.tools.get(str(name))
        if tool is None or tool["tenant"] != call.tenant:
            raise Refused(404, "not_found")
        return tool

    def read(self, call: Call) -> Reply:
        """One tool."""
        return 200, public(self.found(call, call.item))

    def change(self, call: Call) -> Reply:
        """Change the name or the note of a tool, whose ETag the request has."""
        tool, body = self.found(call, call.item), parsed(call.body)
        tag = call.headers.get("if-match")
        if tag is None:
            raise Refused(428, "unconditional")
        if tag not in ("*", etag(tool)):
            raise Refused(412, "changed")
        if not fits(body, whole=False):
            raise Refused(400, "invalid_request")
        if len(body.get("note", "")) == NOTE and "longest-note-crashes-a-change" in self.sins:
            raise Refused(500, "internal_error")
        version, sent = tool["version"], body.get("version")
        if isinstance(sent, int) and "version-counted-from-body" in self.sins:
            version = sent
        tool |= {"version": version + 1, "changes": tool["changes"] + 1}
        tool |= {name: body[name] for name in ("name",) if name in body}
        if "note" in body:
            tool["note"] = self.noted(body["note"])
        return 200, public(tool)

    def repair(self, call: Call) -> Reply:
        """Repair a tool."""
        tool = self.found(call, call.item)
        if tool["repairs"] and not call.early:
            raise Refused(409, "in_use")
        tool["repairs"] = 1
        if "repair-keeps-the-etag" not in self.sins:
            tool["changes"] += 1
        return 201, {"id": f"repair-{next(self.numbers):08}", "tool_id": tool["id"]}

    # ---- loans

    def lend(self, call: Call) -> Reply:
        """Lend a tool."""
        body = parsed(call.body)
        if set(body) != {"tool_id"}:
            raise Refused(400, "invalid_request")
        tool = self.found(call, body["tool_id"])
        if tool["id"] in self.lent:
            raise Refused(409, "in_use")
        self.lent.add(tool["id"])
        name = f"loan-{next(self.numbers):08}"
        self.loans[name] = {"id": name, "tool_id": tool["id"], "tenant": call.tenant}
        return 201, public(self.loans[name])

    def lent_out(self, call: Call) -> Reply:
        """The loans of the tenant, perhaps of one tool alone."""
        wanted = call.query.get("tool_id")
        anyone = wanted is not None and "loans-of-any-tool-listed" in self.sins
        own = [one for one in self.loans.values() if anyone or one["tenant"] == call.tenant]
        if "loans-of-every-tool-listed" in self.sins:
            wanted = None
        chosen = [one for one in own if wanted in (None, one["tool_id"])]
        hides = wanted is not None and "newest-loan-not-listed" in self.sins
        return self.page(call, chosen[:-1] if hides else chosen)

    def loan(self, call: Call) -> Reply:
        """One loan."""
        loan = self.loans.get(call.item)
        if loan is None or loan["tenant"] != call.tenant:
            raise Refused(404, "not_found")
        return 200, public(loan)


def public(item: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an item that answers have."""
    return {name: value for name, value in item.items() if name not in ("tenant", "changes")}


def etag(tool: Mapping[str, Any]) -> str:
    """The validator of a tool."""
    return f'"{tool["id"]}-{tool["changes"]}"'


def fits(body: object, *, whole: bool) -> bool:
    """Whether a body describes a tool. A change may leave out members, and names a version."""
    if not isinstance(body, dict):
        return False
    name, note = body.get("name", "" if whole else "kept"), body.get("note", "")
    return (
        isinstance(name, str)
        and 1 <= len(name) <= 60
        and isinstance(note, str)
        and len(note) <= NOTE
    )


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; refuses with 400."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "invalid_request") from None
    if not isinstance(value, dict):
        raise Refused(400, "invalid_request")
    return value


def make_app(sins: frozenset[str]) -> ASGIApp:
    """The service, with its own empty state. Raises ValueError for a sin that isn't one of
    `SINS`.
    """
    if unknown := sins - SINS.keys():
        raise ValueError(f"no such sin: {', '.join(sorted(unknown))}")
    workshop = Workshop(sins)

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
        status, payload = await workshop.answer(
            scope["method"], scope["path"], query, headers, body
        )
        content = json.dumps(payload).encode()
        sent = {"content-type": "application/json", "content-length": str(len(content))}
        name = payload.get("id") if isinstance(payload, dict) else None
        if status < 300 and name in workshop.tools:
            sent["etag"] = etag(workshop.tools[str(name)])
        raw = [(name.encode(), value.encode()) for name, value in sent.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        shown = b"" if scope["method"] == "HEAD" else content
        await send({"type": "http.response.body", "body": shown})

    return app


# ---- the document


def an_object(required: tuple[str, ...], **members: object) -> dict[str, object]:
    """The schema of an object."""
    return {"type": "object", "required": list(required), "properties": members}


def described(
    status: str,
    answer: Mapping[str, object] | None = None,
    body: Mapping[str, object] | None = None,
    *parameters: Mapping[str, object],
) -> dict[str, object]:
    """One operation of the OpenAPI document. ``body``: the schema of its body."""
    success: dict[str, object] = {"description": "Done"}
    if answer is not None:
        success["content"] = {"application/json": {"schema": answer}}
    operation: dict[str, object] = {"parameters": [*parameters], "responses": {status: success}}
    if body is not None:
        content = {"application/json": {"schema": body}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


TEXT = {"type": "string"}
KEY = {"name": "Idempotency-Key", "in": "header", "schema": TEXT}
TAG = {"name": "If-Match", "in": "header", "schema": TEXT}
ID = {"name": "id", "in": "path", "required": True, "schema": TEXT}
LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 5}}
CURSOR = {"name": "cursor", "in": "query", "schema": TEXT}
LEAST = {"name": "min_version", "in": "query", "schema": {"type": "integer"}}
NAMED = {"name": "name", "in": "query", "schema": TEXT}
OF_TOOL = {"name": "tool_id", "in": "query", "schema": TEXT}
NAME = {"type": "string", "minLength": 1, "maxLength": 60}
NEW = an_object(("name",), name=NAME, note={"type": "string", "maxLength": NOTE})
CHANGE = {**NEW, "required": []}
NUMBER = {"type": "integer", "readOnly": True}
TOOL = an_object(("id",), id=TEXT, name=TEXT, note=TEXT, version=NUMBER, repairs=NUMBER)
LOAN = an_object(("tool_id",), tool_id=TEXT)
DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Workshop", "version": "1"},
    "security": [{"bearer": []}],
    "paths": {
        "/tools": {
            "get": described("200", None, None, LIMIT, CURSOR, LEAST, NAMED),
            "post": described("201", TOOL, NEW, KEY),
        },
        "/tools/batch": {
            "post": described(
                "201",
                None,
                an_object(("items",), items={"type": "array", "minItems": 1, "items": NEW}),
            )
        },
        "/tools/{id}": {
            "get": described("200", TOOL, None, ID),
            "patch": described("200", TOOL, CHANGE, ID, TAG),
        },
        "/tools/{id}/repairs": {"post": described("201", None, None, ID, KEY)},
        "/loans": {
            "get": described("200", None, None, LIMIT, OF_TOOL),
            "post": described("201", None, LOAN, KEY),
        },
        "/loans/{id}": {"get": described("200", None, None, ID)},
    },
    "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
}
