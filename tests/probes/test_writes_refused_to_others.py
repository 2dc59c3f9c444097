"""Writes that are refused to somebody who may not make them: what they changed is found, also where
one write undoes another, many others were refused, or the list was read only afterwards.
"""

import json
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import Identity, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes.refused_writes import refused_writes
from faultspec_conformance.session.fixtures import fixture, ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import RequestSpec
from probes.test_refused_writes import BODY, OK, TAXONOMY
from support.scripted import answer, http_session

CODES = TAXONOMY.replace("http: [404, 405]", "http: [401, 403, 404, 405]")
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "House", "version": "1"},
    "paths": {
        "/rooms": {"get": OK, "post": {**OK, **BODY}},
        "/rooms/{id}": {"get": OK, "put": {**OK, **BODY}, "patch": {**OK, **BODY}, "delete": OK},
        "/rooms/{id}/close": {"post": OK},
        "/rooms/{id}/open": {"post": OK},
    },
}
NORTH, SOUTH, EAST, WEST = (
    Identity(name, headers=(("Authorization", name),), tenant=name)
    for name in ("north", "south", "east", "west")
)
#: The statuses by which callers of other tenants are refused.
STATUSES = {"south": 404, "east": 403, "west": 401}


class House:
    """Rooms of one tenant. A caller of another is refused, and makes what ``sins`` names."""

    def __init__(self, *sins: str) -> None:
        self.sins, self.numbers = sins, count(1)
        self.rooms: dict[str, dict[str, Any]] = {}

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        _, _, identifier, *action = [*request.target.partition("?")[0].split("/"), "", ""][:4]
        caller = dict(request.headers).get("Authorization", "")
        own, refusal = caller == "north", answer(STATUSES.get(caller, 401), {"code": "absent"})
        name = " ".join(filter(None, (request.method, *action))).strip()
        if not own and name not in self.sins:
            return refusal
        found = self.act(name, identifier, json.loads(request.body or b"{}"))
        return found if own else refusal

    def act(self, name: str, identifier: str, body: dict[str, Any]) -> Response:
        """Do what a request asks for."""
        if name == "POST":
            room = {"id": f"room-{next(self.numbers):08}", "open": True, **body}
            self.rooms[room["id"]] = room
            return answer(201, room)
        if not identifier:
            return answer(200, [*self.rooms.values()])
        if identifier not in self.rooms:
            return answer(404, {"code": "absent"})
        if name == "DELETE":
            del self.rooms[identifier]
            return answer(204, None)
        changes = {"POST close": {"open": False}, "POST open": {"open": True}}
        self.rooms[identifier] |= changes.get(name, body)
        return answer(200, self.rooms[identifier])


def findings(house: House, *calls: str, before: bool = True, by: int = 1) -> list[str]:
    """The messages of failures after these calls of other tenants, of which there are so many.
    ``before``: the list was read before them.
    """
    config = ServiceConfig(
        identities={one.name: one for one in (NORTH, SOUTH, EAST, WEST)},
        limits=Limits(writes=True, requests=300),
    )
    session: HttpSession = http_session(house, CODES, config, DOCUMENT)
    [kind] = session.kinds
    session.turn = session.kinds
    listing = replace(ordinary_request(session, session.operation("GET", "/rooms")), identity=NORTH)
    if before:
        session.call(listing)
    room = fixture(session, kind)
    assert not isinstance(room, str)
    read = RequestSpec(
        "GET",
        "/rooms/{id}",
        identity=NORTH,
        values=room.item_values(session.operation("GET", "/rooms/{id}")),
    )
    session.call(read)
    for call in calls:
        spec = ordinary_request(session, session.operation(*call.split()))
        for caller in (SOUTH, EAST, WEST)[:by]:
            session.call(replace(spec, identity=caller))
    session.call(listing)
    session.call(read)
    session.record_results(refused_writes(session))
    found = [one for one in session.observations.outcomes if one.clause == "writes/refused"]
    assert found
    return [one.finding.message for one in found if one.finding is not None]


ITEM = ("PATCH /rooms/{id}", "PUT /rooms/{id}", "POST /rooms/{id}/close", "POST /rooms/{id}/open")


def test_a_service_that_changes_nothing_is_not_blamed() -> None:
    """Whatever another tenant tries."""
    assert findings(House(), "POST /rooms", *ITEM, "DELETE /rooms/{id}") == []


@pytest.mark.parametrize(
    ("sins", "changed"), [(("POST close", "POST open"), "/close"), (("PATCH",), "PATCH")]
)
def test_a_change_that_another_refusal_undid_is_found(sins: tuple[str, ...], changed: str) -> None:
    """The item is as it was when it is read again, because a second refused write has put it back;
    each is sent to a new item, with a read after it.
    """
    found = findings(House(*sins), *ITEM)
    assert any(changed in message for message in found)


def test_a_deletion_is_found_among_many_other_refusals() -> None:
    """The item is gone, and of all writes that were refused the deletion is sent again first."""
    [message, *_] = findings(House("DELETE"), *ITEM, "DELETE /rooms/{id}", by=3)
    assert message.startswith("DELETE /rooms/{id} was refused (404 absent), but the room is gone")


@pytest.mark.parametrize("before", [True, False])
def test_a_creation_is_found_also_if_the_first_list_has_it(*, before: bool) -> None:
    """The list shows an item with a text that only the refused creation sent."""
    [message, *_] = findings(House("POST"), "POST /rooms", before=before)
    assert message.startswith("POST /rooms was refused (404 absent), but GET /rooms has a")
