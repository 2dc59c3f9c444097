"""Writes to ids without a resource: a success is found where an error is declared. An idempotent
deletion and a creation by PUT are not blamed.
"""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources
from faultspec_conformance.session import sampling
from support.scripted import Script, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: garage, version: 1.0.0, title: Garage, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
"""
DECLARED = """
operations:
  scrap: {match: {routes: ["DELETE /cars/{id}"]}, codes: [absent]}
"""

OK = {"responses": {"200": {"description": "done"}}}
MISSING = {"responses": {**OK["responses"], "404": {"description": "missing"}}}
BODY = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}


def garage(status: int, *, stores: bool = False) -> Script:
    """Return a service that answers writes to absent cars with a status. ``stores``: PUT makes
    them.
    """
    cars: dict[str, dict[str, Any]] = {}

    def script(request: Request) -> Any:
        name = request.target.removeprefix("/cars").removeprefix("/")
        if not name:
            cars["one"] = {**json.loads(request.body or b"{}"), "id": "one"}
            return answer(201, cars["one"])
        if request.method == "PUT" and stores:
            cars[name] = {"id": name}
        if request.method in ("PUT", "DELETE") and name not in cars:
            return answer(status, {} if status < 400 else {"code": "absent"})
        return answer(200, cars[name]) if name in cars else answer(404, {"code": "absent"})

    return script


def levels(script: Script, *, documented: bool = True, taxonomy: str = TAXONOMY) -> dict[str, str]:
    """Return the level of the finding of each write to an absent car."""
    one = MISSING if documented else OK
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Garage", "version": "1"},
        "paths": {
            "/cars": {"post": {**OK, **BODY}},
            "/cars/{id}": {"get": MISSING, "put": {**one, **BODY}, "delete": one},
        },
    }
    session = http_session(script, taxonomy, ServiceConfig(limits=Limits(writes=True)), document)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(resources.unknown_ids(session))
    findings = [one.finding for one in session.observations.outcomes if one.finding is not None]
    return {str(one.operation).partition(" ")[0]: one.level for one in findings}


def test_a_success_where_an_error_is_declared_is_found() -> None:
    """The document makes it a warning, an operation of the taxonomy an error."""
    assert levels(garage(204)) == {"PUT": "warning", "DELETE": "warning"}
    declared = levels(garage(204), documented=False, taxonomy=TAXONOMY + DECLARED)
    assert declared == {"DELETE": "error"}


@pytest.mark.parametrize(
    ("script", "documented"),
    [(garage(204), False), (garage(404), True), (garage(202), True)],
)
def test_what_the_method_allows_is_not_blamed(script: Script, documented: bool) -> None:
    """A deletion that is idempotent by its document, one that is only accepted for later and an
    error have no finding.
    """
    assert levels(script, documented=documented) == {}


def test_a_put_that_creates_is_not_blamed() -> None:
    """A PUT that made the resource has no finding, whatever its status."""
    assert "PUT" not in levels(garage(204, stores=True))


def test_an_id_without_a_resource_is_not_one_that_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    """An id that is made up may be a known one by chance."""
    ids = iter(["one"] * 3 + ["two"] * 99)
    monkeypatch.setattr(sampling, "other_identifier", lambda *_: next(ids))
    assert levels(garage(404)) == {}
