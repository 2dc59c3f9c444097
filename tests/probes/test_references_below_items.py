"""Laws of another tenant's resource in the bodies of writes on and below an item."""

import json
import uuid
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import foreign_references, resources
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: hotel, version: 1.0.0, title: Hotel, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  taken: {summary: It has a guest, http: 409, retriable: false}
  stale: {summary: It has changed, http: 412, retriable: false}
  blind: {summary: No condition, http: 428, retriable: false}
privacy: {conceal: [{across: tenant, answer: absent}]}
"""

_TEXT = {"type": "string"}
_ID = [{"name": "id", "in": "path", "required": True, "schema": _TEXT}]


def _write(*required: str, **optional: object) -> dict[str, Any]:
    members = {**dict.fromkeys(required, _TEXT), **optional}
    schema = {"type": "object", "required": [*required], "properties": members}
    content = {"application/json": {"schema": schema}}
    return {
        "requestBody": {"required": True, "content": content},
        "responses": {"200": {"description": "done"}},
    }


_READ = {"responses": {"200": {"description": "done"}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/rooms": {"post": _write("title"), "get": _READ},
        "/rooms/{id}": {"parameters": _ID, "get": _READ},
        "/guests": {"post": _write("name"), "get": _READ},
        "/guests/{id}": {
            "parameters": _ID,
            "get": _READ,
            "put": _write("name", "place"),
            "patch": _write(name=_TEXT, roomId=_TEXT),
        },
        "/guests/{id}/stays": {"parameters": _ID, "post": _write("room_id", "day")},
        "/guests/{id}/check-in": {"parameters": _ID, "post": _write("room_id")},
    },
}

#: The writes that refer to a room, by the names of what they do, each with the member.
WRITES = {
    "PUT /guests/{id}": "place",
    "PATCH /guests/{id}": "roomId",
    "POST /guests/{id}/stays": "room_id",
    "POST /guests/{id}/check-in": "room_id",
}


class Hotel:
    """Rooms and guests of two tenants. A guest is changed on condition of its ETag, and a room has
    one stay. ``accepts``: the write that accepts any tenant's room; ``reveals``: the one whose
    refusal depends on whether the room exists.
    """

    def __init__(self, *, accepts: str = "", reveals: str = "") -> None:
        self.accepts, self.reveals = accepts, reveals
        self.rooms: dict[str, str] = {}
        self.guests: dict[str, str] = {}
        self.taken: set[str] = set()
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Response:
        """The answer."""
        who = dict(request.headers)["Authorization"]
        _, name, *rest = request.target.partition("?")[0].split("/")
        items = self.rooms if name == "rooms" else self.guests
        if not rest:
            identifier = str(uuid.uuid4())
            if request.method == "POST":
                items[identifier] = who
            return answer(201, {"id": identifier})
        if items.get(rest[0]) != who:
            return answer(404, {"code": "absent"})
        if request.method == "GET":
            return answer(200, {"id": rest[0]}, ETag='"a"')
        condition = dict(request.headers).get("If-Match")
        if len(rest) == 1 and condition != '"a"':
            return answer(412, {"code": "stale"}) if condition else answer(428, {"code": "blind"})
        return self.refer(f"{request.method} /{'/'.join([name, '{id}', *rest[1:]])}", request, who)

    def refer(self, write: str, request: Request, who: str) -> Response:
        """Answer a write on or below a guest that refers to a room."""
        room = json.loads(request.body).get(WRITES[write])
        self.asked.append(write)
        owner = self.rooms.get(room, "")
        if owner not in ("", who) and write == self.accepts:
            return answer(200, {"id": str(uuid.uuid4())})
        if owner not in ("", who) and write == self.reveals:
            return answer(409, {"code": "taken"})
        if owner != who:
            return answer(404, {"code": "absent"})
        if write.endswith("stays") and room in self.taken:
            return answer(409, {"code": "taken"})
        self.taken.add(room)
        return answer(200, {"id": str(uuid.uuid4())})


def references(hotel: Hotel) -> list[Outcome]:
    """Return the outcomes where one tenant refers to the other's room."""
    session = session_of(hotel)
    room = session.knowledge.created["room"]
    ben = session.stranger(room.owner)
    assert ben is not None
    return list(foreign_references.check_references(session, room, ben))


def session_of(hotel: Hotel) -> HttpSession:
    """A session whose fixtures are created."""
    put = ConfiguredCall("PUT", "/guests/{id}", body={"name": "Ada", "place": "${room.id}"})
    config = ServiceConfig(
        identities={
            name: Identity(name, (("Authorization", name),), tenant=name) for name in ("ann", "ben")
        },
        resources={
            "room": ResourceConfig("room", create=ConfiguredCall("POST", "/rooms", body={})),
            "guest": ResourceConfig("guest", update=put),
        },
        limits=Limits(writes=True),
    )
    session = http_session(hotel, TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    return session


def test_references_on_and_below_items_are_compared() -> None:
    """Each write on or below an item is sent with another tenant's resource: with the caller's own
    item in its path and its current ETag, by the name of the member, by what the configuration has
    there, or in an optional member. The owner's reference is accepted, after a conflict to a new
    resource.
    """
    hotel = Hotel()
    found = references(hotel)
    assert [each.kind for each in found] == ["passed"] * len(WRITES)
    assert {*hotel.asked} == {*WRITES}


@pytest.mark.parametrize("write", WRITES)
def test_a_reference_that_is_accepted_fails(write: str) -> None:
    """A write that refers to another tenant's resource must not succeed."""
    failures = [each.finding for each in references(Hotel(accepts=write)) if each.finding]
    expected = f"200 to {write} with `{WRITES[write]}` of another tenant's room"
    assert [expected in each.message for each in failures] == [True]


@pytest.mark.parametrize("write", WRITES)
def test_a_reference_that_is_refused_otherwise_fails(write: str) -> None:
    """The refusal must be that of a reference to nothing."""
    failures = [each.finding for each in references(Hotel(reveals=write)) if each.finding]
    assert ["409 taken; expected 404 absent" in each.message for each in failures] == [True]


def test_what_is_not_asked_is_left_out_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places beyond those that are tried are named."""
    monkeypatch.setattr(foreign_references, "_REFERENCES", 2)
    *tried, last = references(Hotel())
    assert [each.kind for each in tried] == ["passed", "passed"]
    assert last.kind == "not_exercised"
    left = [write for write in WRITES if f"`{WRITES[write]}` of {write}" in str(last.reason)]
    assert len(left) == len(WRITES) - 2
