"""Refused creations that store what they sent: those whose only values of their own are times, and
those that are not refused twice.
"""

import json
from typing import Any

import pytest

from faultspec import source
from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import parse_config
from faultspec_conformance.probes import provoke, refused_writes, resources
from support.scripted import Script, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: slots, version: 1.0.0, title: Slots, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  taken: {summary: It is taken, http: 409, retriable: false, effect: none}
  too_many: {summary: They are many, http: 422, retriable: false, effect: none}
  absent: {summary: Not there, http: 404, retriable: false}
"""

CONFIG = """
target: {http: "http://127.0.0.1:1"}
limits: {writes: true}
resources:
  slot:
    create: {request: POST /slots, body: {start: "${unique:datetime}", end: "${unique:datetime}", people: 1}}
    read: "GET /slots/{id}"
    list: GET /slots
provoke:
  too_many: {request: POST /slots, body: {start: "${unique:datetime}", end: "${unique:datetime}", people: 99}}
"""

TEXT = {"type": "string"}
OK = {"responses": {"200": {"description": "done"}}}
NAMED = [{"name": "id", "in": "path", "required": True, "schema": TEXT}]
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {"/slots": {"post": OK, "get": OK}, "/slots/{id}": {"parameters": NAMED, "get": OK}},
}


def show(request: Request, slots: dict[str, dict[str, Any]]) -> Response:
    """The answer to a read of one slot, or of all."""
    name = request.target.partition("?")[0].removeprefix("/slots").strip("/")
    if name and name not in slots:
        return answer(404, {"code": "absent"})
    return answer(200, slots[name] if name else [*slots.values()])


def kinds_of(service: Script, config: str) -> set[str]:
    """The outcomes of the clause after the recipe."""
    document, found = source.parse(config, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    session = http_session(service, TAXONOMY, loaded.target, DOCUMENT)
    session.turn = session.kinds
    for probe in (resources.fixtures, provoke.recipes, refused_writes.refused_writes):
        session.record_results(probe(session))
    outcomes = session.observations.outcomes
    return {one.kind for one in outcomes if one.clause == "writes/refused"}


@pytest.mark.parametrize("stores", [True, False])
def test_a_refused_time_that_is_stored_is_found(stores: bool) -> None:
    """The time that was stored is taken, so the same creation has another refusal."""
    slots: dict[str, dict[str, Any]] = {}

    def service(request: Request) -> Response:
        if request.method == "GET":
            return show(request, slots)
        body = json.loads(request.body)
        assert body["start"] < body["end"]
        if any(one["start"] < body["end"] and body["start"] < one["end"] for one in slots.values()):
            return answer(409, {"code": "taken"})
        slot = {"id": f"slot-{len(slots) + 1:08}", **body}
        if body["people"] < 99 or stores:
            slots[slot["id"]] = slot
        if body["people"] >= 99:
            return answer(422, {"code": "too_many"})
        return answer(201, slot, Location=f"/slots/{slot['id']}")

    assert ("failed" in kinds_of(service, CONFIG)) == stores


NAMED_ONCE = """
target: {http: "http://127.0.0.1:1"}
limits: {writes: true}
resources:
  slot: {create: {request: POST /slots, body: {name: "n ${unique}"}}, read: "GET /slots/{id}", list: GET /slots}
provoke:
  too_many: {request: POST /slots, body: {name: "odd ${unique}"}}
"""


@pytest.mark.parametrize("stores", [True, False])
def test_an_item_with_a_text_of_a_refused_creation_is_found(stores: bool) -> None:
    """The creation is refused once, so that it cannot be repeated."""
    slots: dict[str, dict[str, Any]] = {}
    refused: list[str] = []

    def service(request: Request) -> Response:
        if request.method == "GET":
            return show(request, slots)
        slot = {"id": f"slot-{len(slots) + 1:08}", **json.loads(request.body)}
        is_refused = slot["name"].startswith("odd") and not refused
        if not is_refused or stores:
            slots[slot["id"]] = slot
        if is_refused:
            refused.append(slot["name"])
            return answer(422, {"code": "too_many"})
        return answer(201, slot, Location=f"/slots/{slot['id']}")

    assert ("failed" in kinds_of(service, NAMED_ONCE)) == stores
