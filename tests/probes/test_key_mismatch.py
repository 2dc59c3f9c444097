"""One key with two bodies: the bodies differ, and equal ones are not judged."""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import idempotency, resources
from faultspec_conformance.results.model import Outcome
from support.scripted import Script, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shelf, version: 1.0.0, title: Shelf, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  reused: {summary: Another body had the key, http: 409, retriable: false}
  malformed: {summary: Not valid, http: 422, retriable: false}
idempotency: {key: Idempotency-Key, methods: [POST], mismatch: reused}
"""

#: Bodies that are the same in every creation, each with the schemas of its members.
TEXT = {"reason": "limping"}, {"reason": {"type": "string", "maxLength": 9}}
NUMBER = {"weight": 7}, {"weight": {"type": "integer", "minimum": 1, "maximum": 7}}
NESTED = (
    {"data": {"kind": "a", "at": "2024-02-29"}},
    {
        "data": {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["a", "b"]},
                "at": {"type": "string", "format": "date"},
            },
        }
    },
)
SECOND = (
    {"currency": "EUR", "note": "x"},
    {
        "currency": {"type": "string"},
        "note": {"type": "string"},
    },
)
FIXED = {"kind": "a", "open": True}, {"kind": {"enum": ["a", "b"]}, "open": {"type": "boolean"}}
CLOSED = {"currency": "EUR"}, {"currency": {"type": "string"}}


def shelf(*, answers_first: bool, ignored: str = "") -> Script:
    """Return a shelf that accepts one currency. ``answers_first``: it ignores the second body.
    ``ignored``: a member that it leaves out when it compares bodies.
    """
    boxes: list[str] = []
    known: dict[str, tuple[bytes, Response]] = {}

    def script(request: Request) -> Response:
        if request.method == "GET":
            found = request.target.removeprefix("/boxes/") in boxes
            return answer(200, {"id": "box"}) if found else answer(404, {"code": "absent"})
        key = dict(request.headers).get("Idempotency-Key", f"none-{len(boxes)}")
        if json.loads(request.body).get("currency", "EUR") != "EUR":
            return answer(422, {"code": "malformed"})
        members = json.loads(request.body)
        compared = json.dumps({name: members[name] for name in members if name != ignored}).encode()
        if key not in known:
            boxes.append(f"box-{len(boxes)}")
            known[key] = compared, answer(201, {"id": boxes[-1]})
        same = answers_first or known[key][0] == compared
        return known[key][1] if same else answer(409, {"code": "reused"})

    return script


def mismatches(
    case: tuple[Any, Any], *, answers_first: bool = False, ignored: str = "", seed: int = 0
) -> list[Outcome]:
    """Return the outcomes about one key with two bodies, where every creation has the same body."""
    body, properties = case
    box = ResourceConfig(
        "box",
        create=ConfiguredCall("POST", "/boxes", body=body),
        read=ConfiguredCall("GET", "/boxes/{id}"),
        id="/id",
    )
    config = ServiceConfig(resources={"box": box}, limits=Limits(writes=True))
    schema = {"type": "object", "properties": properties}
    post = {
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "responses": {"201": {"description": "made"}},
    }
    document = {"openapi": "3.1.0", "paths": {"/boxes": {"post": post}}}
    script = shelf(answers_first=answers_first, ignored=ignored)
    session = http_session(script, TAXONOMY, config, document)
    session.turn = session.kinds
    session.begin("replays", seed)
    session.record_results(resources.fixtures(session))
    session.record_results(idempotency.replays(session))
    return [one for one in session.observations.outcomes if one.clause == "idempotency/mismatch"]


@pytest.mark.parametrize("case", [TEXT, NUMBER, NESTED, SECOND])
def test_a_constant_body_is_changed_within_its_schema(case: tuple[Any, Any]) -> None:
    """A text or a number of a constant body is changed: a service that refuses the second body
    passes, and one that answers with the first result fails.
    """
    assert [one.kind for one in mismatches(case, answers_first=False)] == ["passed"]
    assert [one.kind for one in mismatches(case, answers_first=True)] == ["failed"]


@pytest.mark.parametrize("case", [FIXED, CLOSED])
def test_equal_bodies_are_not_judged(case: tuple[Any, Any]) -> None:
    """If no other body is accepted, the clause is not exercised, and the reason says why."""
    [outcome] = mismatches(case, answers_first=False)
    assert outcome.kind == "not_exercised"
    assert "every creation of `box` has the same body" in outcome.reason


LABELS = {"label": {"type": "string"}, "note": {"type": "string"}, "size": {"type": "integer"}}
LABELLED = {"label": "box ${unique}", "note": "first", "size": 3}, LABELS
BARE = {"label": "box ${unique}"}, LABELS


@pytest.mark.parametrize("case", [LABELLED, BARE])
@pytest.mark.parametrize("ignored", ["", "label", "note", "size"])
def test_a_member_that_the_comparison_leaves_out_is_found(case: Any, ignored: str) -> None:
    """One member is changed at a time, also one that the creation lacks, so that a service that
    leaves it out of the comparison fails.
    """
    [outcome] = mismatches(case, ignored=ignored)
    assert outcome.kind == ("failed" if ignored else "passed")
    if outcome.finding is not None:
        assert f"differ in `{ignored}`" in outcome.finding.message


def test_a_default_of_the_service_is_not_another_body() -> None:
    """A member with a documented default is not added: a service may fill it in."""
    sized = {"label": {"type": "string"}, "size": {"type": "integer", "default": 1}}
    [outcome] = mismatches(({"label": "box ${unique}"}, sized), ignored="size")
    assert outcome.kind == "passed"


def test_of_many_members_each_has_its_turn() -> None:
    """Of more members than one run tries, another seed tries others, so that each is found."""
    many = {f"note{number}": {"type": "string"} for number in range(8)}
    case = {"label": "box ${unique}", **dict.fromkeys(many, "first")}, {**LABELS, **many}
    found = {mismatches(case, ignored="note7", seed=seed)[0].kind for seed in range(12)}
    assert found == {"passed", "failed"}


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_a_key_in_the_body_is_sent_only_where_the_schema_has_it(
    *, named: bool, elsewhere: bool
) -> None:
    """An operation whose body is closed without the key takes none, and an operation whose body
    has it is tested, whether other operations have it or not.
    """
    properties = {"label": {"type": "string"}, **({"token": {"type": "string"}} if named else {})}
    other = {"properties": {"token": {"type": "string"}}} if elsewhere else {}
    known: dict[str, Response] = {}

    def script(request: Request) -> Response:
        if request.method == "GET":
            return answer(200, {"id": "box"})
        body = json.loads(request.body)
        if body.keys() - properties.keys():
            return answer(422, {"code": "malformed"})
        made = answer(201, {"id": f"box-{len(known)}"})
        return known.setdefault(body.get("token", f"none-{len(known)}"), made)

    def post(schema: object) -> object:
        content = {"application/json": {"schema": schema}}
        done = {"201": {"description": "made"}}
        return {"post": {"requestBody": {"content": content}, "responses": done}}

    box = ResourceConfig(
        "box",
        create=ConfiguredCall("POST", "/boxes", body={"label": "box ${unique}"}),
        read=ConfiguredCall("GET", "/boxes/{id}"),
        id="/id",
    )
    config = ServiceConfig(resources={"box": box}, limits=Limits(writes=True))
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    document = {"openapi": "3.1.0", "paths": {"/boxes": post(closed), "/other": post(other)}}
    taxonomy = TAXONOMY.replace("key: Idempotency-Key", "key: {body: /token}")
    session = http_session(script, taxonomy, config, document)
    session.turn = session.kinds
    session.begin("replays", 0)
    session.record_results(resources.fixtures(session))
    session.record_results(idempotency.replays(session))
    found = [one for one in session.observations.outcomes if one.clause == "idempotency/replay"]
    assert {one.kind for one in found} == ({"passed"} if named else {"not_exercised"})
