"""Laws of another tenant's resource in filters and in bodies, and of keys that are replayed
late.
"""

import json
import uuid
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import foreign_references, idempotency, resources, tenancy
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import make
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: rooms, version: 1.0.0, title: Rooms, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  denied: {summary: Not yours, http: 403, retriable: false}
  elsewhere: {summary: It is kept elsewhere, http: 409, retriable: false}
privacy: {conceal: [{across: tenant, answer: absent}]}
idempotency: {key: Idempotency-Key, methods: [POST], window: 1h, replay: {equal: [status, body]}}
"""

_TEXT = {"type": "string"}

#: The schemas of parameters that are not free texts.
_SCHEMAS = {
    "size": {"enum": ["small", "large"]},
    "open": {"type": "boolean"},
    "lang": {"enum": ["de", "en"]},
    "offset": {"type": "integer"},
}


def _operation(status: str, body: object = None, query: tuple[str, ...] = ()) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "query", "schema": _SCHEMAS.get(name, _TEXT)} for name in query
    ]
    found: dict[str, Any] = {
        "responses": {status: {"description": "done"}},
        "parameters": parameters,
    }
    if body is not None:
        content = {"application/json": {"schema": body}}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _object(**members: object) -> dict[str, object]:
    return {"type": "object", "required": list(members), "properties": members}


_ID = [{"name": "id", "in": "path", "required": True, "schema": _TEXT}]
DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/rooms": {
            "post": _operation("201", _object(title=_TEXT)),
            "get": _operation("200", query=("title", "q", "size", "open", "lang", "offset")),
        },
        "/rooms/{id}": {"parameters": _ID, "get": _operation("200")},
        "/bookings": {
            "post": _operation("201", _object(room_id=_TEXT, day=_TEXT)),
            "get": _operation("200", query=("room_id", "size")),
        },
    },
}


class Rooms:
    """Rooms and bookings of two tenants; ``sin`` is what the service does wrong. ``numbered``: ids
    count from 1, for all tenants (`together`) or for each (`apart`).
    """

    def __init__(self, sin: str = "", numbered: str = "") -> None:
        self.sin, self.numbered = sin, numbered
        self.rooms: list[dict[str, object]] = []
        if sin == "filters-open-later":
            earlier = {"owner": "carl", "size": "large", "open": True, "title": "Old"}
            self.rooms += [{**earlier, "id": str(uuid.uuid4())} for _ in range(3)]
        self.keys: dict[str, Response] = {}
        self.bookings: list[dict[str, object]] = []

    def __call__(self, request: Request) -> Response:
        """The answer."""
        headers = dict(request.headers)
        who, key = headers.get("Authorization"), headers.get("Idempotency-Key", "")
        parts = urlsplit(request.target)
        if request.method in ("GET", "HEAD"):
            return self.get(parts.path, dict(parse_qsl(parts.query)), who)
        if key in self.keys:
            status = 200 if self.sin == "replays-with-200" else self.keys[key].status
            return replace(self.keys[key], status=status)
        found = self.post(parts.path, json.loads(request.body), who)
        self.keys[key] = found
        if self.sin == "forgets-keys" and len(self.keys) > 5:
            del self.keys[next(iter(self.keys))]
        return found

    def get(self, path: str, query: dict[str, str], who: str | None) -> Response:
        """One room, or a list of rooms or bookings."""
        if path == "/bookings":
            own = [one for one in self.bookings if one["by"] == who and "size" in query]
            return answer(200, {"items": own, "self": f"/bookings?room_id={query.get('room_id')}"})
        wanted = query.get("title") or query.get("q")
        everybody = self.sin == "filters-everything" and wanted is not None
        everybody |= self.sin == "filters-sizes" and query.get("size") == "small"
        filters_open = self.sin in ("filters-open", "filters-open-later")
        everybody |= filters_open and query.get("open") == "true"
        everybody |= self.sin == "filters-languages" and "lang" in query
        everybody |= self.sin == "pages-everything" and "offset" in query
        own = [room for room in self.rooms if everybody or room["owner"] == who]
        if path == "/rooms":
            own = own[int(query.get("offset", 0)) :]
            shown = [room for room in own if wanted is None or room["title"] == wanted]
            if self.sin == "filters-open-later" and len(shown) > 2:
                following = {**query, "offset": str(int(query.get("offset", 0)) + 2)}
                return answer(200, {"items": shown[:2], "next": f"/rooms?{urlencode(following)}"})
            return answer(200, {"items": shown, "asked": query})
        room = next((room for room in own if str(room["id"]) == path.rpartition("/")[2]), None)
        return answer(200, room) if room is not None else answer(404, {"code": "absent"})

    def post(self, path: str, body: dict[str, object], who: str | None) -> Response:
        """A new room, or a booking of one."""
        identifier: object = str(uuid.uuid4())
        if path == "/rooms":
            others = [room for room in self.rooms if room["owner"] == who]
            counted = others if self.numbered == "apart" else self.rooms
            identifier = 1 + len(counted) if self.numbered else identifier
            set_here = {"id": identifier, "owner": who, "size": "small", "open": True}
            self.rooms.append({**body, **set_here})
            return answer(201, self.rooms[-1])
        asked = str(body["room_id"])
        room = next((room for room in self.rooms if str(room["id"]) == asked), None)
        if self.sin == "checks-no-references":
            return answer(201, {"id": identifier})
        if room is None:
            return answer(404, {"code": "absent"})
        if room["owner"] != who and self.sin == "tells-where":
            return answer(409, {"code": "elsewhere"})
        if room["owner"] != who and self.sin == "forbids":
            return answer(403, {"code": "denied"})
        if room["owner"] != who and self.sin != "books-any-room":
            return answer(404, {"code": "absent"})
        self.bookings.append({"id": identifier, "room_id": room["id"], "by": who})
        return answer(201, {"id": identifier})


def session_of(sin: str, numbered: str = "", unique: tuple[str, ...] = ()) -> HttpSession:
    """A session whose fixtures are created."""
    config = ServiceConfig(
        identities={
            name: Identity(name, (("Authorization", name),), tenant=name) for name in ("ann", "ben")
        },
        resources={
            "room": ResourceConfig(
                "room",
                create=ConfiguredCall("POST", "/rooms", body={"title": "Room ${unique}"}),
                read=ConfiguredCall("GET", "/rooms/{id}"),
                list=ConfiguredCall("GET", "/rooms"),
                id="/id",
                unique=unique,
            )
        },
        limits=Limits(writes=True),
    )
    session = http_session(Rooms(sin, numbered), TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    return session


@pytest.mark.parametrize(
    ("sin", "message"),
    [
        ("", None),
        ("checks-no-references", None),
        ("filters-everything", "GET /rooms with `title` shows another tenant's room"),
        ("filters-sizes", "GET /rooms with `size` shows another tenant's room"),
        ("filters-open", "GET /rooms with `open` shows another tenant's room"),
        ("filters-open-later", "GET /rooms with `open` shows another tenant's room"),
        ("filters-languages", None),  # no room has the member, so no value is known
        ("books-any-room", "201 to POST /bookings with `room_id` of another tenant's room"),
        ("tells-where", "the answer is 409 elsewhere; expected 404 absent"),
        ("forbids", "the answer is 403 denied; expected 404 absent"),
    ],
)
def test_another_tenants_resource_is_as_absent_as_none(sin: str, message: str | None) -> None:
    """In filters and references too; a service that looks up no reference shows nothing, and
    neither does an echo.
    """
    found = [each for each in tenancy.other_tenants(session_of(sin)) if isinstance(each, Outcome)]
    failed = [each.finding.message for each in found if each.finding is not None]
    assert all(message is not None and message in text for text in failed if "q`" not in text)
    assert bool(failed) == (message is not None)
    if sin == "checks-no-references":
        reasons = [str(each.reason) for each in found]
        assert any("with `room_id` of nothing" in reason for reason in reasons)


@pytest.mark.parametrize("unique", [(), ("title",)])
@pytest.mark.parametrize("numbered", ["together", "apart"])
@pytest.mark.parametrize(
    ("sin", "message"),
    [
        ("", None),
        ("filters-everything", "GET /rooms with `title` shows another tenant's room"),
        ("filters-sizes", "GET /rooms with `size` shows another tenant's room"),
        ("filters-open", "GET /rooms with `open` shows another tenant's room"),
        ("pages-everything", "GET /rooms shows another tenant's room on a later page"),
    ],
)
def test_a_counted_id_hides_no_leak(
    sin: str, message: str | None, numbered: str, unique: tuple[str, ...]
) -> None:
    """Where ids are counted, the texts that only the owner sent show its resources, in filters and
    on later pages; an echo and an own room of the same number show nothing.
    """
    session = session_of(sin, numbered, unique)
    [room] = [each for each in session.knowledge.created.values() if each.kind.name == "room"]
    make(session, room.kind, owner=room.owner)  # a later page begins behind the first room
    found = [each for each in tenancy.other_tenants(session) if isinstance(each, Outcome)]
    failures = [each.finding.message for each in found if each.finding is not None]
    assert failures[:1] == ([message] if message is not None else [])


@pytest.mark.parametrize("sin", ["", "replays-with-200"])
def test_of_equal_requests_at_the_same_time_one_is_the_first(
    sin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of answers to equal requests at the same time, the one unlike a later replay is the first."""
    session = session_of(sin)
    together = session.driver.send_together
    monkeypatch.setattr(session.driver, "send_together", lambda requests: together(requests)[::-1])
    found = [each for each in idempotency.replays(session) if isinstance(each, Outcome)]
    replays = [each.finding for each in found if each.clause == "idempotency/replay"]
    messages = {finding.message for finding in replays if finding is not None}
    line = "answered 200 to POST /rooms with the same Idempotency-Key; expected 201, as the first"
    assert all(line in message for message in messages)
    assert bool(messages) == bool(sin)


@pytest.mark.parametrize(("sin", "kinds"), [("", {"passed"}), ("forgets-keys", {"failed"})])
def test_a_key_is_kept_while_other_requests_follow(sin: str, kinds: set[str]) -> None:
    """A creation is replayed at the end of the run too."""
    session = session_of(sin)
    session.record_results(idempotency.replays(session))
    for room in range(9):
        session.driver.send(
            Request("POST", "/rooms", (("Idempotency-Key", f"{room}"),), b'{"title": "x"}')
        )
    assert {each.kind for each in idempotency.late_replays(session)} == kinds


def test_a_key_beyond_its_window_is_not_replayed() -> None:
    """After the declared time the service may forget it."""
    session = session_of("forgets-keys")
    session.record_results(idempotency.replays(session))
    session.driver._started -= 7200
    (outcome,) = idempotency.late_replays(session)
    assert outcome.kind == "not_exercised"
    assert "keys are kept 3600 s" in str(outcome.reason)


def test_the_message_names_a_foreign_reference_in_an_own_item() -> None:
    """A filtered list of the caller's own bookings, one of which refers to another tenant's room,
    shows no other tenant's room, and the message says what is foreign.
    """
    session = session_of("books-any-room")
    [room] = [each for each in session.knowledge.created.values() if each.kind.name == "room"]
    ben = session.stranger(room.owner)
    assert ben is not None
    body = {"room_id": room.id, "day": "monday"}
    session.call(RequestSpec("POST", "/bookings", identity=ben, body=body))
    found = list(foreign_references.check_filters(session, room, ben))
    messages = [each.finding.message for each in found if each.finding is not None]
    expected = "with `size` shows an item, whose `room_id` is that of another tenant's room"
    assert messages == [f"GET /bookings {expected}"]
