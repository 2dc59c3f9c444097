"""Deletions below an item that has room for few: what lies beside the deleted one stays."""

import json
from itertools import count
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import accepted_writes, resources
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: crates, version: 1.0.0, title: Crates, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  packed: {summary: Packed already, http: 409, retriable: false}
  full: {summary: No room, http: 409, retriable: false}
"""

OK = {"responses": {"200": {"description": "done"}}}
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}}
PACKED = {"type": "object", "properties": {"tool_id": {"type": "string"}}}


def _post(schema: dict[str, Any]) -> dict[str, Any]:
    """A creation with a body."""
    return {**OK, "requestBody": {"content": {"application/json": {"schema": schema}}}}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/tools": {"post": _post(NAMED)},
        "/tools/{tool_id}": {"get": OK},
        "/crates": {"post": _post(NAMED)},
        "/crates/{crate_id}": {"get": OK},
        "/crates/{crate_id}/loads": {"get": OK, "post": _post(PACKED)},
        "/crates/{crate_id}/loads/{load_id}": {"get": OK, "delete": OK},
    },
}


class Crates:
    """Crates with room for ``room`` tools. ``sin``: what a deletion does wrong."""

    def __init__(self, sin: str, room: int) -> None:
        self.sin, self.room, self.numbers = sin, room, count(1)
        self.known: dict[str, dict[str, Any]] = {}

    def __call__(self, request: Request) -> Any:
        """Answer one request."""
        path = request.target.partition("?")[0]
        if request.method == "POST":
            return self.add(path, json.loads(request.body))
        if path.endswith("/loads"):
            return answer(200, [self.known[one] for one in self.below(path)])
        if path not in self.known:
            return answer(404, {"code": "absent"})
        if request.method == "GET":
            return answer(200, self.known[path])
        beside = self.below(path.rpartition("/")[0])
        for one in {"all": beside, "last": beside[-1:]}.get(self.sin, [path]):
            del self.known[one]
        return Response(204, (), b"")

    def below(self, path: str) -> list[str]:
        """The items of a collection."""
        return [one for one in self.known if one.startswith(f"{path}/")]

    def add(self, path: str, body: dict[str, Any]) -> Any:
        """Make a tool, a crate or a load."""
        if path.endswith("/loads"):
            inside = self.below(path)
            if any(self.known[one]["tool_id"] == body["tool_id"] for one in inside):
                return answer(409, {"code": "packed"})
            if len(inside) >= self.room:
                return answer(409, {"code": "full"})
        name = f"item-{next(self.numbers):04}"
        self.known[f"{path}/{name}"] = {**body, "id": name}
        return answer(201, self.known[f"{path}/{name}"])


def run(sin: str, room: int) -> set[str]:
    """Return the clauses that fail."""
    load = ResourceConfig(
        "load",
        create=ConfiguredCall("POST", "/crates/{crate_id}/loads", body={"tool_id": "${tool.id}"}),
        id="/id",
    )
    config = ServiceConfig(resources={"load": load}, limits=Limits(writes=True))
    session = http_session(Crates(sin, room), TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(accepted_writes.accepted_writes(session))
    outcomes = session.observations.outcomes
    assert any(one.clause == "writes/deleted" and one.is_decided for one in outcomes)
    return {one.clause for one in outcomes if one.kind == "failed"}


@pytest.mark.parametrize("room", [2, 3, 9])
@pytest.mark.parametrize("sin", ["all", "last"])
def test_a_deletion_leaves_what_lies_beside_it(sin: str, room: int) -> None:
    """A crate takes each tool once and few of them; new tools are made before a new crate is, so
    that two loads lie in one crate, and the older one is deleted.
    """
    assert run(sin, room) == {"writes/deleted"}
    assert run("", room) == set()
