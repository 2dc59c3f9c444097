"""A creation is replayed after its resource was updated or deleted: the replay is the stored
answer.
"""

import json

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import accepted_writes, idempotency, resources
from faultspec_conformance.results.model import Outcome
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


#: What replays do after the deletion of a box, each with the end of the message.
FORGETFUL = {
    "creates-another": "had deleted it in between",
    "is-absent": "DELETE /boxes/{id} had deleted it in between",
    "creates-another-unseen": "with the same Idempotency-Key created another `box`, after DELETE",
}


def forgetful(habit: str) -> Script:
    """Return a service of boxes that are deleted on condition of their ETag, and whose replays
    after that are as ``habit`` says; empty: the stored answer.
    """
    boxes: dict[str, dict[str, object]] = {}
    known: dict[str, str] = {}
    every: list[str] = []

    def make(body: dict[str, object], key: str) -> Response:
        every.append(known.setdefault(key, f"box-{len(every)}"))
        boxes[every[-1]] = {**body, "id": every[-1]}
        return answer(201, boxes[every[-1]])

    def create(body: dict[str, object], key: str) -> Response:
        made = known.get(key)
        if made is None:
            return make(body, key)
        if made in boxes or not habit:
            return answer(201, {**body, "id": made})
        del known[key]
        return answer(404, {"code": "absent"}) if habit == "is-absent" else make(body, key)

    def script(request: Request) -> Response:
        identifier = request.target.removeprefix("/boxes").strip("/")
        headers = dict(request.headers)
        if request.method == "POST":
            key = headers.get("Idempotency-Key", f"none-{len(every)}")
            return create(json.loads(request.body), key)
        if identifier not in boxes:
            return answer(404, {"code": "absent"})
        if request.method == "DELETE" and headers.get("If-Match") != '"a"':
            return answer(412, {"code": "stale"})
        if request.method == "DELETE":
            if habit == "keeps":
                return answer(409, {"code": "stale"})
            del boxes[identifier]
            return answer(204)
        return answer(200, boxes[identifier], ETag='"a"')

    return script


def outcomes(script: Script, equal: str, *, shares: bool = False) -> list[Outcome]:
    """Return the outcomes of late replays of boxes that are deleted. ``shares``: the run has
    deleted one before.
    """
    box = ResourceConfig(
        "box",
        create=ConfiguredCall("POST", "/boxes", body={"label": "box ${unique}"}),
        read=ConfiguredCall("GET", "/boxes/{id}"),
        delete=ConfiguredCall("DELETE", "/boxes/{id}"),
        id="/id",
    )
    config = ServiceConfig(resources={"box": box}, limits=Limits(writes=True))
    item = {"get": DONE, "delete": {"responses": {"204": {"description": "done"}}}}
    paths = {"/boxes": DOCUMENT["paths"]["/boxes"], "/boxes/{id}": item}
    text = TAXONOMY.replace("[404, 405]", "[404, 405, 409, 412]").replace("EQUAL", equal)
    session = http_session(script, text, config, {**DOCUMENT, "paths": paths})
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    if shares:
        session.record_results(accepted_writes.accepted_writes(session))
    session.record_results(idempotency.replays(session))
    before = len(session.knowledge.exchanges)
    found = list(idempotency.late_replays(session))
    assert not shares or len(session.knowledge.exchanges) - before == 2
    return found


@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize(("habit", "words"), FORGETFUL.items())
def test_a_replay_after_the_deletion_creates_nothing(habit: str, words: str, shares: bool) -> None:
    """A service that handles the creation anew fails: by its answer where the taxonomy wants equal
    bodies, by the new id where it does not. A box that the run has deleted is not deleted again.
    """
    equal = "[status]" if habit.endswith("-unseen") else "[status, body]"
    found = outcomes(forgetful(habit.removesuffix("-unseen")), equal, shares=shares)
    assert [one.kind for one in found] == ["passed", "failed"]
    assert found[1].finding is not None
    assert words in found[1].finding.message


def test_a_stored_answer_is_replayed_after_the_deletion() -> None:
    """The first answer, though what it shows is gone, keeps the contract. A deletion that is
    refused decides nothing.
    """
    for shares in (False, True):
        found = outcomes(forgetful(""), "[status, body]", shares=shares)
        assert [one.kind for one in found] == ["passed"] * 2
    late, refused = outcomes(forgetful("keeps"), "[status, body]")
    assert (late.kind, refused.kind) == ("passed", "not_exercised")
    assert "after the deletion is unknown: the service answered 409" in str(refused.reason)
