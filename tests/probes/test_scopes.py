"""Writes that ask for the version of an item before they look at the caller: each test states a law
about who may send them.
"""

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.config.model import OperationPattern
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import auth, resources
from faultspec_conformance.results.model import Outcome
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: notes, version: 1.0.0, title: Notes, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes:
  unknown: {summary: Say who, http: 401, retriable: false}
  forbidden: {summary: Not yours, http: 403, retriable: false}
  wrong: {summary: Not so, http: 400, retriable: false}
  stale: {summary: Changed, http: 412, retriable: false}
  needed: {summary: Say which, http: 428, retriable: false}
"""
CODES = {400: "wrong", 401: "unknown", 403: "forbidden", 412: "stale", 428: "needed"}
WRITES = ("PUT /notes/{id}", "DELETE /notes/{id}", "POST /notes/{id}/close")


def document(*, is_required: bool) -> dict[str, object]:
    """The document of the service; ``is_required``: whether writes require `If-Match`."""
    text = {"type": "string"}
    header = {"name": "If-Match", "in": "header", "required": is_required, "schema": text}
    write = {
        "responses": {"200": {"description": "done"}},
        "parameters": [header],
        "security": [{"key": []}],
    }
    named = [{"name": "id", "in": "path", "required": True, "schema": text}]
    done = {"responses": {"200": {"description": "done"}}, "security": []}
    return {
        "openapi": "3.1.0",
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
        },
        "paths": {
            "/notes": {"post": {"responses": {"201": {"description": "made"}}, "security": []}},
            "/notes/{id}": {"parameters": named, "get": done, "put": write, "delete": write},
            "/notes/{id}/close": {"parameters": named, "post": write},
        },
    }


class Notes:
    """Notes with versions. ``refusal``: the status of a write without one. ``open_to``: the callers
    whose writes it accepts, beside its owner's.
    """

    def __init__(self, refusal: int, *open_to: str | None) -> None:
        self.refusal, self.open_to = refusal, open_to

    def __call__(self, request: Request) -> Response:
        """The answer."""
        headers = {name.lower(): value for name, value in request.headers}
        who = headers.get("x-key")
        if request.target == "/notes":
            return answer(201, {"id": "n1"})
        if request.method in ("GET", "HEAD"):
            return answer(200, {"id": "n1"}, ETag='"v1"')
        status = self.refusal if headers.get("if-match") is None else 200
        if status == 200 and headers["if-match"] != '"v1"':
            status = 412
        if status == 200 and who != "ann" and who not in self.open_to:
            status = 403 if who else 401
        return answer(status, {"code": CODES[status]} if status >= 400 else {"id": "n1"})


def outcomes(service: Notes, *, is_required: bool = False) -> list[Outcome]:
    """The outcomes about scopes and missing credentials."""
    config = ServiceConfig(
        identities={
            "ann": Identity("ann", (("X-Key", "ann"),), tenant="acme"),
            "ben": Identity(
                "ben",
                (("X-Key", "ben"),),
                tenant="acme",
                forbidden=tuple(map(OperationPattern, WRITES)),
            ),
        },
        resources={
            "note": ResourceConfig(
                "note",
                create=ConfiguredCall("POST", "/notes"),
                read=ConfiguredCall("GET", "/notes/{id}"),
                id="/id",
            )
        },
        limits=Limits(writes=True),
    )
    session = http_session(service, TAXONOMY, config, document(is_required=is_required))
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    found = [*auth.scopes(session), *auth.missing_credentials(session)]
    return [each for each in found if isinstance(each, Outcome)]


def failures(found: list[Outcome], clause: str) -> set[str | None]:
    """The operations that fail a clause."""
    broken = [each.finding for each in found if each.finding is not None]
    return {each.operation for each in broken if each.clause == clause}


_FIRST = [(428, False), (412, False), (428, True), (400, True)]


@pytest.mark.parametrize(("refusal", "is_required"), _FIRST)
def test_a_precondition_that_is_checked_first_hides_no_missing_check(
    refusal: int, is_required: bool
) -> None:
    """A write that is refused for want of `If-Match` is sent again with the current ETag."""
    found = outcomes(Notes(refusal, "ben"), is_required=is_required)
    assert failures(found, "auth/scope") == set(WRITES)
    assert failures(found, "auth/missing") == set()
    found = outcomes(Notes(refusal, None), is_required=is_required)
    assert failures(found, "auth/scope") == set()
    assert failures(found, "auth/missing") == set(WRITES)


@pytest.mark.parametrize(("refusal", "is_required"), _FIRST)
def test_a_refusal_after_the_precondition_is_right(refusal: int, is_required: bool) -> None:
    """The order of the checks is free, and the second answer counts."""
    found = outcomes(Notes(refusal), is_required=is_required)
    assert not failures(found, "auth/scope")
    assert not failures(found, "auth/missing")
    assert {each.kind for each in found if each.clause == "auth/scope"} == {"passed"}
