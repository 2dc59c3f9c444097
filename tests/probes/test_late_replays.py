"""A creation is replayed after its resource was updated: the replay is the stored answer."""

import json

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import idempotency, resources
from support.scripted import Script, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shelf, version: 1.0.0, title: Shelf, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes: {absent: {summary: Not there, http: [404, 405], retriable: false}}
idempotency: {key: Idempotency-Key, methods: [POST], replay: {equal: EQUAL}}
"""
DONE = {"responses": {"200": {"description": "done"}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/boxes": {"post": {"responses": {"201": {"description": "made"}}}},
        "/boxes/{id}": {"get": DONE, "patch": DONE},
    },
}


def shelf(*, replays_present: bool) -> Script:
    """Return a service of boxes. ``replays_present``: a replay is the present state of the box."""
    boxes: dict[str, dict[str, object]] = {}
    known: dict[str, tuple[str, Response]] = {}

    def script(request: Request) -> Response:
        identifier = request.target.removeprefix("/boxes").strip("/")
        if request.method == "POST":
            key = dict(request.headers).get("Idempotency-Key", f"none-{len(boxes)}")
            if key in known:
                made, stored = known[key]
                return answer(201, boxes[made]) if replays_present else stored
            identifier = f"box-{len(boxes)}"
            boxes[identifier] = {**json.loads(request.body), "id": identifier}
            known[key] = identifier, answer(201, boxes[identifier])
            return known[key][1]
        if identifier not in boxes:
            return answer(404, {"code": "absent"})
        if request.method == "PATCH":
            boxes[identifier] |= json.loads(request.body)
        return answer(200, boxes[identifier])

    return script


@pytest.mark.parametrize(
    ("replays_present", "equal", "kinds"),
    [
        (False, "[status, body]", {"passed"}),
        (True, "[status, body]", {"failed"}),
        (True, "[status]", {"passed"}),
    ],
)
def test_a_replay_after_an_update_is_the_stored_answer(
    replays_present: bool, equal: str, kinds: set[str]
) -> None:
    """A service that replays the present state fails where the taxonomy wants equal bodies; the
    message names the update.
    """
    box = ResourceConfig(
        "box",
        create=ConfiguredCall("POST", "/boxes", body={"label": "box ${unique}"}),
        read=ConfiguredCall("GET", "/boxes/{id}"),
        update=ConfiguredCall("PATCH", "/boxes/{id}", body={"label": "other ${unique}"}),
        id="/id",
    )
    config = ServiceConfig(resources={"box": box}, limits=Limits(writes=True))
    script = shelf(replays_present=replays_present)
    session = http_session(script, TAXONOMY.replace("EQUAL", equal), config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(idempotency.replays(session))
    found = list(idempotency.late_replays(session))
    assert {one.kind for one in found} == kinds
    messages = [one.finding.message for one in found if one.finding is not None]
    assert all("PATCH /boxes/{id} had changed it" in message for message in messages)
