"""Calls upstream of an action that each item allows once."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec.source import parse
from faultspec_conformance.config import (
    ConfiguredCall,
    ResourceConfig,
    ServiceConfig,
    Step,
    UpstreamCall,
    UpstreamConfig,
    UpstreamFailure,
)
from faultspec_conformance.config.reading import parse_config
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.probes import resources, upstreams
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.upstreams import ScriptedUpstream
from probes.test_upstream_failures import TAXONOMY, Shop
from support.scripted import answer, http_session

OK = {"responses": {"200": {"description": "done"}}}
NEW = {"type": "object", "properties": {"name": {"type": "string"}}}
DOCUMENT: Mapping[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/visits": {
            "post": {
                "responses": {"201": {"description": "made"}},
                "requestBody": {"content": {"application/json": {"schema": NEW}}},
            }
        },
        "/visits/{id}": {"get": OK},
        "/visits/{id}/confirm": {"post": OK},
        "/visits/{id}/approve": {"post": OK},
    },
}


class Clinic(Shop):
    """A service whose visits are confirmed once each, by one call upstream. ``approved``: those
    that may be confirmed; None for all.
    """

    approved: set[str] | None
    confirmed: set[str]
    targets: list[str]

    def __call__(self, request: Request) -> Response | NoAnswer:
        """The answer."""
        parts = request.target.split("/")
        if request.method == "GET":
            return answer(200, {"id": parts[2]})
        if parts[-1] == "approve" and self.approved is not None:
            self.approved.add(parts[2])
            return answer(200, {"id": parts[2]})
        if parts[-1] != "confirm":
            try:
                json.loads(request.body)
            except ValueError:
                return answer(400, {"code": "unreadable"})
            self.orders.append({})
            return answer(201, {"id": f"visit-{len(self.orders)}"})
        self.targets.append(parts[2])
        if parts[2] in self.confirmed or parts[2] not in (self.approved or {parts[2]}):
            return answer(409, {"code": "unreadable"})
        found = self.call("/domes")
        if isinstance(found, Response):
            return found
        self.confirmed.add(parts[2])
        return answer(200, {"id": parts[2]})


def outcomes_of(path: str, tries: int, *before: str) -> tuple[list[Outcome], Clinic]:
    """The outcomes of the probe for a call with this path that must not be repeated. ``before``:
    paths of requests that go before it, without which it is refused.
    """
    steps = tuple(Step(ConfiguredCall("POST", one)) for one in before)
    call = UpstreamCall(ConfiguredCall("POST", path), idempotent=False, before=steps)
    failures = (("unavailable", UpstreamFailure(503)),)
    upstream = ScriptedUpstream(UpstreamConfig("domes", (call,), failures))
    service = Clinic(upstream, tries=tries)
    service.confirmed, service.targets = set(), []
    service.approved = {"none"} if before else None
    upstream.clock = lambda: service.now
    create = ConfiguredCall("POST", "/visits", body={"name": "${unique}"})
    config = ServiceConfig(
        resources={"visit": ResourceConfig("visit", create=create, id="/id")},
        upstreams=(upstream.config,),
        limits=Limits(writes=True, requests=400, seconds=10_000),
    )
    session = http_session(service, TAXONOMY, config, DOCUMENT)
    session.turn, session.upstreams = session.kinds, {"domes": upstream}
    session.record_results(resources.fixtures(session))
    session.record_results(upstreams.retries(session))
    return session.observations.outcomes, service


@pytest.mark.parametrize("path", ["/visits/{id}/confirm", "/visits/{visit}/confirm"])
def test_an_action_that_succeeds_once_meets_each_failure_on_a_new_item(path: str) -> None:
    """A placeholder is the id of a resource, which is new after one request has succeeded: so a
    retry of an action that must not be repeated is seen.
    """
    found, service = outcomes_of(path, tries=1)
    assert not [one for one in found if one.kind == "failed"]
    assert ("upstream/unsafe", "passed") in {(one.clause, one.kind) for one in found}
    assert ("upstream/heals", "passed") in {(one.clause, one.kind) for one in found}
    assert all(target.startswith("visit-") for target in service.targets)
    found, _ = outcomes_of(path, tries=3)
    assert {one.clause for one in found if one.kind == "failed"} == {"upstream/unsafe"}


def test_requests_before_a_call_bring_its_item_into_the_state_that_it_needs() -> None:
    """Each attempt gets a new item, which is approved before it is confirmed. A request before the
    call that is refused is named.
    """
    path, approval = "/visits/{id}/confirm", "/visits/{id}/approve"
    found, service = outcomes_of(path, 1, approval)
    assert not [one for one in found if one.kind == "failed"]
    assert ("upstream/unsafe", "passed") in {(one.clause, one.kind) for one in found}
    assert len({*service.targets}) > 6
    found, _ = outcomes_of(path, 3, approval)
    assert {one.clause for one in found if one.kind == "failed"} == {"upstream/unsafe"}
    found, _ = outcomes_of(path, 1, "/visits/{id}/confirm", approval)
    reasons = {one.reason for one in found if one.kind == "could_not_run"}
    assert any("409" in str(one) and "goes before the call" in str(one) for one in reasons)


@pytest.mark.parametrize(
    ("path", "problems"),
    [("/rooms/{id}/book", 0), ("/desks/{desk}/book", 1), ("/rooms/${rom}/book", 1)],
)
def test_a_placeholder_without_a_value_is_a_fault_of_the_file(path: str, problems: int) -> None:
    """A placeholder in a call upstream is the id of a resource, or one of `values`."""
    text = (
        'target: {http: "http://127.0.0.1:1"}\n'
        "resources: {room: {create: POST /rooms, read: 'GET /rooms/{id}'}}\n"
        "upstreams:\n"
        "  domes:\n"
        "    listen: 127.0.0.1:9900\n"
        f"    calls: [{{request: 'POST {path}'}}]\n"
        "    fails: {away: 503}\n"
    )
    parsed, faults = parse(text, "conformance.yaml")
    assert parsed is not None, faults
    found = parse_config(parsed, {}).diagnostics
    assert [one.code for one in found] == ["unknown-name"] * problems
