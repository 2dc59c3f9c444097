"""Batches where a surface has mixed outcomes: what they call done is stored, with the values of its
item, and once.
"""

import json
from dataclasses import replace
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
  taken: {summary: There is one, http: 409, retriable: false}
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
    """Trips that are made alone and in batches. ``sin``: what the service does wrong. ``form``: how
    results of a batch look: they have the trip, or its id alone, perhaps with the place of its
    item, from 0 or 1, or in another order. ``unique``: whether a distance is taken once.
    """

    def __init__(self, sin: str, form: str = "", *, unique: bool = False) -> None:
        self.sin, self.form, self.unique = sin, form, unique
        self.kept: dict[str, dict[str, Any]] = {}
        self.made = 0

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        name = request.target.partition("?")[0].removeprefix("/trips").removeprefix("/")
        if request.method == "GET":
            shown = self.kept.get(name) if name else [*self.kept.values()]
            return answer(404, {"code": "absent"}) if shown is None else answer(200, shown)
        body = json.loads(request.body)
        if not name:
            refused = self.refusal(body, [])
            return refused or answer(201, self.add(body, "made"))
        results = [self.result(at, trip) for at, trip in enumerate(body["trips"])]
        done = [one["body"]["id"] for one in results if one["status"] == 201]
        bad = next((at for at, one in enumerate(results) if one["status"] != 201), len(results))
        behind = [one["body"]["id"] for one in results[bad:] if one["status"] == 201]
        whole = bad == len(results)
        lost = {"all-but-one": done[1:], "last": done[-1:], "refused": done[-1:]} if whole else {}
        lost |= {"stops": behind, "rolls-back": [] if whole else done}
        for one in lost.get(self.sin, ()):
            del self.kept[one]
        if self.sin == "refused":
            results[-1] = {"status": 422, "body": {"code": "malformed"}}
        mixed = self.sin in ("refused", "always-207") or not whole
        shown = [self.shape(at, one) for at, one in enumerate(results)]
        return answer(
            207 if mixed else 200, {"items": shown[::-1] if "back" in self.form else shown}
        )

    def refusal(self, trip: dict[str, Any], batch: list[str]) -> Response | None:
        """Why a trip is not made; None if it may be. ``batch``: the ids of its batch so far."""
        if not isinstance(trip.get("km"), int) and self.sin != "makes-up":
            return answer(422, {"code": "malformed"})
        same = [one for one, kept in self.kept.items() if kept["km"] == trip["km"]]
        allowed = {"repeats-in-batch": batch, "repeats": [*self.kept]}.get(self.sin, [])
        taken = self.unique and any(one not in allowed for one in same)
        code = "malformed" if self.sin == "other-code" else "taken"
        return answer(422 if self.sin == "other-code" else 409, {"code": code}) if taken else None

    def result(self, at: int, trip: dict[str, Any]) -> dict[str, Any]:
        """Make one trip of a batch."""
        own = [one for one in self.kept if one.startswith(f"batch-{self.made - at}-")] if at else []
        refused = self.refusal(trip, own)
        self.made += 1
        if refused is not None:
            return {"status": refused.status, "body": json.loads(refused.body)}
        first = self.made - at - 1
        made = self.add({"km": 1} if self.sin == "other-values" else trip, f"batch-{first}")
        if not isinstance(trip.get("km"), int):
            del self.kept[made["id"]]
        return {"status": 201, "body": made}

    def shape(self, at: int, result: dict[str, Any]) -> dict[str, Any]:
        """A result in the form of the service."""
        if not self.form or result["status"] != 201:
            return (
                {"index": at + ("1" in self.form), **result} if self.form[:5] == "index" else result
            )
        if self.form == "key":  # a name that no read takes
            return {"status": 201, "key": f"op-{self.made}-{at}"}
        short = {"status": 201, "id": result["body"]["id"]}
        return {"index": at + ("1" in self.form), **short} if self.form[:5] == "index" else short

    def add(self, body: dict[str, Any], name: str) -> dict[str, Any]:
        """Make a trip."""
        number = f"{name}-{len(self.kept)}-{self.made}"
        self.kept[number] = {**body, "id": number}
        return self.kept[number]


FORMS = ("", "index", "index from 1", "id", "id, back to front")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ["4", "${unique:int}"])
@pytest.mark.parametrize(
    ("sin", "kind"),
    [
        ("", "passed"),
        ("always-207", "passed"),
        ("last", "failed"),
        ("all-but-one", "failed"),
        ("other-values", "failed"),
        ("refused", "not_exercised"),
    ],
)
def test_a_batch_of_good_items_stores_all(sin: str, kind: str, text: str, form: str) -> None:
    """Items that are lost are found, by the ids of their results, and so are values that are not
    those of the item, whichever form the results have. An item that the answer refuses is not lost.
    """
    found = conclusions(Trips(sin, form), 4 if text == "4" else text)
    if kind == "failed":
        assert kind in found
    else:
        assert found[0] == kind
        assert {*found[1:]} == {"passed"}


def test_results_may_have_names_that_no_read_takes() -> None:
    """Then nothing is called lost: the list shows the items."""
    assert "failed" not in conclusions(Trips("", "key"), "${unique:int}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sin", ["makes-up", "rolls-back", "stops"])
def test_what_a_mixed_batch_lists_as_done_exists(sin: str, form: str) -> None:
    """A bad item with an id that was made up is found, and a good one that is not kept: all of
    them, or those behind the first bad one.
    """
    found = conclusions(Trips(sin, form), "${unique:int}")
    assert (found[0], found[-1]) == ("passed", "failed")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("sin", "kinds"),
    [
        ("", ["passed", "passed"]),
        ("repeats-in-batch", ["passed", "failed"]),
        ("repeats", ["failed", "failed"]),
        ("other-code", ["failed", "passed"]),
    ],
)
def test_a_batch_stores_unique_values_once(sin: str, kinds: list[str], form: str) -> None:
    """An item with the values of a resource that exists is refused, with the declared code, and so
    is the second one of two alike.
    """
    service = Trips(sin, form, unique=True)
    assert conclusions(service, "${unique:int}", "duplicates/refused") == kinds


def test_unique_values_that_cannot_be_sent_are_left_out() -> None:
    """A batch whose items lack the unique member is named."""
    service = Trips("", unique=True)
    found = conclusions(service, "${unique:int}", "duplicates/refused", member="miles")
    assert found == ["not_exercised"]


def conclusions(
    service: Trips, km: object, clause: str = "batch/complete", *, member: str = "km"
) -> list[str]:
    """The conclusions of the probe of whole batches about a service."""
    batch = ConfiguredCall("POST", "/trips/batch", body={"trips": [{member: km}]})
    create = ConfiguredCall("POST", "/trips", body={"km": km})
    trip = ResourceConfig("trip", create=create, id="/id", batch=batch)
    if service.unique:
        trip = replace(trip, unique=("km",), unique_code="taken")
    config = ServiceConfig(limits=Limits(writes=True, requests=100), resources={"trip": trip})
    session = http_session(service, TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(whole_batches(session))
    outcomes = session.observations.outcomes
    return [one.kind for one in outcomes if one.clause == clause]
