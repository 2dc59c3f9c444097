"""Items of one caller are concealed from others of its tenant: in lists, filters, actions too."""

import json
import uuid
from urllib.parse import parse_qsl, urlsplit

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources, tenancy
from faultspec_conformance.results.model import Outcome
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: rooms, version: 1.0.0, title: Rooms, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  denied: {summary: Not yours, http: 403, retriable: false}
privacy: {conceal: [{across: owner, answer: absent}]}
"""

_TEXT = {"type": "string"}
_DONE = {"responses": {"200": {"description": "done"}}}
_MADE = {"responses": {"201": {"description": "made"}}}
_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"type": "object", "required": ["title"], "properties": {"title": _TEXT}}
        }
    },
}
_ID = [{"name": "id", "in": "path", "required": True, "schema": _TEXT}]
_TITLE = [{"name": "title", "in": "query", "schema": _TEXT}]

DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/rooms": {
            "post": {**_MADE, "requestBody": _BODY},
            "get": {**_DONE, "parameters": _TITLE},
        },
        "/rooms/{id}": {"parameters": _ID, "get": _DONE},
        "/rooms/{id}/close": {"parameters": _ID, "post": _DONE},
        "/rooms/{id}/log": {"parameters": _ID, "get": _DONE},
    },
}


class Rooms:
    """The rooms of two callers of one tenant; ``sin`` is what the service does wrong."""

    def __init__(self, sin: str) -> None:
        self.sin = sin
        self.rooms: dict[str, dict[str, object]] = {}

    def __call__(self, request: Request) -> Response:
        """The answer."""
        who = dict(request.headers).get("Authorization")
        parts = urlsplit(request.target)
        _, _, identifier, *action = (*parts.path.split("/"), "", "")[:4]
        if not identifier:
            return self.of_all(request, dict(parse_qsl(parts.query)), who)
        name = action[0]
        room = self.rooms.get(identifier)
        is_seen = room is not None and (
            room["owner"] == who
            or self.sin in ("reads", f"{name or 'none'}s")
            or (name == "close" and self.sin == "asks")
        )
        if not is_seen or room is None:
            is_shown = self.sin == "tells" and name == "close" and room is not None
            return answer(403, {"code": "denied"}) if is_shown else answer(404, {"code": "absent"})
        if name == "close" and self.sin != "asks":
            room["open"] = False
        return answer(200, room)

    def of_all(self, request: Request, query: dict[str, str], who: str | None) -> Response:
        """A new room, or a list."""
        if request.method == "POST":
            room = {**json.loads(request.body), "id": str(uuid.uuid4()), "owner": who, "open": True}
            self.rooms[str(room["id"])] = room
            return answer(201, room)
        everybody = self.sin == "lists" or (self.sin == "filters" and "title" in query)
        own = [room for room in self.rooms.values() if everybody or room["owner"] == who]
        title = query.get("title")
        return answer(200, [room for room in own if title in (None, room["title"])])


@pytest.mark.parametrize(
    ("sin", "messages"),
    [
        ("", []),
        ("reads", []),  # a colleague that may read may do more
        (
            "lists",
            [
                "GET /rooms shows another owner's room",
                "GET /rooms with `title` shows another owner's room",
            ],
        ),
        ("filters", ["GET /rooms with `title` shows another owner's room"]),
        ("closes", ["200 to POST /rooms/{id}/close of another owner's room, and changed it"]),
        ("asks", []),  # an action that changes nothing may be a request for access
        ("logs", ["200 to GET /rooms/{id}/log of another owner's room; expected a refusal"]),
        ("tells", ["POST /rooms/{id}/close of another owner's room: the answer differs"]),
    ],
)
def test_a_colleague_that_may_not_read_an_item_gets_it_nowhere(
    sin: str, messages: list[str]
) -> None:
    """Nor may it change the item. A service is not blamed for a colleague that may read it."""
    config = ServiceConfig(
        identities={
            name: Identity(name, (("Authorization", name),), tenant="acme")
            for name in ("ann", "ben")
        },
        resources={
            "room": ResourceConfig(
                "room",
                create=ConfiguredCall("POST", "/rooms", body={"title": "Room ${unique}"}),
                read=ConfiguredCall("GET", "/rooms/{id}"),
                list=ConfiguredCall("GET", "/rooms"),
                id="/id",
            )
        },
        limits=Limits(writes=True),
    )
    session = http_session(Rooms(sin), TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    found = [each for each in tenancy.other_tenants(session) if isinstance(each, Outcome)]
    failures = [each.finding.message for each in found if each.finding is not None]
    assert len(failures) >= len(messages)
    assert all(any(message in text for message in messages) for text in failures)
    held = [each for each in found if each.clause == "tenancy/concealed" and each.kind == "passed"]
    assert bool(held) == (sin != "reads")
