"""Batches of good items where a surface has mixed outcomes: all of them are stored."""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources
from faultspec_conformance.probes.whole_batches import whole_batches
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: trips, version: 1.0.0, title: Trips, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  batch: {transport: http, match: {routes: [POST /trips/batch], statuses: 207}, envelope: error, items: [/items], status: [/status], body: [/body]}
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  malformed: {summary: Unreadable, http: 422, retriable: false}
"""

OK = {"responses": {"200": {"description": "done"}}}
TRIP = {"type": "object", "required": ["km"], "properties": {"km": {"type": "integer"}}}
TRIPS = {
    "type": "object",
    "required": ["trips"],
    "properties": {"trips": {"type": "array", "items": TRIP, "minItems": 1, "maxItems": 6}},
}


def write(schema: object) -> dict[str, Any]:
    """A documented operation with a body."""
    return {**OK, "requestBody": {"content": {"application/json": {"schema": schema}}}}


DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/trips": {"get": OK, "post": write(TRIP)},
        "/trips/batch": {"post": write(TRIPS)},
        "/trips/{id}": {"get": OK},
    },
}


class Trips:
    """Trips that are made alone and in batches. ``sin``: what the service does wrong."""

    def __init__(self, sin: str) -> None:
        self.sin = sin
        self.kept: dict[str, dict[str, Any]] = {}

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        name = request.target.partition("?")[0].removeprefix("/trips").removeprefix("/")
        if request.method == "GET":
            shown = self.kept.get(name) if name else [*self.kept.values()]
            return answer(404, {"code": "absent"}) if shown is None else answer(200, shown)
        body = json.loads(request.body)
        if not name:
            return answer(201, self.add(body, "made"))
        if any(not isinstance(trip.get("km"), int) for trip in body["trips"]):
            return self.answer_mixed(body["trips"])
        results = [self.add(one, f"batch-{at}") for at, one in enumerate(body["trips"])]
        lost = {"all-but-one": results[1:], "last": results[-1:], "refused": results[-1:]}
        for one in lost.get(self.sin, ()):
            del self.kept[one["id"]]
        items: list[object] = [{"status": 201, "body": one} for one in results]
        if self.sin == "refused":
            items[-1] = {"status": 422, "body": {"code": "malformed"}}
        return answer(207 if self.sin in ("refused", "always-207") else 200, {"items": items})

    def answer_mixed(self, trips: list[dict[str, Any]]) -> Response:
        """Answer a batch with a bad trip."""
        items: list[object] = []
        for trip in trips:
            made = self.add(trip, "mixed")
            if self.sin == "rolls-back" or not isinstance(trip.get("km"), int):
                del self.kept[made["id"]]
            is_done = isinstance(trip.get("km"), int) or self.sin == "makes-up"
            body = made if is_done else {"code": "malformed"}
            items.append({"status": 201 if is_done else 422, "body": body})
        return answer(207, {"items": items})

    def add(self, body: dict[str, Any], name: str) -> dict[str, Any]:
        """Make a trip."""
        number = f"{name}-{len(self.kept)}"
        self.kept[number] = {**body, "id": number}
        return self.kept[number]


@pytest.mark.parametrize("text", ["4", "${unique:int}"])
@pytest.mark.parametrize(
    ("sin", "kind"),
    [
        ("", "passed"),
        ("always-207", "passed"),
        ("last", "failed"),
        ("all-but-one", "failed"),
        ("refused", "not_exercised"),
    ],
)
def test_a_batch_of_good_items_stores_all(sin: str, kind: str, text: str) -> None:
    """Items that are lost are found: by values of their own, and equal items by the ids in the
    answer. An item that the answer refuses is not lost.
    """
    found = conclusions(sin, 4 if text == "4" else text)
    assert found == [kind]


@pytest.mark.parametrize("sin", ["makes-up", "rolls-back"])
def test_what_a_mixed_batch_lists_as_done_exists(sin: str) -> None:
    """A bad item with an id that was made up is found, and a good one that is not kept."""
    assert conclusions(sin, "${unique:int}") == ["passed", "failed"]


def conclusions(sin: str, km: object) -> list[str]:
    """The conclusions of the probe of whole batches about a service with a sin."""
    batch = ConfiguredCall("POST", "/trips/batch", body={"trips": [{"km": km}]})
    create = ConfiguredCall("POST", "/trips", body={"km": km})
    trip = ResourceConfig("trip", create=create, id="/id", batch=batch)
    config = ServiceConfig(limits=Limits(writes=True, requests=100), resources={"trip": trip})
    session = http_session(Trips(sin), TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(whole_batches(session))
    outcomes = session.observations.outcomes
    return [one.kind for one in outcomes if one.clause == "batch/complete"]
