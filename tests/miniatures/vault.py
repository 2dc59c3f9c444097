"""A vault of boxes: numbers for codes, an envelope that repeats the status and names the layer, one
operation with a code of its own.

What the notebooks' contract gives no meaning has one here; `vault-taxonomy.yaml` is the contract.
The header `X-Jam` makes every operation behind a token fail. All state belongs to the application
that `make_app` returns.
"""

import json
import re
import uuid
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from starlette.types import ASGIApp, Receive, Scope, Send

BODY_LIMIT = 64 * 1024
"""Bytes of a request body, above which the answer is 413."""

TOKENS: Mapping[str, tuple[str, str]] = {
    "VAULT_ADA": ("tok-vault-ada-71c0de55b2a94f38", "ada"),
    "VAULT_BOB": ("tok-vault-bob-2f9d3c6610e7ab84", "bob"),
}
"""By the name of the environment variable that carries it in `vault.yaml`: a token and its owner.
"""

ENVIRONMENT: Mapping[str, str] = {name: token for name, (token, _) in TOKENS.items()}
"""The variables that `vault.yaml` takes from the environment, except the address of the service."""

OWNERS: Mapping[str, str] = dict(TOKENS.values())

SINS: Mapping[str, str] = {
    "old-room-fails": "a room from before /v2 that no surface names fails in its own words",
    "old-shelf-fails": "a shelf fails with another status than the one its surface names",
    "status-inside-is-500": "the body of every 503 says 500",
    "status-rewritten-by-proxy": "a proxy turns 503 into 502 and leaves the body alone",
    "reserved-code-sent": "a jam is reported by the number reserved for two owners",
    "removed-code-sent": "a missing box is reported by a number that was given up",
    "code-after-its-sunset": "a missing box is reported by a number whose last day has passed",
    "code-of-another-operation": "a missing box is reported by the number that opening a box alone has",
    "code-not-of-the-operation": "a bad label is answered with a number that adding a box does not have",
    "code-as-text": "numbers are sent as text",
    "layer-always-door": "every error names the door",
    "layer-invented": "a jam names an unknown layer",
    "layer-of-own-code-wrong": "a wrong combination is reported as the storage's",
    "reused-key-answers-first": "a key with another body gets the first result",
    "reused-key-compares-labels": "a key with another combination gets the first result",
    "reused-key-adds-another": "a key with another body adds another box",
    "reused-key-unreadable": "a key with another body is reported as a request that cannot be read",
    "jam-sticks": "after a jam the next request fails as well",
    "jam-after-adding": "a box is added, and then the jam is reported",
    "door-without-challenge": "a 401 does not say how to authenticate",
    "allow-names-the-refused": "the methods that a 405 allows include the refused one",
    "refused-type-accepted": "a 415 lists the refused media type as accepted",
    "part-without-range": "a part of the list does not say which part it is",
    "upgrade-unnamed": "a 426 names no protocol to upgrade to",
    "nothing-has-a-length": "the 204 to OPTIONS has a Content-Length",
    "key-of-a-jam-forgotten": "a key that met a jam is never remembered",
    "jam-until-soon": "the wait for the end of a jam is a word",
    "head-not-taken": "HEAD of the list is not available",
    "head-of-nothing": "HEAD of a missing box is a success",
    "tag-without-quotes": "an ETag has no quotes",
    "not-modified-loses-tag": "a 304 has no ETag",
    "not-modified-for-any-tag": "any ETag gets a 304",
    "not-modified-is-412": "a read with a current ETag gets 412",
    "not-modified-on-item-alone": "a 304 of a box loses Cache-Control",
    "reset-ignored": "a new combination is accepted, and the old one stays",
    "member-named-wrong": "the details name another member than the one that is wrong",
}
"""The mistakes that `make_app` understands, each with what it does."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, but for its correlation id: `payload` as JSON, or text as it is."""

    status: int
    payload: object
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """A failure that an answer reports to its caller."""

    def __init__(
        self,
        status: int,
        number: int,
        layer: str,
        text: str,
        info: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(text)
        self.status, self.number, self.layer, self.text = status, number, layer, text
        self.info = info
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class Box:
    """A box of one owner."""

    id: str
    owner: str
    label: str
    combination: str

    def shown(self) -> dict[str, object]:
        """The representation: not what opens it."""
        return {"id": self.id, "label": self.label}


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a known owner."""

    owner: str
    headers: Mapping[str, str]
    body: bytes
    box: str = ""


def make_app(sins: frozenset[str] = frozenset()) -> ASGIApp:
    """The service, with its own empty state. Raises ValueError for a sin that isn't one of
    `SINS`.
    """
    if unknown := sins - SINS.keys():
        raise ValueError(f"no such sin: {', '.join(sorted(unknown))}")
    vault = Vault(sins)

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
        reply = vault.answer(scope["method"], scope["path"], headers, body)
        text = isinstance(reply.payload, str)
        content = (
            reply.payload.encode()
            if isinstance(reply.payload, str)
            else json.dumps(reply.payload).encode()
        )
        if reply.status in (204, 304):
            content = b""
        sent = {
            **reply.headers,
            "content-type": "text/plain; charset=utf-8" if text else "application/json",
            "content-length": str(len(content)),
        }
        if reply.status == 304 or (reply.status == 204 and "nothing-has-a-length" not in sins):
            del sent["content-length"], sent["content-type"]
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": raw})
        await send(
            {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content}
        )

    return app


class Vault:
    """The boxes, and what is remembered of the keys that writes came with."""

    def __init__(self, sins: frozenset[str]) -> None:
        self.sins = sins
        self.boxes: dict[str, Box] = {}
        self.remembered: dict[tuple[str, str], tuple[tuple[str, bytes], Reply]] = {}
        self.jammed: set[str] = set()
        self.stuck = False
        self.rooms: tuple[tuple[str, dict[str, Callable[[Call], Reply]]], ...] = (
            ("/v2/boxes", {"GET": self.listing, "POST": self.add}),
            ("/v2/boxes/([^/]+)", {"GET": self.read}),
            ("/v2/boxes/([^/]+)/opening", {"POST": self.open}),
            ("/v2/boxes/([^/]+)/combination", {"PUT": self.reset}),
        )

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request."""
        if path == "/v2/openapi.json":
            return Reply(200, OPENAPI)
        inbound = headers.get("x-request-id", "")
        request_id = inbound if UUID4.fullmatch(inbound) else str(uuid.uuid4())
        try:
            reply = (
                self.old_room(path)
                if path.startswith("/legacy/")
                else self.enter(method, path, headers, body)
            )
        except Refused as refused:
            reply = self.refusal_reply(refused, request_id)
        reply = self.misled(method, path, headers, reply)
        return replace(reply, headers={**reply.headers, "x-request-id": request_id})

    def misled(self, method: str, path: str, headers: Mapping[str, str], reply: Reply) -> Reply:
        """The answer without what HTTP asks for, as the sins go."""
        more = dict(reply.headers)
        if "door-without-challenge" in self.sins:
            more.pop("www-authenticate", None)
        if "allow-names-the-refused" in self.sins and "allow" in more:
            more["allow"] += f", {method}"
        if reply.status == 415:
            listed = "text/plain, " if "refused-type-accepted" in self.sins else ""
            more["accept-post"] = f"{listed}application/json"
        if reply.status == 426 and "upgrade-unnamed" not in self.sins:
            more["upgrade"] = "vault/3"
        if reply.status == 503:
            more["retry-after"] = "soon" if "jam-until-soon" in self.sins else "1"
        if reply.status == 200 and method in ("GET", "HEAD") and path.startswith("/v2/boxes"):
            more["etag"] = f'"{zlib.crc32(json.dumps(reply.payload).encode()):08x}"'
            if "tag-without-quotes" in self.sins:
                more["etag"] = more["etag"].strip('"')
            more["cache-control"] = "private, max-age=5"
            asked = headers.get("if-none-match")
            if asked == more["etag"] or (asked and "not-modified-for-any-tag" in self.sins):
                if "not-modified-loses-tag" in self.sins:
                    del more["etag"]
                if "not-modified-on-item-alone" in self.sins and path != "/v2/boxes":
                    del more["cache-control"]
                status = 412 if "not-modified-is-412" in self.sins else 304
                return Reply(status, "", more)
        if reply.status == 200 and path == "/v2/boxes" and "range" in headers:
            last = len(json.dumps(reply.payload)) - 1
            if "part-without-range" not in self.sins:
                more["content-range"] = f"bytes 0-{last}/{last + 1}"
            return replace(reply, status=206, headers=more)
        return replace(reply, headers=more)

    def old_room(self, path: str) -> Reply:
        """The answers from before /v2, in text."""
        if path == "/legacy/ledger":
            return (
                Reply(500, "Out of ink")
                if "old-room-fails" in self.sins
                else Reply(200, "No entries")
            )
        return Reply(503 if "old-shelf-fails" in self.sins else 404, "No such shelf")

    def enter(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Check what the door checks, then go to the desk."""
        found = next(
            ((match, doors) for room, doors in self.rooms if (match := re.fullmatch(room, path))),
            None,
        )
        if found is None:
            raise Refused(404, 104, "door", "There is no such room")
        match, doors = found
        handle = doors.get("GET" if method == "HEAD" else method)
        if method == "HEAD" and path == "/v2/boxes" and "head-not-taken" in self.sins:
            handle = None
        if method == "OPTIONS":
            return Reply(204, "", {"allow": ", ".join([*doors, "OPTIONS"])})
        if headers.get("accept", "").startswith("application/x-"):
            raise Refused(426, 101, "door", "Such forms are read by the next protocol alone")
        if handle is None:
            allow = ", ".join([*doors, *(["HEAD"] if "GET" in doors else [])])
            raise Refused(405, 101, "door", "This cannot be done here", None, {"allow": allow})
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or token not in OWNERS:
            raise Refused(
                401, 103, "door", "A token is required", None, {"www-authenticate": "Bearer"}
            )
        if len(body) > BODY_LIMIT:
            raise Refused(413, 101, "door", f"The body is larger than {BODY_LIMIT} bytes")
        if (
            method == "POST"
            and headers.get("content-type", "").partition(";")[0] != "application/json"
        ):
            raise Refused(415, 101, "door", "Send application/json")
        call = Call(OWNERS[token], headers, body, *match.groups())
        if method == "HEAD" and call.box and "head-of-nothing" in self.sins:
            return Reply(200, {})
        self.jam(call, handle)
        return self.once(path, call, handle) if method == "POST" else handle(call)

    def jam(self, call: Call, handle: Callable[[Call], Reply]) -> None:
        """Fail as the header asks."""
        if "x-jam" not in call.headers and not self.stuck:
            return
        if "key-of-a-jam-forgotten" in self.sins:
            self.jammed.add(call.headers.get("idempotency-key", ""))
        self.stuck = "jam-sticks" in self.sins and not self.stuck
        if "jam-after-adding" in self.sins and "x-jam" in call.headers and handle == self.add:
            handle(call)
        raise Refused(503, 120, "storage", "The machine is stuck")

    def once(self, path: str, call: Call, handle: Callable[[Call], Reply]) -> Reply:
        """Do a write once for an Idempotency-Key; only successes are remembered."""
        key = call.headers.get("idempotency-key")
        if key is None:
            return handle(call)
        body = call.body
        if "reused-key-compares-labels" in self.sins:
            body = re.sub(rb'"combination": *"[^"]*"', b"", body)
        slot, fingerprint = (call.owner, key), (path, body)
        if slot in self.remembered:
            known, reply = self.remembered[slot]
            if known == fingerprint or "reused-key-answers-first" in self.sins:
                return reply
            if "reused-key-unreadable" in self.sins:
                raise Refused(400, 101, "door", "The request cannot be read")
            if "reused-key-adds-another" not in self.sins:
                raise Refused(409, 110, "desk", "The key came with another body before")
        reply = handle(call)
        if key not in self.jammed:
            self.remembered[slot] = (fingerprint, reply)
        return reply

    def refusal_reply(self, refused: Refused, request_id: str) -> Reply:
        """A refusal as an answer."""
        error: dict[str, object] = {
            "no": refused.number,
            "status": refused.status,
            "layer": refused.layer,
            "text": refused.text,
            "request_id": request_id,
        }
        if refused.info is not None:
            error["info"] = refused.info
        status, jammed = refused.status, refused.number == 120
        if jammed and "status-inside-is-500" in self.sins:
            error["status"] = 500
        if jammed and "status-rewritten-by-proxy" in self.sins:
            status = 502
        if jammed and "reserved-code-sent" in self.sins:
            error["no"] = 190
        if jammed and "layer-invented" in self.sins:
            error["layer"] = "basement"
        if "code-as-text" in self.sins:
            error["no"] = str(error["no"])
        if "layer-always-door" in self.sins:
            error["layer"] = "door"
        if refused.number == 201 and "layer-of-own-code-wrong" in self.sins:
            error["layer"] = "storage"
        return Reply(status, {"error": error}, refused.headers)

    def find(self, call: Call) -> Box:
        """The box of the path; another owner's is as absent as one that never was."""
        box = self.boxes.get(call.box)
        if box is not None and box.owner == call.owner:
            return box
        if "removed-code-sent" in self.sins:
            raise Refused(404, 191, "storage", "There is no such box")
        if "code-after-its-sunset" in self.sins:
            raise Refused(404, 192, "storage", "There is no such box")
        if "code-of-another-operation" in self.sins:
            raise Refused(404, 201, "storage", "There is no such box")
        raise Refused(404, 104, "storage", "There is no such box")

    def listing(self, call: Call) -> Reply:
        """GET /v2/boxes."""
        return Reply(
            200,
            {"boxes": [each.shown() for each in self.boxes.values() if each.owner == call.owner]},
        )

    def add(self, call: Call) -> Reply:
        """POST /v2/boxes."""
        draft = parsed(call.body)
        for member in ("label", "combination"):
            if not isinstance(draft.get(member), str) or not draft[member]:
                if "code-not-of-the-operation" in self.sins:
                    raise Refused(404, 104, "storage", "There is no box for this")
                named = "owner" if "member-named-wrong" in self.sins else member
                raise Refused(422, 102, "desk", f"`{member}` must be text", {"member": named})
        box = Box(str(uuid.uuid4()), call.owner, str(draft["label"]), str(draft["combination"]))
        self.boxes[box.id] = box
        return Reply(201, box.shown())

    def read(self, call: Call) -> Reply:
        """GET /v2/boxes/{box}."""
        return Reply(200, self.find(call).shown())

    def open(self, call: Call) -> Reply:
        """POST /v2/boxes/{box}/opening."""
        box, combination = self.find(call), parsed(call.body).get("combination")
        if not isinstance(combination, str):
            raise Refused(422, 102, "desk", "`combination` must be text", {"member": "combination"})
        if combination != box.combination:
            raise Refused(403, 201, "desk", "That is not the combination")
        return Reply(200, {**box.shown(), "open": True})

    def reset(self, call: Call) -> Reply:
        """PUT /v2/boxes/{box}/combination, which the OpenAPI document leaves out."""
        box, combination = self.find(call), parsed(call.body).get("combination")
        if not isinstance(combination, str):
            raise Refused(422, 102, "desk", "`combination` must be text", {"member": "combination"})
        if "reset-ignored" not in self.sins:
            self.boxes[box.id] = replace(box, combination=combination)
        return Reply(200, box.shown())


def parsed(body: bytes) -> dict[str, object]:
    """The JSON object in a body; refuses with 400."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, 101, "door", "The body is not JSON") from None
    if not isinstance(value, dict):
        raise Refused(400, 101, "door", "The body is not an object")
    return value


UUID4 = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE
)


def described(name: str, status: str, *members: str) -> dict[str, object]:
    """One operation of the OpenAPI document; `members`: the texts that its body needs."""
    operation: dict[str, object] = {
        "operationId": name,
        "responses": {status: {"description": "Done"}},
    }
    if members:
        texts = {each: {"type": "string", "minLength": 1} for each in members}
        schema = {"type": "object", "required": list(members), "properties": texts}
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return operation


BOX = [
    {"name": "box", "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}
]
OPENAPI: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Vault", "version": "2.0.0"},
    "security": [{"bearer": []}],
    "paths": {
        "/v2/boxes": {
            "get": described("listBoxes", "200"),
            "post": described("addBox", "201", "label", "combination"),
        },
        "/v2/boxes/{box}": {"parameters": BOX, "get": described("readBox", "200")},
        "/v2/boxes/{box}/opening": {
            "parameters": BOX,
            "post": described("openBox", "200", "combination"),
        },
    },
    "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
}
