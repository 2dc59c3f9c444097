"""Updates and actions, and the other resources of the kind: they stay as they were."""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources
from faultspec_conformance.probes.bystanders import bystanders
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: crates, version: 1.0.0, title: Crates, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  closed: {summary: Not open, http: 409, retriable: false}
"""

OK = {"responses": {"200": {"description": "done"}}}
CRATE = {
    "type": "object",
    "properties": {
        "label": {"type": "string"},
        "grams": {"type": "integer"},
        "is_default": {"type": "boolean"},
    },
}
BODY = {"requestBody": {"content": {"application/json": {"schema": CRATE}}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/crates": {"post": {**OK, **BODY}},
        "/crates/{id}": {"get": OK, "patch": {**OK, **BODY}},
        "/crates/{id}/seal": {"post": OK},
        "/crates/{id}/empty": {"post": OK},
    },
}


class Crates:
    """Crates that are changed, sealed and emptied. ``way``: a sin, or a way that is allowed."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.kept: dict[str, dict[str, Any]] = {}
        self.currency = "EUR"
        self.reads = 0

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        _, _, name, *rest = request.target.split("/") + [""] * (request.target.count("/") < 2)
        if request.method == "POST" and not name:
            return answer(201, self.shown(self.add(json.loads(request.body))))
        crate = self.kept.get(name)
        if crate is None:
            return answer(404, {"code": "absent"})
        if request.method == "GET":
            return answer(200, self.shown(crate))
        if not rest:
            self.change(crate, json.loads(request.body))
        elif crate["state"] == "sealed":
            return answer(409, {"code": "closed"})
        else:
            self.act(crate, rest[0])
        return answer(200, self.shown(crate))

    def add(self, body: dict[str, Any]) -> dict[str, Any]:
        """Make a crate."""
        crate = {**body, "id": f"crate-{len(self.kept):04}", "state": "open"}
        crate |= {"updated_at": 0, "place": 10 + len(self.kept)}
        self.kept[crate["id"]] = crate
        return crate

    def shown(self, crate: dict[str, Any]) -> dict[str, Any]:
        """A crate as answers have it."""
        self.reads += 1
        more: dict[str, object] = {"of_kind": len(self.kept)}
        if self.way == "shared-currency":
            more["currency"] = self.currency
        if self.way == "moves-by-itself":
            more["state"] = f"turn-{self.reads // 3}"
        return {**crate, **more}

    def change(self, crate: dict[str, Any], body: dict[str, Any]) -> None:
        """Change a crate."""
        self.currency = "USD"
        newest = [*self.kept.values()][-1]
        if body.get("is_default"):
            for one in self.kept.values():
                one["is_default"] = False
        wrong = {"update-of-all": [*self.kept.values()], "update-of-newest": [newest]}
        for one in wrong.get(self.way, [crate]):
            one.update(body)
        if self.way == "update-empties-others":
            for one in self.kept.values():
                one["label"] = body["label"] if one is crate else ""
        if self.way == "reorders":
            for one in self.kept.values():
                one["place"] += 1
        for one in self.kept.values():
            one["updated_at"] += 1

    def act(self, crate: dict[str, Any], action: str) -> None:
        """Seal or empty a crate."""
        state = "sealed" if action == "seal" else "empty"
        open_ones = [one for one in self.kept.values() if one["state"] == "open"]
        wrong = {"action-on-all": open_ones, "action-on-newest": open_ones[-1:]}
        for one in wrong.get(self.way, []):
            one["state"] = state
        if self.way == "retires-others":
            for one in self.kept.values():
                one["state"] = "retired"
        crate["state"] = state


@pytest.mark.parametrize(
    "way",
    [
        *("update-of-all", "update-of-newest", "update-empties-others"),
        *("action-on-all", "action-on-newest"),
    ],
)
def test_a_write_that_reaches_another_resource_is_found(way: str) -> None:
    """An update or an action that other resources of the kind show fails."""
    assert "failed" in conclusions(way)


@pytest.mark.parametrize(
    "way", ["", "shared-currency", "moves-by-itself", "reorders", "retires-others"]
)
def test_what_others_may_show_is_not_blamed(way: str) -> None:
    """Times, counts, shared settings, exclusive flags and states, places in an order, and what
    changes by itself are not effects of a write to another resource.
    """
    found = conclusions(way)
    assert "failed" not in found
    assert way or {*found} == {"passed"}


def conclusions(way: str) -> list[str]:
    """The conclusions of the probe about a service."""
    body = {"label": "Crate ${unique}", "grams": 1200, "is_default": True}
    create = ConfiguredCall("POST", "/crates", body=body)
    changed = {"label": "Other ${unique}", "grams": 1300, "is_default": True}
    update = ConfiguredCall("PATCH", "/crates/{id}", body=changed)
    crate = ResourceConfig("crate", create=create, id="/id", update=update)
    config = ServiceConfig(limits=Limits(writes=True, requests=200), resources={"crate": crate})
    session = http_session(Crates(way), TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(bystanders(session))
    return [one.kind for one in session.observations.outcomes if one.clause == "writes/updated"]
