"""Fault switches on writes that need a precondition."""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import (
    ConfiguredCall,
    FaultSwitchConfig,
    ResourceConfig,
    ServiceConfig,
)
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import faults, resources
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes:
  absent: {summary: Not there, http: [404, 405], effect: none}
  unconditional: {summary: It needs If-Match, http: 428, effect: none}
  stale: {summary: It has changed, http: 412, effect: none}
  down: {summary: It is down, http: 503, retriable: true, effect: none}
"""

THING = ResourceConfig(
    "thing",
    create=ConfiguredCall("POST", "/things", body={"name": "thing-${unique}"}),
    read=ConfiguredCall("GET", "/things/{id}"),
    update=ConfiguredCall("PUT", "/things/{id}", body={"name": "other-${unique}"}),
    id="/id",
)


class Shop:
    """One thing, whose writes need `If-Match`. ``applies``: it stores a write before it fails."""

    def __init__(self, *, applies: bool) -> None:
        self.applies = applies
        self.version = 0
        self.thing: dict[str, Any] = {}

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        sent = {name.lower(): value for name, value in request.headers}
        tag = f'"{self.version}"'
        if request.method == "GET":
            return (
                answer(200, self.thing, ETag=tag) if self.thing else answer(404, {"code": "absent"})
            )
        if request.method == "PUT" and "if-match" not in sent:
            return answer(428, {"code": "unconditional"})
        if request.method == "PUT" and sent["if-match"] != tag:
            return answer(412, {"code": "stale"})
        fails = "x-fault" in sent
        if not fails or (self.applies and request.method == "PUT"):
            self.version += 1
            self.thing = {"id": "thing-1", **json.loads(request.body)}
        if fails:
            return answer(503, {"code": "down"})
        return answer(201 if request.method == "POST" else 200, self.thing)


@pytest.mark.parametrize("applies", [True, False])
def test_a_failed_write_is_sent_with_the_current_tag(applies: bool) -> None:
    """A switched write that is refused for want of its precondition is sent with the current one,
    so that the effect of its failure is seen, and its recovery.
    """
    config = ServiceConfig(
        limits=Limits(writes=True),
        resources={"thing": THING},
        faults=(FaultSwitchConfig("header", "X-Fault", {"down": "down"}),),
    )
    session = http_session(Shop(applies=applies), TAXONOMY, config, {})
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(faults.switched_faults(session))
    found = {
        one.kind for one in session.observations.outcomes if one.clause == "writes/refused"
    } - {"not_exercised"}
    assert found == {"failed" if applies else "passed"}


@pytest.mark.parametrize(
    ("flag", "refusals", "kind"),
    [
        ("client_action: retry", "unspecified", "failed"),
        ("client_action: user", "retried", "failed"),
        ("retriable: true", "stored", "failed"),
        ("client_action: user", "unspecified", "not_exercised"),
        ("retriable: false, client_action: user", "stored", "not_exercised"),
    ],
)
def test_a_failure_stays_under_its_key_only_if_no_retry_is_due(
    flag: str, refusals: str, kind: str
) -> None:
    """A failure that stays under its idempotency key fails where refused requests are tried again,
    or clients are to retry by the flag of the code or, without one, by its client action.
    """
    taxonomy = TAXONOMY.replace("retriable: true", flag) + (
        f"idempotency: {{key: Idempotency-Key, methods: [POST], refusals: {refusals}}}\n"
    )
    shop, failed = Shop(applies=False), set[str]()

    def keeps_failures(request: Request) -> Response:
        sent = {name.lower(): value for name, value in request.headers}
        key = sent.get("idempotency-key", "")
        if request.method == "POST" and "x-fault" in sent:
            failed.add(key)
        return answer(503, {"code": "down"}) if key in failed else shop(request)

    config = ServiceConfig(
        limits=Limits(writes=True),
        resources={"thing": THING},
        faults=(FaultSwitchConfig("header", "X-Fault", {"down": "down"}),),
    )
    session = http_session(keeps_failures, taxonomy, config, {})
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(faults.switched_faults(session))
    found = {one.kind for one in session.observations.outcomes if one.clause == "fault/recovers"}
    assert kind in found
    assert ("failed" in found) == (kind == "failed")
