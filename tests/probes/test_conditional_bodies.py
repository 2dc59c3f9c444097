"""Wrong bodies of writes that ask for the version of an item first: they are sent with it, too."""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import bodies, media, resources
from faultspec_conformance.results.model import Outcome
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: notes, version: 1.0.0, title: Notes, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  wrong: {summary: Not so, http: 400, retriable: false}
  media: {summary: Not JSON, http: 415, retriable: false}
  needed: {summary: Say which, http: 428, retriable: false}
  broken: {summary: A defect, http: 500, retriable: false}
undeclared: {becomes: broken}
"""

TEXT = {"type": "string"}
OK = {"responses": {"200": {"description": "done"}}}
SCHEMA = {"type": "object", "required": ["text"], "properties": {"text": TEXT}}
BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": SCHEMA}}}}
NAMED = [{"name": "id", "in": "path", "required": True, "schema": TEXT}]
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/notes": {"post": {**OK, **BODY}},
        "/notes/{id}": {"parameters": NAMED, "get": OK, "patch": {**OK, **BODY}},
    },
}


@pytest.mark.parametrize("habit", ["", "malformed", "text", "invalid"])
def test_a_wrong_body_is_looked_at_behind_the_condition(habit: str) -> None:
    """A PATCH that crashes at a body that cannot be read, or takes any media type or member."""

    def service(request: Request) -> Response:
        headers = {name.lower(): value for name, value in request.headers}
        is_patch = request.method == "PATCH"
        if request.method == "GET":
            return answer(200, {"id": "note-0001", "text": "a"}, ETag='"1"')
        if is_patch and headers.get("if-match") != '"1"':
            return answer(428, {"code": "needed"})
        if not headers.get("content-type", "").startswith("application/json"):
            return answer(
                *((200, {}) if is_patch and habit == "text" else (415, {"code": "media"}))
            )
        try:
            body = json.loads(request.body)
        except (ValueError, RecursionError):
            crashes = is_patch and habit == "malformed"
            return answer(*((500, {"code": "broken"}) if crashes else (400, {"code": "wrong"})))
        if not isinstance(body, dict) or not isinstance(body.get("text"), str):
            takes = is_patch and habit == "invalid" and isinstance(body, dict)
            return answer(*((200, body) if takes else (400, {"code": "wrong"})))
        note = {"id": "note-0001", **body}
        return answer(200 if is_patch else 201, note, Location="/notes/note-0001")

    config = ServiceConfig(limits=Limits(writes=True))
    session = http_session(service, TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    results = [
        *bodies.malformed_bodies(session),
        *bodies.invalid_bodies(session),
        *media.media_types(session),
    ]
    failed = [one for one in results if isinstance(one, Outcome) and one.kind == "failed"]
    crashed = [
        finding
        for seen in session.observations.exchanges
        for finding in seen.judgement.findings
        if finding.clause == "service/no-crash"
    ]
    assert bool(failed or crashed) == bool(habit)
