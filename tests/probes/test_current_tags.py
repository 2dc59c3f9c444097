"""Updates of items that others change meanwhile: each is sent with the ETag that the item has, and
one that stays refused is left out by name.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import (
    accepted_writes,
    bodies,
    confidential,
    resources,
    unusual_writes,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: seeds, version: 1.0.0, title: Seeds, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  stale: {summary: It has changed, http: 412, retriable: false}
  unconditional: {summary: It needs If-Match, http: 428, retriable: false}
"""

TEXT = {"type": "string"}
MEMBERS = {"name": TEXT, "notes": TEXT, "count": {"type": "integer"}}
OWN = {"id": {**TEXT, "readOnly": True}, "made_by": {**TEXT, "readOnly": True}}
SEED = {"type": "object", "properties": {**MEMBERS, **OWN}}
SECRET = {"donor": {**TEXT, "writeOnly": True}}


def content(schema: Mapping[str, object]) -> dict[str, object]:
    """The content of a body in JSON."""
    return {"content": {"application/json": {"schema": schema}}}


def document(*, required: bool) -> dict[str, object]:
    """The document of the service. ``required``: `If-Match` is."""
    tag = {"name": "If-Match", "in": "header", "required": required, "schema": TEXT}
    place = {"name": "id", "in": "path", "required": True, "schema": TEXT}
    good = {"200": {"description": "It", **content(SEED)}}
    created = {"201": {"description": "New", **content(SEED)}}
    day = {"type": "string", "format": "date"}
    change = {"type": "object", "properties": {**MEMBERS, **SECRET, "day": day}}
    return {
        "openapi": "3.1.0",
        "paths": {
            "/seeds": {
                "post": {
                    "requestBody": content({"type": "object", "properties": MEMBERS}),
                    "responses": created,
                }
            },
            "/seeds/{id}": {
                "get": {"parameters": [place], "responses": good},
                "patch": {
                    "parameters": [place, tag],
                    "requestBody": content(change),
                    "responses": good,
                },
            },
        },
    }


class Bank:
    """Seeds, whose updates need their ETag. ``busy``: somebody else changes the seed before each
    update that is sent with the ETag of an earlier read. ``closed``: no update is accepted.
    ``faults``: what it does wrong.
    """

    def __init__(self, *faults: str, busy: bool = False, closed: bool = False) -> None:
        self.faults, self.busy, self.closed = faults, busy, closed
        self.seeds: dict[str, dict[str, Any]] = {}
        self.versions: dict[str, int] = {}
        self.moved = False

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        name = request.target.removeprefix("/seeds").removeprefix("/")
        body = json.loads(request.body) if request.body else {}
        if request.method == "POST" and not name:
            name = f"seed-{len(self.seeds) + 1:06}"
            self.versions[name] = 1
            self.seeds[name] = {**body, "id": name, "made_by": "ada-of-the-bank"}
            return self.shown(201, name)
        if name not in self.seeds or request.method not in ("GET", "PATCH"):
            return answer(404, {"code": "absent"})
        if request.method == "PATCH":
            return self.update(name, body, dict(request.headers).get("If-Match"))
        return self.shown(200, name)

    def update(self, name: str, body: dict[str, Any], tag: str | None) -> Response:
        """Answer an update."""
        if tag is None:
            return answer(428, {"code": "unconditional"})
        self.moved = self.busy and not self.moved
        self.versions[name] += self.moved
        if self.closed or tag != f'"{self.versions[name]}"':
            return answer(412, {"code": "stale"})
        self.versions[name] += 1
        secret = body.pop("donor", None)
        if "owned" not in self.faults:
            body.pop("made_by", None)
        if "null" not in self.faults:
            body = {member: value for member, value in body.items() if value is not None}
        if "lost" in self.faults:
            body.pop("count", None)
        self.seeds[name] |= body
        echo = {"donor": secret} if "echo" in self.faults and secret is not None else {}
        return self.shown(200, name, echo)

    def shown(self, status: int, name: str, echo: Mapping[str, object] | None = None) -> Response:
        """Answer with a seed."""
        seed = self.seeds[name]
        if seed.get("notes", "") is None:
            return Response(500, (), b"")
        tag = f'"{self.versions[name]}"'
        return answer(status, {**seed, "id": name} | dict(echo or {}), ETag=tag)


def begin(bank: Bank, *, required: bool = True) -> HttpSession:
    """A session that has created a seed, which somebody else has changed since."""
    seed = ResourceConfig(
        "seed",
        create=ConfiguredCall(
            "POST", "/seeds", body={"name": "name ${unique}", "notes": "n ${unique}", "count": 5}
        ),
        read=ConfiguredCall("GET", "/seeds/{id}"),
        update=ConfiguredCall("PATCH", "/seeds/{id}", body={"notes": "changed ${unique}"}),
        id="/id",
    )
    config = ServiceConfig(resources={"seed": seed}, limits=Limits(writes=True))
    session = http_session(bank, TAXONOMY, config, document(required=required))
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    for name in bank.versions:
        bank.versions[name] += 1
    return session


def judged(session: HttpSession, clause: str) -> tuple[set[str], list[str]]:
    """How a clause was decided, and what was left out."""
    found: list[Outcome] = session.observations.outcomes
    own = [one for one in found if one.clause == clause]
    return (
        {one.kind for one in own if one.is_decided},
        [one.reason for one in own if one.kind == "not_exercised"],
    )


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize(
    ("fault", "clause"), [("owned", "writes/server-owned"), ("null", "writes/readable")]
)
def test_unusual_updates_reach_an_item_that_has_changed(
    fault: str, clause: str, required: bool
) -> None:
    """After a 412 the update is sent once more with the current ETag, so that its effect shows."""
    for faults, kind in (((fault,), "failed"), ((), "passed")):
        session = begin(Bank(*faults, busy=True), required=required)
        session.record_results(unusual_writes.unusual_writes(session))
        assert kind in judged(session, clause)[0], faults
        assert ("failed" in judged(session, clause)[0]) == bool(faults)


@pytest.mark.parametrize("clause", unusual_writes.CLAUSES)
def test_unusual_updates_that_stay_refused_are_left_out(clause: str) -> None:
    """A refusal for the precondition alone decides nothing, and stands in the row."""
    session = begin(Bank(closed=True))
    session.record_results(unusual_writes.unusual_writes(session))
    reasons = judged(session, clause)[1]
    assert any("412 stale to PATCH /seeds/{id}" in reason for reason in reasons), reasons


def test_updates_of_single_members_reach_an_item_that_changes() -> None:
    """An item that somebody else changes before each update is updated all the same, and a member
    that an update does not store is found.
    """
    for faults, kinds in (((), {"passed"}), (("lost",), {"passed", "failed"})):
        session = begin(Bank(*faults, busy=True))
        session.record_results(accepted_writes.accepted_writes(session))
        assert judged(session, "writes/updated")[0] == kinds, faults
    session = begin(Bank(closed=True))
    session.record_results(accepted_writes.accepted_writes(session))
    decided, reasons = judged(session, "writes/updated")
    assert decided == set()
    assert "the service answered 412 stale to PATCH /seeds/{id}" in reasons


def test_confidential_values_are_sent_under_the_current_tag() -> None:
    """Where the document requires `If-Match`, an update with a confidential member has it, so that
    the service stores the value; an answer that repeats it is found.
    """
    for faults, kind in ((("echo",), "failed"), ((), "passed")):
        bank = Bank(*faults)
        session = begin(bank)
        session.record_results(confidential.confidential_members(session))
        assert kind in judged(session, "leaks/confidential")[0], faults
        assert judged(session, "leaks/confidential")[1] == []
        sent = [one.status for one in session.observations.exchanges]
        assert 428 not in sent


def test_confidential_values_that_no_update_stores_are_left_out() -> None:
    """The row names the operation that accepted no such request, with its answer."""
    session = begin(Bank(closed=True))
    session.record_results(confidential.confidential_members(session))
    [reason] = judged(session, "leaks/confidential")[1]
    assert reason == "the service answered 412 stale to PATCH /seeds/{id} with `/donor`"


def test_wrong_bodies_reach_an_operation_that_needs_a_tag() -> None:
    """A date that does not exist is sent with the `If-Match` that the document requires, too."""
    session = begin(Bank())
    list(bodies.invalid_bodies(session))
    sent = [one for one in session.observations.exchanges if b"02-30" in one.exchange.request.body]
    assert [one.exchange.request.method for one in sent] == ["PATCH"]
    assert [one.status for one in sent] == [200]
