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


def shelf(*, answers_first: bool) -> Script:
    """Return a shelf that accepts one currency. ``answers_first``: it ignores the second body."""
    boxes: list[str] = []
    known: dict[str, tuple[bytes, Response]] = {}

    def script(request: Request) -> Response:
        if request.method == "GET":
            found = request.target.removeprefix("/boxes/") in boxes
            return answer(200, {"id": "box"}) if found else answer(404, {"code": "absent"})
        key = dict(request.headers).get("Idempotency-Key", f"none-{len(boxes)}")
        if json.loads(request.body).get("currency", "EUR") != "EUR":
            return answer(422, {"code": "malformed"})
        if key not in known:
            boxes.append(f"box-{len(boxes)}")
            known[key] = request.body, answer(201, {"id": boxes[-1]})
        same = answers_first or known[key][0] == request.body
        return known[key][1] if same else answer(409, {"code": "reused"})

    return script


def mismatches(case: tuple[Any, Any], *, answers_first: bool) -> list[Outcome]:
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
    session = http_session(shelf(answers_first=answers_first), TAXONOMY, config, document)
    session.turn = session.kinds
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
