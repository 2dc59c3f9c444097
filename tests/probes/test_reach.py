"""Which operations probes ask, and how they try faults until one is conclusive: each test says the
law it holds.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import (
    ConfiguredCall,
    FaultSwitchConfig,
    Recipe,
    ResourceConfig,
    ServiceConfig,
    Step,
)
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import (
    bodies,
    faults,
    learned_routes,
    malformed_targets,
    resources,
    routes,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/v1/**", "/v2/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [404, 405], retriable: none, client_action: none, effect: none}
  taken: {summary: It exists, domain: request, http: 409, retriable: none, client_action: none, effect: none}
  malformed: {summary: Unreadable, domain: request, http: [400, 415], retriable: none, client_action: none, effect: none}
  down: {summary: It is down, domain: request, http: 503, retriable: true, client_action: retry, effect: none}
operations:
  closeShop: {match: {routes: ["POST /v1/shops/{shop}/closing"]}}
"""

WRITES = Limits(writes=True)

THING = ResourceConfig(
    "thing",
    create=ConfiguredCall("POST", "/v1/things", body={"name": "thing-${unique}"}),
    read=ConfiguredCall("GET", "/v1/things/{id}"),
    update=ConfiguredCall("PUT", "/v1/things/{id}", body={"name": "other-${unique}"}),
    list=ConfiguredCall("GET", "/v1/things"),
    id="/id",
    unique=("name",),
)


class Shop:
    """Things with names of their own. ``lapses``: what the service does wrong."""

    def __init__(self, *lapses: str) -> None:
        self.lapses = lapses
        self.things: dict[str, dict[str, Any]] = {}
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        self.asked.append(request)
        sent = {name.lower(): value for name, value in request.headers}
        path = request.target.partition("?")[0]
        if sent.get("x-fault") == "down" and "ignores" not in self.lapses:
            return answer(503, {"code": "down"})
        if not path.startswith("/v1/things"):
            return answer(404, {"code": "absent"})
        name = path.removeprefix("/v1/things").strip("/")
        if request.method == "GET" and not name:
            return answer(200, list(self.things.values()))
        if name == "__proto__" and "prototype" in self.lapses:
            return answer(500, {"code": "absent"})
        if name and name not in self.things:
            return answer(404, {"code": "absent"})
        if request.method == "GET":
            return answer(200, self.things[name])
        if request.method not in ("POST", "PUT"):
            return answer(405, {"code": "absent"})
        return self._write(request, name)

    def _write(self, request: Request, name: str) -> Response:
        try:
            body = json.loads(request.body)
        except (ValueError, RecursionError):
            return answer(400, {"code": "malformed"})
        if isinstance(body, list) and "list" in self.lapses:
            return answer(500, {"code": "malformed"})
        if not isinstance(body, dict) or not isinstance(body.get("name"), str):
            return answer(400, {"code": "malformed"})
        others = [thing for key, thing in self.things.items() if key != name]
        if any(thing["name"] == body["name"] for thing in others) and not (
            name and "update" in self.lapses
        ):
            return answer(409, {"code": "taken"})
        key = name or f"thing-{len(self.things) + 1:08}"
        self.things[key] = {"id": key, "name": body["name"]}
        return answer(200 if name else 201, self.things[key])


def session_of(shop: Callable[[Request], Response], **more: Any) -> HttpSession:
    """Return a session with the shop, which has no document."""
    config = ServiceConfig(**{"limits": WRITES, "resources": {"thing": THING}, **more})
    session = http_session(shop, TAXONOMY, config, {})
    session.turn = session.kinds
    return session


def failures(outcomes: Any) -> list[str]:
    """Return the clauses that failed."""
    return [item.clause for item in outcomes if isinstance(item, Outcome) and item.finding]


def test_without_a_document_the_named_operations_are_known() -> None:
    """Calls of resources and recipes are operations; only sound calls are certain. Routes of the
    taxonomy, which may belong to another service, count only where nothing is certain.
    """
    recipes = (
        Recipe("absent", (Step(ConfiguredCall("DELETE", "/v1/carts/{cart}")),)),
        Recipe("down", (Step(ConfiguredCall("GET", "/v1/prices", headers={"X-Fault": "down"})),)),
        Recipe("down", (Step(ConfiguredCall("GET", "/v1/crash")),)),
    )
    inventory = session_of(Shop(), recipes=recipes).inventory
    assert {operation.name for operation in inventory.operations} == {
        *("POST /v1/things", "GET /v1/things/{id}", "PUT /v1/things/{id}", "GET /v1/things"),
        *("GET /v1/prices", "DELETE /v1/carts/{cart}"),
    }
    assert inventory.certain == {
        *("POST /v1/things", "GET /v1/things/{id}", "PUT /v1/things/{id}", "GET /v1/things"),
        "GET /v1/prices",
    }


def test_unknown_routes_are_asked_below_each_surface() -> None:
    """Each prefix under which a surface claims every route is asked, and no route outside of
    them.
    """
    shop = Shop()
    list(routes.unknown_routes(session_of(shop)))
    asked = {request.target.split("/")[1] for request in shop.asked}
    assert asked == {"v1", "v2"}


@pytest.mark.parametrize(("lapse", "clauses"), [("", []), ("list", ["framework/malformed-json"])])
def test_every_fault_of_a_body_is_tried(lapse: str, clauses: list[str]) -> None:
    """An operation that checks something else first is followed by the next; a service that refuses
    them all is silent.
    """
    shop = Shop(lapse)
    assert failures(bodies.malformed_bodies(session_of(shop))) == clauses
    assert len(shop.asked) <= 2 * len(bodies._FAULTS)


@pytest.mark.parametrize(("lapse", "clauses"), [("", []), ("prototype", ["framework/unknown-id"])])
def test_ids_of_every_form_are_tried(lapse: str, clauses: list[str]) -> None:
    """An id of any form is refused like an id without a resource."""
    assert failures(malformed_targets.malformed_targets(session_of(Shop(lapse)))) == clauses


@pytest.mark.parametrize(("lapse", "clauses"), [("", []), ("update", ["duplicates/refused"])])
def test_unique_values_are_tried_by_update(lapse: str, clauses: list[str]) -> None:
    """An update to the unique value of another resource is refused as its creation is."""
    session = session_of(Shop(lapse))
    list(resources.fixtures(session))
    assert failures(resources.duplicates(session)) == clauses


def test_a_resource_names_the_code_of_a_duplicate() -> None:
    """Another code than the named one fails, whatever its status."""
    named = ResourceConfig(
        "thing",
        create=THING.create,
        read=THING.read,
        id="/id",
        unique=("name",),
        unique_code="malformed",
    )
    session = session_of(Shop(), resources={"thing": named})
    list(resources.fixtures(session))
    assert failures(resources.duplicates(session)) == ["duplicates/refused"]


@pytest.mark.parametrize(("lapse", "clauses"), [("", []), ("ignores", ["provoke/code"])])
def test_a_fault_switch_fails_every_operation(lapse: str, clauses: list[str]) -> None:
    """Every operation gets every value; a switch that no operation heeds is a failure, once."""
    values: Mapping[str, object] = {"down": "down"}
    shop = Shop(lapse)
    session = session_of(shop, faults=(FaultSwitchConfig("header", "X-Fault", values),))
    list(resources.fixtures(session))
    assert failures(faults.switched_faults(session)) == clauses
    switched = {request.method for request in shop.asked if ("X-Fault", "down") in request.headers}
    assert switched == {"GET", "POST", "PUT"}
    assert all(
        "service/no-crash" not in seen.judgement.exercised
        for seen in session.observations.exchanges
        if seen.status == 503
    )


def bookings_of(*, refuses: str) -> Any:
    """Answers of a service of bookings. ``refuses``: "together", a day of the same room that is
    taken, or "nothing".
    """
    booked: dict[str, dict[str, Any]] = {}

    def script(request: Request) -> Response:
        name = request.target.partition("?")[0].removeprefix("/v1/things").strip("/")
        if name and name not in booked:
            return answer(404, {"code": "absent"})
        if request.method == "GET":
            return answer(200, booked[name] if name else list(booked.values()))
        if request.method not in ("POST", "PUT"):
            return answer(405, {"code": "absent"})
        body = json.loads(request.body)
        others = [one for key, one in booked.items() if key != name]
        place = (body["room"], body["day"])
        if refuses == "together" and any((one["room"], one["day"]) == place for one in others):
            return answer(409, {"code": "taken"})
        key = name or f"booking-{len(booked) + 1:08}"
        booked[key] = {**body, "id": key}
        return answer(200 if name else 201, booked[key])

    return script


@pytest.mark.parametrize(
    ("refuses", "clauses"),
    [("together", []), ("nothing", ["duplicates/refused", "duplicates/refused"])],
)
def test_members_may_be_unique_only_together(refuses: str, clauses: list[str]) -> None:
    """One value may repeat; all of them together may not, by creation or by update."""
    body: dict[str, object] = {"room": "blue", "day": "${unique:date}"}
    booking = ResourceConfig(
        "booking",
        create=ConfiguredCall("POST", "/v1/things", body=body),
        read=ConfiguredCall("GET", "/v1/things/{id}"),
        update=ConfiguredCall("PUT", "/v1/things/{id}", body=body),
        list=ConfiguredCall("GET", "/v1/things"),
        id="/id",
        unique=("room", "day"),
        unique_together=True,
    )
    session = session_of(bookings_of(refuses=refuses), resources={"booking": booking})
    list(resources.fixtures(session))
    assert failures(resources.duplicates(session)) == clauses


NAMES = """
faultspec: 1
taxonomy: {name: house, version: 1.0.0, title: House, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, details?: $details}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
detail_keys:
  other_id: {type: string, summary: That of something else, refers_to: resource}
  existing: {type: string, summary: Its id, refers_to: resource}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  taken: {summary: It exists, http: 409, retriable: false, details: {existing: {}}}
"""


@pytest.mark.parametrize("names", ["the right one", "the first one"])
def test_each_conflict_names_what_exists(names: str) -> None:
    """The id in a conflict is that of the resource with the value, also if it is not the first of
    the service.
    """
    things: dict[str, dict[str, Any]] = {}

    def script(request: Request) -> Response:
        key = request.target.removeprefix("/v1/things").strip("/")
        if key and key not in things:
            return answer(404, {"code": "absent"})
        if request.method == "GET":
            return answer(200, things[key] if key else [*things.values()])
        body = json.loads(request.body)
        same = next((one for one in things.values() if one["name"] == body["name"]), None)
        if same is not None:
            first = next(iter(things))
            existing = first if names == "the first one" else same["id"]
            return answer(409, {"code": "taken", "details": {"existing": existing}})
        key = f"thing-{len(things) + 1:08}"
        things[key] = {"id": key, **body}
        return answer(201, things[key])

    thing = ResourceConfig(
        "thing", create=THING.create, read=THING.read, id="/id", unique=("name",)
    )
    config = ServiceConfig(resources={"thing": thing}, limits=Limits(writes=True))
    session = http_session(script, NAMES, config)
    session.turn = session.kinds
    list(resources.fixtures(session))
    found = set(failures(resources.duplicates(session)))
    assert found == (set() if names == "the right one" else {"duplicates/existing-id"})


@pytest.mark.parametrize("cut", [None, "is longer than 65536 bytes"])
def test_a_refusal_whose_body_was_cut_decides_nothing(cut: str | None) -> None:
    """The form of what was not read is unknown."""
    shop = Shop()
    session = session_of(lambda request: replace(shop(request), cut=cut))
    outcomes = [item for item in routes.unknown_routes(session) if isinstance(item, Outcome)]
    kinds = {item.kind for item in outcomes if item.clause == "framework/not-acceptable"}
    assert kinds == ({"passed"} if cut is None else {"not_exercised"})


def test_each_documented_read_without_an_id_is_made() -> None:
    """A read that no other probe has made is made once; one with an id is left to others."""
    reads = ("/v1/things", "/v1/prices", "/v1/things/{id}")
    document = {
        "openapi": "3.1.0",
        "paths": {path: {"get": {"responses": {"200": {"description": "ok"}}}} for path in reads},
    }
    shop = Shop()
    session = http_session(shop, TAXONOMY, ServiceConfig(limits=WRITES), document)
    for _ in range(2):
        assert not failures(learned_routes.plain_reads(session))
        assert [request.target for request in shop.asked] == ["/v1/things", "/v1/prices"]


def test_numbers_are_asked_of_each_read() -> None:
    """Ids and numeric parameters are 0 and -1, never those of a write, which might take the number
    for a place in a list.
    """
    number = {"schema": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}
    limit = {"name": "limit", "in": "query", **number}
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    answers = {"responses": {"200": {"description": "ok"}}}
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/v1/things": {"get": {"parameters": [limit], **answers}},
            "/v1/things/{id}": {"get": answers, "delete": answers},
            "/v1/names/{name}": {"get": {"parameters": [name], **answers}},
        },
    }
    shop = Shop()
    session = http_session(shop, TAXONOMY, ServiceConfig(limits=WRITES), document)
    list(malformed_targets.malformed_targets(session))
    asked = {(request.method, request.target) for request in shop.asked}
    for number_text in ("0", "-1"):
        assert ("GET", f"/v1/things/{number_text}") in asked
        assert ("GET", f"/v1/things?limit={number_text}") in asked
        assert ("DELETE", f"/v1/things/{number_text}") not in asked
        assert ("GET", f"/v1/names/{number_text}") not in asked
