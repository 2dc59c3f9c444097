"""Updates member by member, the neighbour of a deleted resource, and the way to a new one."""

import json
from collections.abc import Mapping
from copy import deepcopy
from itertools import count
from types import MappingProxyType
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import accepted_writes, resources
from faultspec_conformance.session.http import HttpSession
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: garage, version: 1.0.0, title: Garage, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  changed: {summary: It has changed, http: 412, retriable: false}
  unconditional: {summary: No validator, http: 428, retriable: false}
  broken: {summary: A defect, http: 500, retriable: false}
"""

OK = {"responses": {"200": {"description": "done"}}}
TEXT = {"type": "string"}
CAR = {
    "type": "object",
    "properties": {
        "plate": TEXT,
        "owner": TEXT,
        "note": {"type": ["string", "null"]},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["radio", "hook", "roof"]}},
        "doors": {"type": "integer", "minimum": 2, "maximum": 5, "default": 5},
    },
}
BODY = {"requestBody": {"content": {"application/json": {"schema": CAR}}}}
IF_MATCH = {"name": "If-Match", "in": "header", "required": True, "schema": TEXT}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/cars": {"get": OK, "post": {**OK, **BODY}},
        "/cars/{id}": {
            "get": OK,
            "patch": {**OK, **BODY, "parameters": [IF_MATCH]},
            "delete": {**OK, "parameters": [IF_MATCH]},
        },
    },
}
NEW = {
    "plate": "${unique}",
    "owner": "first ${unique}",
    "note": "note ${unique}",
    "doors": 4,
    "extras": ["radio"],
}


class Garage:
    """Cars with versions. ``sin``: what the service does wrong."""

    def __init__(self, sin: str = "") -> None:
        self.sin, self.numbers = sin, count(1)
        self.cars: dict[str, dict[str, Any]] = {}
        self.tags: dict[str, int] = {}

    def __call__(self, request: Request) -> Any:
        """Answer one request."""
        name = request.target.partition("?")[0].removeprefix("/cars").removeprefix("/")
        body = json.loads(request.body) if request.body else {}
        if not name:
            return answer(200, [*self.cars.values()]) if request.method == "GET" else self.add(body)
        if name not in self.cars:
            return answer(404, {"code": "absent"})
        if request.method == "GET":
            return self.shown(200, self.cars[name])
        sent = dict(request.headers).get("If-Match")
        if sent != f'"{self.tags[name]}"':
            status, code = (428, "unconditional") if sent is None else (412, "changed")
            return answer(status, {"code": code})
        if request.method == "DELETE":
            gone = self.cars.pop(name)
            if self.sin == "deletes-same-colour":
                self.cars = {
                    other: car
                    for other, car in self.cars.items()
                    if car["colour"] != gone["colour"]
                }
            if self.sin == "deletes-same-doors":
                self.cars = {
                    other: car for other, car in self.cars.items() if car["doors"] != gone["doors"]
                }
            if self.sin == "deletes-newer":
                self.cars = {other: car for other, car in self.cars.items() if other < name}
            return Response(204, (), b"")
        return self.change(name, body)

    def shown(self, status: int, car: dict[str, Any], **headers: str) -> Any:
        """A car with its version."""
        return answer(status, car, ETag=f'"{self.tags[car["id"]]}"', **headers)

    def add(self, body: dict[str, Any]) -> Any:
        """Make a car."""
        number = next(self.numbers)
        name = f"car-{number:04}"
        self.cars[name] = {"note": None, "colour": "red", **body, "id": name, "uses": 0}
        self.cars[name]["created_at"] = f"2026-01-01T00:00:{number % 60:02}Z"
        self.tags[name] = 1
        place = {"location-of-nothing": number, "location-of-first": "car-0001"}.get(self.sin, name)
        return self.shown(201, self.cars[name], Location=f"/cars/{place}")

    def change(self, name: str, body: dict[str, Any]) -> Any:
        """Change a car."""
        before = self.cars[name]
        after = {**before, **body}
        if self.sin == "null-crashes" and body.get("note", "") is None:
            return answer(500, {"code": "broken"})
        if self.sin == "patch-clears-note" and "note" not in body:
            after["note"] = None
        if self.sin == "patch-clears-extras" and "extras" not in body:
            after["extras"] = []
        if self.sin == "patch-sets-extras":
            after["extras"] = ["radio"]
        if self.sin == "moves-creation":
            after["created_at"] = f"2026-01-02T00:00:{next(self.numbers) % 60:02}Z"
        if self.sin == "patch-adds-extras":
            after["extras"] = [
                *{**dict.fromkeys(before["extras"]), **dict.fromkeys(after["extras"])}
            ]
        if self.sin == "patch-resets-doors":
            after["doors"] = body.get("doors", 5)
        if self.sin == "ignores-null" and body.get("note", "") is None:
            after["note"] = before["note"]
        if not (self.sin == "note-keeps-tag" and set(body) == {"note"}):
            self.tags[name] += 1
        lost = {"keeps-note": "note", "keeps-doors": "doors", "keeps-colour": "colour"}
        kept = lost.get(self.sin)
        self.cars[name] = {**after, kept: before[kept]} if kept else after
        ignored = self.sin.removeprefix("ignores-")
        if self.sin.startswith("ignores-") and ignored in before and ignored != "null":
            self.cars[name] = after = {**after, ignored: before[ignored]}
        return self.shown(200, after)


def run(
    sin: str,
    *,
    create: dict[str, Any] | None = None,
    document: Mapping[str, Any] = DOCUMENT,
    update: Mapping[str, Any] = MappingProxyType(
        {"owner": "later ${unique}", "note": "later ${unique}"}
    ),
) -> HttpSession:
    """Return the session after the probes of accepted writes."""
    call = ConfiguredCall("POST", "/cars", body=NEW if create is None else create)
    kind = ResourceConfig(
        "car",
        create=call,
        id="/id",
        update=ConfiguredCall("PATCH", "/cars/{id}", body=dict(update)),
    )
    config = ServiceConfig(resources={"car": kind}, limits=Limits(writes=True))
    session = http_session(Garage(sin), TAXONOMY, config, document)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(accepted_writes.accepted_writes(session))
    return session


def test_a_member_that_was_updated_alone_is_set_to_null() -> None:
    """The configured update has one member, which may be null."""
    session = run("null-crashes", update={"note": "later ${unique}"})
    sent = [json.loads(one.exchange.request.body or b"null") for one in session.knowledge.exchanges]
    assert {"note": None} in sent


def judged(sin: str, *, create: dict[str, Any] | None = None) -> tuple[set[str], set[str]]:
    """Return the clauses that fail, and those that pass."""
    session = run(sin, create=create)
    outcomes = session.observations.outcomes
    crashes = {
        finding.clause
        for seen in session.observations.exchanges
        for finding in seen.judgement.findings
    }
    wrong = {one.clause for one in outcomes if one.kind == "failed"}
    return wrong | crashes, {one.clause for one in outcomes if one.kind == "passed"}


def test_a_behaving_service_passes() -> None:
    """Each clause about accepted writes is checked."""
    failed, passed = judged("")
    assert failed == set()
    assert set(accepted_writes.CLAUSES) <= passed


@pytest.mark.parametrize(
    ("sin", "clause"),
    [
        ("patch-clears-note", "writes/updated"),
        ("patch-resets-doors", "writes/updated"),
        ("patch-clears-extras", "writes/updated"),
        ("patch-sets-extras", "writes/updated"),
        ("ignores-null", "writes/updated"),
        ("moves-creation", "writes/updated"),
        ("keeps-note", "writes/updated"),
        ("keeps-doors", "writes/updated"),
        ("keeps-colour", "writes/updated"),
        ("ignores-doors", "writes/updated"),
        ("note-keeps-tag", "preconditions/stale"),
        ("null-crashes", "service/no-crash"),
        ("deletes-newer", "writes/deleted"),
        ("deletes-same-colour", "writes/deleted"),
        ("deletes-same-doors", "writes/deleted"),
        ("location-of-nothing", "writes/created"),
        ("location-of-first", "writes/created"),
    ],
)
def test_a_wrong_effect_is_found(sin: str, clause: str) -> None:
    """Each member is updated alone although `update` sends two, one is set to null, the neighbour
    of a deleted car is there, and `Location` leads to the new car.
    """
    assert judged(sin)[0] == {clause}


def test_a_list_may_grow() -> None:
    """A service that adds to a list in place of replacing it loses nothing."""
    assert judged("patch-adds-extras")[0] == set()


def test_a_value_in_place_of_null_is_stored() -> None:
    """An update that confirms the first value of a member is compared with a read."""
    create = {"plate": "${unique}", "owner": "first ${unique}", "doors": 4}
    assert judged("", create=create)[0] == set()
    assert judged("keeps-note", create=create)[0] == {"writes/updated"}


@pytest.mark.parametrize(
    ("media_type", "level"),
    [("application/json", "warning"), ("application/merge-patch+json", "error")],
)
def test_null_that_is_ignored_fails_in_a_merge_patch(media_type: str, level: str) -> None:
    """In a merge patch, null removes a member (RFC 7396). Elsewhere a service that takes it for a
    member that is not sent is warned.
    """
    document = deepcopy(DOCUMENT)
    patch = document["paths"]["/cars/{id}"]["patch"]
    patch["requestBody"] = {"content": {media_type: {"schema": CAR}}}
    outcomes = run("ignores-null", document=document).observations.outcomes
    levels = {one.finding.level for one in outcomes if one.finding is not None}
    assert levels == {level}


PRICE = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "currency": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("member", "schema", "value"),
    [
        ("price", PRICE, {"amount": 7, "currency": "EUR"}),
        ("built", {"type": "string", "format": "date"}, "2024-08-01"),
        ("colour", CAR["properties"]["colour"], None),
    ],
)
def test_a_member_for_updates_is_changed_by_them(member: str, schema: Any, value: object) -> None:
    """A PATCH of one member that the document has for updates changes it: a date, an object, and a
    choice that the creation does not send. A schema that the answer shares promises nothing.
    """
    car = {**CAR, "properties": {**CAR["properties"], member: schema}}
    body = {"requestBody": {"content": {"application/json": {"schema": car}}}}
    create = {name: one for name, one in {**NEW, member: value}.items() if one is not None}
    whole = {**car, "properties": {**car["properties"], "id": TEXT}}
    wrapped = {"type": "object", "properties": {"data": car}}
    for shared in (None, whole, car, wrapped):
        document = deepcopy(DOCUMENT)
        for operation in (
            document["paths"]["/cars"]["post"],
            document["paths"]["/cars/{id}"]["patch"],
        ):
            operation |= body
            if shared is not None:
                content = {"application/json": {"schema": shared}}
                operation["responses"] = {"200": {"description": "", "content": content}}
        for sin in ("", f"ignores-{member}"):
            session = run(sin, create=create, document=document)
            pointers = {
                one.finding.pointer
                for one in session.observations.outcomes
                if one.finding is not None
            }
            is_due = bool(sin) and (value is not None or shared is whole)
            assert pointers == ({f"/{member}"} if is_due else set())
