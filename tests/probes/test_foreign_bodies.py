"""Searches by POST and lists of ids, as the caller of another tenant."""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import Identity, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources, tenancy
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: rooms, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  wrong: {summary: It is wrong., http: 422, retriable: false}
privacy: {conceal: [{across: tenant, answer: absent}]}
"""

TEXT = {"type": "string"}
CALLERS = {name: Identity(name, (("X-Key", name),), tenant=name.upper()) for name in ("ann", "bob")}


def operation(status: str, **members: object) -> dict[str, Any]:
    """An operation with a body of these members."""
    schema = {"type": "object", "required": [*members], "properties": members}
    found: dict[str, Any] = {"responses": {status: {"description": "done"}}}
    if members:
        found["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return found


def document(member: str) -> dict[str, Any]:
    """The document of rooms. ``member``: the list of ids of those to be deleted."""
    ids = {"type": "array", "items": TEXT, "minItems": 1}
    return {
        "openapi": "3.1.0",
        "paths": {
            "/rooms": {"post": operation("201", title=TEXT)},
            "/rooms/{id}": {"get": operation("200")},
            "/rooms/search": {"post": operation("200", title=TEXT)},
            "/rooms/bulk-delete": {"post": operation("200", **{member: ids})},
        },
    }


class Rooms:
    """Rooms of two tenants; ``sin`` is what the service does wrong."""

    def __init__(self, sin: str, member: str) -> None:
        self.sin, self.member = sin, member
        self.rooms: dict[str, dict[str, str]] = {}
        self.views = 0

    def __call__(self, request: Request) -> Response:
        """The answer."""
        who = dict(request.headers).get("X-Key", "")
        name = request.target.removeprefix("/rooms").removeprefix("/")
        if request.method != "POST":
            room = self.rooms.get(name)
            if room is None or room["owner"] != who:
                return answer(404, {"code": "absent"})
            self.views += 1
            return answer(200, {**room, "views": self.views} if self.sin == "counts" else room)
        try:
            body = json.loads(request.body)
        except ValueError:
            return answer(422, {"code": "wrong"})
        if name == "search":
            found = [
                room
                for room in self.rooms.values()
                if room["title"] == body.get("title") and (room["owner"] == who or self.sin == name)
            ]
            return answer(200, {"items": found, "query": body})
        if name == "bulk-delete":
            return answer(200, {"results": self.delete_all(body[self.member], who)})
        number = f"room-{len(self.rooms):04}-4711"
        self.rooms[number] = {"id": number, "owner": who, "title": str(body.get("title"))}
        return answer(201, self.rooms[number])

    def delete_all(self, numbers: list[str], who: str) -> object:
        """The outcomes of several deletions, in a form of the service."""
        outcomes = {one: self.delete(one, who) for one in numbers}
        self.views += 1
        return {
            "by-id": outcomes,
            "names-ids": [{"result": f"room {one} was not found"} for one in numbers],
            "numbers": [{"status": f"job {self.views}"}],
        }.get(self.sin, [*outcomes.values()])

    def delete(self, number: str, who: str) -> dict[str, object]:
        """The outcome of one deletion."""
        room = self.rooms.get(number)
        if room is not None and (room["owner"] == who or self.sin == "deletes"):
            del self.rooms[number]
            return {"id": number, "status": 204}
        return {"id": number, "status": 403 if room and self.sin == "confirms" else 404}


@pytest.mark.parametrize("member", ["ids", "room_ids", "roomIds"])
@pytest.mark.parametrize(
    ("sin", "words"),
    [
        ("", ""),
        ("search", "POST /rooms/search shows another tenant's room"),
        ("deletes", "is gone"),
        ("confirms", "not that to an id of nothing"),
    ],
)
def test_bodies_find_and_change_nothing_of_another_tenant(
    sin: str, words: str, member: str
) -> None:
    """A search does not show another tenant's resource. An id of one in a list of ids has no effect
    and the outcome of an id of nothing.
    """
    config = ServiceConfig(identities=CALLERS, limits=Limits(writes=True))
    session = http_session(Rooms(sin, member), TAXONOMY, config, document(member))
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(tenancy.other_tenants(session))
    found = [
        one.finding.message for one in session.observations.outcomes if one.finding is not None
    ]
    assert len(found) == bool(sin), found
    assert all(words in one for one in found)
    sent = [json.loads(one.exchange.request.body or b"{}") for one in session.knowledge.exchanges]
    assert any(member in body for body in sent)


@pytest.mark.parametrize("habit", ["counts", "by-id", "names-ids", "numbers"])
def test_answers_that_differ_by_themselves_show_nothing(habit: str) -> None:
    """A counter of reads, the id that was sent, and a running number are not effects."""
    config = ServiceConfig(identities=CALLERS, limits=Limits(writes=True))
    session = http_session(Rooms(habit, "ids"), TAXONOMY, config, document("ids"))
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(tenancy.other_tenants(session))
    assert [one for one in session.observations.outcomes if one.finding is not None] == []
