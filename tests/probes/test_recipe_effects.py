"""The refused last step of a recipe leaves what it addresses and names as it was."""

import json
from itertools import count
from typing import Any

import pytest

from faultspec import source
from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import parse_config
from faultspec_conformance.probes import provoke
from faultspec_conformance.results.model import Outcome
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: rooms, version: 1.0.0, title: Rooms, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  closed: {summary: It is closed, http: 410, retriable: false, effect: none}
  in_use: {summary: It is booked, http: 409, retriable: false, effect: none}
  too_small: {summary: It is small, http: 422, retriable: false, effect: none}
  absent: {summary: Not there, http: 404, retriable: false}
"""

CONFIG = """
target: {http: "http://127.0.0.1:1"}
limits: {writes: true}
resources:
  room: {create: {request: POST /rooms, body: {name: "r ${unique}"}}, read: "GET /rooms/{id}"}
provoke:
  closed:
    steps:
      - {request: POST /rooms, body: {name: "c ${unique}"}, save: {r: /id}}
      - {request: "POST /rooms/${r}/notes", body: {text: late}}
  in_use:
    steps:
      - {request: POST /rooms, body: {name: "r ${unique}"}, save: {r: /id}}
      - {request: POST /bookings, body: {room: "${r}", people: 1}}
      - {request: "DELETE /rooms/${r}"}
  too_small:
    steps:
      - {request: POST /rooms, body: {name: "s ${unique}"}, save: {r: /id}}
      - {request: POST /bookings, body: {room: "${r}", people: 9}}
"""

TEXT = {"type": "string"}
OK = {"responses": {"200": {"description": "done"}}}
NAMED = [{"name": "id", "in": "path", "required": True, "schema": TEXT}]
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/rooms": {"post": OK},
        "/bookings": {"post": OK},
        "/rooms/{id}": {"parameters": NAMED, "get": OK, "delete": OK},
        "/rooms/{id}/notes": {"parameters": NAMED, "get": OK, "post": OK},
    },
}


class Rooms:
    """Rooms and their bookings. ``habit``: what the service does wrong, or in an odd way."""

    def __init__(self, habit: str) -> None:
        self.habit, self.numbers, self.reads = habit, count(1), count(1)
        self.rooms: dict[str, dict[str, Any]] = {}
        self.booked: set[str] = set()
        self.notes: dict[str, list[Any]] = {}

    def __call__(self, request: Request) -> Response:
        """The answer."""
        body = json.loads(request.body) if request.body else {}
        if request.target == "/rooms":
            room = {"id": f"room-{next(self.numbers):04}", "name": body["name"], "note": None}
            self.rooms[room["id"]] = room
            return answer(201, room, Location=f"/rooms/{room['id']}")
        if request.target == "/bookings":
            return self.book(body)
        if request.target.endswith("/notes"):
            return self.take_note(request.target, body)
        room = self.rooms.get(request.target.rpartition("/")[2], {})
        if not room:
            return answer(404, {"code": "absent"})
        if request.method == "GET":
            clock = {"at": next(self.reads)} if self.habit == "clock" else {}
            return answer(200, {**room, **clock})
        if self.habit == "refusal-deletes" or (self.habit == "once" and room["id"] < "room-0002"):
            del self.rooms[room["id"]]
        return answer(409, {"code": "in_use"})

    def take_note(self, target: str, body: dict[str, Any]) -> Response:
        """List the notes of a room, which takes none."""
        notes = self.notes.setdefault(target, [])
        if not body:
            return answer(200, {"notes": notes})
        if self.habit == "refusal-keeps":
            notes.append(body)
        return answer(410, {"code": "closed"})

    def book(self, body: dict[str, Any]) -> Response:
        """Book a room, unless it is too small."""
        if body["people"] < 9:
            return answer(201, {"id": "b", **body})
        if self.habit == "refusal-notes":
            self.rooms[body["room"]]["note"] = "too small"
        if self.habit == "counts":
            room = self.rooms[body["room"]]
            room["tries"] = room.get("tries", 0) + 1
        return answer(422, {"code": "too_small"})


def outcomes(habit: str) -> list[Outcome]:
    """The outcomes of the clause about refused writes after the recipes."""
    document, found = source.parse(CONFIG, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    session = http_session(Rooms(habit), TAXONOMY, loaded.target, DOCUMENT)
    seen = [one for one in provoke.recipes(session) if isinstance(one, Outcome)]
    return [one for one in seen if one.clause == "writes/refused"]


@pytest.mark.parametrize("habit", ["refusal-deletes", "refusal-notes", "refusal-keeps"])
def test_a_refused_step_with_an_effect_is_found(habit: str) -> None:
    """The resource of its path is gone, or that of its body has changed, twice."""
    failed = [one for one in outcomes(habit) if one.kind == "failed"]
    assert len(failed) == 1


@pytest.mark.parametrize("habit", ["", "clock", "counts", "once"])
def test_what_changes_otherwise_is_not_blamed(habit: str) -> None:
    """Members that change by themselves, that count tries, and what happened once."""
    found = outcomes(habit)
    assert found
    assert not [one for one in found if one.kind == "failed"]
